"""Who is told of consolidations, and what could not be delivered: as operations.

A hook is a command of this machine, so that only a person adds one.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from vault_kg.consolidation import delivering
from vault_kg.errors import InvalidArgument, NotFound, PermissionDenied
from vault_kg.operations import paging
from vault_kg.operations.base import Cursor, Line, Lines
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest, Listed
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import consolidations, deliveries
from vault_kg.state.deliveries import DeadLetter, Kind

Name = Annotated[
    Line,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[\w.-]+$"),
]


class Subscribe(GraphRequest):
    """A receiver of events."""

    name: Name
    command: Annotated[Lines, Field(min_length=1)] | None = Field(
        None, description="A program and its arguments; it gets each event on standard input."
    )
    file: Line | None = Field(None, description="A file to which each event is appended as a line.")
    from_start: bool = Field(False, description="Also what has happened already.")

    @model_validator(mode="after")
    def _is_one(self) -> Subscribe:
        if (self.command is None) == (not self.file):
            raise ValueError("give command or file, and not both")
        return self


class Unsubscribe(GraphRequest):
    """The receiver to remove."""

    name: Name


class SubscriberView(GraphModel):
    """One receiver, and how far it is. `behind` counts events that it was not given yet."""

    name: str
    kind: Kind
    target: list[str]
    cursor: int
    behind: int
    attempts: int
    next_at: str | None
    error: str | None
    dead_letters: int


class Subscribers(GraphModel):
    """Receivers by name."""

    subscribers: list[SubscriberView]
    count: int


class ListSubscribers(GraphRequest):
    """Nothing to say."""


class Deliver(GraphRequest):
    """Nothing to say."""


class Delivered(GraphModel):
    """What was delivered now."""

    delivered: int
    failed: int
    buried: int
    waiting: int


class DeadLetters(GraphRequest):
    """Whose dead letters."""

    subscriber: Line | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    cursor: Cursor | None = None


class DeadLetterView(GraphModel):
    """An event that was given up for a receiver."""

    subscriber: str
    event_id: str
    seq: int
    attempts: int
    error: str
    at: str


class DeadLetterList(Listed):
    """Dead letters, oldest first."""

    dead_letters: list[DeadLetterView]


class Reprocess(GraphRequest):
    """Which dead letters to try again; all where nothing is said."""

    subscriber: Line | None = None
    seqs: list[int] | None = None


class Reprocessed(GraphModel):
    """What came of it."""

    delivered: int
    failed: list[DeadLetterView]


@operation("review", Subscribers, toolset="consolidation")
def kg_event_subscribe(ws: Workspace, request: Subscribe, caller: Caller) -> Subscribers:
    """Have events delivered to a command or appended to a JSON Lines file, from now on."""
    _check_sees_all(caller)
    if request.file:
        _check_file(ws, request.file)
    kind: Kind = "command" if request.command else "file"
    target = request.command or [request.file or ""]
    start = 0 if request.from_start else consolidations.last(ws.database)
    deliveries.put(ws.database, request.name, kind, target, start, ws.now())
    return _listed(ws)


@operation("review", Subscribers, toolset="consolidation")
def kg_event_unsubscribe(ws: Workspace, request: Unsubscribe, caller: Caller) -> Subscribers:
    """Stop delivering events to a receiver, and forget its dead letters."""
    _check_sees_all(caller)
    if not deliveries.remove(ws.database, request.name):
        raise _no_subscriber(request.name)
    return _listed(ws)


@operation("admin", Subscribers, toolset="consolidation", on_reading=True)
def kg_event_subscribers(ws: Workspace, request: ListSubscribers, caller: Caller) -> Subscribers:
    """List who is told of consolidations, how far behind each is, and why."""
    _check_sees_all(caller)
    return _listed(ws)


@operation("admin", Delivered, toolset="consolidation")
def kg_deliver_events(ws: Workspace, request: Deliver, caller: Caller) -> Delivered:
    """Deliver what is due to every receiver now; a running service does so by itself."""
    _check_sees_all(caller)
    return Delivered(**delivering.deliver(ws))


@operation("admin", DeadLetterList, toolset="consolidation", on_reading=True)
def kg_dead_letters(ws: Workspace, request: DeadLetters, caller: Caller) -> DeadLetterList:
    """List the events that a receiver was not given after all attempts, with the last error."""
    after = _position(request)
    every = _letters(ws, caller, request.subscriber)
    left = [each for each in every if after is None or (each.seq, each.subscriber) > after]
    shown = left[: request.limit]
    last = [shown[-1].seq, shown[-1].subscriber] if len(left) > len(shown) else None
    return DeadLetterList(
        dead_letters=[_letter(each) for each in shown], count=len(shown), total=len(every),
        next_cursor=paging.encode(request, last) if last else None,
    )  # fmt: skip


@operation("admin", Reprocessed, toolset="consolidation")
def kg_reprocess_dead_letters(ws: Workspace, request: Reprocess, caller: Caller) -> Reprocessed:
    """Try dead letters again; those that are delivered leave the list."""
    letters = _letters(ws, caller, request.subscriber)
    if request.seqs is not None:
        strange = sorted(set(request.seqs) - {letter.seq for letter in letters})
        if strange:
            raise InvalidArgument(
                f"there is no dead letter {strange[0]}; kg_dead_letters lists them", seqs=strange
            )
        letters = [letter for letter in letters if letter.seq in request.seqs]
    done = delivering.redeliver(ws, letters)
    failed = [
        _letter(DeadLetter(each.subscriber, each.seq, each.attempts + 1, why, each.at))
        for each, why in done
        if why is not None
    ]
    return Reprocessed(delivered=len(done) - len(failed), failed=failed)


def _check_sees_all(caller: Caller) -> None:
    """Refuse a caller who sees some partitions only: a receiver is told of all of them."""
    if caller.partitions is not None:
        raise PermissionDenied(
            "a receiver is told of every partition, so only who sees them all may see to it; read "
            "the events of yours with kg_outbox_read"
        )


def _check_file(ws: Workspace, file: str) -> None:
    """Refuse a file of the vault that is something else than a receiver's."""
    place = (ws.vault.root / file).resolve()
    if place.is_relative_to(ws.vault.root.resolve()) and place.suffix != ".jsonl":
        raise InvalidArgument(
            f"{file} lies in the vault, where events are appended to a file named *.jsonl only",
            field="file",
        )


