"""What the graph holds of the vault's files that is not so any more, and who is not told of it.

What holds of records holds at once: one that default reads see no more is told to nobody, and one
that went to another partition to nobody who does not see that. The same goes for what was read from
their files, where these are gone. Of a note that is gone nobody knows where it went: its file is
told only to who sees everything. A folder of which nothing is left goes with what was in it.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import NamedTuple

from vault_kg.extract import record_edges, record_stand, roots, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import Choice, NodeRow, Where
from vault_kg.extract.record_stand import Stand
from vault_kg.extract.roots import RECORDS, Root
from vault_kg.index import catalog, eligibility, graph_rows, successors
from vault_kg.index.graph_rows import Narrow, Place
from vault_kg.index.listing import Filter
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids as record_ids
from vault_kg.state.database import Database

_EVERY = 1 << 40

_Sight = frozenset[str] | None
"""The partitions that one must see to see something; None where nobody does."""

_WHO_SEES_ALL: _Sight = frozenset({""})
"""What only those see who see every partition: none has this name."""


class _Changed(NamedTuple):
    """What is not in the graph as it is in the vault, and for which time that holds."""

    stand: tuple[Stand, record_stand.Followed | None]
    since: str
    until: str
    keys: dict[int, _Sight]
    """Nodes of records."""
    paths: dict[str, _Sight]
    """Where in the vault files were that are there no more."""


class Hidden(NamedTuple):
    """What a caller is not told of, whatever the graph says of it."""

    keys: frozenset[int] = frozenset()
    """Nodes."""
    paths: frozenset[str] = frozenset()
    """Files, from the vault's folder."""


_known: weakref.WeakKeyDictionary[Workspace, _Changed] = weakref.WeakKeyDictionary()
"""What was found last."""


def hidden(ws: Workspace, graph: GraphBackend, partitions: frozenset[str] | None) -> Hidden:
    """Return what a caller is not told of.

    Args:
        ws: the vault.
        graph: its graph.
        partitions: what the caller sees; None is all.
    """
    changed = _changed(ws, graph)
    if changed is None or not (changed.keys or changed.paths):
        return Hidden()

    def hides(wanted: _Sight) -> bool:
        return wanted is None or (partitions is not None and not wanted <= partitions)

    keys = {key for key, wanted in changed.keys.items() if hides(wanted)}
    paths = frozenset(path for path, wanted in changed.paths.items() if hides(wanted))
    there = roots.of(ws.vault.root) if paths else ()
    held = {key for root in there for path in paths for key in _keys_at(graph, root, path)}
    return Hidden(frozenset(keys | held | _left_empty(graph, held)), paths)


def left_behind(ws: Workspace, graph: GraphBackend) -> list[str]:
    """Return the paths in the vault from which records and notes are gone."""
    changed = _changed(ws, graph)
    return sorted(changed.paths) if changed is not None else []


def _changed(ws: Workspace, graph: GraphBackend) -> _Changed | None:
    """Return what is not in the graph as it is; None where everything is."""
    if record_stand.is_fresh(ws, graph):
        return None
    now, stand = ws.now(), (record_stand.of(ws), record_stand.followed(graph))
    known = _known.get(ws)
    if known is None or known.stand != stand or not known.since <= now < known.until:
        known = _known[ws] = _look(ws, graph, now, stand)
    return known


def _look(
    ws: Workspace, graph: GraphBackend, now: str, stand: tuple[Stand, record_stand.Followed | None]
) -> _Changed:
    """Compare what the graph has of records and notes with what there is."""
    db = ws.database
    ids = record_stand.changed(db, stand[1], stand[0], now)
    rows = _record_rows(db, graph, ids)
    partitions = _partitions(db, now, rows if ids is not None else None)
    keys: dict[int, _Sight] = {}
    paths: dict[str, _Sight] = dict.fromkeys(_notes_gone(ws, graph, ids), _WHO_SEES_ALL)
    for row in rows:
        partition = partitions.get(row.node.uid)
        if partition == row.partition:
            continue
        wanted = frozenset(partition.split("/")) if partition is not None else None
        keys[row.key] = wanted
        there = catalog.by_path(db, row.node.path) if row.node.path else None
        if row.node.path and (there is None or uids.record(there.id) != row.node.uid):
            paths[row.node.path] = wanted
    return _Changed(stand, now, eligibility.holds_until(db, now), keys, paths)


def _record_rows(db: Database, graph: GraphBackend, ids: set[str] | None) -> Collection[NodeRow]:
    """Return the nodes of records that may not be as they are; of all where `ids` is None."""
    reader = graph.reader(None)
    if ids is None:
        return reader.select(Choice(kinds=("record",)), _EVERY)[0]
    following = {record_edges.id_key(each) for each in record_stand.meaning(db, ids)}
    keys = graph.keys(RECORDS, [uids.record(each) for each in ids]).values()
    return reader.nodes({*keys, *graph.needing(RECORDS, following)}).values()


def _partitions(db: Database, now: str, rows: Iterable[NodeRow] | None) -> Mapping[str, str]:
    """Return which partition one must see to see records that default reads see, by uid."""
    ids = None if rows is None else [row.node.uid.partition(":")[2] for row in rows]
    places = graph_rows.places(db, Narrow(Filter(now), ids=ids))

    def place_of(record: str) -> Place | None:
        if record not in places and ids is not None:
            places.update(graph_rows.places(db, Narrow(Filter(now), ids=[record])))
        return places.get(record)

    @cache
    def partition_of(record: str) -> str | None:
        found = place_of(record) or place_of(successors.current(db, record) or "")
        return found.partition if found is not None else None

    return {
        uids.record(record): record_edges.seen_in(place, partition_of)
        for record, place in list(places.items())
    }


def _notes_gone(ws: Workspace, graph: GraphBackend, ids: set[str] | None) -> list[str]:
    """Return the paths of Markdown files that the graph may hold and the vault does not."""
    if ids is not None:
        notes = (
            each.removeprefix(record_ids.NOTE_PREFIX) for each in ids if record_ids.is_note(each)
        )
        return [path for path in notes if not catalog.has_file(ws.database, path)]
    there = catalog.files(ws.database)
    return [
        path
        for root in roots.of(ws.vault.root)
        if root.in_vault is not None
        for state in graph.states(root.name)
        if (path := root.in_vault + state).casefold().endswith(".md") and path not in there
    ]


def _keys_at(graph: GraphBackend, root: Root, path: str) -> Iterable[int]:
    """Return the keys of what a root holds of a file of the vault."""
    if root.in_vault is None or not path.startswith(root.in_vault):
        return ()
    return graph.keys_at(root.name, path.removeprefix(root.in_vault)).values()


def _left_empty(graph: GraphBackend, gone: Collection[int]) -> set[int]:
    """Return the folders that hold nothing but what is gone."""
    reader, contains = graph.reader(None), Where(("contains",))
    left: set[int] = set(gone)
    fresh = left
    while fresh:
        above = {parent for _, parent, _, _ in reader.neighbours(fresh, "in", contains)} - left
        inside = reader.neighbours(above, "out", contains)
        fresh = above - {parent for parent, child, _, _ in inside if child not in left}
        left |= fresh
    return left
