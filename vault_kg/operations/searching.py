"""Searching by words and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from vault_kg.index.listing import Filter
from vault_kg.index.query import Query, parse_query
from vault_kg.operations import asof, paging
from vault_kg.operations.asof import AsOf
from vault_kg.operations.base import Cursor, Line, Lines, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import type_names
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names

if TYPE_CHECKING:
    from vault_kg.index.nearest import Compared
    from vault_kg.index.shown import Shown

Mode = Literal["hybrid", "text", "semantic"]

QUERY_SECONDS = 10.0

LEAST_ALIKE = 0.2
"""How alike, as a cosine, what is found by meaning alone must be where nothing else is asked.

Chosen on LoCoMo 1-4 with all-MiniLM-L6-v2 (`benchmarks/quality.py --choose`): together with words no
question loses by it, and by meaning alone one of 755 does; a sixth of what is listed goes.
"""


class Search(Request):
    """What is looked for."""

    query: Annotated[str, Field(max_length=100_000)] = Field(
        description='Words, in any script; "a phrase"; -without; tag:x; type:x.'
    )
    kinds: Lines | None = Field(None, description="page, claim, relationship, note.")
    types: Lines | None = None
    partitions: Lines | None = None
    tags: Lines | None = None
    lifecycle: Literal["current", "historical"] = "current"
    updated_after: Line | None = None
    updated_before: Line | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor | None = None
    min_similarity: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="Leave out what is found by meaning alone and is less similar (default: "
        f"{LEAST_ALIKE}); 0 lists all.",
    )
    mode: Mode = "hybrid"
    include_notes: bool = True
    as_typed: bool = Field(
        False, description="The last word may be half typed: what begins so is found too."
    )
    per_record: bool = Field(True, description="Only the best passage of each record.")
    as_of: AsOf | None = Field(None, description="Search the records as they stood, by words.")


class Evidence(Model):
    """Why a hit is one. Scores order the hits of this query and mean nothing beyond it."""

    rrf_score: float = Field(alias="rrf_score")
    text_match: bool = Field(alias="text_match")
    bm25_score: float | None = Field(alias="bm25_score")
    similarity: float | None
    matched_terms: list[str] = Field(alias="matched_terms")
    exact_name: bool = Field(alias="exact_name")


class HitView(Model):
    """One passage that answers."""

    id: str
    kind: str
    type: str | None = None
    title: str
    path: str
    heading: str | None = None
    lines: str
    snippet: str
    marks: list[tuple[int, int]] = Field(description="What matched in the snippet, [start, end).")
    partition: str
    lifecycle: str
    updated_at: str
    valid_until: str | None = None
    search: Evidence


class Semantic(Model):
    """Whether search by meaning took part."""

    state: Literal["ready", "off", "degraded"]
    reason: str | None = None
    ready: int = 0
    pending: int = 0
    failed: int = 0
    model: str | None = None


class Hits(Model):
    """Hits, best first."""

    hits: list[HitView]
    count: int
    total: int
    next_cursor: str | None = None
    semantic: Semantic
    as_of: dict[str, Any] | None = None


@operation("read", Hits)
def knowledge_search(ws: Workspace, request: Search, caller: Caller) -> Hits:
    """Find records and notes by words and by meaning.

    Each hit has a snippet and the evidence of why it was found. What is found by meaning alone and
    is hardly alike is left out; minSimilarity says how alike it must be.
    """
    query = parse_query(request.query, as_typed=request.as_typed)
    wanted = _filter(ws, request, query, caller)
    start = paging.offset(request, request.cursor) or 0
    if request.as_of is not None:
        return _as_of(ws, caller, request, query, wanted, start)
    found = answer(
        ws, query, wanted, request.limit, start, mode=request.mode,
        floor=_floor(request.min_similarity), per_record=request.per_record,
    )  # fmt: skip
    return _hits(request, found.shown, start, found.total, found.semantic)


def _floor(asked: float | None) -> float | None:
    return LEAST_ALIKE if asked is None else asked or None  # what is opposite is below 0


def _as_of(
    ws: Workspace, caller: Caller, request: Search, query: Query, wanted: Filter, start: int
) -> Hits:
    """Search the records as they stood at another moment; their vectors are not kept."""
    from vault_kg.index import past, search, shown

    assert request.as_of is not None
    stood, said = asof.snapshot(ws, caller, request.as_of)
    records = (
        past.Stood(one.revision.path, content, one.revision.revision,
                   # what was recorded later is there for what stands on it, and in no list
                   "withdrawn" if one.support else one.revision.lifecycle,
                   one.eligible and not one.support)
        for one in asof.told(caller, stood, "reading what is searched")
        if (content := ws.bytes_of(one.revision)) is not None
    )  # fmt: skip
    semantic = Semantic(state="off", reason="what stood at another time is searched by words")
    with past.index(records) as db:
        depth = start + request.limit
        ranked = search.rank(db, query, wanted, None, per_record=request.per_record, depth=depth)
        hits = shown.show(db, query, ranked.page(db, start, request.limit))
    return _hits(request, hits, start, ranked.total, semantic, said)


def _hits(
    request: Search,
    shown: list[Shown],
    start: int,
    total: int,
    semantic: Semantic,
    as_of: dict[str, Any] | None = None,
) -> Hits:
    end = start + len(shown)
    return Hits(
        hits=[_view(s) for s in shown],
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, [end]) if shown and end < total else None,
        semantic=semantic,
        as_of=as_of,
    )


@dataclass(frozen=True)
class Answer:
    """A part of what answers a query, best first, and whether meaning took part."""

    shown: list[Shown]
    total: int
    """How many answers there are."""
    compared: Compared | None
    semantic: Semantic


def answer(
    ws: Workspace,
    query: Query,
    wanted: Filter,
    limit: int,
    start: int = 0,
    *,
    mode: Mode = "hybrid",
    floor: float | None = None,
    per_record: bool = True,
) -> Answer:
    """Return a part of what answers a query; a failing model never fails a search.

    Args:
        ws: the workspace.
        query: as it was read.
        wanted: which records may answer.
        limit: how many are shown.
        start: how many before them are not.
        mode: which halves count.
        floor: leave out what is found by meaning alone and is less similar.
        per_record: take each record once, by its best passage.
    """
    from vault_kg.index import search, shown  # with numpy, which nothing else needs

    db = ws.database
    compared, semantic = _compared(ws, query, mode)
    with db.snapshot():
        ranked = search.rank(
            db, query, wanted, compared, mode=mode, floor=floor, per_record=per_record,
            depth=start + limit,
        )  # fmt: skip
        hits = shown.show(db, query, ranked.page(db, start, limit))
    return Answer(hits, ranked.total, compared, semantic)


def _filter(ws: Workspace, request: Search, query: Query, caller: Caller) -> Filter:
    kinds = set(request.kinds) if request.kinds else {"page", "claim", "relationship", "note"}
    if not request.include_notes:
        kinds.discard("note")
    types = [*(request.types or []), *query.filters.get("type", ())]
    tags = [*(request.tags or []), *query.filters.get("tag", ())]
    partitions = set(request.partitions) if request.partitions is not None else None
    if caller.partitions is not None:
        partitions = (
            partitions & caller.partitions if partitions is not None else set(caller.partitions)
        )
    return Filter(
        ws.now(),
        kinds=kinds,
        types=type_names(ws, types, partitions),
        partitions=partitions,
        lifecycle="active" if request.lifecycle == "current" else "historical",
        ends_in=caller.partitions,
        tags=[names.lookup_key(tag.lstrip("#")) for tag in tags] or None,
        updated_after=request.updated_after,
        updated_before=request.updated_before,
    )


def _compared(ws: Workspace, query: Query, mode: Mode) -> tuple[Compared | None, Semantic]:
    """Set the query against the vectors, or say why not."""
    if mode == "text":
        return None, Semantic(state="off", reason="text was asked for")
    state = Semantic.model_validate(ws.semantics.state())
    text = " ".join((*query.phrases, *query.terms))
    if state.state == "off" or not text:
        return None, state
    compared, reason = ws.semantics.compare(text, QUERY_SECONDS)
    if compared is None and reason is not None:
        state = state.model_copy(update={"state": "degraded", "reason": reason})
    return compared, state


def evidence_of(shown: Shown) -> Evidence:
    """Return why a hit is one: fused score, words, and similarity of its best passage."""
    hit = shown.hit
    return Evidence(
        rrf_score=round(hit.score, 6), text_match=hit.bm25 is not None,
        bm25_score=rounded(hit.bm25), similarity=rounded(hit.similarity),
        matched_terms=list(shown.matched), exact_name=hit.named,
    )  # fmt: skip


def rounded(score: float | None) -> float | None:
    """Return a score with six digits, or None."""
    return None if score is None else round(score, 6)


def _view(shown: Shown) -> HitView:
    row = shown.row
    return HitView(
        id=row.id, kind=row.kind, type=row.type, title=row.title, path=row.path,
        heading=shown.heading.replace("\n", " > ") or None,
        lines=f"{shown.start_line}-{shown.end_line}", snippet=shown.snippet.text,
        marks=[(a, b) for a, b in shown.snippet.marks], partition=row.partition,
        lifecycle=row.lifecycle, updated_at=row.updated_at, valid_until=row.valid_until,
        search=evidence_of(shown),
    )  # fmt: skip
