"""The audit: what each session proposed, what was decided otherwise, and what came of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from vault_kg.consolidation import veiling
from vault_kg.consolidation.sessions import SessionId
from vault_kg.operations import paging, sight
from vault_kg.operations.base import Cursor, Git, Id, Line, Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest, Listed, position
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import visible
from vault_kg.operations.workspace import Workspace
from vault_kg.state import consolidations
from vault_kg.state import sessions as rows
from vault_kg.state.consolidations import Commits
from vault_kg.state.journal import Entry


class Audit(GraphRequest):
    """Which commits to list."""

    board_id: Partition | None = None
    session_id: SessionId | None = Field(None, description="This one, with its candidates.")
    node_id: Id | None = Field(None, description="Only those that changed this record.")
    source_id: Line | None = Field(None, description="Only those of this artefact.")
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Cursor | None = None


class UndoneBy(GraphModel):
    """That and why a session was taken back."""

    audit_row_id: int
    agent: str
    at: str
    reason: str | None


class AuditRow(GraphModel):
    """One commit. Candidates, with their proposals, and overrides are given for one session."""

    audit_row_id: int
    session_id: str | None
    board_id: str
    agent: str
    committed_at: str
    source_type: str | None
    source_id: str | None
    source_version: str | None
    content_hash: str | None
    summary: str | None
    applied: dict[str, Any]
    edges_added: list[dict[str, Any]]
    edges_noop: list[dict[str, Any]]
    warnings: list[str]
    candidates: list[dict[str, Any]] | None = None
    overrides: list[dict[str, Any]] | None = None
    undone: UndoneBy | None = None
    git: Git


class AuditRows(Listed):
    """Commits, the newest first."""

    rows: list[AuditRow]


class ListSessions(GraphRequest):
    """Which open sessions to list."""

    board_id: Partition | None = None
    session_id: SessionId | None = Field(None, description="This one, with its candidates.")
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    cursor: Cursor | None = None


class OpenSession(GraphModel):
    """A session that can still be committed. committable is false after a commit failed."""

    session_id: str
    board_id: str
    agent: str
    source_type: str
    source_id: str
    source_version: str | None
    opened_at: str
    expires_at: str
    nodes: int
    edges: int
    committable: bool
    failure: str | None
    candidates: list[dict[str, Any]] | None = None


class OpenSessions(Listed):
    """Open sessions, the latest first."""

    sessions: list[OpenSession]


@operation("read", AuditRows, toolset="consolidation")
def kg_audit(ws: Workspace, request: Audit, caller: Caller) -> AuditRows:
    """List how the graph got to its state: the sessions that were committed, newest first.

    With session_id also every candidate, what was proposed for it, and the agent's overrides.
    """
    if sight.is_hidden(ws, caller, request.node_id):
        return AuditRows(rows=[], count=0, total=0)
    which = Commits(
        visible(caller, request.board_id), request.node_id, request.session_id, request.source_id
    )
    before = paging.offset(request, request.cursor)
    found = consolidations.commits(ws.database, which, request.limit + 1, before)
    shown = found[: request.limit]
    more = len(found) > len(shown)
    return AuditRows(
        rows=[_row(ws, caller, entry, details=request.session_id is not None) for entry in shown],
        count=len(shown),
        total=consolidations.count(ws.database, which),
        next_cursor=paging.encode(request, [shown[-1].seq]) if more else None,
    )


@operation("read", OpenSessions, toolset="consolidation")
def kg_sessions(ws: Workspace, request: ListSessions, caller: Caller) -> OpenSessions:
    """List the sessions that are open, with how many candidates each holds and when it expires.

    With session_id also every candidate, and what was proposed for it so far.
    """
    after = position(request, request.cursor)
    found, total = rows.open_ones(
        ws.database, ws.now(), visible(caller, request.board_id), request.session_id,
        request.limit + 1, after,
    )  # fmt: skip
    shown = found[: request.limit]
    details = request.session_id is not None
    last = [shown[-1].opened_at, shown[-1].id] if len(found) > len(shown) else None
    return OpenSessions(
        sessions=[_open(ws, caller, session, details=details) for session in shown],
        count=len(shown), total=total,
        next_cursor=paging.encode(request, last) if last else None,
    )  # fmt: skip


def _open(ws: Workspace, caller: Caller, session: rows.Session, *, details: bool) -> OpenSession:
    held = veiling.counts(ws, caller, session.id)
    return OpenSession(
        session_id=session.id, board_id=session.partition, agent=session.agent,
        source_type=session.source_type, source_id=session.source_id,
        source_version=session.source_version, opened_at=session.opened_at,
        expires_at=session.expires_at, nodes=held[rows.NODE], edges=held[rows.EDGE],
        committable=session.failure is None, failure=session.failure,
        candidates=veiling.candidates(
            ws, caller, map(veiling.shown, rows.candidates(ws.database, session.id))
        ) if details else None,
    )  # fmt: skip


def _row(ws: Workspace, caller: Caller, entry: Entry, *, details: bool) -> AuditRow:
    result = veiling.result(ws, caller, (entry.receipt or {}).get("result", {}))
    session = entry.payload.get("session", {})
    session_id = session.get("id") or result.get("session_id")
    undo = consolidations.undone(ws.database, session_id) if session_id else None
    return AuditRow(
        audit_row_id=entry.seq,
        session_id=session_id,
        board_id=entry.partition,
        agent=entry.actor,
        committed_at=entry.published_at or entry.accepted_at,
        source_type=session.get("source_type"),
        source_id=session.get("source_id"),
        source_version=session.get("source_version"),
        content_hash=session.get("content_hash"),
        summary=entry.payload.get("summary"),
        applied=result.get("applied", {}),
        edges_added=result.get("edges_added", []),
        edges_noop=result.get("edges_noop", []),
        warnings=result.get("warnings", []),
        candidates=veiling.candidates(ws, caller, entry.payload.get("candidates", ()))
        if details else None,
        overrides=entry.payload.get("overrides") if details else None,
        undone=UndoneBy(
            audit_row_id=undo.seq, agent=undo.actor, at=undo.published_at or undo.accepted_at,
            reason=undo.reason,
        ) if undo else None,
        git=Git.model_validate(ws.outbox.state(entry.seq)),
    )  # fmt: skip
