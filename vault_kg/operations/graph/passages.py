"""Passages: the pieces of text that answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import hybrid
from vault_kg.operations.graph.request import Similarity
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

if TYPE_CHECKING:
    from vault_kg.index.search import Shown

KINDS = ("page", "claim", "relationship", "note")


class PassageRow(TypedDict, total=False):
    """A piece of a record's or note's text, with where it stands."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    uuid: str
    name: str
    content: str
    source_description: str
    group_id: str
    created_at: str
    valid_at: str | None
    score: float | None
    kind: str
    path: str
    lines: str
    heading: str | None
    attributes: dict[str, Any]
    search: dict[str, Any]


class SearchPassages(hybrid.Search):
    """What passages are looked for by."""

    min_score: Similarity = Field(
        0.5, description="Leave out what is found by meaning alone and is less similar, 0 to 1."
    )


class Passages(hybrid.Found):
    """Passages, best first. `score` is the similarity; null where words alone found it."""

    passages: list[PassageRow]


@operation("read", Passages, toolset="graph")
def knowledge_search_passages(ws: Workspace, request: SearchPassages, caller: Caller) -> Passages:
    """Find the passages of pages, claims, relationships and notes that answer a question.

    By words and by meaning, best first; with no model, by words alone.
    """
    filtered = hybrid.wanted(ws, caller, request, KINDS)
    ranking = hybrid.ranked(ws, request, filtered, floor=request.min_score, per_record=False)
    passages = [_row(shown) for shown in ranking.hits]
    return Passages(
        passages=passages, count=len(passages), total=ranking.total,
        next_cursor=ranking.next_cursor, semantic=ranking.semantic,
    )  # fmt: skip


def _row(shown: Shown) -> PassageRow:
    row, lines = shown.row, f"{shown.start_line}-{shown.end_line}"
    values = {
        "uuid": row.id, "name": row.title, "content": shown.text,
        "source_description": f"{row.path}:{lines}", "group_id": row.partition,
        "created_at": row.recorded_at, "valid_at": row.valid_from,
        "score": hybrid.rounded(shown.hit.similarity), "kind": row.kind, "path": row.path,
        "lines": lines, "heading": shown.heading.replace("\n", " > ") or None, "attributes": {},
        "search": hybrid.evidence(shown),
    }  # fmt: skip
    return cast(PassageRow, values)
