"""Committing a session: one journal entry, which is its audit row and its event as well."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from vault_kg.consolidation import permissions, planning, sessions, veiling
from vault_kg.consolidation.candidates import contents
from vault_kg.consolidation.deciding import Override, decide
from vault_kg.consolidation.sessions import SessionId, moment
from vault_kg.consolidation.settings import rules
from vault_kg.errors import (
    CommitConflict,
    RateLimited,
    RequestMismatch,
    SessionClosed,
    VaultError,
)
from vault_kg.operations import base
from vault_kg.operations.base import Git, Reason
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest, GraphWrite
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import consolidations, relevance
from vault_kg.state import sessions as rows
from vault_kg.state.journal import UNFINISHED, Entry
from vault_kg.state.sessions import COMMIT, Session, commit_request
from vault_kg.store.plan import Plan

EVENT = "kg.consolidated.v1"
_MINUTE = 60


class Commit(GraphRequest):
    """The session to commit."""

    session_id: SessionId
    agent_overrides: Annotated[
        list[Override], BeforeValidator(base.read_list), Field(max_length=2_000)
    ] = Field(default_factory=list, description="Other hints than those proposed, each with why.")
    summary: Reason | None = Field(None, description="What the session is about; kept as reason.")


class Added(GraphModel):
    """A candidate that became a new node."""

    candidate_id: str
    node_id: str


class Left(GraphModel):
    """A candidate of which nothing was written: the node that says it already, if one does."""

    candidate_id: str
    node_id: str | None


class Superseded(GraphModel):
    """A candidate whose new node has taken the place of target_node, which is kept."""

    candidate_id: str
    node_id: str
    target_node: str


class Applied(GraphModel):
    """What became of the candidates; a new node that supersedes another is in both lists."""

    added: list[Added]
    updated: list[Added]
    superseded: list[Superseded]
    noop: list[Left]


class EdgeMade(GraphModel):
    """A relationship that was written."""

    edge_id: str
    src: str
    rel: str
    dst: str
    edge_candidate_id: str | None = None


class EdgeLeft(GraphModel):
    """An edge candidate of which nothing was written."""

    edge_candidate_id: str
    edge_id: str | None


class Committed(GraphModel):
    """What was done; committing again answers the same."""

    session_id: str
    committed: bool
    applied: Applied
    edges_added: list[EdgeMade]
    edges_noop: list[EdgeLeft]
    audit_row_id: int
    outbox_event: str
    warnings: list[str] = Field(default_factory=list)
    git: Git


class Payload(GraphWrite):
    """What the journal keeps of a commit: the audit row."""

    session: dict[str, Any]
    candidates: list[dict[str, Any]]
    overrides: list[dict[str, Any]]
    summary: str | None


@operation("write", Committed, toolset="consolidation")
def kg_commit_consolidation(ws: Workspace, request: Commit, caller: Caller) -> Committed:
    """Write all candidates of a session at once, as proposed or as you override: step 6.

    All or nothing. commit_conflict: something changed since; propose again. After any failure the
    session stays open, to commit again or abort. Committing twice gives the first answer.
    """
    permissions.require(ws, caller, "commit")
    session = sessions.owned(ws, caller, request.session_id)
    entry = _finished(ws, session)
    if entry is None:
        _commit_once(ws, caller, session, request)
        entry = sessions.committed(ws, session.id)
        assert entry is not None, "it is published"
    else:
        ws.outbox.drain()
    return _answer(ws, entry)


def _commit_once(ws: Workspace, caller: Caller, session: Session, request: Commit) -> None:
    """Commit a session, unless another call does so meanwhile; a refusal is kept with it."""
    try:
        _commit(ws, caller, sessions.opened(ws, caller, session.id, "commit"), request)
    except (RequestMismatch, SessionClosed):
        if _finished(ws, session) is None:
            raise
    except VaultError as error:
        with contextlib.suppress(VaultError):
            rows.fail(ws.database, session.id, error.message)
        error.data["committable"] = False
        raise


def _finished(ws: Workspace, session: Session) -> Entry | None:
    """Return the entry that committed a session; one that a dead process accepted is finished."""
    entry = consolidations.of_request(ws.database, commit_request(session.id), COMMIT)
    if entry is not None and entry.state in UNFINISHED:
        with ws.lane.hold():
            ws.journal.finish_accepted()
    return sessions.committed(ws, session.id)


def _commit(ws: Workspace, caller: Caller, session: Session, request: Commit) -> None:
    _check_rate(ws, caller)
    stored = rows.candidates(ws.database, session.id)
    held = contents(stored)
    decisions = decide(held, request.agent_overrides)
    reason = request.summary or f"consolidation of {session.source_type} {session.source_id}"
    payload = Payload(
        request_id=commit_request(session.id),
        session={name: getattr(session, name) for name in _AUDITED},
        candidates=[veiling.shown(each) for each in stored],
        overrides=[o.model_dump(mode="json", exclude_none=True) for o in request.agent_overrides],
        summary=request.summary,
    )
    attested: list[str] = []

    def plan() -> Plan:
        now = rows.get(ws.database, session.id)
        if now is None or now.version != session.version or now.aborted_at is not None:
            raise CommitConflict(
                f"session {session.id} was changed while it was being committed; propose again",
                session_id=session.id,
            )
        planned = planning.plan(ws, caller, session, held, decisions, reason)
        noop = planned.receipt["result"]["applied"]["noop"]
        attested[:] = [left["node_id"] for left in noop if left["node_id"]]
        return planned

    ws.write(caller, COMMIT, payload, plan)
    with contextlib.suppress(VaultError):  # it is committed, whatever becomes of these
        relevance.attest(ws.database, attested)
        rows.forget(ws.database, session.id)


_AUDITED = (
    "id", "partition", "agent", "source_type", "source_id", "source_version", "content_hash",
    "lenient", "opened_at",
)  # fmt: skip


def _check_rate(ws: Workspace, caller: Caller) -> None:
    allowed, now = rules(ws).commits_per_minute, ws.now()
    lately = rows.commits_since(ws.database, caller.actor, moment(now, -_MINUTE))
    if len(lately) >= allowed:
        free = moment(lately[-allowed], _MINUTE)
        wait = (datetime.fromisoformat(free) - datetime.fromisoformat(now)).total_seconds()
        raise RateLimited(
            f"{caller.actor!r} has committed {len(lately)} sessions within a minute, and {allowed} "
            f"are allowed; nothing was written. Commit again in {max(1, int(wait))} s",
            retry_after=max(1, int(wait)),
        )


def _answer(ws: Workspace, entry: Entry) -> Committed:
    assert entry.receipt is not None, "it took effect"
    return Committed(
        committed=True, audit_row_id=entry.seq, outbox_event=EVENT,
        git=Git.model_validate(ws.outbox.state(entry.seq)), **entry.receipt["result"],
    )  # fmt: skip
