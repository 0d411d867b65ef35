"""Walking the graph level by level, one question to the backend for each level."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import Direction, Neighbour, Where
from vault_kg.extract.edge_kinds import BEHAVIOURAL, STRONG

Ways = Literal["out", "in", "both"]

CHUNK = 500
"""Nodes asked of at a time, so that a walk that reaches its limit asks little too much."""

PER_VISIT = 8
"""Edges read for each node that may still be visited; a hub has more than anybody wants."""

LEAST_EDGES = 2_000


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


_Way = tuple[int, str, float, float, bool, int, float]
"""The fields of a step from `came_from` on, its depth, and a score: plain, for there are many."""


@dataclass
class Walk:
    """What was reached, nearest first, and whether there was more."""

    ways: dict[int, _Way] = field(default_factory=dict)
    truncated: bool = False

    def __len__(self) -> int:
        return len(self.ways)

    def keys(self) -> list[int]:
        """Return the nodes that were reached."""
        return list(self.ways)

    def steps(self) -> list[Step]:
        """Return how each node was reached."""
        return [
            Step(key, depth, came_from, kind, sure, weakest, felt)
            for key, (came_from, kind, sure, weakest, felt, depth, _) in self.ways.items()
        ]


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
    found = Walk()
    known = set(starts)
    frontier = sorted(known)
    for level in range(1, depth + 1):
        best = _level(reader, frontier, ways, where, level, limit, found, known)
        full = len(found) + len(best) > limit
        if full:
            best.popitem()
            found.truncated = True
        found.ways |= best
        known |= best.keys()
        frontier = sorted(best)
        if full or not frontier:
            break
    return found


def _level(
    reader: GraphReader, frontier: list[int], ways: Ways, where: Where, level: int, limit: int,
    found: Walk, known: set[int],
) -> dict[int, _Way]:  # fmt: skip
    """Return the best way to each node of the next level; of one more than there is room for."""
    directions: tuple[Direction, ...] = ("out", "in") if ways == "both" else (ways,)
    room = limit - len(found)
    most = max(LEAST_EDGES, PER_VISIT * room)
    best: dict[int, _Way] = {}
    for start in range(0, len(frontier), CHUNK):
        chunk = frontier[start : start + CHUNK]
        for direction in directions:
            edges = reader.neighbours(chunk, direction, where, most)
            found.truncated |= len(edges) == most
            if _take(edges, level, found.ways, known, best, room):
                return best
    return best


def _take(
    edges: list[Neighbour], level: int, ways: dict[int, _Way], known: set[int],
    best: dict[int, _Way], room: int,
) -> bool:  # fmt: skip
    """Keep the best way to each node that is new; returns whether there are too many of them.

    A way over which a change is surely felt is better than any other, and then the surer one is.
    """
    for here, there, kind, sure in edges:
        if there in known:
            continue
        weakest, felt = sure, kind in BEHAVIOURAL
        if here in ways:
            before = ways[here]
            weakest, felt = min(sure, before[3]), felt and before[4]
        score = weakest + 1.0 if felt and weakest >= STRONG else weakest
        if there not in best:
            best[there] = (here, kind, sure, weakest, felt, level, score)
            if len(best) > room:
                return True
        elif score > best[there][6]:
            best[there] = (here, kind, sure, weakest, felt, level, score)
    return False