def _listed(ws: Workspace) -> Subscribers:
    letters = deliveries.dead_letters(ws.database)
    found = [
        SubscriberView(
            name=each.name, kind=each.kind, target=each.target, cursor=each.cursor,
            behind=consolidations.waiting(ws.database, each.cursor), attempts=each.attempts,
            next_at=each.next_at, error=each.error,
            dead_letters=sum(letter.subscriber == each.name for letter in letters),
        )
        for each in deliveries.subscribers(ws.database)
    ]  # fmt: skip
    return Subscribers(subscribers=found, count=len(found))


def _letters(ws: Workspace, caller: Caller, subscriber: str | None) -> list[DeadLetter]:
    """Return the dead letters of events that exist for a caller."""
    return [
        letter
        for letter in deliveries.dead_letters(ws.database, subscriber)
        if caller.sees(consolidations.at(ws.database, letter.seq).entry.partition)
    ]


def _position(request: DeadLetters) -> tuple[int, str] | None:
    """Return the event and the receiver that a cursor stands behind."""
    found = paging.decode(request, request.cursor)
    if found is None:
        return None
    match found:
        case [int(seq), str(subscriber)]:
            return seq, subscriber
    raise InvalidArgument("the cursor is not one of this list; start again without it")


def _letter(letter: DeadLetter) -> DeadLetterView:
    return DeadLetterView(
        subscriber=letter.subscriber, event_id=f"evt_{letter.seq}", seq=letter.seq,
        attempts=letter.attempts, error=letter.error, at=letter.at,
    )  # fmt: skip


def _no_subscriber(name: str) -> NotFound:
    return NotFound(f"there is no subscriber {name!r}; `vault-kg events` lists them", name=name)
