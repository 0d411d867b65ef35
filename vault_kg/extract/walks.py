"""Walking the graph level by level, a question or two to the backend for 500 nodes.

Of a node, nothing is kept but the edge that led to it, as the backend gave it. How surely it is
reached is worked out where two edges of a level lead to it, and for who asks: a walk may visit
thousands that nobody is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import Crossing, Direction, Follow, Where
from vault_kg.extract.edge_kinds import BEHAVIOURAL, STRONG

Ways = Literal["out", "in", "both"]

CHUNK = 500
"""Nodes asked of at a time, so that a walk that reaches its limit asks little too much."""

PER_VISIT = 8
"""Edges read for each node that may still be visited; a hub has more than anybody wants."""

LEAST_EDGES = 2_000

_NOWHERE = -1
"""Where the starts come from; no key is negative."""


class Step(NamedTuple):
    """The best of the shortest ways to a node: its last edge, how far, and how surely."""

    key: int
    depth: int
    came_from: int
    """The node before."""
    kind: str
    """Of the last edge."""
    confidence: float
    """Of the last edge."""
    weakest: float
    """The confidence of the least sure edge on the way."""
    behavioural: bool
    """Whether every edge on the way is one over which a change is felt."""


class _Felt(dict[int | str, bool]):
    """Whether a change is felt over edges of a kind, by the backend's sign of it."""

    def __init__(self, kind: Callable[[int | str], str]) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, sign: int | str) -> bool:
        found = self[sign] = self._kind(sign) in BEHAVIOURAL
        return found


class Walk:
    """What was reached, nearest first, and whether there was more."""

    def __init__(self, reader: GraphReader, starts: Collection[int]) -> None:
        self.truncated = self.full = False
        self.edges: dict[int, Crossing] = {key: (_NOWHERE, key, "", 1.0) for key in starts}
        """The last edge of the best way to each node, the starts among them."""
        self.ends = [len(starts)]
        """How many nodes there are up to each level."""
        self._kind, self._felt_over = reader.kind, _Felt(reader.kind)
        self._ways = dict.fromkeys(starts, (1.0, True))

    def __len__(self) -> int:
        return len(self.edges) - self.ends[0]

    def keys(self) -> list[int]:
        """Return the nodes that were reached."""
        return list(islice(self.edges, self.ends[0], None))

    def steps(self) -> list[Step]:
        """Return how each node was reached."""
        edges, felt_over, ways, found = list(self.edges.values()), self._felt_over, self._ways, []
        for depth, (start, end) in enumerate(pairwise(self.ends), 1):
            for here, there, sign, sure in edges[start:end]:
                weakest, felt = ways[here]
                weakest, felt = sure if sure < weakest else weakest, felt and felt_over[sign]
                ways[there] = weakest, felt
                found.append(Step(there, depth, here, self._kind(sign), sure, weakest, felt))
        return found

    def better(self, edge: Crossing, than: Crossing) -> bool:
        """Say whether the way over one edge from the last level is better than that over another.

        A way over which a change is surely felt is better than any other, and then the surer one is.
        Of two that are as good one is chosen by what every backend says alike.
        """
        score, other = self._score(edge), self._score(than)
        return score > other if score != other else self._place(edge) < self._place(than)

    def _place(self, edge: Crossing) -> tuple[bool, float, int, str]:
        """Return where a way stands among those of its score."""
        here, _, sign, sure = edge
        return not self._over(edge)[1], -sure, here, self._kind(sign)

    def _score(self, edge: Crossing) -> float:
        weakest, felt = self._over(edge)
        return weakest + 1.0 if felt and weakest >= STRONG else weakest

    def _over(self, edge: Crossing) -> tuple[float, bool]:
        """Return the confidence of the least sure edge on a way, and whether all of it is felt."""
        here, _, sign, sure = edge
        way = self._ways.get(here)
        if way is None:
            way = self._ways[here] = self._over(self.edges[here])
        weakest, felt = way
        return sure if sure < weakest else weakest, felt and self._felt_over[sign]


def walk(
    reader: GraphReader, starts: Collection[int], ways: Ways, where: Where, depth: int, limit: int
) -> Walk:
    """Walk from some nodes.

    Args:
        reader: the graph.
        starts: where to begin; they are not among the steps.
        ways: along edges, against them, or both.
        where: which edges are followed.
        depth: how many levels.
        limit: how many nodes are visited at most.
    """
    frontier = sorted(set(starts))
    found = Walk(reader, frontier)
    full = len(frontier) + limit
    directions: tuple[Direction, ...] = ("out", "in") if ways == "both" else (ways,)
    follow = [reader.follow(direction, where) for direction in directions]
    for _ in range(depth):
        frontier = _level(found, follow, sorted(frontier), full)
        found.ends.append(len(found.edges))
        if found.full or not frontier:
            break
    return found


def _level(found: Walk, follow: Sequence[Follow], frontier: list[int], full: int) -> list[int]:
    """Find the best way to each node of the next level; returns them in no order."""
    edges, here = found.edges, set(frontier)
    fresh: list[int] = []
    most = max(LEAST_EDGES, PER_VISIT * (full - len(edges)))
    for start in range(0, len(frontier), CHUNK):
        for following in follow:
            crossed = following(frontier[start : start + CHUNK])
            for edge in islice(crossed, most):
                there = edge[1]
                if there not in edges:
                    if len(edges) == full:
                        found.truncated = found.full = True
                        return fresh
                    edges[there] = edge
                    fresh.append(there)
                elif edges[there][0] in here and found.better(edge, edges[there]):
                    edges[there] = edge
            found.truncated |= next(crossed, None) is not None
    return fresh
