"""Marks: named positions of a group's part of the journal, each with a Git reference."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import quote, unquote

from pydantic import Field, StringConstraints

from vault_kg.errors import InvalidArgument, NotFound, VaultError
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
from vault_kg.state import settings
from vault_kg.store.paths import DEFAULT_PARTITION

REFS = "refs/vault-kg/marks/"
_SETTING = "mark:"

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
    commit: str | None = Field(None, description="Null until Git has the entry.")


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


@dataclass(frozen=True)
class Mark:
    """A named position: the newest entry of a group, and the commit that has it."""

    seq: int | None
    commit: str | None
    at: str | None = None
    actor: str | None = None


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
        entry = rows.get(ws.database, seq) if seq else None
        commit = entry.commit_id if entry else None
        mark = Mark(seq, commit, ws.now(), caller.actor)
        settings.put(ws.database, _key(group, request.name), json.dumps(asdict(mark)))
        if commit is not None:
            _refer(ws, _ref(group, request.name), commit)
    return Marked(
        success=True, name=request.name, group_id=group, seq=seq, generation=ws.vault.id,
        commit=commit,
    )  # fmt: skip


@operation("admin", Marks, toolset="graph", on_reading=True)
def knowledge_wal_mark_list(ws: Workspace, request: ListMarks, caller: Caller) -> Marks:
    """List the marks of a group, and whether their positions can still be read."""
    group = request.group_id
    marks = every(ws, group) if caller.sees(group) else {}
    names = sorted(n for n in marks if n.startswith(request.name_prefix or ""))
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
        for name, mark in ((name, marks[name]) for name in shown)
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
        settings.remove(ws.database, _key(group, request.name))
        _refer(ws, _ref(group, request.name), None)
    return Unmarked(success=True, name=request.name, group_id=group)


def every(ws: Workspace, group: str) -> dict[str, Mark]:
    """Return the marks of a group by name: those of the state, and those that only Git has."""
    found = {
        name: Mark(rows.of_commit(ws.database, c), c) for name, c in _in_git(ws, group).items()
    }
    prefix = _key(group, "")
    for key, text in settings.beginning(ws.database, prefix).items():
        values: dict[str, Any] = json.loads(text)
        name = key.removeprefix(prefix)
        known = found.get(name)
        commit = values.get("commit") or (known.commit if known else None)
        found[name] = Mark(values.get("seq"), commit, values.get("at"), values.get("actor"))
    return found


def _refer(ws: Workspace, ref: str, commit: str | None) -> None:
    """Set or remove a reference; where Git cannot be used now, the mark of the state is enough."""
    with contextlib.suppress(VaultError):
        ws.history.set_ref(ref, commit)


def _in_git(ws: Workspace, group: str) -> dict[str, str]:
    try:
        refs = ws.history.refs(f"{REFS}{_safe(group)}/")
    except VaultError:
        return {}  # the marks of the state are enough
    return {unquote(ref.rpartition("/")[2]): commit for ref, commit in refs.items()}


def _key(group: str, name: str) -> str:
    return f"{_SETTING}{group}/{name}"


def _ref(group: str, name: str) -> str:
    return f"{REFS}{_safe(group)}/{name}"


def _safe(group: str) -> str:
    """Return a group's name as a part of a Git reference."""
    return quote(group, safe="").replace(".", "%2E")
