"""Bringing the records of the graph up to date: those that changed, and those that follow from them.

Each record's node remembers the keys of what it follows from (`Derived.needs`). Whatever changes has
keys too: its id, the names that it has now, what came or went in the trees. Who needs one of these is
worked out again, and nobody else; where it cannot be told what changed, everybody is.

A name that something had is no key: who found it by that name needs its id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_kg.extract import joining, record_stand, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import Choice, EdgeRow, edge_row
from vault_kg.extract.model import Node
from vault_kg.extract.record_edges import Derived, Records, id_key, name_key
from vault_kg.extract.record_stand import Followed
from vault_kg.extract.roots import RECORDS
from vault_kg.index import catalog, eligibility
from vault_kg.index.graph_rows import GraphRow
from vault_kg.operations.workspace import Workspace
from vault_kg.state.database import Database

_EVERY = 1 << 40


@dataclass
class _News:
    """What the graph has to take in."""

    made_from: Followed
    derived: list[Derived]
    looked_at: set[str] | None
    """The ids of all records of which this is so, those that are seen no more among them; None: all."""


def refresh(ws: Workspace, graph: GraphBackend, *, anew: bool = False) -> int:
    """Bring the records and their edges up to date.

    Args:
        ws: the vault.
        graph: its graph; nobody else writes it.
        anew: work out everything, also what has not changed.

    Returns:
        How many records were worked out.
    """
    touched = graph.changed(RECORDS)
    if not (anew or touched) and record_stand.is_fresh(ws, graph):
        return 0
    now = ws.now()
    with ws.database.snapshot():
        news = None if anew else _changed(ws, graph, now, touched)
        if news is None or _lacks_targets(graph, news):
            news = _everything(ws, graph, now)
    with graph.writing():
        _take_in(graph, news)
        graph.wake(RECORDS, ())  # what was noted is taken in, and nobody is left to wake
        graph.linked(graph.waiting(RECORDS))
        record_stand.keep(graph, news.made_from)
    return len(news.derived)


def _everything(ws: Workspace, graph: GraphBackend, now: str) -> _News:
    records = Records(ws, graph, now)
    derived = list(records.derive(records.read(None), every=True))
    until = eligibility.holds_until(ws.database, now)
    made_from = Followed(record_stand.of(ws), now, until)
    return _News(made_from, derived, None)


def _changed(ws: Workspace, graph: GraphBackend, now: str, touched: set[str]) -> _News | None:
    """Return what has to be taken in of what changed; None where that may be everything.

    Args:
        ws: the vault.
        graph: its graph.
        now: the time.
        touched: the keys of what came or went in the trees.
    """
    db, stand, known = ws.database, record_stand.of(ws), record_stand.followed(graph)
    ids = record_stand.changed(db, known, stand, now)
    if ids is None or known is None:
        return None
    keys = {*touched, *map(id_key, record_stand.meaning(db, ids))}
    keys.update(map(name_key, catalog.names_of(db, ids)))
    following = graph.places(graph.needing(RECORDS, keys))
    looked_at = ids | {uid.partition(":")[2] for uid, _ in following.values()}
    records = Records(ws, graph, now)
    rows = records.read(looked_at)
    until = _until(db, known, rows, now)
    derived = list(records.derive(rows))
    return _News(Followed(stand, now, until), derived, looked_at)


def _until(db: Database, known: Followed, rows: Iterable[GraphRow], now: str) -> str:
    """Return until when all holds, or something earlier: what was known may be of what is gone."""
    if known.until <= now:
        return eligibility.holds_until(db, now)
    return min([known.until, *(each.row.eligible_until or known.until for each in rows)])


def _lacks_targets(graph: GraphBackend, news: _News) -> bool:
    """Say whether edges lead to records that the graph does not have."""
    own = {each.node.uid for each in news.derived}
    wanted = _targets(news) - own
    return len(graph.keys(RECORDS, wanted)) < len(wanted)


def _targets(news: _News) -> set[str]:
    return {edge.target for each in news.derived for edge, key in each.edges if key is None}


def _take_in(graph: GraphBackend, news: _News) -> None:
    keys, gone = _put_nodes(graph, news)
    there = keys | graph.keys(RECORDS, _targets(news) - keys.keys())
    _put_edges(graph, keys, there, news.derived)
    graph.put_needs({keys[each.node.uid]: each.needs for each in news.derived})
    findings = [finding for each in news.derived for finding in dict.fromkeys(each.findings)]
    graph.put_findings(None if news.looked_at is None else {*keys, *gone}, findings)


def _put_nodes(graph: GraphBackend, news: _News) -> tuple[dict[str, int], dict[str, int]]:
    """Bring the nodes of records up to date; returns the keys of theirs, and of those that are gone."""
    by_partition: dict[str, list[Node]] = defaultdict(list)
    for each in news.derived:
        by_partition[each.partition].append(each.node)
    keys: dict[str, int] = {}
    for partition, nodes in by_partition.items():
        keys |= graph.put_nodes(RECORDS, nodes, partition)
    if news.looked_at is None:
        rows, _ = graph.reader(None).select(Choice(kinds=("record",)), _EVERY)
        known = {row.node.uid: row.key for row in rows}
    else:
        known = graph.keys(RECORDS, [uids.record(each) for each in news.looked_at])
    gone = {uid: key for uid, key in known.items() if uid not in keys}
    graph.remove_nodes(gone.values())
    return keys, gone


def _put_edges(
    graph: GraphBackend, sources: Mapping[str, int], there: Mapping[str, int],
    derived: Iterable[Derived],
) -> None:  # fmt: skip
    """Replace the edges of records; one that several rules give has the reasons of all."""
    wanted: dict[object, EdgeRow] = {}
    for each in derived:
        for edge, outside in each.edges:
            target = there[edge.target] if outside is None else outside
            row = edge_row(sources[edge.source], target, edge, linked=False)
            first = wanted.get(row.id)
            if first is not None:
                signals = tuple(dict.fromkeys((*first.signals, *row.signals)))
                surest = max(first.confidence, row.confidence)
                row = first._replace(signals=signals, confidence=surest)
            wanted[row.id] = row
    known = graph.edges_from(sources.values(), linked=False)
    joining.exchange(graph, known, list(wanted.values()))
