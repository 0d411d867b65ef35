"""Records as nodes of the graph, and the edges that follow from what they say.

Only what default reads see takes part. A page resolves names within its own partition, so that what
another one holds changes neither an edge nor a finding that somebody else sees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from vault_kg.extract import joining, record_rules, touching, uids
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.values import Choice, EdgeRow, Finding, edge_row
from vault_kg.extract.model import Edge, EdgeKind, Node, Signal
from vault_kg.extract.record_rules import FieldRule
from vault_kg.extract.roots import RECORDS
from vault_kg.index import eligibility, graph_rows, links, successors
from vault_kg.index.graph_rows import GraphRow, Narrow, Place
from vault_kg.index.listing import Filter
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import journal

EXTRACTOR = "records"
_SETTING = "records_at"
_EVERY = 1 << 40


def refresh(ws: Workspace, graph: GraphBackend, *, tree_changed: bool) -> bool:
    """Bring the records and their edges up to date.

    Args:
        ws: the vault.
        graph: its graph.
        tree_changed: whether nodes that records may touch have changed.

    Returns:
        Whether anything was looked at: nothing is where neither records nor the tree changed.
    """
    if not tree_changed and is_fresh(ws, graph):
        return False
    now, stands = ws.now(), _position(ws)
    with ws.database.snapshot():
        until = eligibility.holds_until(ws.database, now)
        records = _Records(ws, graph)
        edges = list(records.edges())
    with graph.writing():
        keys = _put_nodes(graph, records)
        _put_edges(graph, keys, edges)
        graph.put_findings(list(dict.fromkeys(records.findings)))
        graph.linked(graph.waiting(RECORDS))
        graph.put_setting(_SETTING, f"{stands} {until}")
    return True


def is_fresh(ws: Workspace, graph: GraphBackend) -> bool:
    """Say whether the graph has the records as default reads see them now."""
    stands, _, until = (graph.setting(_SETTING) or "").rpartition(" ")
    return stands == _position(ws) and ws.now() < until


def stand(ws: Workspace, graph: GraphBackend) -> tuple[str, str | None]:
    """Return what it follows from, time apart, whether the graph has the records as they are."""
    return _position(ws), graph.setting(_SETTING)


def seen_in(place: Place, partition_of: Callable[[str], str | None]) -> str:
    """Return the partition that one must see to see a record; of several, all, with slashes.

    A claim is there for who sees its owner, a relationship for who sees both its ends.

    Args:
        place: where the record stands.
        partition_of: says of a record's id where what it means stands; None where nothing does.
    """
    about = (partition_of(end) for end in (place.owner, place.from_id, place.to_id) if end)
    return "/".join(sorted({place.partition, *filter(None, about)}))


def _position(ws: Workspace) -> str:
    """Return what the records and their edges follow from, time apart."""
    vocabulary = ws.ontologies.fingerprint()
    return f"{record_rules.VERSION}/{vocabulary}/{journal.last_seq(ws.database)}"


class _Records:
    """All records that take part, and what follows from each."""

    def __init__(self, ws: Workspace, graph: GraphBackend) -> None:
        self._db = ws.database
        self._graph = graph
        wanted = Filter(ws.now())
        self.rows = graph_rows.every(self._db, Narrow(wanted))
        self._by_id = {each.row.id: each for each in self.rows}
        self._readers: dict[str, GraphReader] = {}
        self._ontology = cache(ws.ontology)
        self.findings: list[Finding] = []

    def edges(self) -> Iterator[tuple[Edge, int | None]]:
        """Yield the edges, each with the key of a target that is no record."""
        for claim, role, page in graph_rows.claimed(self._db):
            rule, kind = _ROLES.get(role, ("", "mentions"))
            target = self._current(page)
            if rule and claim in self._by_id and target is not None:
                yield _edge(claim, uids.record(target.row.id), kind, rule), None
        for each in self.rows:
            yield from ((edge, None) for edge in self._from_links(each))
            if each.row.kind == "page":
                yield from ((edge, None) for edge in self._from_fields(each))
                yield from self._touches(each)

    def seen_in(self, each: GraphRow) -> str:
        """Return the partition that one must see to see a record; of several, all, with slashes."""
        row = each.row
        place = Place(row.partition, row.owner, row.from_id, row.to_id)
        return seen_in(place, self._partition)

    def _from_fields(self, each: GraphRow) -> Iterator[Edge]:
        ontology = self._ontology(each.row.partition)
        page_type = each.row.type or ROOT_TYPE
        declared = ontology.fields_of(page_type) if ontology.page_type(page_type) else {}
        stated: Mapping[str, Any] = each.stated.get("fields") or {}
        for rule in record_rules.FIELD_RULES:
            if rule.field not in declared:
                continue
            if rule.page_type is not None and not ontology.is_a(page_type, rule.page_type):
                continue
            named = _texts(stated.get(rule.field))
            if not named and rule.wanted is not None:
                message = f"{rule.field} names no page"
                self._find(each, rule.wanted, message, f"say in {rule.field} which page is meant")
            for text in named:
                yield from self._from_field(each, rule, text)

    def _from_field(self, each: GraphRow, rule: FieldRule, text: str) -> Iterator[Edge]:
        target = self._page(each, text)
        if target is None or target.row.partition != each.row.partition:
            message = f"{rule.field}: {text} is no page of this partition"
            self._find(each, "unresolved", message, "write the page, or mend the name")
        if target is None:
            return
        ontology = self._ontology(each.row.partition)
        wrong = ontology.allows_endpoints(rule.kind, each.row.type, target.row.type)
        if wrong is None:
            yield _edge(each.row.id, uids.record(target.row.id), rule.kind, rule.id)
        elif target.row.partition == each.row.partition:
            self._find(each, "wrong_endpoint", f"{rule.field}: {wrong}", "name another page")

    def _from_links(self, each: GraphRow) -> Iterator[Edge]:
        ontology = self._ontology(each.row.partition)
        for link in links.links_of(self._db, each.row.key):
            target = self._linked(each, link.target) if link.target else None
            if target is None or target.row.id == each.row.id or target.row.kind != "page":
                continue
            if ontology.allows_endpoints("mentions", each.row.type, target.row.type) is None:
                uid = uids.record(target.row.id)
                yield _edge(each.row.id, uid, "mentions", record_rules.LINK, line=link.line)

    def _touches(self, each: GraphRow) -> Iterator[tuple[Edge, int]]:
        fields: Mapping[str, Any] = each.stated.get("fields") or {}
        for text in (
            *_texts(each.stated.get("touches")),
            *_texts(fields.get(record_rules.CODE_PATH)),
        ):
            found = touching.find(self._reader(each.row.partition), text)
            if len(found.rows) == 1:
                rule, weight = record_rules.TOUCHES[found.spelling]
                uid = found.rows[0].node.uid
                yield _edge(each.row.id, uid, "touches", rule, weight), found.rows[0].key
            elif found.rows:
                message = f"touches {text}, which may be {len(found.rows)} things"
                self._find(
                    each, "touches_ambiguous", message, "give its uid: graph_resolve lists them"
                )
            else:
                message = f"touches {text}, which no root of the graph has"
                self._find(
                    each, "touches_nothing", message, "mend the path or name, or index its root"
                )

    def _page(self, each: GraphRow, text: str) -> GraphRow | None:
        """Return the page that a field's value names: by id, or as a link."""
        if ids.is_id(text):
            return self._current(text)
        return self._linked(each, text.removeprefix("[[").removesuffix("]]").partition("|")[0])

    def _linked(self, each: GraphRow, target: str) -> GraphRow | None:
        own = each.row.partition
        found = links.resolve(self._db, target, each.row.path, lambda partition: partition == own)
        rows = {now.row.id: now for record in found if (now := self._current(record))}
        return next(iter(rows.values())) if len(rows) == 1 else None

    def _current(self, record: str) -> GraphRow | None:
        """Return the record that an id means now, merges and corrections followed."""
        here = self._by_id.get(record)
        return here or self._by_id.get(successors.current(self._db, record) or "")

    def _partition(self, record: str) -> str | None:
        found = self._current(record)
        return found.row.partition if found is not None else None

    def _reader(self, partition: str) -> GraphReader:
        if partition not in self._readers:
            self._readers[partition] = self._graph.reader(frozenset({partition}))
        return self._readers[partition]

    def _find(self, each: GraphRow, code: str, message: str, hint: str) -> None:
        uid = uids.record(each.row.id)
        self.findings.append(
            Finding(code, uid, f"{each.row.title}: {message}", hint, each.row.partition)
        )


