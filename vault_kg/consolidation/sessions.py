"""Sessions: beginning one, finding it again, ending it without a commit."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from vault_kg.consolidation import permissions
from vault_kg.consolidation.permissions import Step
from vault_kg.consolidation.settings import rules
from vault_kg.errors import NotFound, PermissionDenied, SessionClosed, SessionExpired
from vault_kg.operations import checks
from vault_kg.operations.base import Line, Partition, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace, instant
from vault_kg.records import ids
from vault_kg.records.yaml_scalars import Instant
from vault_kg.state import consolidations
from vault_kg.state import sessions as rows
from vault_kg.state.journal import CONFLICTED, UNFINISHED, Entry
from vault_kg.state.sessions import COMMIT, Session, commit_request
from vault_kg.store.paths import DEFAULT_PARTITION

KEPT_DAYS = 7
"""A session that ended uncommitted is forgotten after so many days."""

BoardId = Annotated[Partition, Field(description="The board: a partition of the vault.")]
SessionId = Annotated[Line, StringConstraints(min_length=1, max_length=100)]
Version = Annotated[
    Line,
    BeforeValidator(lambda value: str(value) if type(value) in (int, float) else value),
    StringConstraints(max_length=200),
]
Named = Annotated[Line, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Begin(GraphRequest):
    """The artefact that is to be consolidated."""

    board_id: BoardId = DEFAULT_PARTITION
    source_type: Named = Field(description="What it is: spec, card, decision, …")
    source_id: Named
    source_version: Version | None = None
    content: Text | None = Field(
        None, description="Its text: what is hashed, and kept as the source that records cite."
    )
    payload_hash: Named | None = Field(None, description="The hash, where you have it already.")
    lenient: bool = Field(
        False, description="Drop attributes that a type does not declare, instead of refusing."
    )


class Begun(GraphModel):
    """The open session, or that nothing has changed."""

    session_id: str | None
    content_hash: str
    nothing_changed: bool
    expires_at: str | None = None
    previous_session_id: str | None = Field(
        None, description="The session that last committed this artefact."
    )


class Abort(GraphRequest):
    """The session to drop."""

    session_id: SessionId
    reason: Line | None = None


class Aborted(GraphModel):
    """That it is dropped."""

    session_id: str
    aborted: bool


@operation("write", Begun, toolset="consolidation")
def kg_begin_consolidation(ws: Workspace, request: Begin, caller: Caller) -> Begun:
    """Open a session that consolidates one artefact: step 1 of 6.

    Then kg_add_node_candidate and kg_add_edge_candidate, kg_propose_reconciliation and
    kg_commit_consolidation. nothing_changed means that the artefact was committed as it is: stop.
    """
    permissions.require(ws, caller, "begin")
    partition = checks.partition_to_write(request.board_id, caller)
    content_hash = request.payload_hash or _content_hash(partition, request)
    last = rows.last_committed(ws.database, partition, request.source_type, request.source_id)
    previous = last.id if last else None
    if last is not None and last.content_hash == content_hash:
        return Begun(
            session_id=None, content_hash=content_hash, nothing_changed=True,
            previous_session_id=previous,
        )  # fmt: skip
    rows.sweep(ws.database, moment(ws.now(), -KEPT_DAYS * 86_400))
    at = ws.now()
    session = Session(
        _new_id(ws), partition, caller.actor, request.source_type, request.source_id,
        request.source_version, content_hash, request.content, request.lenient, at,
        moment(at, rules(ws).session_ttl_seconds),
    )  # fmt: skip
    rows.add(ws.database, session)
    return Begun(
        session_id=session.id, content_hash=content_hash, nothing_changed=False,
        expires_at=session.expires_at, previous_session_id=previous,
    )  # fmt: skip


@operation("write", Aborted, toolset="consolidation")
def kg_abort_consolidation(ws: Workspace, request: Abort, caller: Caller) -> Aborted:
    """Drop a session without writing anything of it; nothing has to be undone."""
    permissions.require(ws, caller, "abort")
    with ws.database.write():
        session = owned(ws, caller, request.session_id)
        if session.aborted_at is None:
            _check_not_committed(ws, session)
            rows.abort(ws.database, session.id, ws.now(), request.reason)
    return Aborted(session_id=session.id, aborted=True)


def opened(ws: Workspace, caller: Caller, session_id: str, step: Step) -> Session:
    """Return an agent's own session that is open, for a step that it may take.

    Raises:
        NotFound: there is no such session for this caller.
        PermissionDenied: the flag is missing, or it is another agent's session.
        SessionClosed: it was committed or aborted.
        SessionExpired: it was not touched for too long.
    """
    permissions.require(ws, caller, step)
    session = owned(ws, caller, session_id)
    if session.aborted_at is not None:
        raise SessionClosed(
            f"session {session.id} was aborted; begin another one", session_id=session.id
        )
    _check_not_committed(ws, session)
    check_time(ws, session)
    return session


def owned(ws: Workspace, caller: Caller, session_id: str) -> Session:
    """Return a session that exists for this caller and is its own.

    Raises:
        NotFound: there is no such session for this caller.
        PermissionDenied: it is another agent's.
    """
    session = rows.get(ws.database, session_id)
    if session is None or not caller.sees(session.partition):
        raise NotFound(
            f"there is no session {session_id!r}; kg_begin_consolidation opens one",
            session_id=session_id,
        )
    if session.agent != caller.actor:
        raise PermissionDenied(
            f"session {session.id} belongs to {session.agent!r}; begin one of your own",
            session_id=session.id,
        )
    return session


def check_time(ws: Workspace, session: Session) -> None:
    """Refuse a session that was not touched for too long."""
    if ws.now() >= session.expires_at:
        raise SessionExpired(
            f"session {session.id} expired at {session.expires_at}; nothing of it was written. Open "
            "another one with kg_begin_consolidation",
            session_id=session.id,
            expired_at=session.expires_at,
        )


def touch(ws: Workspace, session: Session) -> str:
    """Put a session's end off, as every step of it does; returns the new end."""
    expires = moment(ws.now(), rules(ws).session_ttl_seconds)
    rows.touch(ws.database, session.id, expires)
    return expires


def committed(ws: Workspace, session_id: str) -> Entry | None:
    """Return the journal entry that committed a session, or None where none took effect.

    An entry that met somebody's edit counts once a person has let it go through.
    """
    return consolidations.applied(ws.database, commit_request(session_id), COMMIT)


def moment(at: str, seconds: float) -> Instant:
    """Return the time so many seconds after another one."""
    return instant(datetime.fromisoformat(at) + timedelta(seconds=seconds))


def _check_not_committed(ws: Workspace, session: Session) -> None:
    entry = consolidations.of_request(ws.database, commit_request(session.id), COMMIT)
    if entry is None or entry.state == CONFLICTED:
        return
    ended = "was committed" if committed(ws, session.id) else "was dropped in a review"
    if entry.state in UNFINISHED:
        ended = "is being committed"
    raise SessionClosed(f"session {session.id} {ended}; begin another one", session_id=session.id)


def _content_hash(partition: str, request: Begin) -> str:
    """Hash an artefact: its text, or its version where no text was given."""
    said = {"content": request.content}
    if request.content is None:
        said = {"version": request.source_version}
    whole = json.dumps([partition, request.source_type, request.source_id, said])
    return f"sha256:{hashlib.sha256(whole.encode()).hexdigest()}"


def _new_id(ws: Workspace) -> str:
    made = ids.new_id("page", int(ws.clock().timestamp() * 1000))
    return f"kgs_{made.partition('_')[2]}"
