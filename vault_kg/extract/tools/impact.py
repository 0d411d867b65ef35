"""What a change of a node reaches, and what a new name of it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.extract.backends.values import NodeRow, Where
from vault_kg.extract.edge_kinds import STRONG, STRUCTURAL, WEAK
from vault_kg.extract.tools.asking import Graph, How, reads
from vault_kg.extract.tools.views import (
    AboutOne,
    Answer,
    Confidence,
    Data,
    NodeView,
    node_view,
)
from vault_kg.extract.walks import Step, Walk, walk
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.workspace import Workspace

Tier = Literal["will_break", "should_review", "context"]
TIERS: tuple[Tier, ...] = ("will_break", "should_review", "context")

CONTAINED = 500
"""Symbols of a file, class or folder that are changed with it."""

SHOWN = 60
"""Nodes of one tier in an answer."""


class Impact(AboutOne):
    """What is changed, and how far to look."""

    direction: Literal["downstream", "upstream", "both"] = Field(
        "downstream", description="downstream: what depends on it; upstream: what it depends on."
    )
    depth: Annotated[int, Field(ge=1, le=10)] = 3
    confidence_min: Confidence = 0.3
    visit_limit: Annotated[int, Field(ge=1, le=50_000)] = 500


class Reached(GraphModel):
    """A node that a change reaches, over its nearest way."""

    node: NodeView
    depth: int
    via: str = Field(description="The kind of the last edge.")
    from_uid: str = Field(description="The node before it on the way.")
    confidence: float = Field(description="Of the least sure edge on the way.")


class TierOf(GraphModel):
    """The nodes of a tier, nearest first, and how many there are."""

    items: list[Reached]
    count: int
    total: int


class ImpactData(Data):
    """What a change reaches, by how likely it is to matter."""

    node: NodeView | None
    direction: str
    will_break: TierOf = Field(
        description="Every edge on the way behavioural and at least .7 sure."
    )
    should_review: TierOf = Field(description="At least .4 sure.")
    context: TierOf = Field(description="The rest: possible, or merely near.")
    total: int
    walk_truncated: bool
    expanded_from: int = Field(description="Symbols in it that were walked from, 0 for itself.")


@reads(Answer[ImpactData])
def graph_impact(ws: Workspace, request: Impact, caller: Caller) -> Answer[ImpactData]:
    """Say what a change of a symbol or file reaches, in tiers by confidence.

    downstream follows what depends on it (what may break), upstream what it depends on. A way is as
    sure as its least sure edge; containment and tests never make will_break. A file, class or folder
    counts with all symbols in it.
    """
    graph = Graph(ws, caller)
    row, how = graph.one(request.uid, request.root)
    if row is None:
        empty = TierOf(items=[], count=0, total=0)
        return Answer(
            data=ImpactData(
                node=None, direction=request.direction, will_break=empty, should_review=empty,
                context=empty, total=0, walk_truncated=False, expanded_from=0,
                meta=graph.about(request.uid, None, None),
            )
        )  # fmt: skip
    starts, cut = changed_with(graph, row)
    where = Where(None, request.confidence_min)
    ways = _WAYS[request.direction]
    found = walk(graph.reader, starts, ways, where, request.depth, request.visit_limit)
    return Answer(data=_answer(graph, request, row, how, found, starts, cut))


_WAYS: dict[str, Literal["out", "in", "both"]] = {
    "downstream": "in", "upstream": "out", "both": "both",
}  # fmt: skip


def changed_with(graph: Graph, row: NodeRow) -> tuple[list[int], bool]:
    """Return a node with the symbols in it, which change when it does; and whether some are missing."""
    if row.node.kind not in ("file", "class", "interface", "folder"):
        return [row.key], False
    found = walk(graph.reader, [row.key], "out", Where(("contains",)), 10, CONTAINED)
    return [row.key, *found.keys()], found.truncated


def tier_of(step: Step) -> Tier:
    """Return how likely it is that a node is reached by a change."""
    if step.behavioural and step.weakest >= STRONG:
        return "will_break"
    if step.kind not in STRUCTURAL and step.weakest >= WEAK:
        return "should_review"
    return "context"


def reached(graph: Graph, steps: Sequence[Step]) -> list[Reached]:
    """Return nodes that were reached as answers show them."""
    rows = graph.reader.nodes({key for step in steps for key in (step.key, step.came_from)})
    return [
        Reached(
            node=node_view(rows[step.key]), depth=step.depth, via=step.kind,
            from_uid=rows[step.came_from].node.uid, confidence=step.weakest,
        )
        for step in steps
    ]  # fmt: skip


def _answer(
    graph: Graph, request: Impact, row: NodeRow, how: How | None, found: Walk,
    starts: Sequence[int], cut: bool,
) -> ImpactData:  # fmt: skip
    tiers: dict[Tier, list[Step]] = {tier: [] for tier in TIERS}
    for step in found.steps():
        tiers[tier_of(step)].append(step)
    shown = {
        tier: TierOf(items=reached(graph, steps[:SHOWN]), count=min(len(steps), SHOWN),
                     total=len(steps))
        for tier, steps in tiers.items()
    }  # fmt: skip
    truncated = found.truncated or cut or any(each.total > each.count for each in shown.values())
    return ImpactData(
        node=node_view(row), direction=request.direction, will_break=shown["will_break"],
        should_review=shown["should_review"], context=shown["context"], total=len(found),
        walk_truncated=found.truncated, expanded_from=len(starts) - 1,
        meta=graph.about(request.uid, row, how, truncated=truncated),
    )  # fmt: skip
