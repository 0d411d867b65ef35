"""Reads along edges: contradictions, alternatives, and lessons of bugs."""

from __future__ import annotations

from pydantic import Field

from vault_kg.consolidation import viewing
from vault_kg.consolidation.joining import Joint, joined, pages
from vault_kg.consolidation.viewing import EdgeView, Nodes, NodeView, Reading, Rows
from vault_kg.index import catalog
from vault_kg.index.listing import Filter
from vault_kg.index.query import parse_query
from vault_kg.operations import paging, searching
from vault_kg.operations.base import Cursor, Id, Line, Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest, Listed
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import visible
from vault_kg.operations.workspace import Workspace

_FOUND = 1_000


class FindContradictions(GraphRequest):
    """Which contradictions."""

    board_id: Partition | None = None
    node_id: Id | None = Field(None, description="Only those of this node.")
    max_rows: Rows = 50
    cursor: Cursor | None = None


class Contradiction(GraphModel):
    """Two nodes that cannot both hold."""

    edge_id: str
    id_a: str
    title_a: str
    id_b: str
    title_b: str
    fact: str
    confidence: float | None


class Contradictions(Listed):
    """Contradictions, oldest first."""

    pairs: list[Contradiction]


class ListAlternatives(Reading):
    """The decision."""

    decision_id: Id


class LearningFromBugs(Reading):
    """Where the bugs are."""

    area: Line = Field(min_length=1, description="Words: of the bug, or of what was learnt.")


class Lesson(GraphModel):
    """What was learnt, and from which bug."""

    learning: NodeView
    bug: NodeView
    edge: EdgeView


class Lessons(GraphModel):
    """Lessons, the most relevant first."""

    lessons: list[Lesson]
    count: int
    total: int


@operation("read", Contradictions, toolset="consolidation")
def kg_find_contradictions(
    ws: Workspace, request: FindContradictions, caller: Caller
) -> Contradictions:
    """List pairs of current nodes that contradict each other, of one node or of all."""
    of = None
    if request.node_id is not None:
        of = [viewing.node_row(ws, caller, request.node_id).id]
    found = joined(ws, caller, request.board_id, rel="contradicts", nodes=of)
    after = str((paging.decode(request, request.cursor) or [""])[0])
    left = [joint for joint in found if joint.row.id > after]
    listed = left[: request.max_rows]
    titles = _titles(ws, listed)
    shown = viewing.edges(ws, [joint.row for joint in listed])
    pairs = [
        Contradiction(
            edge_id=edge.edge_id, id_a=edge.src, title_a=titles.get(edge.src, edge.src),
            id_b=edge.dst, title_b=titles.get(edge.dst, edge.dst), fact=edge.fact,
            confidence=edge.confidence,
        )
        for edge in shown
    ]  # fmt: skip
    viewing.asked_for(ws, {name for pair in pairs for name in (pair.id_a, pair.id_b)})
    more = len(left) > len(listed)
    return Contradictions(
        pairs=pairs, count=len(pairs), total=len(found),
        next_cursor=paging.encode(request, [listed[-1].row.id]) if more else None,
    )  # fmt: skip


@operation("read", Nodes, toolset="consolidation")
def kg_list_alternatives(ws: Workspace, request: ListAlternatives, caller: Caller) -> Nodes:
    """List the options that were weighed for a decision and not taken, the most relevant first."""
    decision = viewing.node_row(ws, caller, request.decision_id)
    found = joined(ws, caller, request.board_id, rel="relates_to", nodes=[decision.id])
    ends = {end for joint in found for end in (joint.src, joint.dst)}
    keys = [row.key for row in pages(ws, caller, ends) if row.type == "Alternative"]
    views = viewing.nodes(ws, caller, keys)
    return viewing.kept(ws, request, sorted(views, key=_by_relevance))


@operation("read", Lessons, toolset="consolidation")
def kg_get_learning_from_bugs(ws: Workspace, request: LearningFromBugs, caller: Caller) -> Lessons:
    """Find what was learnt from bugs in an area, with each bug, the most relevant first."""
    wanted = Filter(
        ws.now(), kinds=("page",), types=("Bug", "Learning"),
        partitions=visible(caller, request.board_id),
    )  # fmt: skip
    found = searching.answer(ws, parse_query(request.area), wanted, _FOUND, floor=0.3)
    hits = {each.row.id for each in found.shown}
    rows = joined(ws, caller, request.board_id, rel="validates", nodes=hits)
    keys = [row.key for row in pages(ws, caller, {end for j in rows for end in (j.src, j.dst)})]
    views = {view.node_id: view for view in viewing.nodes(ws, caller, keys)}
    lessons = [
        Lesson(learning=views[edge.src], bug=views[edge.dst], edge=edge)
        for edge in viewing.edges(ws, [joint.row for joint in rows])
        if edge.src in views and edge.dst in views
    ]
    good = [
        each
        for each in sorted(lessons, key=lambda each: _by_relevance(each.learning))
        if each.learning.confidence >= request.min_confidence
        and each.learning.relevance >= request.min_relevance
    ]
    shown = good[: request.max_rows]
    viewing.asked_for(ws, {each.learning.node_id for each in shown})
    return Lessons(lessons=shown, count=len(shown), total=len(good))


def _titles(ws: Workspace, found: list[Joint]) -> dict[str, str]:
    ends = {end for joint in found for end in (joint.src, joint.dst)}
    return {row.id: row.title for end in ends for row in catalog.by_id(ws.database, end)}


def _by_relevance(view: NodeView) -> tuple[float, str]:
    return -view.relevance, view.node_id
