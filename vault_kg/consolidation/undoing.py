"""Taking a committed session back: one journal entry that gives everything the values it had before.

What the session added is withdrawn, what it updated has its former text again, and what it
superseded is current again. Where something later stands on any of it, nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from vault_kg.consolidation import sessions
from vault_kg.consolidation.sessions import SessionId
from vault_kg.errors import MissingFile, NotFound, UndoBlocked
from vault_kg.index import catalog
from vault_kg.operations import sight, targets, withdrawing
from vault_kg.operations.base import Git, ImpactItem, Reason
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import writing
from vault_kg.operations.graph.request import GraphModel, GraphRequest, GraphWrite
from vault_kg.operations.impact import dependents
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import edit, parse
from vault_kg.state import consolidations, guards, revisions
from vault_kg.state import journal as rows
from vault_kg.state.guards import Guard
from vault_kg.state.journal import RESOLVED, Entry
from vault_kg.state.revisions import Revision
from vault_kg.state.sessions import COMMIT, UNDO, commit_request, undo_request
from vault_kg.store.plan import Change, Plan

EVENT = "kg.consolidation_undone.v1"
_CHUNK = 200


class Undo(GraphRequest):
    """The committed session to take back."""

    session_id: SessionId
    reason: Reason


class Undone(GraphModel):
    """What was done."""

    session_id: str
    undone: bool
    withdrawn: list[str] = Field(description="What the session had added.")
    restored: list[str] = Field(description="What it had updated or superseded: as before.")
    audit_row_id: int
    outbox_event: str
    git: Git


class Payload(GraphWrite):
    """What the journal keeps of an undoing."""

    session: dict[str, Any]
    reason: str


@operation("admin", Undone, toolset="consolidation", destructive=True)
def kg_undo_consolidation(ws: Workspace, request: Undo, caller: Caller) -> Undone:
    """Take a committed session back: values as before, in one journal entry of its own.

    Where something later stands on what the session wrote, undo_blocked lists it and nothing is
    done. Undoing twice gives the first answer.
    """
    entry = sessions.committed(ws, request.session_id)
    if entry is None or not caller.sees(entry.partition):
        raise NotFound(
            f"no session {request.session_id!r} was committed; kg_audit lists those that were",
            session_id=request.session_id,
        )
    done = consolidations.undone(ws.database, request.session_id)
    if done is None:
        payload = Payload(
            request_id=undo_request(request.session_id), reason=request.reason,
            session=entry.payload.get("session", {"id": request.session_id}),
        )  # fmt: skip
        ws.write(caller, UNDO, payload, lambda: _plan(ws, caller, request, entry))
        done = consolidations.undone(ws.database, request.session_id)
    else:
        ws.outbox.drain()
    assert done is not None and done.receipt is not None, "it is published"
    return Undone(
        undone=True, audit_row_id=done.seq, outbox_event=EVENT,
        git=Git.model_validate(ws.outbox.state(done.seq)), **done.receipt["result"],
    )  # fmt: skip


def _plan(ws: Workspace, caller: Caller, request: Undo, entry: Entry) -> Plan:
    made = revisions.of_seq(ws.database, _effective(ws, entry))
    found = {r.record_id: _load(ws, caller, r) for r in made}
    blocking = [*_blocking(ws, caller, made, entry.seq)]
    if blocking:
        first = blocking[0]
        raise UndoBlocked(
            f"{len(blocking)} later change(s) stand on session {request.session_id}, first "
            f"{first['id']} ({first['why']}); undo or withdraw those first",
            session_id=request.session_id,
            blocking=blocking,
        )
    changes: list[Change] = []
    kept: list[Guard] = []
    for revision in made:
        target = found[revision.record_id]
        if revision.revision == 1:
            change, guard = withdrawing.withdrawal(
                ws, caller, target, request.reason, undo_request(request.session_id)
            )
            changes.append(change)
            kept.append(guard)
        else:
            changes.append(_restored(ws, target, revision))
    added = [r.record_id for r in made if r.revision == 1]
    result = {
        "session_id": request.session_id,
        "withdrawn": added,
        "restored": [r.record_id for r in made if r.revision > 1],
    }
    lifted = guards.of_request(ws.database, commit_request(request.session_id))
    return Plan(
        entry.partition, writing.answer(result, changed=bool(changes)), tuple(changes),
        str(entry.effects.get("label") or request.session_id), tuple(kept), reason=request.reason,
        lifts=tuple((guard.record_id, guard.kind) for guard in lifted),
    )  # fmt: skip


def _effective(ws: Workspace, entry: Entry) -> int:
    """Return the entry that made the revisions: where the commit met an edit, the review of it."""
    review = rows.resolved_by(ws.database, entry.seq) if entry.state == RESOLVED else None
    return review if review is not None else entry.seq


def _load(ws: Workspace, caller: Caller, revision: Revision) -> targets.Target:
    try:
        return targets.load(ws, caller, revision.record_id)
    except MissingFile as error:
        what = {"id": revision.record_id, "why": "its file is gone"}
        raise UndoBlocked(error.message, blocking=[what]) from None


def _blocking(
    ws: Workspace, caller: Caller, made: list[Revision], seq: int
) -> Iterator[dict[str, Any]]:
    """Yield what later stands on the revisions of a session: changes, dependents, other sessions."""
    own = {revision.record_id for revision in made}
    for revision in made:
        head = revisions.history(ws.database, revision.record_id, 1)[0]
        if head.revision.revision != revision.revision:
            said = f"changed by {head.actor} at {head.revision.at} ({head.operation})"
            yield {"id": revision.record_id, "title": _title(ws, revision.record_id), "why": said}
        elif revision.revision == 1:
            for item, partition in dependents(ws, revision.record_id):
                if item.id not in own:
                    yield _standing(ws, caller, revision.record_id, item, partition)
    added = {r.record_id for r in made if r.revision == 1}
    for later in _later(ws, caller, seq):
        left = _left(later) & added
        if left:
            said = f"a later session found {sorted(left)[0]} standing"
            yield {"id": str(later.payload["session"]["id"]), "title": later.actor, "why": said}


def _standing(
    ws: Workspace, caller: Caller, record_id: str, item: ImpactItem, partition: str
) -> dict[str, Any]:
    """Return what the caller is told of something that stands on a record."""
    if not caller.sees(partition) or sight.stands_on_hidden(ws, caller, item.id):
        return {"id": sight.VEIL, "title": sight.VEIL, "why": f"stands on {record_id}"}
    return {"id": item.id, "title": item.title, "why": f"stands on {record_id} ({item.via})"}


def _later(ws: Workspace, caller: Caller, seq: int) -> Iterator[Entry]:
    while chunk := consolidations.after(ws.database, seq, _CHUNK):
        for _, entry in chunk:
            session = entry.payload.get("session", {}).get("id")
            stands = session and consolidations.undone(ws.database, session) is None
            if entry.operation == COMMIT and stands and caller.sees(entry.partition):
                yield entry
        seq = chunk[-1].seq


def _left(entry: Entry) -> set[str]:
    """Return the records that a session left as they were because they said it already."""
    result = (entry.receipt or {}).get("result", {})
    nodes = {left["node_id"] for left in result.get("applied", {}).get("noop", ())}
    return {i for i in nodes | {e["edge_id"] for e in result.get("edges_noop", ())} if i}


def _restored(ws: Workspace, target: targets.Target, revision: Revision) -> Change:
    """Return the change that gives a record the bytes that it had before a revision."""
    before = revisions.get(ws.database, revision.record_id, revision.revision - 1)
    content = ws.bytes_of(before) if before is not None else None
    if before is None or content is None:
        what = {"id": revision.record_id, "why": "what it said before is not in Git any more"}
        raise UndoBlocked(
            f"{revision.record_id} cannot be restored: Git does not have its former text. Fetch the "
            "missing history, or change or withdraw what the session wrote by hand",
            blocking=[what],
        )
    number = target.head.revision + 1
    text = edit(parse(content), {"revision": number, "updated_at": ws.now()})
    return Change(
        target.row.path, target.content, text, revision.record_id, revision.kind, number,
        before.lifecycle, target.row.partition,
    )  # fmt: skip


def _title(ws: Workspace, record_id: str) -> str:
    return next((row.title for row in catalog.by_id(ws.database, record_id)), record_id)
