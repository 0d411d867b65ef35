"""Retained sources as episodes."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from vault_kg.index import episodes, graph_rows
from vault_kg.operations import paging
from vault_kg.operations.base import Cursor, Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.request import (
    CURSOR,
    Count,
    FieldNames,
    GraphRequest,
    GroupIds,
    Listed,
    Prefix,
    names_of,
    position,
    projected,
)
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store import sources
from vault_kg.store.sources import Source

MAX_CONTENT = 20_000
MAX_ENTITIES = 200


class EpisodeRow(TypedDict, total=False):
    """A retained source. A long content is cut at `content_shown` of its `content_chars`."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    uuid: str
    name: str
    group_id: str
    created_at: str
    ingested_at: str
    source: str
    source_description: str
    content: str | None
    content_chars: int | None
    content_shown: int
    valid_at: str | None
    entity_edges: list[str]
    entity_count: int
    attributes: dict[str, Any]


class GetEpisodes(GraphRequest):
    """The episodes to list."""

    group_ids: GroupIds = None
    group_id: Line | None = Field(None, description="One more group.")
    last_n: Count = 50
    name_prefix: Prefix | None = Field(None, description="What the name begins with, exactly.")
    cursor: Cursor | None = CURSOR
    fields: Annotated[FieldNames, names_of(EpisodeRow)] | None = Field(
        None, description="Only these keys of each item; without content it need not be read."
    )


class Episodes(Listed):
    """Episodes, the latest first."""

    episodes: list[EpisodeRow]


@operation("read", Episodes, toolset="graph")
def knowledge_get_episodes(ws: Workspace, request: GetEpisodes, caller: Caller) -> Episodes:
    """List retained sources, the latest first, page by page.

    At most 20,000 characters of each are shown; knowledge_source reads a whole one, by lines.
    """
    wanted = episodes.Wanted(_groups(request, caller), request.name_prefix)
    after = position(request, request.cursor)
    with ws.database.snapshot():
        total = episodes.count(ws.database, wanted)
        rows = episodes.page(ws.database, wanted, request.last_n + 1, after)
    shown = rows[: request.last_n]
    more = len(rows) > len(shown)
    last = [shown[-1].recorded_at, shown[-1].id] if more else []
    return Episodes(
        episodes=[_row(ws, caller, source, request.fields) for source in shown],
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, last) if more else None,
    )


def _groups(request: GetEpisodes, caller: Caller) -> frozenset[str] | None:
    if request.group_id is None:
        return finding.groups_to_read(caller, request.group_ids)
    return finding.groups_to_read(caller, [request.group_id, *(request.group_ids or ())])


def _row(ws: Workspace, caller: Caller, source: Source, fields: list[str] | None) -> EpisodeRow:
    shown: dict[str, Any] = {
        "uuid": source.id, "name": source.name, "group_id": source.partition,
        "created_at": source.recorded_at, "ingested_at": source.recorded_at,
        "source": _kind(source.media_type), "source_description": source.description,
        "valid_at": source.reference_time,
        "attributes": {
            "filename": source.filename, "media_type": source.media_type, "size": source.size,
            "path": source.path, "sha256": source.sha256, "attribution": source.attribution,
        },
    }  # fmt: skip
    asked = set(EpisodeRow.__annotations__ if fields is None else fields)
    if asked & {"content", "content_chars", "content_shown"}:
        shown |= _content(ws, source)
    if "attributes" in asked:
        shown["attributes"] = sources.attributes(ws.vault.root, source) | shown["attributes"]
    if asked & {"entity_edges", "entity_count"}:
        named = graph_rows.mentioned(ws.database, [source.id], ws.now(), caller.partitions)
        entities = _pages(ws, caller, named)
        shown |= {"entity_edges": entities[:MAX_ENTITIES], "entity_count": len(entities)}
    return cast(EpisodeRow, projected(shown, fields))


def _pages(ws: Workspace, caller: Caller, named: set[str]) -> list[str]:
    """Return the current pages that ids mean and the caller sees."""
    from vault_kg.index.listing import Filter

    finals = {finding.final(ws, one) or one for one in named}
    wanted = Filter(ws.now(), kinds=("page",), partitions=caller.partitions)
    narrow = graph_rows.Narrow(wanted, ids=finals)
    return [each.row.id for each in graph_rows.every(ws.database, narrow)]


def _content(ws: Workspace, source: Source) -> dict[str, Any]:
    """Return a source's text, or null where its bytes are gone or are no text."""
    content, _ = sources.verify(ws.vault.root, source)
    if content is None or b"\0" in content[:8_000]:
        return {"content": None, "content_chars": None, "content_shown": 0}
    text = content.decode("utf-8", errors="replace")
    shown = text[:MAX_CONTENT]
    return {"content": shown, "content_chars": len(text), "content_shown": len(shown)}


def _kind(media_type: str) -> str:
    """Return the seed's word for a media type: json, assertion, text, or the type itself."""
    if media_type.endswith("x-assertion"):
        return "assertion"
    if "json" in media_type:
        return "json"
    return "text" if media_type.startswith("text/") else media_type
