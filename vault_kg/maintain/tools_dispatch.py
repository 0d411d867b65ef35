"""maintain_dispatch, maintain_dispatch_end, maintain_dispatches: chores and passes sent out.

A dispatch is decided and noted in one transaction, so that there is never a second one, of either
kind, while one runs. The command of an agent is run by whoever asked, never from here.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.errors import NotFound
from vault_kg.maintain import debt
from vault_kg.maintain.chores import allowing, gates, running, work
from vault_kg.maintain.chores.kinds import Chore
from vault_kg.maintain.chores.settings import settings
from vault_kg.maintain.request import TOOLSET, Ask, Told
from vault_kg.maintain.survey import Survey
from vault_kg.operations import paging
from vault_kg.operations.base import Cursor, Line, Positive
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import chores, kg_sessions
from vault_kg.state.chores import REFUSED, RUNNING, Dispatch

LOST_AFTER = timedelta(minutes=10)
"""A dispatch that has not ended so long after its time limit is lost: whoever ran it is gone."""


class MakeDispatch(Ask):
    """What to send out."""

    what: Literal["chore", "pass"] = "chore"
    partition: Line | None = None
    agent: Line | None = Field(
        None, description="The command that will do it; left out, that of vault.toml."
    )
    force: bool = Field(False, description="Whatever the gates say, but one that runs.")


class Dispatched(GraphModel):
    """A dispatch, or its refusal."""

    id: int
    partition: str
    kind: str
    targets: list[str]
    agent: str
    state: str
    reason: str
    at: str
    ended_at: str | None = None


class Sent(Told):
    """What was noted; the rest is for the command, where it may go ahead."""

    dispatch: Dispatched
    prompt: str | None = None
    seconds: int | None = None
    cwd: str | None = None
    tools: list[str] = Field(default_factory=list, description="All that the agent may call.")


class EndDispatch(Ask):
    """How a dispatch ended."""

    id: Positive
    state: Literal["done", "failed", "timed_out"]
    reason: Annotated[str, Field(max_length=4_000)] = ""


class Log(Ask):
    """How much of the log."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 50
    cursor: Cursor | None = None


class Logged(Told):
    """Dispatches and refusals, newest first."""

    dispatches: list[Dispatched]
    count: int
    total: int
    next_cursor: str | None = Field(None, description="Null on the last page.")


@operation("admin", Sent, toolset=TOOLSET)
def maintain_dispatch(ws: Workspace, request: MakeDispatch, caller: Caller) -> Sent:
    """Send a chore or a pass out, if every gate is open; note it, or the refusal and its reason.

    The answer has the prompt. Whoever runs the command says with maintain_dispatch_end how it ended.
    """
    _forget_lost(ws)
    agent = request.agent or settings(ws).agent
    running.command_of(agent)
    request = request.model_copy(update={"agent": agent})
    refusals: list[str] = []
    for found in work.by_debt(ws, caller, request.partition):
        refused = _against(ws, found, request)
        chore = None
        if refused is None and request.what == "chore":
            chore, _ = work.chosen(ws, found)
            refused = None if chore else f"there is nothing to do in {found.partition}"
        if refused is None:
            prompt = work.prompt_for(ws, caller, found, chore)
            with ws.database.write():
                refused = _against(ws, found, request)  # another process may have been first
                if refused is None:
                    return _sent(ws, _note(ws, request, found.partition, chore), prompt)
        refusals.append(refused)
    reason = "; ".join(dict.fromkeys(refusals)) or "there are no graphs"
    noted = _note(ws, request, request.partition or "", None, reason)
    return Sent(dispatch=_view(noted), text=f"Refused: {reason}")


@operation("admin", Sent, toolset=TOOLSET)
def maintain_dispatch_end(ws: Workspace, request: EndDispatch, caller: Caller) -> Sent:
    """Note how a dispatched chore or pass ended."""
    known = chores.get(ws.database, request.id)
    if known is None or not caller.sees(known.partition):
        raise NotFound(
            f"there is no dispatch {request.id}; maintain_dispatches lists them", id=request.id
        )
    chores.end(ws.database, request.id, request.state, request.reason, ws.now())
    ended = chores.get(ws.database, request.id) or known
    return Sent(dispatch=_view(ended), text=f"{ended.kind} {ended.id}: {ended.state}")


@operation("read", Logged, toolset=TOOLSET)
def maintain_dispatches(ws: Workspace, request: Log, caller: Caller) -> Logged:
    """List the chores and passes that were dispatched or refused, newest first, with the reason."""
    partitions = None if caller.partitions is None else sorted(caller.partitions)
    before = paging.offset(request, request.cursor)
    rows, total = chores.log(ws.database, partitions, request.limit + 1, before)
    found = rows[: request.limit]
    lines = [
        f"{one.at}  {one.kind:6} {one.partition or '-'}  {one.state}"
        + (f": {one.reason}" if one.reason else "")
        for one in found
    ]
    return Logged(
        dispatches=[_view(one) for one in found], count=len(found), total=total,
        next_cursor=paging.encode(request, [found[-1].id]) if len(rows) > len(found) else None,
        text="\n".join(lines) or "Nothing was dispatched yet.",
    )  # fmt: skip


def _against(ws: Workspace, found: Survey, request: MakeDispatch) -> str | None:
    """Return the gate that is shut."""
    seen_now = work.situation(ws)
    if request.force:
        return gates.under_way(seen_now)
    if request.what == "chore":
        return gates.against_chore(seen_now, found.partition, debt.score(found.counts))
    counts = found.counts
    return gates.against_pass(
        seen_now, found.partition, counts.days_untended, counts.active, counts.days_active
    )


def _note(
    ws: Workspace, request: MakeDispatch, partition: str, chore: Chore | None, refused: str = ""
) -> Dispatch:
    at = ws.now()
    made = Dispatch(
        0, partition, chore.kind if chore else request.what,
        tuple(target.record for target in chore.targets) if chore else (), request.agent or "",
        REFUSED if refused else RUNNING, refused, at, at if refused else None,
    )  # fmt: skip
    number = chores.add(ws.database, made)
    return chores.get(ws.database, number) or made


def _forget_lost(ws: Workspace) -> None:
    """End what has been running for longer than it may: whoever ran it is gone."""
    rules = settings(ws)
    for one in chores.running(ws.database):
        limit = rules.pass_seconds if one.kind == "pass" else rules.seconds
        if ws.clock() - datetime.fromisoformat(one.at) > timedelta(seconds=limit) + LOST_AFTER:
            chores.end(ws.database, one.id, "lost", "whoever ran it is gone", ws.now())


def _sent(ws: Workspace, made: Dispatch, prompt: str) -> Sent:
    rules = settings(ws)
    return Sent(
        dispatch=_view(made), prompt=prompt, cwd=kg_sessions.root_of(ws.database, made.partition),
        seconds=rules.pass_seconds if made.kind == "pass" else rules.seconds,
        tools=allowing.tools(made.kind), text=prompt,
    )  # fmt: skip


def _view(one: Dispatch) -> Dispatched:
    return Dispatched(
        id=one.id, partition=one.partition, kind=one.kind, targets=list(one.targets),
        agent=one.agent, state=one.state, reason=one.reason, at=one.at, ended_at=one.ended_at,
    )  # fmt: skip
