"""Nodes that are alike: in meaning, or, without a model, in the words of their names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vault_kg.extract.backends.rows import tokens_of, words_of
from vault_kg.extract.backends.values import NodeRow
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.semantics import similarities, text_of
from vault_kg.extract.tools.views import (
    AboutOne,
    Answer,
    Confidence,
    Listed,
    NodeView,
    Top,
    node_view,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

POOL = 200
"""Nodes with a word in common that are compared."""


class Similar(AboutOne):
    """The node that others are compared with."""

    top_k: Top = 5
    confidence_min: Confidence = 0.5


class Alike(NodeView):
    """A node, and how alike it is: from 0 to 1."""

    similarity: float


class SimilarData(Listed):
    """What is alike, the most alike first."""

    node: NodeView | None
    match_mode: Literal["embedding", "words"] = Field(description="What was compared.")
    results: list[Alike]


@reads(Answer[SimilarData])
def graph_similar(ws: Workspace, request: Similar, caller: Caller) -> Answer[SimilarData]:
    """Find nodes of the same kind that are alike: perhaps the same thing written twice.

    Those that share a word with it are compared by meaning; without an embedding model by how many
    words they share (match_mode says which).
    """
    graph = Graph(ws, caller)
    row, how = graph.one(request.uid, request.root)
    if row is None:
        meta = graph.about(request.uid, None, None)
        return Answer(
            data=SimilarData(node=None, match_mode="words", results=[], count=0, total=0, meta=meta)
        )
    pool = _pool(graph, row)
    near = similarities(ws, text_of(row), pool)
    scores = near if near is not None else [_overlap(row, other) for other in pool]
    alike = sorted(
        ((score, other) for score, other in zip(scores, pool, strict=True)
         if score >= request.confidence_min),
        key=lambda pair: (-pair[0], pair[1].node.uid),
    )  # fmt: skip
    shown = [
        Alike(**node_view(other).model_dump(), similarity=round(score, 4))
        for score, other in alike[: request.top_k]
    ]
    meta = graph.about(request.uid, row, how, truncated=len(alike) > len(shown))
    return Answer(
        data=SimilarData(
            node=node_view(row), match_mode="words" if near is None else "embedding", results=shown,
            count=len(shown), total=len(alike), meta=meta,
        )
    )  # fmt: skip


def _pool(graph: Graph, row: NodeRow) -> list[NodeRow]:
    found: dict[int, NodeRow] = {}
    for word in words_of(row.node.label):
        for other, _ in graph.reader.search([word], (row.node.kind,), POOL)[0]:
            found[other.key] = other
    found.pop(row.key, None)
    return list(found.values())[:POOL]


def _overlap(one: NodeRow, other: NodeRow) -> float:
    """Return the share of words that two nodes have in common (Jaccard)."""
    first, second = set(_words(one)), set(_words(other))
    return len(first & second) / len(first | second) if first | second else 0.0


def _words(row: NodeRow) -> list[str]:
    return [*words_of(row.node.label), *tokens_of(row.node.summary)]
