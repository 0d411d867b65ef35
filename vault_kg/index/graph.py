"""Walking the connections of a record, now or as they stood.

An edge is explicit where a relationship record states it, and derived where it follows from another
record: a claim's owner and entities, a dependency, a wikilink. Only what is eligible is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from vault_kg.index import links
from vault_kg.index.eligibility import CURRENT, NOT_BLOCKED
from vault_kg.records import names
from vault_kg.records.model import Record
from vault_kg.state import merges
from vault_kg.state.database import Database
from vault_kg.state.revisions import Revision

MAX_NODES = 20_000

END = "endpoint"
"""How a relationship record leads to its ends; seen from these, the edge that it states says it."""

Direction = Literal["out", "in", "both"]


@dataclass(frozen=True)
class NodeRow:
    """A record that edges join."""

    id: str
    kind: str
    type: str | None
    title: str
    partition: str
    about: tuple[str, ...] = ()
    """The owner of a claim, or the ends of a relationship."""


@dataclass(frozen=True)
class EdgeRow:
    """One directed connection; `record` is the relationship that states it, if one does."""

    source: str
    target: str
    type: str
    record: str | None = None
    fact: str | None = None
    partition: str | None = None


class Reader(Protocol):
    """Where edges are read from."""

    def final(self, record_id: str) -> str:
        """Return the page that an id means, merges followed."""
        ...

    def node(self, record_id: str) -> NodeRow | None:
        """Return an eligible record."""
        ...

    def edges(self, record_id: str, direction: Direction) -> list[EdgeRow]:
        """Return the edges of a record, in a stable order."""
        ...


class PastRecord(Protocol):
    """A record as it stood."""

    @property
    def revision(self) -> Revision:
        """Which revision it was."""
        ...

    @property
    def record(self) -> Record:
        """What it said."""
        ...

    @property
    def eligible(self) -> bool:
        """Whether default reads saw it."""
        ...


@dataclass(frozen=True)
class Walk:
    """A neighbourhood, nearest first, with true totals."""

    start: str
    nodes: list[NodeRow]
    edges: list[tuple[EdgeRow, int]]
    total_nodes: int
    total_edges: int


def walk(
    reader: Reader,
    record_id: str,
    *,
    direction: Direction,
    types: set[str] | None,
    depth: int,
    limit: int,
    sees: Callable[[str], bool],
    exists: Callable[[NodeRow], bool],
) -> Walk:
    """Walk from a record, level by level.

    Args:
        reader: where edges are read from.
        record_id: where to start.
        direction: along edges, against them, or both.
        types: only edges of these types (lookup keys); None for all.
        depth: how many levels.
        limit: how many nodes and edges the answer holds at most.
        sees: whether a partition exists for the caller.
        exists: whether a record of such a partition does.
    """
    start = reader.final(record_id)
    seen: dict[str, NodeRow] = {}
    edges: dict[EdgeRow, int] = {}
    frontier = [start]
    for level in range(1, depth + 1):
        following: list[str] = []
        for here in frontier:
            for edge in reader.edges(here, direction):
                if types is not None and names.lookup_key(edge.type) not in types:
                    continue
                other = edge.target if edge.source == here else edge.source
                node = seen.get(other) or reader.node(other)
                if (
                    node is None
                    or not sees(node.partition)
                    or not sees(edge.partition or node.partition)
                    or not exists(node)
                ):
                    continue
                edges.setdefault(edge, level)
                if other != start and other not in seen and len(seen) < MAX_NODES:
                    seen[other] = node
                    following.append(other)
        frontier = following
    nodes = list(seen.values())
    return Walk(start, nodes[:limit], list(edges.items())[:limit], len(nodes), len(edges))


def current(db: Database, now: str) -> Reader:
    """Return a reader of what stands now."""
    return _Current(db, now)


def past(records: Iterable[PastRecord]) -> Reader:
    """Return a reader of records as they stood."""
    return _Past(records)


class _Current:
    def __init__(self, db: Database, now: str) -> None:
        self._db = db
        self._now = now
        self._chains = merges.targets(db)
        self._absorbed: dict[str, list[str]] = {}
        for absorbed in self._chains:
            final = self.final(absorbed)
            self._absorbed.setdefault(final, []).append(absorbed)

    def final(self, record_id: str) -> str:
        return merges.resolve(self._chains, record_id) or record_id

    def node(self, record_id: str) -> NodeRow | None:
        row = self._db.row(
            "SELECT id, kind, type, title, partition, owner, from_id, to_id FROM record "
            f"WHERE id = :id AND {CURRENT} AND {NOT_BLOCKED}",
            {"id": record_id, "now": self._now},
        )
        if row is None:
            return None
        uid, kind, type_name, title, partition, *about = row
        return NodeRow(uid, kind, type_name, title, partition, _present(*about))

    def edges(self, record_id: str, direction: Direction) -> list[EdgeRow]:
        found: list[EdgeRow] = []
        for alias in (record_id, *self._absorbed.get(record_id, ())):
            if direction in ("out", "both"):
                found += self._out(alias)
            if direction in ("in", "both"):
                found += self._in(alias)
        return list(dict.fromkeys(found))

    def _out(self, record_id: str) -> list[EdgeRow]:
        stated = self._stated("from_id", record_id)
        own = self._db.row(
            f"SELECT key FROM record WHERE id = :id AND {CURRENT}",
            {"id": record_id, "now": self._now},
        )
        if own is None:
            return stated
        derived = self._db.rows(
            "SELECT via, target FROM edge WHERE key = ? ORDER BY via, target", (own[0],)
        )
        stated += [EdgeRow(record_id, self.final(target), via) for via, target in derived]
        for link in links.links_of(self._db, own[0]):
            targets = links.resolve(self._db, link.target, link.path)
            if len(targets) == 1 and self.final(targets[0]) != record_id:
                stated.append(EdgeRow(record_id, self.final(targets[0]), "wikilink"))
        return stated

    def _in(self, record_id: str) -> list[EdgeRow]:
        found = self._stated("to_id", record_id)
        rows = self._db.rows(
            f"SELECT record.id, edge.via FROM edge JOIN record USING (key) WHERE edge.target = :id "
            f"AND edge.via <> :stated AND {CURRENT} AND {NOT_BLOCKED} ORDER BY record.id, edge.via",
            {"id": record_id, "now": self._now, "stated": END},
        )
        final = self.final(record_id)
        found += [EdgeRow(source, final, via) for source, via in rows]
        linking = links.linking_to(self._db, record_id)
        found += [EdgeRow(source, final, "wikilink") for source, *_ in linking]
        return found

    def _stated(self, column: str, record_id: str) -> list[EdgeRow]:
        rows = self._db.rows(
            "SELECT record.from_id, record.to_id, coalesce(type, 'related'), id, partition, "
            "(SELECT text FROM passage WHERE passage.record = record.key ORDER BY ordinal LIMIT 1) "
            f"FROM record WHERE {column} = :id AND kind = 'relationship' AND {CURRENT} "
            f"AND {NOT_BLOCKED} ORDER BY id",
            {"id": record_id, "now": self._now},
        )
        return [
            EdgeRow(self.final(source), self.final(target), name, relation, fact, partition)
            for source, target, name, relation, partition, fact in rows
        ]


class _Past:
    def __init__(self, records: Iterable[PastRecord]) -> None:
        self._records = {p.revision.record_id: p for p in records}
        self._merged = {
            i: p.record.merged_into for i, p in self._records.items() if p.record.merged_into
        }
        self._edges = [edge for p in self._records.values() if p.eligible for edge in self._of(p)]

    def final(self, record_id: str) -> str:
        for _ in range(merges.MAX_HOPS + 1):
            record_id = self._merged.get(record_id) or record_id
        return record_id

    def node(self, record_id: str) -> NodeRow | None:
        found = self._records.get(record_id)
        if found is None or not found.eligible:
            return None
        record = found.record
        about = _present(record.owner, record.from_id, record.to_id)
        return NodeRow(
            record.id, record.kind, record.type, record.title, found.revision.partition, about
        )

    def edges(self, record_id: str, direction: Direction) -> list[EdgeRow]:
        out = [e for e in self._edges if e.source == record_id] if direction != "in" else []
        into = [e for e in self._edges if e.target == record_id and e.type != END]
        into = into if direction != "out" else []
        return list(dict.fromkeys([*out, *into]))

    def _of(self, past: PastRecord) -> list[EdgeRow]:
        record = past.record
        found = [EdgeRow(record.id, self.final(r.target), r.via) for r in record.references()]
        if record.kind == "relationship" and record.from_id and record.to_id:
            found.append(
                EdgeRow(
                    self.final(record.from_id), self.final(record.to_id), record.type or "related",
                    record.id, record.body.strip(), past.revision.partition,
                )
            )  # fmt: skip
        return found


def _present(*ids: str | None) -> tuple[str, ...]:
    return tuple(one for one in ids if one)
