"""The revisions of a record: when it changed, who changed it, why, and what."""

from __future__ import annotations

import difflib

from vault_kg.index import validate
from vault_kg.operations import paging, sight, targets
from vault_kg.operations.base import Cursor, Id, Limit, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import revisions
from vault_kg.state.revisions import Revision


class History(Request):
    """How a record came to be as it is."""

    id: Id
    limit: Limit = 50
    cursor: Cursor | None = None
    diff: bool = False


class RevisionView(Model):
    """One revision."""

    revision: int
    hash: str
    lifecycle: str
    path: str
    commit: str | None = None
    at: str
    actor: str
    operation: str
    reason: str | None = None
    request_id: str
    diff: str | None = None


class HistoryView(Model):
    """Revisions, newest first."""

    id: str
    revisions: list[RevisionView]
    count: int
    total: int
    next_cursor: str | None = None


@operation("read", HistoryView)
def knowledge_history(ws: Workspace, request: History, caller: Caller) -> HistoryView:
    """List a record's revisions, newest first.

    Who changed it, when, how, why and in which commit; with diff also what changed in its file.
    """
    targets.known(ws, caller, request.id)
    found = revisions.history(
        ws.database, request.id, request.limit + 1, paging.offset(request, request.cursor),
        caller.partitions,
    )  # fmt: skip
    shown = found[: request.limit]
    views = [
        RevisionView(
            revision=h.revision.revision, hash=h.revision.hash, lifecycle=h.revision.lifecycle,
            path=h.revision.path, commit=h.commit_id, at=h.revision.at, actor=h.actor,
            operation=h.operation, reason=h.reason, request_id=h.request_id,
            diff=_diff(ws, caller, h.revision) if request.diff else None,
        )
        for h in shown
    ]  # fmt: skip
    more = len(found) > request.limit
    return HistoryView(
        id=request.id,
        revisions=views,
        count=len(views),
        total=revisions.count(ws.database, request.id, caller.partitions),
        next_cursor=paging.encode(request, [shown[-1].revision.revision]) if more else None,
    )


def _diff(ws: Workspace, caller: Caller, revision: Revision) -> str | None:
    older = revisions.history(ws.database, revision.record_id, 1, revision.revision)
    before = older[0].revision if older else None
    if before is not None and not caller.sees(before.partition):
        before = None  # of when it was hidden nothing is told
    new = ws.bytes_of(revision)
    old = ws.bytes_of(before) if before else b""
    if new is None or old is None:
        return None
    lines = difflib.unified_diff(
        validate.text_lines(old.decode("utf-8", "replace")),
        validate.text_lines(new.decode("utf-8", "replace")),
        f"revision {before.revision if before else revision.revision - 1}",
        f"revision {revision.revision}",
        lineterm="",
    )
    return sight.veiled(ws, caller, "\n".join(lines))
