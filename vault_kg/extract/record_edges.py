"""Records as nodes of the graph, and the edges that follow from what they say.

Only what default reads see takes part. A page resolves names within its own partition, so that what
another one holds changes neither an edge nor a finding that somebody else sees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from vault_kg.extract import record_rules, touching, uids
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.values import Finding
from vault_kg.extract.model import Edge, EdgeKind, Node, Signal
from vault_kg.extract.record_rules import FieldRule
from vault_kg.index import graph_rows, links, successors
from vault_kg.index.graph_rows import GraphRow, Narrow, Place
from vault_kg.index.listing import Filter
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.link_targets import link_names
from vault_kg.records.ontology_types import ROOT_TYPE

EXTRACTOR = "records"


@dataclass
class Derived:
    """What follows from one record."""

    node: Node
    partition: str
    """What one must see to see it; of several, all, with slashes."""
    edges: list[tuple[Edge, int | None]] = field(default_factory=list)
    """Each with the key of a target that is no record."""
    findings: list[Finding] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)
    """Keys of all that it follows from beside the record itself: see `id_key`, `name_key`."""


def id_key(record_id: str) -> str:
    """Return the key of what an id means."""
    return f"id:{record_id}"


def name_key(name: str) -> str:
    """Return the key of what is called so, by a name as `names.lookup_key` folds it."""
    return f"name:{name}"


def seen_in(place: Place, partition_of: Callable[[str], str | None]) -> str:
    """Return the partition that one must see to see a record; of several, all, with slashes.

    A claim is there for who sees its owner, a relationship for who sees both its ends.

    Args:
        place: where the record stands.
        partition_of: says of a record's id where what it means stands; None where nothing does.
    """
    about = (partition_of(end) for end in about_whom(place))
    return "/".join(sorted({place.partition, *filter(None, about)}))


def about_whom(place: Place) -> list[str]:
    """Return the ids that a record is about: who does not see these does not see it."""
    return [end for end in (place.owner, place.from_id, place.to_id) if end]


class Records:
    """The records that default reads see at one moment, and what follows from them."""

    def __init__(self, ws: Workspace, graph: GraphBackend, now: str) -> None:
        self._db = ws.database
        self._wanted = Filter(now)
        self._ontology = cache(ws.ontology)
        self._known: dict[str, GraphRow | None] = {}
        self._all = False
        self._reader: Callable[[str], GraphReader] = cache(
            lambda partition: graph.reader(frozenset({partition}))
        )

    def read(self, record_ids: Collection[str] | None) -> list[GraphRow]:
        """Return those of some records that are seen, or all."""
        rows = graph_rows.every(self._db, Narrow(self._wanted, ids=record_ids))
        found = {each.row.id: each for each in rows}  # of files that share an id, the last by path
        self._known |= dict.fromkeys(record_ids or ())
        self._known |= found
        self._all |= record_ids is None
        return list(found.values())

    def derive(self, rows: Collection[GraphRow], *, every: bool = False) -> Iterator[Derived]:
        """Yield what follows from records.

        Args:
            rows: the records.
            every: they are all that there are.
        """
        claims = [each.row.id for each in rows if each.row.kind == "claim"]
        said: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for claim, role, page in graph_rows.claimed(self._db, None if every else claims):
            said[claim].append((role, page))
        for each in rows:
            derived = self._node(each)
            self._from_claim(each, derived, said.get(each.row.id, ()))
            self._from_links(each, derived)
            if each.row.kind == "page":
                self._from_fields(each, derived)
                self._from_touches(each, derived)
            yield derived

    def _node(self, each: GraphRow) -> Derived:
        row = each.row
        kind = " ".join(part for part in (row.kind, row.type) if part)
        node = Node(uids.record(row.id), "record", row.title, row.path, None, None, kind,
                    (row.summary or each.fact)[:500])  # fmt: skip
        place = Place(row.partition, row.owner, row.from_id, row.to_id)
        needs = set(map(id_key, about_whom(place)))
        return Derived(node, seen_in(place, self._partition), needs=needs)

    def _from_claim(
        self, each: GraphRow, derived: Derived, said: Iterable[tuple[str, str]]
    ) -> None:
        for role, page in said:
            rule, kind = _ROLES.get(role, ("", "mentions"))
            target = self._meant(page, derived) if rule else None
            if target is not None:
                derived.edges.append((_edge(each, target, kind, rule), None))

    def _from_links(self, each: GraphRow, derived: Derived) -> None:
        ontology = self._ontology(each.row.partition)
        for link in links.links_of(self._db, each.row.key):
            target = self._linked(each, link.target, derived) if link.target else None
            if target is None or target.row.id == each.row.id or target.row.kind != "page":
                continue
            if ontology.allows_endpoints("mentions", each.row.type, target.row.type) is None:
                edge = _edge(each, target, "mentions", record_rules.LINK)
                derived.edges.append((edge._replace(line=link.line), None))

    def _from_fields(self, each: GraphRow, derived: Derived) -> None:
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
                _find(each, derived, rule.wanted, message,
                      f"say in {rule.field} which page is meant")  # fmt: skip
            for text in named:
                self._from_field(each, derived, rule, text)

    def _from_field(self, each: GraphRow, derived: Derived, rule: FieldRule, text: str) -> None:
        target = self._page(each, text, derived)
        here = target is not None and target.row.partition == each.row.partition
        if not here:
            message = f"{rule.field}: {text} is no page of this partition"
            _find(each, derived, "unresolved", message, "write the page, or mend the name")
        if target is None:
            return
        ontology = self._ontology(each.row.partition)
        wrong = ontology.allows_endpoints(rule.kind, each.row.type, target.row.type)
        if wrong is None:
            derived.edges.append((_edge(each, target, rule.kind, rule.id), None))
        elif here:
            message = f"{rule.field}: {wrong}"
            _find(each, derived, "wrong_endpoint", message, "name another page")

    def _from_touches(self, each: GraphRow, derived: Derived) -> None:
        fields: Mapping[str, Any] = each.stated.get("fields") or {}
        for text in (
            *_texts(each.stated.get("touches")),
            *_texts(fields.get(record_rules.CODE_PATH)),
        ):
            derived.needs |= {touching.ANYTHING, *touching.needs(text)}
            found = touching.find(self._reader(each.row.partition), text)
            if len(found.rows) == 1:
                rule, weight = record_rules.TOUCHES[found.spelling]
                edge = Edge(uids.record(each.row.id), found.rows[0].node.uid, "touches", weight,
                            EXTRACTOR, None, (Signal(rule, weight),))  # fmt: skip
                derived.edges.append((edge, found.rows[0].key))
            elif found.rows:
                message = f"touches {text}, which may be {len(found.rows)} things"
                hint = "give its uid: graph_resolve lists them"
                _find(each, derived, "touches_ambiguous", message, hint)
            else:
                message = f"touches {text}, which no root of the graph has"
                hint = "mend the path or name, or index its root"
                _find(each, derived, "touches_nothing", message, hint)

    def _page(self, each: GraphRow, text: str, derived: Derived) -> GraphRow | None:
        """Return the page that a field's value names: by id, or as a link."""
        if ids.is_id(text):
            return self._meant(text, derived)
        name = text.removeprefix("[[").removesuffix("]]").partition("|")[0]
        return self._linked(each, name, derived)

    def _linked(self, each: GraphRow, target: str, derived: Derived) -> GraphRow | None:
        """Return the only record that a link means within the partition of its own file."""
        own = each.row.partition
        derived.needs.update(map(name_key, link_names(target)))
        found = links.resolve(self._db, target, each.row.path, lambda partition: partition == own)
        rows = {now.row.id: now for record in found if (now := self._meant(record, derived))}
        return next(iter(rows.values())) if len(rows) == 1 else None

    def _meant(self, record: str, derived: Derived) -> GraphRow | None:
        derived.needs.add(id_key(record))
        return self._current(record)

    def _current(self, record: str) -> GraphRow | None:
        """Return the record that an id means now, merges and corrections followed."""
        here = self._row(record)
        return here or self._row(successors.current(self._db, record) or "")

    def _partition(self, record: str) -> str | None:
        found = self._current(record)
        return found.row.partition if found is not None else None

    def _row(self, record: str) -> GraphRow | None:
        if record not in self._known and not self._all:
            self.read([record])
        return self._known.get(record)


_ROLES: Mapping[str, tuple[str, EdgeKind]] = {
    "owner": (record_rules.OWNER, "belongs_to"),
    "entities": (record_rules.ENTITIES, "mentions"),
}


def _edge(source: GraphRow, target: GraphRow, kind: EdgeKind, rule: str) -> Edge:
    """Return an edge between records: what a record says is certain."""
    ends = uids.record(source.row.id), uids.record(target.row.id)
    return Edge(*ends, kind, 1.0, EXTRACTOR, None, (Signal(rule, 1.0),))


def _find(each: GraphRow, derived: Derived, code: str, message: str, hint: str) -> None:
    said = f"{each.row.title}: {message}"
    derived.findings.append(Finding(code, derived.node.uid, said, hint, each.row.partition))


def _texts(value: Any) -> list[str]:
    """Return the texts of a field that holds one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]
