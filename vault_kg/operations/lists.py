"""Lists of records, as they stand or stood."""

from __future__ import annotations

from typing import Any, Literal

from vault_kg.index import listing, successors
from vault_kg.index.listing import Filter
from vault_kg.operations import asof, paging
from vault_kg.operations.asof import AsOf
from vault_kg.operations.base import Cursor, Id, Limit, Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import (
    RECORDS,
    RecordKind,
    Summary,
    past_filter,
    past_summary,
    summaries_of,
    type_names,
    visible,
)
from vault_kg.operations.workspace import Workspace
from vault_kg.state import merges


class ListRecords(Request):
    """Which records?"""

    kind: RecordKind | None = None
    type: Line | None = None
    partition: Line | None = None
    owner: Id | None = None
    lifecycle: Literal["active", "superseded", "withdrawn", "merged", "all"] = "active"
    as_of: AsOf | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Records(Model):
    """A page of records."""

    records: list[Summary]
    count: int
    total: int
    next_cursor: str | None = None
    as_of: dict[str, Any] | None = None


@operation("read", Records)
def knowledge_records(ws: Workspace, request: ListRecords, caller: Caller) -> Records:
    """List records, the latest changed first.

    By default those that are current, with lifecycle all also history. Filters come before the
    counts.
    """
    wanted = Filter(
        ws.now(),
        kinds=[request.kind] if request.kind else RECORDS,
        types=type_names(ws, filter(None, [request.type]), visible(caller, request.partition)),
        partitions=visible(caller, request.partition),
        owners=_one_page(ws, request.owner),
        lifecycle=request.lifecycle,
        ends_in=caller.partitions,
    )
    if request.as_of is not None:
        return _records_then(ws, request, caller, wanted)
    position = paging.decode(request, request.cursor)
    with ws.database.snapshot():
        total = listing.count(ws.database, wanted)
        after = (str(position[0]), str(position[-1])) if position else None
        rows = listing.page(ws.database, wanted, request.limit + 1, after)
    shown = rows[: request.limit]
    more = len(rows) > request.limit
    return Records(
        records=summaries_of(ws, shown),
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, [shown[-1].updated_at, shown[-1].path])
        if more
        else None,
    )


def _one_page(ws: Workspace, page_id: str | None) -> list[str] | None:
    """Return every id under which records may name a page: its survivor's, and all merged into it."""
    if page_id is None:
        return None
    way = merges.way(ws.database, page_id) or [page_id]
    return successors.with_absorbed([way[-1], page_id], successors.absorbed_by(ws.database))


def _records_then(ws: Workspace, request: ListRecords, caller: Caller, wanted: Filter) -> Records:
    assert request.as_of is not None
    past, said = asof.snapshot(ws, caller, request.as_of)
    keep = past_filter(ws, wanted, caller)
    rows = sorted(
        (p for p in past if keep(p)),
        key=lambda p: (p.record.updated_at, p.revision.path),
        reverse=True,
    )
    start = paging.offset(request, request.cursor) or 0
    shown = rows[start : start + request.limit]
    end = start + len(shown)
    return Records(
        records=[past_summary(p) for p in shown],
        count=len(shown),
        total=len(rows),
        next_cursor=paging.encode(request, [end]) if end < len(rows) else None,
        as_of=said,
    )
