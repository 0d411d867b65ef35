"""Marks: named positions of a group's part of the journal, each with a Git reference."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.operations import paging
from vault_kg.operations.base import Cursor
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.request import (
    CURSOR,
    Count,
    GraphModel,
    GraphRequest,
    GroupId,
    Listed,
    Prefix,
)
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import marks
from vault_kg.store.marks import Mark
from vault_kg.store.paths import DEFAULT_PARTITION

MarkName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,200}$")]


class CreateMark(GraphRequest):
    """A name for where a group is now."""

    name: MarkName
    group_id: GroupId = DEFAULT_PARTITION


class ListMarks(GraphRequest):
    """The group whose marks are listed."""

    group_id: GroupId = DEFAULT_PARTITION
    name_prefix: Prefix | None = Field(None, description="What the name begins with, exactly.")
    num_results: Count = 500
    cursor: Cursor | None = CURSOR


class DeleteMark(GraphRequest):
    """The mark to delete."""

    name: MarkName
    group_id: GroupId = DEFAULT_PARTITION


class Marked(GraphModel):
    """A mark as it was made."""

    success: bool
    name: str
    group_id: str
    seq: int | None = Field(None, description="Null where the group is empty.")
    generation: str
    commit: str | None = Field(
        None, description="What the reference is to; null until Git has the entry."
    )


class MarkView(GraphModel):
    """A mark, and whether its position can still be read."""

    name: str
    seq: int | None
    reachable: bool
    wal_min_seq: int | None
    wal_max_seq: int | None
    generation: str
    commit: str | None
    created_at: str | None


class Marks(Listed):
    """The marks of a group, by name."""

    group_id: str
    checkpoints: list[MarkView]


class Unmarked(GraphModel):
    """A mark that is gone; its name is free."""

    success: bool
    name: str
    group_id: str


@operation("admin", Marked, toolset="graph")
def knowledge_wal_mark_create(ws: Workspace, request: CreateMark, caller: Caller) -> Marked:
    """Name the position where a group's journal is now: a Git reference under refs/vault-kg/marks/.

    A mark survives a dump, and a state that is rebuilt from Git.
    """
    group = finding.group_to_write(caller, request.group_id)
    ws.vault.check_writable()
    ws.outbox.drain()
    with ws.lane.hold():
        if request.name in every(ws, group):
            raise InvalidArgument(
                f"the group {group!r} has a mark {request.name!r} already; delete it first",
                name=request.name,
            )
        seq = rows.positions(ws.database, group)[0] or None
        mark = Mark(seq, at=ws.now(), actor=caller.actor)
        mark = marks.put(ws.database, ws.history, group, request.name, mark)
    return Marked(
        success=True, name=request.name, group_id=group, seq=seq, generation=ws.vault.id,
        commit=mark.commit,
    )  # fmt: skip


@operation("admin", Marks, toolset="graph", on_reading=True)
def knowledge_wal_mark_list(ws: Workspace, request: ListMarks, caller: Caller) -> Marks:
    """List the marks of a group, and whether their positions can still be read."""
    group = request.group_id
    found = every(ws, group) if caller.sees(group) else {}
    names = sorted(n for n in found if n.startswith(request.name_prefix or ""))
    after = paging.decode(request, request.cursor)
    rest = [name for name in names if after is None or name > str(after[0])]
    shown = rest[: request.num_results]
    first, last = rows.span(ws.database, group) if caller.sees(group) else (None, None)
    views = [
        MarkView(
            name=name, seq=mark.seq, wal_min_seq=first, wal_max_seq=last,
            reachable=mark.seq is None or (last is not None and mark.seq <= last),
            generation=ws.vault.id, commit=mark.commit, created_at=mark.at,
        )
        for name, mark in ((name, found[name]) for name in shown)
    ]  # fmt: skip
    return Marks(
        group_id=group, checkpoints=views, count=len(views), total=len(names),
        next_cursor=paging.encode(request, [shown[-1]]) if len(rest) > len(shown) else None,
    )  # fmt: skip


@operation("admin", Unmarked, toolset="graph")
def knowledge_wal_mark_delete(ws: Workspace, request: DeleteMark, caller: Caller) -> Unmarked:
    """Delete a mark; the history that it named stays."""
    group = finding.group_to_write(caller, request.group_id)
    ws.vault.check_writable()
    with ws.lane.hold():
        if request.name not in every(ws, group):
            raise NotFound(
                f"the group {group!r} has no mark {request.name!r}; knowledge_wal_mark_list lists "
                "them",
                name=request.name,
            )
        marks.remove(ws.database, ws.history, group, request.name)
    return Unmarked(success=True, name=request.name, group_id=group)


def every(ws: Workspace, group: str) -> dict[str, Mark]:
    """Return the marks of a group by name."""
    return marks.every(ws.database, ws.history, group)
