"""What the graph in memory holds, as a caller sees it: the plainest form of each answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vault_kg.extract.backends.rows import searched, tokens_of
from vault_kg.extract.backends.values import (
    Choice,
    Crossing,
    Direction,
    EdgeRow,
    Finding,
    Follow,
    Hop,
    Neighbour,
    NodeRow,
    Where,
)

if TYPE_CHECKING:
    from vault_kg.extract.backends.memory_graph import Graph

Wanted = Callable[[NodeRow], bool]


class MemoryReader:
    """A `GraphReader` over what is in memory."""

    def __init__(
        self, graph: Graph, partitions: frozenset[str] | None, hidden: frozenset[int]
    ) -> None:
        self._graph = graph
        self._partitions = partitions
        self._hidden = hidden

    def find(self, uid: str, root: str | None = None) -> list[NodeRow]:
        """Return the nodes of a uid: one in each root that has it."""
        found = self._where(lambda row: row.node.uid == uid and root in (None, row.root))
        return sorted(found, key=lambda row: row.root)

    def nodes(self, keys: Collection[int]) -> dict[int, NodeRow]:
        """Return nodes by key."""
        found = {key: row for key in keys if (row := self._graph.nodes.get(key))}
        return {key: row for key, row in found.items() if self._shows(row)}

    def under(
        self, path: str, root: str | None, limit: int, kinds: Collection[str] | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes of a file, or of all files in a folder, by path and line; and how many."""
        found = self._where(
            lambda row: (
                _under(row, path)
                and root in (None, row.root)
                and (kinds is None or row.node.kind in kinds)
            )
        )
        return _page(found, limit)

    def labelled(self, label: str, kinds: Collection[str] | None, limit: int) -> list[NodeRow]:
        """Return nodes of exactly this label, by root, path and line."""
        found = self._where(
            lambda row: (
                not row.stub
                and row.node.label == label
                and (kinds is None or row.node.kind in kinds)
            )
        )
        return _page(found, limit)[0]

    def like(
        self, text: str, kinds: Collection[str] | None, limit: int, root: str | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes whose label holds a text, the shortest first; and how many there are."""
        wanted = text.lower()
        found = self._where(
            lambda row: (
                not row.stub
                and root in (None, row.root)
                and wanted in row.node.label.lower()
                and (kinds is None or row.node.kind in kinds)
            )
        )
        found.sort(key=lambda row: (len(row.node.label), row.node.label, row.node.uid, row.root))
        return found[:limit], len(found)

    def search(
        self,
        words: Sequence[str],
        kinds: Collection[str] | None,
        limit: int,
        root: str | None = None,
    ) -> tuple[list[tuple[NodeRow, float]], int]:
        """Return nodes that hold all of these words, best first with a score; and how many."""
        wanted = [token for word in words for token in tokens_of(word)]
        if not wanted:
            return [], 0
        scored = []
        for row in self._where(lambda row: not row.stub and root in (None, row.root)):
            if kinds is not None and row.node.kind not in kinds:
                continue
            held = [Counter(tokens_of(part)) for part in searched(row.node)]
            if all(any(word in part for part in held) for word in wanted):
                score = sum(
                    8 * h[w] * f for w in wanted for h, f in zip(held, (1, 0.5, 0.1), strict=True)
                )
                scored.append((row, float(score)))
        scored.sort(key=lambda pair: (-pair[1], len(pair[0].node.label), pair[0].node.uid))
        return scored[:limit], len(scored)

    def neighbours(
        self, keys: Collection[int], direction: Direction, where: Where, limit: int | None = None
    ) -> list[Neighbour]:
        """Return what the edges from, or to, any of these nodes lead to, by the nodes' keys."""
        wanted, near = set(keys), 0 if direction == "out" else 1
        found: list[Neighbour] = []
        for edge in self._edges(where):
            ends = edge.id.source, edge.id.target
            if ends[near] in wanted:
                found.append((ends[near], ends[1 - near], edge.id.kind, edge.confidence))
        return sorted(found, key=lambda each: each[:2])[:limit]

    def follow(self, direction: Direction, where: Where) -> Follow:
        """Return what follows the edges of nodes."""

        def following(keys: Sequence[int]) -> Iterator[Crossing]:
            place = {key: n for n, key in enumerate(keys)}
            found = self.neighbours(keys, direction, where)
            return iter(sorted(found, key=lambda each: place[each[0]]))

        return following

    def kind(self, sign: int | str) -> str:
        """Return the kind of an edge that `follow` gave."""
        return str(sign)

    def edges(
        self, key: int, direction: Direction, where: Where, limit: int
    ) -> tuple[list[EdgeRow], int]:
        """Return the edges from, or to, a node, the surest first; and how many there are."""
        end = 0 if direction == "out" else 1
        found = [edge for edge in self._edges(where) if edge.id[end] == key]
        found.sort(key=lambda e: (-e.confidence, e.id.kind, e.id[1 - end], e.id.extractor))
        return found[:limit], len(found)

    def edge_kinds(self, key: int, direction: Direction) -> dict[str, int]:
        """Return how many edges of each kind lead from, or to, a node."""
        end = 0 if direction == "out" else 1
        found = Counter(e.id.kind for e in self._edges(Where()) if e.id[end] == key)
        return dict(sorted(found.items()))

    def every_hop(self, where: Where, limit: int) -> tuple[list[Hop], int]:
        """Return edges of the whole graph, the surest first; and how many there are."""
        found = sorted(map(_hop, self._edges(where)), key=lambda h: (-h.confidence, *h[:3]))
        return found[:limit], len(found)

    def select(self, choice: Choice, limit: int) -> tuple[list[NodeRow], int]:
        """Return nodes by path and line, and how many there are."""
        reached = set()
        if choice.not_reached_by is not None:
            for edge in self._edges(Where(choice.not_reached_by)):
                caller = self._graph.nodes[edge.id.source]
                if edge.id.source != edge.id.target and _plays(caller, choice.reached_from_role):
                    reached.add(edge.id.target)
        found = self._where(
            lambda row: (
                (choice.stubs or not row.stub)
                and (choice.kinds is None or row.node.kind in choice.kinds)
                and _plays(row, choice.role)
                and (choice.path is None or _under(row, choice.path))
                and row.key not in reached
            )
        )
        return _page(found, limit)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many nodes and edges there are of each kind."""
        nodes = Counter(row.node.kind for row in self._where(lambda row: not row.stub))
        edges = Counter(edge.id.kind for edge in self._edges(Where()))
        return {"nodes": dict(sorted(nodes.items())), "edges": dict(sorted(edges.items()))}

    def every_node(self) -> Iterator[NodeRow]:
        """Yield all nodes."""
        return iter(sorted(self._where(lambda _: True), key=lambda row: row.key))

    def every_edge(self) -> Iterator[EdgeRow]:
        """Yield all edges, also those whose ends are not there."""
        for edge in sorted(self._graph.edges.values(), key=lambda edge: edge.id):
            ends = (self._graph.nodes.get(key) for key in edge.id[:2])
            if all(end is None or self._sees(end) for end in ends):
                yield edge

    def findings(self) -> list[Finding]:
        """Return the connections of records that should be there and are not."""
        nodes = self._graph.nodes
        hidden = {nodes[key].node.uid for key in self._hidden if key in nodes}
        found = [
            f
            for f in self._graph.findings
            if f.subject not in hidden and self._sees_partition(f.partition)
        ]
        return sorted(found, key=lambda f: f[:3])

    def _where(self, wanted: Wanted) -> list[NodeRow]:
        return [row for row in self._graph.nodes.values() if wanted(row) and self._shows(row)]

    def _edges(self, where: Where) -> Iterable[EdgeRow]:
        for edge in self._graph.edges.values():
            ends = (self._graph.nodes[edge.id.source], self._graph.nodes[edge.id.target])
            if (
                edge.confidence >= where.confidence
                and (where.kinds is None or edge.id.kind in where.kinds)
                and all(map(self._sees, ends))
            ):
                yield edge

    def _shows(self, row: NodeRow) -> bool:
        """Say whether a node is seen; a stub is where a file that is seen names it."""
        all_seen = self._partitions is None and not self._hidden
        if all_seen or not row.stub or not self._sees(row):
            return self._sees(row)
        named_by = (
            edge.id.source for edge in self._graph.edges.values() if edge.id.target == row.key
        )
        return any(self._sees(self._graph.nodes[key]) for key in named_by)

    def _sees(self, row: NodeRow) -> bool:
        return row.key not in self._hidden and self._sees_partition(row.partition)

    def _sees_partition(self, partition: str | None) -> bool:
        every = self._partitions
        return every is None or partition is None or set(partition.split("/")) <= every


def _hop(edge: EdgeRow) -> Hop:
    return Hop(edge.id.source, edge.id.target, edge.id.kind, edge.confidence)


def _under(row: NodeRow, path: str) -> bool:
    at = row.node.path
    if at is None or path in ("", "."):
        return at is not None
    return at == path.rstrip("/") or at.startswith(path.rstrip("/") + "/")


def _plays(row: NodeRow, role: str | None) -> bool:
    return role is None or any(r.startswith(role) for r in row.node.roles)


def _page(found: list[NodeRow], limit: int) -> tuple[list[NodeRow], int]:
    found.sort(key=lambda r: (r.root, r.node.path is not None, r.node.path or "",
                              r.node.start_line is not None, r.node.start_line or 0, r.key))  # fmt: skip
    return found[:limit], len(found)
