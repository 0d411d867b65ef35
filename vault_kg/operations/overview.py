"""What a person browses: shelves by partition and type, records by title, retained sources."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from vault_kg.index import overview
from vault_kg.index.listing import Filter
from vault_kg.operations import conflicting, paging
from vault_kg.operations.base import Cursor, Limit, Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.evidence import SourceView
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import RecordKind, visible
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import journal as rows

KINDS = ("page", "claim", "relationship", "note")
Lifecycle = Literal["active", "unresolved", "superseded", "withdrawn", "merged", "all"]
"""`unresolved`: active by itself, but what it stands on is not, or its time is over."""


class AskShelves(Request):
    """How the vault is divided."""

    lifecycle: Lifecycle = "active"


class ShelfView(Model):
    """How many records of one kind and type a partition holds."""

    partition: str
    kind: str
    type: str | None = None
    records: int


class Shelves(Model):
    """The shelves that are not empty, in order of their names."""

    shelves: list[ShelfView]


class Browse(Request):
    """What stands on a shelf."""

    text: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        None, description="Only records whose title or path contains this."
    )
    kind: RecordKind | None = None
    type: Line | None = None
    partition: Line | None = None
    lifecycle: Lifecycle = "active"
    limit: Limit = 100
    cursor: Cursor | None = None


class Titled(Model):
    """A record on a shelf."""

    id: str
    kind: str
    type: str | None = None
    title: str
    summary: str | None = None
    partition: str
    path: str
    lifecycle: str
    eligible: bool
    updated_at: str


class Browsed(Model):
    """Records by title."""

    records: list[Titled]
    count: int
    total: int
    next_cursor: str | None = None


class ListSources(Request):
    """What is retained."""

    limit: Limit = 100
    cursor: Cursor | None = None


class Sources(Model):
    """Retained sources by file name."""

    sources: list[SourceView]
    count: int
    total: int
    next_cursor: str | None = None


class ListConflicts(Request):
    """Which conflicts wait for a person."""

    limit: Limit = 100
    cursor: Cursor | None = None


class Waiting(Model):
    """A conflict that waits: an accepted request that met somebody's edit."""

    id: str
    path: str
    record: str | None = None
    operation: str
    actor: str
    reason: str | None = None
    found_at: str


class Conflicts(Model):
    """The conflicts that wait, oldest first."""

    conflicts: list[Waiting]
    count: int
    total: int
    next_cursor: str | None = None


@operation("read", Conflicts, toolset="ui")
def knowledge_conflicts(
    ws: Workspace,
    request: ListConflicts,
    caller: Caller,
) -> Conflicts:
    """List the conflicts that wait for a person, oldest first; knowledge_conflict shows one."""
    waiting = conflicting.waiting(ws, caller)
    position = paging.decode(request, request.cursor)
    rest = [c for c in waiting if position is None or [c.seq, c.id] > position]
    shown = rest[: request.limit]
    entries = {seq: rows.get(ws.database, seq) for seq in {conflict.seq for conflict in shown}}
    found = [
        Waiting(
            id=conflict.id, path=conflict.path, record=conflict.record_id,
            operation=entry.operation, actor=entry.actor, reason=entry.reason,
            found_at=conflict.found_at,
        )
        for conflict in shown
        if (entry := entries[conflict.seq]) is not None
    ]  # fmt: skip
    more = len(rest) > len(shown)
    return Conflicts(
        conflicts=found, count=len(found), total=len(waiting),
        next_cursor=paging.encode(request, [shown[-1].seq, shown[-1].id]) if more else None,
    )  # fmt: skip


@operation("read", Shelves, toolset="ui")
def knowledge_shelves(ws: Workspace, request: AskShelves, caller: Caller) -> Shelves:
    """Count the records of each partition by kind and type."""
    wanted = Filter(
        ws.now(),
        kinds=KINDS,
        partitions=caller.partitions,
        lifecycle=request.lifecycle,
        ends_in=caller.partitions,
    )
    return Shelves(
        shelves=[ShelfView(**s._asdict()) for s in overview.shelves(ws.database, wanted)]
    )


@operation("read", Browsed, toolset="ui")
def knowledge_browse(ws: Workspace, request: Browse, caller: Caller) -> Browsed:
    """List records and notes by title, optionally those whose title or path contains a text.

    To find by words and meaning use knowledge_search.
    """
    wanted = Filter(
        ws.now(),
        kinds=[request.kind] if request.kind else KINDS,
        types=[request.type] if request.type else None,
        partitions=visible(caller, request.partition),
        lifecycle=request.lifecycle,
        ends_in=caller.partitions,
    )
    position = paging.decode(request, request.cursor)
    after = (str(position[0]), str(position[-1])) if position else None
    with ws.database.snapshot():
        rows = overview.titled(ws.database, wanted, request.text, request.limit + 1, after)
        is_all = after is None and len(rows) <= request.limit
        counted = None if is_all else overview.titled_count(ws.database, wanted, request.text)
    shown, now = rows[: request.limit], ws.now()
    records = [
        Titled(
            id=r.id, kind=r.kind, type=r.type, title=r.title, summary=r.summary,
            partition=r.partition, path=r.path, lifecycle=r.lifecycle, eligible=r.current(now),
            updated_at=r.updated_at,
        )
        for r in shown
    ]  # fmt: skip
    more = len(rows) > request.limit
    last: list[Any] = [names.title_key(shown[-1].title), shown[-1].path] if more else []
    return Browsed(
        records=records, count=len(records), total=len(rows) if counted is None else counted,
        next_cursor=paging.encode(request, last) if more else None,
    )  # fmt: skip


@operation("read", Sources, toolset="ui")
def knowledge_sources(ws: Workspace, request: ListSources, caller: Caller) -> Sources:
    """List the retained sources by file name; knowledge_source reads one."""
    position = paging.decode(request, request.cursor)
    after = (str(position[0]), str(position[-1])) if position else None
    rows = overview.sources(ws.database, caller.partitions, request.limit + 1, after)
    shown = rows[: request.limit]
    more = len(rows) > request.limit
    return Sources(
        sources=[SourceView(**{k: getattr(s, k) for k in SourceView.model_fields}) for s in shown],
        count=len(shown),
        total=overview.source_count(ws.database, caller.partitions),
        next_cursor=paging.encode(request, [shown[-1].filename, shown[-1].id]) if more else None,
    )
