"""Reads of decisions: their history, their chains of supersession, and what is like them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_kg.consolidation import viewing
from vault_kg.consolidation.hints import DECISION
from vault_kg.consolidation.viewing import Nodes, NodeView, Reading, Rows
from vault_kg.index import catalog, successors
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.index.query import parse_query
from vault_kg.operations import searching
from vault_kg.operations.base import Id, Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest, Similarity
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import visible
from vault_kg.operations.workspace import Workspace
from vault_kg.state import guards

MAX_CHAIN = 1_000

Topic = Annotated[
    Line,
    StringConstraints(strip_whitespace=True, min_length=1),
    Field(description="Words: what the decisions are about."),
]


class DecisionHistory(Reading):
    """What the decisions are about."""

    topic: Topic
    min_similarity: Similarity = Field(0.3, description="Of what is found by meaning alone.")


class SimilarDecisions(GraphRequest):
    """What the decisions are about."""

    board_id: Line | None = None
    topic: Topic
    top_k: Rows = 10
    min_similarity: Similarity = 0.3


class SimilarDecision(GraphModel):
    """A current decision, and why it is like what was asked for."""

    node: NodeView
    similarity: float | None
    text_match: bool


class Similars(GraphModel):
    """Decisions, the most alike first."""

    decisions: list[SimilarDecision]
    count: int
    semantic: str = Field(description="ready, off or degraded.")


class SupersedenceChain(GraphRequest):
    """Any node of the chain."""

    node_id: Id


class Chain(GraphModel):
    """A chain of supersession, the oldest first; `current` stands at its end, if anything does."""

    chain: list[NodeView]
    depth: int = Field(description="Steps from the oldest to the newest.")
    current: str | None


@operation("read", Nodes, toolset="consolidation")
def kg_get_decision_history(ws: Workspace, request: DecisionHistory, caller: Caller) -> Nodes:
    """Show which decisions were taken about a topic, superseded ones too, the newest first."""
    rows, _ = _decisions(ws, request.board_id, request.topic, request.min_similarity, caller,
                         "historical", 1_000)  # fmt: skip
    newest = sorted((row for row, *_ in rows), key=lambda row: (row.recorded_at, row.id))
    views = viewing.nodes(ws, caller, [row.key for row in reversed(newest)])
    return viewing.kept(ws, request, views)


@operation("read", Similars, toolset="consolidation")
def kg_find_similar_decisions(ws: Workspace, request: SimilarDecisions, caller: Caller) -> Similars:
    """Find current decisions like a topic, by words and by meaning, the most alike first."""
    rows, semantic = _decisions(ws, request.board_id, request.topic, request.min_similarity, caller,
                                "active", request.top_k)  # fmt: skip
    views = {v.node_id: v for v in viewing.nodes(ws, caller, [row.key for row, *_ in rows])}
    found = [
        SimilarDecision(node=views[row.id], similarity=similarity, text_match=by_words)
        for row, similarity, by_words in rows
        if row.id in views
    ]
    viewing.asked_for(ws, (each.node.node_id for each in found))
    return Similars(decisions=found, count=len(found), semantic=semantic)


@operation("read", Chain, toolset="consolidation")
def kg_get_supersedence_chain(ws: Workspace, request: SupersedenceChain, caller: Caller) -> Chain:
    """Follow what a node replaced and what replaced it; current is the same from every link."""
    start = viewing.node_row(ws, caller, request.node_id)
    rows = [row for row in _chain(ws, start) if caller.sees(row.partition)]
    current = successors.current(ws.database, rows[-1].id)
    row = next(iter(catalog.by_id(ws.database, current)), None) if current else None
    if row is None or not caller.sees(row.partition):
        current = None
    views = viewing.nodes(ws, caller, [row.key for row in rows])
    return Chain(chain=views, depth=len(views) - 1, current=current)


def _decisions(
    ws: Workspace, board_id: str | None, topic: str, floor: float, caller: Caller, lifecycle: str,
    limit: int,
) -> tuple[list[tuple[Row, float | None, bool]], str]:  # fmt: skip
    """Return decisions about a topic, best first, each with its similarity and whether words fit."""
    wanted = Filter(
        ws.now(), kinds=("page",), types=(DECISION,), partitions=visible(caller, board_id),
        lifecycle=lifecycle,
    )  # fmt: skip
    found = searching.answer(ws, parse_query(topic), wanted, limit, floor=floor)
    rows = [(each.row, each.hit.similarity, each.hit.bm25 is not None) for each in found.shown]
    return rows, found.semantic.state


def _chain(ws: Workspace, start: Row) -> list[Row]:
    """Return what was replaced, the oldest first, then the node, then what replaced it."""
    before: list[str] = []
    seen = {start.id}
    frontier = guards.succeeded_by(ws.database, start.id)
    while frontier and len(before) < MAX_CHAIN:
        frontier = [found for found in frontier if found not in seen]
        seen.update(frontier)
        before = [*frontier, *before]
        frontier = [old for new in frontier for old in guards.succeeded_by(ws.database, new)]
    after: list[str] = []
    following = _successor(ws, start.id)
    while following is not None and following not in seen and len(after) < MAX_CHAIN:
        seen.add(following)
        after.append(following)
        following = _successor(ws, following)
    found = (next(iter(catalog.by_id(ws.database, i)), None) for i in (*before, start.id, *after))
    return [row for row in found if row is not None]


def _successor(ws: Workspace, record_id: str) -> str | None:
    guard = guards.of(ws.database, record_id).get(guards.SUPERSEDED)
    return guard.successor if guard is not None else None
