"""What happened in a vault lately: the journal, newest first."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from vault_kg.index.indexer import generation
from vault_kg.operations import paging, sight, steps
from vault_kg.operations.base import Cursor, Git, Limit, Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import glimpses
from vault_kg.state import journal as rows
from vault_kg.state.glimpses import Glimpse
from vault_kg.store import unasked
from vault_kg.store.journal import OBSERVE

MAX_TOUCHED = 50
_CHUNK = 200


class Activity(Request):
    """What happened lately."""

    after: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Only entries newer than this position."
    )
    actor: Line | None = Field(None, description="Only what this actor did.")
    limit: Limit = 50
    cursor: Cursor | None = None


class Touched(Model):
    """A record that an entry gave a revision."""

    id: str
    kind: str
    revision: int
    lifecycle: str
    path: str


class EntryView(Model):
    """One accepted request."""

    seq: int
    request_id: str
    operation: str
    partition: str
    actor: str
    reason: str | None = None
    label: str | None = Field(None, description="What it was about, as its commit names it.")
    state: str
    accepted_at: str
    published_at: str | None = None
    target_id: str | None = None
    replacement_id: str | None = None
    touched: list[Touched] = Field(description="The records changed; at most the first fifty.")
    touched_total: int
    git: Git


class ActivityView(Model):
    """Entries, newest first, and the position of the newest of all."""

    entries: list[EntryView]
    count: int
    position: int
    indexed: int = Field(description="Grows whenever files were taken in, plain notes too.")
    waiting_for_git: int
    next_cursor: str | None = None


@operation("read", ActivityView, toolset="ui")
def knowledge_activity(ws: Workspace, request: Activity, caller: Caller) -> ActivityView:
    """List what was done lately, newest first, from the journal.

    Each entry says who did it, why, to which records, and whether it is in Git. position grows with
    every entry; ask again with after to get only what is new.
    """
    position = rows.last_seq(ws.database)
    found = _seen(ws, request, caller)
    shown = found[: request.limit]
    return ActivityView(
        entries=[_view(ws, entry, caller) for entry in shown],
        count=len(shown),
        position=position,
        indexed=generation(ws.database),
        waiting_for_git=waiting_for_git(ws, caller)[0],
        next_cursor=paging.encode(request, [shown[-1].seq]) if len(found) > len(shown) else None,
    )


def _seen(ws: Workspace, request: Activity, caller: Caller) -> list[Glimpse]:
    """Return the entries asked for, and one more where there are more."""
    found: list[Glimpse] = []
    before, newest = paging.offset(request, request.cursor), rows.last_seq(ws.database)
    most = MAX_TOUCHED if caller.partitions is None else None
    while len(found) <= request.limit:
        chunk = glimpses.recent(ws.database, min(_CHUNK, request.limit + 1), before, most)
        if not chunk:
            break
        steps.step(caller, newest - chunk[-1].seq, newest, "reading the journal")
        for entry in chunk:
            if request.after is not None and entry.seq <= request.after:
                return found
            if request.actor in (None, entry.actor) and caller.sees(entry.partition):
                found += _as_seen(ws, entry, caller)
        before = chunk[-1].seq
    return found[: request.limit + 1]


def _as_seen(ws: Workspace, entry: Glimpse, caller: Caller) -> list[Glimpse]:
    """Return an entry with the revisions of records that exist for a caller.

    One that touches records exists only for a caller who sees any of them.
    """
    if caller.partitions is None or not entry.revisions:
        return [entry]
    mine = [
        each
        for each in entry.revisions
        if caller.sees(each["partition"])
        and not sight.stands_on_hidden(ws, caller, each["record_id"])
    ]
    return [replace(entry, revisions=mine, revisions_total=len(mine))] if mine else []


def waiting_for_git(ws: Workspace, caller: Caller) -> tuple[int, str | None]:
    """Return how many changes that a caller may see wait for Git, and the reason of the oldest."""
    if ws.vault.reading:
        return 0, "open for reading only"
    if unasked.is_unasked(ws.database):
        return 0, unasked.WAITS
    waiting, reason = rows.queue_state(ws.database)
    if waiting and caller.partitions is not None:
        waiting = sum(caller.sees(e.partition) for e in rows.queued(ws.database, waiting))
    return waiting, reason if waiting else None


def _label(entry: Glimpse, caller: Caller) -> str:
    """Return what an entry is called; edits in several partitions are counted as a caller sees them."""
    seen = entry.revisions_total
    if entry.operation == OBSERVE and caller.partitions is not None:
        return f"{seen} record{'' if seen == 1 else 's'}"
    return entry.label


def _view(ws: Workspace, entry: Glimpse, caller: Caller) -> EntryView:
    return EntryView(
        seq=entry.seq, request_id=entry.request_id, operation=entry.operation,
        partition=entry.partition, actor=entry.actor, reason=entry.reason,
        label=_label(entry, caller), state=entry.state, accepted_at=entry.accepted_at,
        published_at=entry.published_at,
        target_id=sight.shown(ws, caller, entry.receipt.get("targetId")),
        replacement_id=sight.shown(ws, caller, entry.receipt.get("replacementId")),
        touched=[
            Touched(
                id=r["record_id"], kind=r["kind"], revision=r["revision"],
                lifecycle=r["lifecycle"], path=r["path"],
            )
            for r in entry.revisions[:MAX_TOUCHED]
        ],
        touched_total=entry.revisions_total,
        git=Git.model_validate(ws.outbox.state_of(entry.seq, entry.state, entry.commit_id)),
    )  # fmt: skip
