"""How one node leads to another, and what is run from a node on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import Direction, Hop, NodeRow, Where
from vault_kg.extract.edge_kinds import EXECUTED
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import (
    ROOT,
    Answer,
    Data,
    Listed,
    NodeView,
    node_view,
    node_views,
)
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace

PER_LEVEL = 20_000
"""Edges looked at for each level of one side; a path is not found through more than that."""

HUB = 200
"""Nodes with more edges than this in one direction are ends of a path, and no part of it."""

PER_CALLER = 50

_DIRECTIONS: tuple[Direction, ...] = ("out", "in")


class Path(GraphRequest):
    """The two ends."""

    source_uid: Line
    target_uid: Line
    root: Line | None = ROOT
    max_hops: Annotated[int, Field(ge=1, le=10)] = 5
    allow_external_intermediates: bool = Field(False, description="Also through stubs.")


class PathEdge(GraphModel):
    """One step of a path; `reverse` is against the edge."""

    source: str
    target: str
    kind: str
    confidence: float
    traversal_direction: Literal["forward", "reverse"]


class PathData(Data):
    """A shortest path, or why there is none."""

    path: list[NodeView]
    edges: list[PathEdge]
    hops: int
    reason: Literal["unknown_end", "unreachable", "exhausted_budget"] | None = None
    walk_truncated: bool = False


class Trace(GraphRequest):
    """Where execution enters."""

    entry_uid: Line
    root: Line | None = ROOT
    max_steps: Annotated[int, Field(ge=1, le=500)] = 50
    include_external: bool = Field(False, description="Also what lies outside the tree.")


class TraceStep(GraphModel):
    """A call, in the order of the lines, depth first."""

    node: NodeView
    depth: int
    called_by: str
    kind: str
    confidence: float
    line: int | None
    seen_before: bool = Field(description="Its own calls were listed already.")


class TraceData(Listed):
    """What is run from an entry on."""

    entry: NodeView | None
    steps: list[TraceStep]


@reads(Answer[PathData])
def graph_path(ws: Workspace, request: Path, caller: Caller) -> Answer[PathData]:
    """Find a shortest way from one node to another, over edges in either direction.

    Stubs and hubs are not gone through. reason says whether there is no way, or none within the
    budget.
    """
    graph = Graph(ws, caller)
    source, how = graph.one(request.source_uid, request.root)
    target, how_target = graph.one(request.target_uid, request.root)
    if source is None or target is None:
        missing = request.source_uid if source is None else request.target_uid
        return Answer(
            data=PathData(path=[], edges=[], hops=0, reason="unknown_end",
                          meta=graph.about(missing, None, None))
        )  # fmt: skip
    search = _TwoSided(graph.reader, allow_stubs=request.allow_external_intermediates)
    way = search.between(source.key, target.key, request.max_hops)
    meta = graph.about(request.source_uid, source, how, truncated=search.cut)
    if how_target != "direct":
        guessed = f"{request.target_uid!r} was taken for {target.node.uid}"
        meta.hint = f"{meta.hint}; {guessed}" if meta.hint else guessed
    if way is None:
        reason: Literal["unreachable", "exhausted_budget"] = (
            "exhausted_budget" if search.cut else "unreachable"
        )
        return Answer(
            data=PathData(path=[], edges=[], hops=0, reason=reason, walk_truncated=search.cut,
                          meta=meta)
        )  # fmt: skip
    rows = graph.reader.nodes({source.key, *(key for hop in way for key in hop[:2])})
    keys, edges = [source.key], []
    for hop in way:
        forward = hop.source == keys[-1]
        keys.append(hop.target if forward else hop.source)
        edges.append(
            PathEdge(
                source=rows[hop.source].node.uid, target=rows[hop.target].node.uid, kind=hop.kind,
                confidence=hop.confidence,
                traversal_direction="forward" if forward else "reverse",
            )
        )  # fmt: skip
    return Answer(
        data=PathData(path=node_views(rows[key] for key in keys), edges=edges, hops=len(edges),
                      walk_truncated=search.cut, meta=meta)
    )  # fmt: skip


@reads(Answer[TraceData])
def graph_trace(ws: Workspace, request: Trace, caller: Caller) -> Answer[TraceData]:
    """Follow the calls from an entry on, depth first in the order of the lines.

    total counts what one walk of the same budget sees; a function that was followed before is listed
    and not followed again.
    """
    graph = Graph(ws, caller)
    entry, how = graph.one(request.entry_uid, request.root)
    if entry is None:
        meta = graph.about(request.entry_uid, None, None)
        return Answer(data=TraceData(entry=None, steps=[], count=0, total=0, meta=meta))
    steps: list[TraceStep] = []
    more = _follow(graph.reader, entry, request, 1, {entry.key}, steps)
    meta = graph.about(request.entry_uid, entry, how, truncated=more > 0)
    return Answer(
        data=TraceData(entry=node_view(entry), steps=steps, count=len(steps),
                       total=len(steps) + more, meta=meta)
    )  # fmt: skip


class _TwoSided:
    """A search level by level from both ends, the smaller side first."""

    def __init__(self, reader: GraphReader, *, allow_stubs: bool) -> None:
        self._reader = reader
        self._allow_stubs = allow_stubs
        self.cut = False

    def between(self, source: int, target: int, most: int) -> list[Hop] | None:
        """Return the edges of a shortest way, or None."""
        if source == target:
            return []
        sides: tuple[dict[int, Hop | None], dict[int, Hop | None]] = {source: None}, {target: None}
        fronts = [[source], [target]]
        for _ in range(most):
            side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
            met, fronts[side] = self._grow(fronts[side], sides[side], sides[1 - side])
            if met is not None:
                return _unwind(met, sides[0])[::-1] + _unwind(met, sides[1])
            if not fronts[side]:
                return None
        self.cut = self.cut or bool(fronts[0] and fronts[1])
        return None

    def _grow(
        self, front: list[int], mine: dict[int, Hop | None], theirs: dict[int, Hop | None]
    ) -> tuple[int | None, list[int]]:
        """Go one level on; returns where the sides met, and what is to be gone through next."""
        fresh: list[int] = []
        for hop, there in self._hops(front, mine):
            if there not in mine:
                mine[there] = hop
                fresh.append(there)
                if there in theirs and theirs[there] is None:
                    return there, fresh
        rows = self._reader.nodes(fresh)
        fresh = [k for k in fresh if k in rows and (self._allow_stubs or not rows[k].stub)]
        hubs = self._hubs([key for key in fresh if key in theirs])
        return next((key for key in fresh if key in theirs and key not in hubs), None), fresh

    def _hubs(self, keys: list[int]) -> set[int]:
        """Return those that are no part of a path, for they have too many edges one way."""
        hubs: set[int] = set()
        for direction in _DIRECTIONS:
            found = self._reader.neighbours(keys, direction, Where(), PER_LEVEL) if keys else []
            counts = Counter(here for here, *_ in found)
            hubs |= {key for key, count in counts.items() if count > HUB}
        self.cut |= bool(hubs)
        return hubs

    def _hops(self, front: list[int], mine: dict[int, Hop | None]) -> Iterator[tuple[Hop, int]]:
        """Yield the edges of a level, each with its end beyond."""
        for direction in _DIRECTIONS:
            found = self._reader.neighbours(front, direction, Where(), PER_LEVEL)
            self.cut |= len(found) == PER_LEVEL
            edges = Counter(here for here, *_ in found)
            hubs = {key for key, count in edges.items() if count > HUB and mine[key] is not None}
            self.cut |= bool(hubs)
            for here, there, kind, sure in found:
                if here not in hubs:
                    ends = (here, there) if direction == "out" else (there, here)
                    yield Hop(*ends, kind, sure), there


def _unwind(key: int, side: dict[int, Hop | None]) -> list[Hop]:
    """Return the edges from a node back to the end of its side."""
    way = []
    while (hop := side[key]) is not None:
        way.append(hop)
        key = hop.source if hop.target == key else hop.target
    return way


def _follow(
    reader: GraphReader, caller: NodeRow, request: Trace, depth: int, followed: set[int],
    steps: list[TraceStep],
) -> int:  # fmt: skip
    """List the calls of one function and theirs; returns how many were left out."""
    edges, total = reader.edges(caller.key, "out", Where(EXECUTED), PER_CALLER)
    rows = reader.nodes({edge.id.target for edge in edges})
    wanted = [e for e in edges if request.include_external or not rows[e.id.target].stub]
    left = total - len(edges)
    for edge in sorted(wanted, key=lambda e: (e.line or 0, e.id.target)):
        if len(steps) >= request.max_steps:
            left += 1
            continue
        row = rows[edge.id.target]
        before = row.key in followed
        steps.append(
            TraceStep(
                node=node_view(row), depth=depth, called_by=caller.node.uid, kind=edge.id.kind,
                confidence=edge.confidence, line=edge.line, seen_before=before,
            )
        )  # fmt: skip
        if not before:
            followed.add(row.key)
            left += _follow(reader, row, request, depth + 1, followed, steps)
    return left
