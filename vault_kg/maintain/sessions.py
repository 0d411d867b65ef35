"""Sessions: who is talking, of which project, and what counts as use."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from vault_kg.errors import InvalidArgument
from vault_kg.index import counters
from vault_kg.maintain import levels, moments
from vault_kg.maintain.request import Level
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import kg_sessions, tiers, usage
from vault_kg.state.kg_sessions import SessionRow

TTL = timedelta(hours=24)
"""A session that was not used for so long is forgotten."""

PASSES = frozenset({"maintain", "chore"})
"""Tasks whose sessions are maintenance."""


@dataclass(frozen=True)
class Session:
    """A session in use; `notice` is something that its next answer says first."""

    ws: Workspace
    caller: Caller
    row: SessionRow
    notice: str = ""

    @property
    def id(self) -> str:
        """Its id."""
        return self.row.id

    @property
    def maintenance(self) -> bool:
        """Whether what it does is no use of the nodes that it judges."""
        return self.row.maintenance

    @property
    def levels(self) -> list[str]:
        """The partitions that it looks at."""
        return levels.rendered(self.row.project, self.caller)

    def partition(self, level: Level) -> str:
        """Return the partition of a level."""
        return levels.partition_of(level, self.row.project, self.caller)

    def request_id(self) -> str:
        """Return the id of its next change."""
        started = "".join(c for c in self.row.started_at if c.isdigit())
        return f"{self.mark}{started}-{kg_sessions.next_request(self.ws.database, self.id)}"

    @property
    def mark(self) -> str:
        """How the ids of its changes begin."""
        return mark_of(self.id)

    def used(self, partition: str) -> None:
        """Note that a level was used today."""
        if self.maintenance:
            return
        day = self.ws.now()[:10]
        if not usage.is_known_day(self.ws.database, partition, day):
            usage.in_use_on(self.ws.database, partition, day)


def mark_of(session_id: str) -> str:
    """Return how the ids of a session's changes begin."""
    return f"kg-{session_id}-"


def settle(ws: Workspace) -> None:
    """Bring the counters up to date; a level of which something changed begins another round."""
    changed = counters.settle(ws.database, ws.now())
    if changed:
        tiers.begin_round(ws.database, sorted(changed))


def begin(
    ws: Workspace, caller: Caller, session_id: str | None, cwd: str | None, maintenance: bool
) -> Session:
    """Return the session of a kg_read: the one named, or a new one.

    Raises:
        InvalidArgument: neither a session nor a folder is named, or the session is not known.
    """
    known = kg_sessions.session(ws.database, session_id) if session_id else None
    if known is None and cwd is None:
        raise InvalidArgument(
            f"session {session_id} is not known (any more); call kg_read(cwd=…) to begin one"
            if session_id
            else "give cwd (the folder of the project) to begin a session, or a session_id",
            session_id=session_id,
        )
    project = levels.project_at(ws, cwd) if cwd is not None else None
    if known is None:
        row = _new(ws, caller, session_id, project, maintenance)
        return Session(ws, caller, row)
    notice = ""
    if project is not None and known.project not in (None, project):
        notice = f"NOTICE: this session is of {known.project}; cwd {cwd} was ignored."
    row = replace(known, project=known.project or project,
                  maintenance=known.maintenance or maintenance)  # fmt: skip
    return _in_use(ws, caller, row, notice)


def resume(ws: Workspace, caller: Caller, session_id: str, *, maintenance: bool = False) -> Session:
    """Return a session; one that was lost begins anew, without a project until a cwd names it."""
    known = kg_sessions.session(ws.database, session_id)
    if known is None:
        return Session(ws, caller, _new(ws, caller, session_id, None, maintenance))
    return _in_use(ws, caller, replace(known, maintenance=known.maintenance or maintenance), "")


def passing(ws: Workspace, caller: Caller) -> Session:
    """Return a session that is not kept: for a look without one."""
    at = ws.now()
    return Session(ws, caller, SessionRow("-", caller.actor, None, False, 0, 0, 0, at, at))


def _in_use(ws: Workspace, caller: Caller, row: SessionRow, notice: str) -> Session:
    kg_sessions.touch(ws.database, row.id, ws.now(), row.project, row.maintenance)
    return Session(ws, caller, row, notice)


def _new(
    ws: Workspace, caller: Caller, session_id: str | None, project: str | None, maintenance: bool
) -> SessionRow:
    at, seq = ws.now(), rows.last_seq(ws.database)
    row = SessionRow(
        session_id or secrets.token_hex(4), caller.actor, project, maintenance, 0, seq, seq, at, at
    )
    kg_sessions.start(ws.database, row, moments.before(ws, TTL))
    return row
