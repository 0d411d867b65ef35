"""Finding nodes: by name, by words with their neighbourhood, by words and meaning."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from vault_kg.extract.backends.rows import tokens_of
from vault_kg.extract.backends.values import NodeRow, Where
from vault_kg.extract.edge_kinds import STRUCTURAL
from vault_kg.extract.model import EdgeKind
from vault_kg.extract.tools.asking import Graph, is_short, reads
from vault_kg.extract.tools.semantics import similarities
from vault_kg.extract.tools.views import (
    KINDS,
    ROOT,
    Answer,
    Confidence,
    Listed,
    NodeKinds,
    NodeView,
    Top,
    node_view,
    node_views,
)
from vault_kg.extract.walks import walk
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace

LEAST_SURE = 0.4
PER_RANK = 0.05
BEST_GUESS = 0.9

SIMILARITY, WORDS, DEGREE = 0.7, 0.2, 0.1
"""Shares of a search score; without a model the words take the share of the similarity."""

POOL = 200
"""Nodes found by words that are compared by meaning."""

NEIGHBOURS = 50

SHORT = "nothing is named just {!r}; give two characters or more to find names that hold them"


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError(
            "is blank: give a name, words of it, a path like src/a.py, or a uid like "
            "code:function:src/a.py::load"
        )
    return text


class Resolve(GraphRequest):
    """What is called so?"""

    q: Annotated[Line, AfterValidator(_not_blank)] = Field(
        description="A uid, record id, path, path::name, title or words; one letter: a whole name."
    )
    kinds: NodeKinds | None = KINDS
    root: Line | None = ROOT
    top: Top = 10


class Candidate(NodeView):
    """A node that may be meant, and how likely it is."""

    confidence: float


class Resolved(Listed):
    """What may be meant, the likeliest first."""

    results: list[Candidate]


class Query(GraphRequest):
    """Words, and how much is shown around what they find."""

    q: Line
    kinds: NodeKinds | None = KINDS
    limit: Top = 10
    max_hops: Annotated[int, Field(ge=0, le=4)] = 2
    confidence_min: Confidence = 0.3
    include_spine: bool = Field(False, description="Also over what merely contains what.")


class Hit(GraphModel):
    """A node that was found, and what is around it."""

    node: NodeView
    neighbours: list[NodeView]
    neighbour_total: int


class Queried(Listed):
    """What was found, best first."""

    results: list[Hit]


class Search(GraphRequest):
    """Words, in any order."""

    query: Line
    kinds: NodeKinds | None = KINDS
    top_k: Top = 10


class Scored(NodeView):
    """A node, and the parts of its score."""

    score: float
    similarity: float | None = None
    text_score: float
    in_degree: int


class Searched(Listed):
    """What was found, best first."""

    results: list[Scored]


@reads(Answer[Resolved])
def graph_resolve(ws: Workspace, request: Resolve, caller: Caller) -> Answer[Resolved]:
    """Find the uid of a symbol, file, heading, key or record by its name.

    Tried in turn: the uid or exact name, a path and all below it, words, a part of a label; the
    first that finds something answers, and meta.resolved_from says which it was.
    """
    graph = Graph(ws, caller)
    found = graph.find(request.q, request.root, request.kinds, request.top)
    sure = found.how in ("direct", "path_prefix")
    shown = [
        Candidate(
            **node_view(row).model_dump(),
            confidence=1.0 if sure else round(max(LEAST_SURE, BEST_GUESS - PER_RANK * rank), 2),
        )
        for rank, row in enumerate(found.rows)
    ]
    hint = SHORT.format(request.q) if is_short(request.q) and not shown else None
    meta = graph.meta(None, found.how, truncated=found.total > len(shown), hint=hint)
    return Answer(data=Resolved(results=shown, count=len(shown), total=found.total, meta=meta))


@reads(Answer[Queried])
def graph_query(ws: Workspace, request: Query, caller: Caller) -> Answer[Queried]:
    """Find nodes by the words of their label, signature and documentation, with what is around them.

    Each hit comes with its neighbourhood within max_hops, over edges at least as sure as
    confidence_min.
    """
    graph = Graph(ws, caller)
    scored, total = graph.reader.search(tokens_of(request.q), request.kinds, request.limit)
    hits, cut = [], total > len(scored)
    for row, _ in scored:
        hit, more = _hit(graph, request, row)
        hits.append(hit)
        cut |= more
    meta = graph.meta(truncated=cut)
    return Answer(data=Queried(results=hits, count=len(hits), total=total, meta=meta))


@reads(Answer[Searched])
def graph_search(ws: Workspace, request: Search, caller: Caller) -> Answer[Searched]:
    """Find nodes by words and meaning: similarity, matching words, and how much leads to them.

    Without an embedding model the words alone decide, and similarity is null.
    """
    graph = Graph(ws, caller)
    scored, total = graph.reader.search(tokens_of(request.query), request.kinds, POOL)
    near = similarities(ws, request.query, [row for row, _ in scored])
    best = max((score for _, score in scored), default=0.0) or 1.0
    degrees = {row.key: sum(graph.reader.edge_kinds(row.key, "in").values()) for row, _ in scored}
    most = max(degrees.values(), default=0) or 1
    results = []
    for n, (row, score) in enumerate(scored):
        alike = near[n] if near is not None else None
        text = score / best
        blended = SIMILARITY * (text if alike is None else alike) + WORDS * text
        results.append(
            Scored(
                **node_view(row).model_dump(), in_degree=degrees[row.key], text_score=round(text, 4),
                similarity=None if alike is None else round(alike, 4),
                score=round(blended + DEGREE * degrees[row.key] / most, 4),
            )
        )  # fmt: skip
    results.sort(key=lambda each: (-each.score, each.uid))
    shown = results[: request.top_k]
    meta = graph.meta(truncated=total > len(shown))
    return Answer(data=Searched(results=shown, count=len(shown), total=total, meta=meta))


def _hit(graph: Graph, request: Query, row: NodeRow) -> tuple[Hit, bool]:
    kinds = None if request.include_spine else _without_spine()
    where = Where(kinds, request.confidence_min)
    found = walk(graph.reader, [row.key], "both", where, request.max_hops, 10 * NEIGHBOURS)
    near = found.keys()[:NEIGHBOURS]
    rows = graph.reader.nodes(near)
    shown = node_views(rows[key] for key in near if key in rows)
    total = len(found)
    return Hit(node=node_view(row), neighbours=shown, neighbour_total=total), total > len(shown)


def _without_spine() -> frozenset[str]:
    from typing import get_args

    return frozenset(get_args(EdgeKind)) - STRUCTURAL