_ROLES: Mapping[str, tuple[str, EdgeKind]] = {
    "owner": (record_rules.OWNER, "belongs_to"),
    "entities": (record_rules.ENTITIES, "mentions"),
}


def _edge(
    source: str,
    target: str,
    kind: EdgeKind,
    rule: str,
    weight: float = 1.0,
    line: int | None = None,
) -> Edge:
    signals = (Signal(rule, weight),)
    return Edge(uids.record(source), target, kind, weight, EXTRACTOR, line, signals)


def _texts(value: Any) -> list[str]:
    """Return the texts of a field that holds one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


def _put_nodes(graph: GraphBackend, records: _Records) -> dict[str, int]:
    """Bring the nodes of records up to date; returns their keys by uid."""
    by_partition: dict[str, list[Node]] = defaultdict(list)
    for each in records.rows:
        row = each.row
        kind = " ".join(part for part in (row.kind, row.type) if part)
        node = Node(uids.record(row.id), "record", row.title, row.path, None, None, kind,
                    (row.summary or each.fact)[:500])  # fmt: skip
        by_partition[records.seen_in(each)].append(node)
    known, _ = graph.reader(None).select(Choice(kinds=("record",)), _EVERY)
    keys: dict[str, int] = {}
    for partition, nodes in by_partition.items():
        keys |= graph.put_nodes(RECORDS, nodes, partition)
    graph.remove_nodes([row.key for row in known if row.node.uid not in keys])
    return keys


def _put_edges(
    graph: GraphBackend, keys: Mapping[str, int], edges: Iterable[tuple[Edge, int | None]]
) -> None:
    wanted: dict[object, EdgeRow] = {}
    for edge, outside in edges:
        target = outside if outside is not None else keys[edge.target]
        row = edge_row(keys[edge.source], target, edge, linked=False)
        first = wanted.get(row.id)
        if first is not None:
            signals = tuple(dict.fromkeys((*first.signals, *row.signals)))
            row = first._replace(signals=signals, confidence=max(first.confidence, row.confidence))
        wanted[row.id] = row
    joining.exchange(graph, graph.edges_from(keys.values(), linked=False), list(wanted.values()))
