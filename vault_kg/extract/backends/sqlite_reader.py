"""What the graph holds, as a caller sees it who may not see every partition."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from vault_kg.extract.backends.rows import READ_NODE, read_node
from vault_kg.extract.backends.sight import Sight
from vault_kg.extract.backends.terms import Terms
from vault_kg.extract.backends.values import (
    Choice,
    Direction,
    EdgeRow,
    Finding,
    Follow,
    Hop,
    Neighbour,
    NodeRow,
    Where,
)
from vault_kg.state.database import Database

_NODES = "FROM node JOIN root ON root.id = node.root"
_IN_ROOT = "(:root IS NULL OR root.name = :root)"
_BY_PLACE = "ORDER BY root.name, path, start_line, node.key"
_EDGE = "edge.source, edge.target, edge.kind, extractor, confidence, line, signals, linked"
_HOP = "source, target, kind, confidence"
_ENDS = {"out": ("source", "target"), "in": ("target", "source")}


class SqliteReader:
    """A `GraphReader` over the tables."""

    def __init__(self, db: Database, terms: Terms, sight: Sight) -> None:
        self._db = db
        self._terms = terms
        self._sight = sight

    def find(self, uid: str, root: str | None = None) -> list[NodeRow]:
        """Return the nodes of a uid: one in each root that has it."""
        return self._nodes(f"node.uid = :uid AND {_IN_ROOT}",
                           {"uid": uid, "root": root}, "ORDER BY root.name")  # fmt: skip

    def nodes(self, keys: Collection[int]) -> dict[int, NodeRow]:
        """Return nodes by key."""
        found = self._nodes(
            "node.key IN (SELECT value FROM json_each(:keys))", {"keys": json.dumps(list(keys))}
        )
        return {row.key: row for row in found}

    def under(
        self, path: str, root: str | None, limit: int, kinds: Collection[str] | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes of a file, or of all files in a folder, by path and line; and how many."""
        condition, values = _under(path)
        condition += f" AND {_IN_ROOT}"
        return self._page(condition, values | {"root": root}, kinds, _BY_PLACE, limit)

    def labelled(self, label: str, kinds: Collection[str] | None, limit: int) -> list[NodeRow]:
        """Return nodes of exactly this label, by root, path and line."""
        values = {"label": label, "limit": limit}
        condition, values = self._condition("node.label = :label AND NOT stub", values, kinds)
        found = self._db.rows(
            f"{READ_NODE} {_NODES} WHERE {condition} {_BY_PLACE} LIMIT :limit", values
        )
        return [read_node(row) for row in found]

    def like(
        self, text: str, kinds: Collection[str] | None, limit: int, root: str | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes whose label holds a text, the shortest first; and how many there are."""
        condition = f"instr(lower(label), lower(:text)) > 0 AND NOT stub AND {_IN_ROOT}"
        order = "ORDER BY length(label), label, node.uid, root.name"
        return self._page(condition, {"text": text, "root": root}, kinds, order, limit)

    def search(
        self,
        words: Sequence[str],
        kinds: Collection[str] | None,
        limit: int,
        root: str | None = None,
    ) -> tuple[list[tuple[NodeRow, float]], int]:
        """Return nodes that hold all of these words, best first with a score; and how many."""
        if not words:
            return [], 0
        match = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in words)
        condition, values = self._condition(
            f"NOT stub AND {_IN_ROOT}", {"match": match, "root": root}, kinds
        )
        table = "node_fts JOIN node ON node.key = node_fts.rowid JOIN root ON root.id = node.root"
        where = f"WHERE node_fts MATCH :match AND {condition}"
        total = int(self._db.value(f"SELECT count(*) FROM {table} {where}", values))
        found = self._db.rows(
            f"{READ_NODE}, -bm25(node_fts, 8.0, 4.0, 1.0) AS score FROM {table} {where} "
            "ORDER BY score DESC, length(node.label), node.uid LIMIT :limit",
            values | {"limit": limit},
        )
        return [(read_node(row[:-1]), row[-1]) for row in found], total

    def neighbours(
        self, keys: Collection[int], direction: Direction, where: Where, limit: int | None = None
    ) -> list[Neighbour]:
        """Return what the edges from, or to, any of these nodes lead to, by the nodes' keys.

        They come in the order of the index, which costs nothing and breaks off early.
        """
        found = islice(self.follow(direction, where)(sorted(set(keys))), limit)
        return [(near, far, self.kind(kind), sure) for near, far, kind, sure in found]

    def follow(self, direction: Direction, where: Where) -> Follow:
        """Return what follows the edges of nodes: one statement, compiled once."""
        here, there = _ENDS[direction]
        conditions, values = self._conditions("TRUE", there, where, {})
        sql = (
            f"SELECT {here}, {there}, kind, confidence FROM json_each(:keys) "
            f"CROSS JOIN edge ON {here} = value WHERE {conditions}"
        )
        execute = self._db.connection.execute
        return lambda keys: iter(execute(sql, {"keys": json.dumps(keys), **values}))

    def kind(self, sign: int | str) -> str:
        """Return the kind of an edge that `follow` gave."""
        return self._terms.text(int(sign))

    def edges(
        self, key: int, direction: Direction, where: Where, limit: int
    ) -> tuple[list[EdgeRow], int]:
        """Return the edges from, or to, a node, the surest first; and how many there are."""
        here, there = _ENDS[direction]
        asked = (f"{here} = :key", there, where, {"key": key})
        total = self._edges("count(*)", *asked)[0][0]
        order = f"ORDER BY confidence DESC, kind, {there}, extractor LIMIT {int(limit)}"
        return [self._terms.edge(row) for row in self._edges(_EDGE, *asked, order)], int(total)

    def edge_kinds(self, key: int, direction: Direction) -> dict[str, int]:
        """Return how many edges of each kind lead from, or to, a node."""
        here, there = _ENDS[direction]
        found = self._edges("kind, count(*)", f"{here} = :key", there, Where(), {"key": key},
                            "GROUP BY kind")  # fmt: skip
        return dict(sorted((self._terms.text(kind), count) for kind, count in found))

    def every_hop(self, where: Where, limit: int) -> tuple[list[Hop], int]:
        """Return edges of the whole graph, the surest first; and how many there are."""
        total = self._edges("count(*)", "TRUE", "both", where, {})[0][0]
        order = f"ORDER BY confidence DESC, source, target, kind LIMIT {int(limit)}"
        found = self._edges(_HOP, "TRUE", "both", where, {}, order)
        text = self._terms.text
        return [Hop(a, b, text(kind), sure) for a, b, kind, sure in found], int(total)

    def select(self, choice: Choice, limit: int) -> tuple[list[NodeRow], int]:
        """Return nodes by path and line, and how many there are."""
        parts, values = ["TRUE" if choice.stubs else "NOT stub"], {}
        if choice.role is not None:
            parts.append("roles <> '' AND instr(' ' || roles, ' ' || :role) > 0")
            values["role"] = choice.role
        if choice.path is not None:
            condition, more = _under(choice.path)
            parts.append(condition)
            values |= more
        if choice.not_reached_by is not None:
            parts.append(f"NOT EXISTS ({self._reaching(choice)})")
            values["caller_role"] = choice.reached_from_role or ""
        return self._page(" AND ".join(parts), values, choice.kinds, _BY_PLACE, limit)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many nodes and edges there are of each kind."""
        condition, values = self._condition("NOT stub", {}, None)
        nodes = self._db.rows(
            f"SELECT kind, count(*) {_NODES} WHERE {condition} GROUP BY kind ORDER BY kind", values
        )
        edges = self._edges("kind, count(*)", "TRUE", "both", Where(), {}, "GROUP BY kind")
        text = self._terms.text
        return {
            "nodes": dict(nodes),
            "edges": dict(sorted((text(kind), count) for kind, count in edges)),
        }

    def every_node(self) -> Iterator[NodeRow]:
        """Yield all nodes."""
        condition, values = self._condition("TRUE", {}, None)
        found = self._db.connection.execute(
            f"{READ_NODE} {_NODES} WHERE {condition} ORDER BY node.key", values
        )
        return map(read_node, found)

    def every_edge(self) -> Iterator[EdgeRow]:
        """Yield all edges, also those whose ends are not there."""
        hidden = ""
        if not self._sight.all:
            ends = (
                f"SELECT 1 FROM node WHERE key IN (source, target) AND NOT ({self._sight.node()})"
            )
            hidden = f" WHERE NOT EXISTS ({ends})"
        found = self._db.connection.execute(
            f"SELECT {_EDGE} FROM edge{hidden} ORDER BY source, target, kind, extractor",
            self._sight.values,
        )
        return map(self._terms.edge, found)

    def findings(self) -> list[Finding]:
        """Return the connections of records that should be there and are not."""
        found = self._db.rows(
            "SELECT code, subject, message, hint, partition FROM finding "
            f"WHERE {self._sight.finding()} ORDER BY code, subject, message",
            self._sight.values,
        )
        return [Finding(*values) for values in found]

    def _nodes(self, condition: str, values: dict[str, Any], order: str = "") -> list[NodeRow]:
        condition, values = self._condition(condition, values, None)
        found = self._db.rows(f"{READ_NODE} {_NODES} WHERE {condition} {order}", values)
        return [read_node(row) for row in found]

    def _page(
        self, condition: str, values: dict[str, Any], kinds: Collection[str] | None, order: str,
        limit: int,
    ) -> tuple[list[NodeRow], int]:  # fmt: skip
        condition, values = self._condition(condition, values, kinds)
        total = int(self._db.value(f"SELECT count(*) {_NODES} WHERE {condition}", values))
        found = self._db.rows(
            f"{READ_NODE} {_NODES} WHERE {condition} {order} LIMIT :limit",
            values | {"limit": limit},
        )
        return [read_node(row) for row in found], total

    def _condition(
        self, condition: str, values: dict[str, Any], kinds: Collection[str] | None
    ) -> tuple[str, dict[str, Any]]:
        parts, values = [f"({condition})"], dict(values)
        if kinds is not None:
            parts.append("node.kind IN (SELECT value FROM json_each(:kinds))")
            values["kinds"] = json.dumps(sorted(kinds))
        if not self._sight.all:
            parts += [self._sight.node(), self._sight.stub()]
            values |= self._sight.values
        return " AND ".join(parts), values

    def _edges(
        self, columns: str, condition: str, ends: str, where: Where, values: dict[str, Any],
        order: str = "",
    ) -> list[tuple[Any, ...]]:  # fmt: skip
        """Read edges whose other end (`source`, `target` or `both`) the caller sees."""
        conditions, values = self._conditions(condition, ends, where, values)
        return self._db.rows(f"SELECT {columns} FROM edge WHERE {conditions} {order}", values)

    def _conditions(
        self, condition: str, ends: str, where: Where, values: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        parts, values = [condition], dict(values)
        if where.confidence > 0:
            parts.append("confidence >= :confidence")
            values["confidence"] = where.confidence
        if where.kinds is not None:
            parts.append(f"kind IN ({self._numbers(where.kinds)})")
        if not self._sight.all:
            parts += map(self._sight.end, ("source", "target") if ends == "both" else (ends,))
            values |= self._sight.values
        return " AND ".join(parts), values

    def _reaching(self, choice: Choice) -> str:
        assert choice.not_reached_by is not None
        return (
            "SELECT 1 FROM edge JOIN node AS caller ON caller.key = edge.source "
            "WHERE edge.target = node.key AND edge.source <> node.key "
            f"AND edge.kind IN ({self._numbers(choice.not_reached_by)}) "
            "AND instr(' ' || caller.roles, ' ' || :caller_role) > 0 "
            f"AND {self._sight.node('caller')}"
        )

    def _numbers(self, kinds: Collection[str]) -> str:
        numbers = [self._terms.find(kind) for kind in sorted(kinds)]
        return ", ".join(str(number) for number in numbers if number is not None)


def _under(path: str) -> tuple[str, dict[str, Any]]:
    """Return the condition that a node lies at a path, or in the folder of this path."""
    if path in ("", "."):
        return "path IS NOT NULL", {}
    return (
        "(path = :path OR (path >= :path || '/' AND path < :path || '0'))",
        {"path": path.rstrip("/")},
    )
