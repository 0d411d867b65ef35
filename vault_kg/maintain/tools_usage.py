"""kg_useful, kg_sync and kg_progress: endorsements, news of others, and the memory of tasks."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from vault_kg.errors import InvalidArgument
from vault_kg.index.nodes import Node
from vault_kg.maintain import finding, foreign, levels, sessions, tending, writing
from vault_kg.maintain.request import SESSION, TOOLSET, Ask, Level, NodeIds, SessionId, Told
from vault_kg.maintain.sessions import Session
from vault_kg.operations import base
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import kg_sessions, progress, tiers, usage
from vault_kg.state.progress import Stamp

SESSION_CAP, GUIDANCE = 10, 5
"""Endorsements that a session may give, and how many are reasonable (kg plugin: core/constants.py)."""

PASS_CAP, NODE_CAP = 15, 3
"""Credits that a maintenance pass may give, and to one node."""

VALUE_CHARACTERS, LIST_ITEMS = 240, 8
"""What the trail keeps of a value of a stamp."""

MAX_STATE = 100_000
GIST_SHOWN = 100

TaskId = Annotated[Line, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class Useful(Ask):
    """The nodes that helped."""

    session_id: SessionId = SESSION
    ids: NodeIds
    credits: int | None = Field(None, description="1 to 3; in a maintenance pass only.")


class Judged(GraphModel):
    """What became of one endorsement."""

    id: str
    given: bool
    reason: str | None = None


class Endorsed(Told):
    """What became of each endorsement."""

    results: list[Judged]
    left: int = Field(description="What this session may still give.")


class Sync(Ask):
    """Whose news to list."""

    session_id: SessionId = SESSION


class News(GraphModel):
    """A node or edge that another one changed."""

    kind: str
    id: str
    level: str
    actor: str
    gone: bool


class Synced(Told):
    """What others changed since the last time."""

    changes: list[News]
    total: int


class Progress(Ask):
    """A task, and its state where it is to be stamped."""

    session_id: SessionId = SESSION
    task_id: TaskId
    state: base.Mapping | None = Field(None, description="Stamp the task with this; else read it.")
    level: Level = "user"


class Standing(Told):
    """Where a task stands."""

    task_id: str
    level: str
    last_ts: str | None
    state: dict[str, Any] | None
    trail: list[dict[str, Any]] = Field(description="The last twenty stamps, newest last.")


@operation("write", Endorsed, toolset=TOOLSET)
def kg_useful(ws: Workspace, request: Useful, caller: Caller) -> Endorsed:
    """Say that nodes proved useful in this session; once a node, about five in all.

    In a maintenance pass, credits (1 to 3) say how much; a node that only search found returns to
    the archive.
    """
    session = sessions.resume(ws, caller, request.session_id)
    sessions.settle(ws)
    named = {name: finding.maybe(session, name) for name in request.ids}
    results = [_endorse(session, name, node, request.credits) for name, node in named.items()]
    left = _left(session)
    given = [r.id for r in results if r.given]
    lines = [f"Endorsed {len(given)}: {', '.join(given)}." if given else "Endorsed none."]
    lines += [f"  {r.id}: {r.reason}" for r in results if not r.given]
    total = sum(usage.credits_by(ws.database, session.id, _kind(session)).values())
    if not session.maintenance and total > GUIDANCE:
        lines.append(f"NOTE: {total} in this session; about {GUIDANCE} tell most.")
    return Endorsed(results=results, left=left, text=writing.said(session, *lines))


@operation("read", Synced, toolset=TOOLSET)
def kg_sync(ws: Workspace, request: Sync, caller: Caller) -> Synced:
    """List the nodes and edges that others changed since this session last asked."""
    session = sessions.resume(ws, caller, request.session_id)
    sessions.settle(ws)
    position = rows.last_seq(ws.database)
    changed = foreign.since(session, session.row.synced_seq)
    kg_sessions.set_mark(ws.database, session.id, synced=position, told=position)
    lines = [f"{len(changed)} change(s) by others:" if changed else "No changes by others."]
    lines += [f"  {one.text[: GIST_SHOWN + len(one.id) + 12]}" for one in changed]
    return Synced(
        changes=[
            News(kind=one.kind, id=one.id, level=one.level, actor=one.actor, gone=one.gone)
            for one in changed
        ],
        total=len(changed),
        text="\n".join(lines),
    )


@operation("write", Standing, toolset=TOOLSET)
def kg_progress(ws: Workspace, request: Progress, caller: Caller) -> Standing:
    """Read where a task of a level stands, or stamp it with a state.

    The server writes the time (last_ts) and keeps the last twenty stamps (_trail). The tasks
    maintain and chore make this session a maintenance pass.
    """
    is_pass = request.task_id in sessions.PASSES
    session = sessions.resume(ws, caller, request.session_id, maintenance=is_pass)
    partition = session.partition(request.level)
    if request.state is not None:
        progress.stamp(ws.database, partition, request.task_id, _stamp(session, request.state))
    trail = progress.trail(ws.database, partition, request.task_id)
    last = trail[-1] if trail else None
    state = {**last.state, "last_ts": last.at} if last else None
    shown = [{**_bounded(stamp.state), "last_ts": stamp.at} for stamp in trail]
    return Standing(
        task_id=request.task_id, level=levels.level_of(partition),
        last_ts=last.at if last else None, state=state, trail=shown,
        text=_told(request, state, shown),
    )  # fmt: skip


def _endorse(session: Session, name: str, found: Node | None, credits: int | None) -> Judged:
    ws = session.ws
    kind = _kind(session)
    number = (1 if credits is None else credits) if session.maintenance else 1
    given = usage.credits_by(ws.database, session.id, kind)
    reason = None
    if credits is not None and not (session.maintenance and 1 <= credits <= NODE_CAP):
        reason = "bad credits: 1 to 3, in a maintenance pass only"
    elif found is None:
        reason = "not found"
    elif not session.maintenance and found.id in given:
        reason = "endorsed already in this session"
    elif session.maintenance and given.get(found.id, 0) + number > NODE_CAP:
        reason = f"cap: at most {NODE_CAP} credits a node in a pass"
    elif sum(given.values()) + number > (PASS_CAP if session.maintenance else SESSION_CAP):
        reason = f"cap: {sum(given.values())} given in this session"
    via = kg_sessions.seen(ws.database, session.id, found.id) if found else None
    usage.credit(
        ws.database,
        usage.Credit(
            found.id if found else name, session.id, kind, number, via.via if via else "unseen",
            ws.now(), reason,
        ),
    )  # fmt: skip
    if reason is None and found is not None:
        tiers.begin_round(ws.database, [found.partition])
        tending.rescue(ws, found)
        session.used(found.partition)
    return Judged(id=name, given=reason is None, reason=reason)


def _kind(session: Session) -> str:
    return "pass" if session.maintenance else "useful"


def _left(session: Session) -> int:
    given = usage.credits_by(session.ws.database, session.id, _kind(session))
    return (PASS_CAP if session.maintenance else SESSION_CAP) - sum(given.values())


def _stamp(session: Session, state: dict[str, Any]) -> Stamp:
    """Return a stamp: its time is the server's, whatever the caller says."""
    said = {key: value for key, value in state.items() if key not in ("last_ts", "_trail")}
    size = len(json.dumps(said, ensure_ascii=False, default=str))
    if size > MAX_STATE:
        raise InvalidArgument(
            f"state has {size:,} characters; {MAX_STATE:,} are kept at most", field="state"
        )
    return Stamp(session.ws.now(), session.id, json.loads(json.dumps(said, default=str)))


def _bounded(value: Any) -> Any:
    """Return a value as the trail shows it: short texts, short lists."""
    if isinstance(value, str):
        return value if len(value) <= VALUE_CHARACTERS else value[: VALUE_CHARACTERS - 1] + "…"
    if isinstance(value, dict):
        return {key: _bounded(one) for key, one in value.items()}
    if isinstance(value, list):
        shown = [_bounded(one) for one in value[:LIST_ITEMS]]
        left = len(value) - len(shown)
        return [*shown, *([f"… and {left} more"] if left else [])]
    return value


def _told(request: Progress, state: dict[str, Any] | None, trail: list[dict[str, Any]]) -> str:
    if state is None:
        return f"No progress of {request.task_id} [{request.level}] yet."
    head = f"{'Stamped' if request.state is not None else 'Progress of'} {request.task_id} "
    lines = [f"{head}[{request.level}]: {_json(state)}", "_trail:"]
    return "\n".join([*lines, *(f"  {_json(stamp)}" for stamp in trail)])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
