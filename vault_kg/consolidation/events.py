"""The events of consolidation: the journal's entries of commits and undoings, in their order.

An event is never stored apart from its entry, so that there is one for each, whatever happens.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from vault_kg.consolidation import committing, undoing, veiling
from vault_kg.operations import paging
from vault_kg.operations.base import Cursor
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import consolidations
from vault_kg.state.consolidations import Happened
from vault_kg.state.sessions import COMMIT

_CHUNK = 200


class ReadOutbox(GraphRequest):
    """Where to go on."""

    cursor: Cursor | None = Field(None, description="next_cursor of the answer before; null: all.")
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


class Event(GraphModel):
    """One commit or undoing. An event may come twice; its event_id is always the same."""

    event_id: str
    event: str
    seq: int
    board_id: str
    session_id: str | None
    agent: str
    at: str
    source: dict[str, Any]
    content_hash: str | None
    result: dict[str, Any] = Field(description="What the operation answered.")


class Events(GraphModel):
    """Events in their order."""

    events: list[Event]
    count: int
    more: bool = Field(description="Whether there is more already.")
    next_cursor: str | None = Field(description="Where to go on, now or later.")


@operation("read", Events, toolset="consolidation")
def kg_outbox_read(ws: Workspace, request: ReadOutbox, caller: Caller) -> Events:
    """Read what was consolidated and undone, in order, from a cursor on.

    Keep next_cursor once you have dealt with the events: asking again from an older one gives them
    again.
    """
    start = paging.offset(request, request.cursor) or 0
    found: list[Happened] = []
    position = start
    while len(found) <= request.limit:
        chunk = consolidations.after(ws.database, position, _CHUNK)
        if not chunk:
            break
        position = chunk[-1].seq
        found += [each for each in chunk if caller.sees(each.entry.partition)]
    shown = found[: request.limit]
    reached = shown[-1].seq if shown else start
    return Events(
        events=[_seen(ws, caller, event(each)) for each in shown],
        count=len(shown),
        more=len(found) > len(shown),
        next_cursor=paging.encode(request, [reached]) if reached else None,
    )


def _seen(ws: Workspace, caller: Caller, each: Event) -> Event:
    return each.model_copy(update={"result": veiling.result(ws, caller, each.result)})


def event(happened: Happened) -> Event:
    """Return the event of a commit or undoing."""
    seq, entry = happened
    session = entry.payload.get("session", {})
    result = (entry.receipt or {}).get("result", {})
    return Event(
        event_id=f"evt_{seq}",
        event=committing.EVENT if entry.operation == COMMIT else undoing.EVENT,
        seq=seq,
        board_id=entry.partition,
        session_id=session.get("id") or result.get("session_id"),
        agent=entry.actor,
        at=entry.published_at or entry.accepted_at,
        source={
            key.removeprefix("source_"): session.get(key)
            for key in ("source_type", "source_id", "source_version")
        },
        content_hash=session.get("content_hash"),
        result=result,
    )
