"""Passages: the pieces of text that answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from vault_kg.index import catalog
from vault_kg.operations import searching
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import hybrid
from vault_kg.operations.graph.request import Similarity
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

if TYPE_CHECKING:
    from vault_kg.index.shown import Shown

SOURCE = "source"
KINDS = ("page", "claim", "relationship", "note", SOURCE)


class PassageRow(TypedDict, total=False):
    """A piece of the text of a record, note or retained source, with where it stands."""

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
    """Find the passages of episodes, pages, claims, relationships and notes that answer a question.

    An episode's passage is one of a retained text (kind source), with its lines. By words and by
    meaning, best first; with no model, by words alone.
    """
    filtered = hybrid.wanted(ws, caller, request, KINDS)
    ranking = hybrid.ranked(ws, request, filtered, floor=request.min_score, per_record=False)
    passages = [_row(ws, shown) for shown in ranking.hits]
    return Passages(
        passages=passages, count=len(passages), total=ranking.total,
        next_cursor=ranking.next_cursor, semantic=ranking.semantic,
    )  # fmt: skip


def _row(ws: Workspace, shown: Shown) -> PassageRow:
    row, lines = shown.row, f"{shown.start_line}-{shown.end_line}"
    source = catalog.source(ws.database, row.id) if row.kind == SOURCE else None
    path = source.path if source is not None else row.path
    origin = source.description if source is not None else f"{path}:{lines}"
    values = {
        "uuid": row.id, "name": row.title, "content": shown.text,
        "source_description": origin, "group_id": row.partition,
        "created_at": row.recorded_at, "valid_at": row.valid_from,
        "score": searching.rounded(shown.hit.similarity), "kind": row.kind, "path": path,
        "lines": lines, "heading": shown.heading.replace("\n", " > ") or None, "attributes": {},
        "search": hybrid.evidence(shown),
    }  # fmt: skip
    return cast(PassageRow, values)
