"""Delivering events to command hooks and JSON Lines files: at least once, in order.

A subscriber is given one event after another; one that fails is tried again after 2, 4, 8 and 16
seconds, then it becomes a dead letter and the next one follows. A process that dies between an
event and the note that it was delivered delivers it again: receivers tell it by its `event_id`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vault_kg.consolidation import events
from vault_kg.consolidation.sessions import moment
from vault_kg.errors import Busy
from vault_kg.operations.workspace import Workspace
from vault_kg.state import consolidations, deliveries
from vault_kg.state.deliveries import DeadLetter, Subscriber

MAX_ATTEMPTS = 5
MAX_BACKOFF_SECONDS = 300
COMMAND_SECONDS = 30
_MAX_ERROR = 500
_CHUNK = 100


class NotDelivered(Exception):
    """An attempt failed; the text says why."""


def deliver(ws: Workspace) -> dict[str, int]:
    """Deliver to every subscriber what it is due; one process at a time does it, for everybody.

    Returns:
        How many events were `delivered`, `failed` and `buried`, and how many subscribers are
        `waiting` for another attempt.
    """
    told = {"delivered": 0, "failed": 0, "buried": 0, "waiting": 0}
    subscribers = deliveries.subscribers(ws.database)
    last = consolidations.last(ws.database)
    if not any(each.cursor < last for each in subscribers):
        return told
    try:
        with FileLock(ws.vault.private / "events.lock").acquire(timeout=0):
            for subscriber in deliveries.subscribers(ws.database):
                _serve(ws, subscriber, told)
    except Timeout:
        pass  # the one who holds the lock delivers for us too
    return told


def redeliver(ws: Workspace, letters: list[DeadLetter]) -> list[tuple[DeadLetter, str | None]]:
    """Try dead letters again; returns each with why it failed, or None where it was delivered.

    Raises:
        Busy: another process delivers, and takes long.
    """
    targets = {each.name: each for each in deliveries.subscribers(ws.database)}
    try:
        with FileLock(ws.vault.private / "events.lock").acquire(timeout=COMMAND_SECONDS):
            return [
                (each, _again(ws, targets[each.subscriber], each))
                for each in letters
                if each.subscriber in targets
            ]
    except Timeout:
        raise Busy("another process is delivering events; try again when it has ended") from None


def _again(ws: Workspace, subscriber: Subscriber, letter: DeadLetter) -> str | None:
    """Try a dead letter again; returns why it failed, or None where it was delivered."""
    try:
        send(ws, subscriber, payload(ws, letter.seq))
    except NotDelivered as error:
        return str(error)
    deliveries.exhume(ws.database, letter.subscriber, letter.seq)
    return None


def payload(ws: Workspace, seq: int) -> str:
    """Return an event as one line of JSON."""
    return events.event(consolidations.at(ws.database, seq)).model_dump_json(by_alias=True)


def send(ws: Workspace, subscriber: Subscriber, line: str) -> None:
    """Give a subscriber one event.

    Raises:
        NotDelivered: it was not taken.
    """
    try:
        if subscriber.kind == "file":
            _append(ws.vault.root / subscriber.target[0], line)
        else:
            _run(subscriber.target, line, ws.vault.root)
    except OSError as error:
        raise NotDelivered(f"{error.strerror or error} ({subscriber.target[0]})") from None


def _serve(ws: Workspace, subscriber: Subscriber, told: dict[str, int]) -> None:
    if subscriber.next_at is not None and ws.now() < subscriber.next_at:
        told["waiting"] += 1
        return
    attempts, position = subscriber.attempts, subscriber.cursor
    while chunk := consolidations.after(ws.database, position, _CHUNK):
        for seq, _ in chunk:
            try:
                send(ws, subscriber, payload(ws, seq))
            except NotDelivered as error:
                if attempts + 1 < MAX_ATTEMPTS:
                    told["failed"] += 1
                    _postpone(ws, subscriber.name, attempts + 1, str(error))
                    return
                _bury(ws, subscriber.name, seq, str(error))
                told["buried"] += 1
            else:
                deliveries.delivered(ws.database, subscriber.name, seq)
                told["delivered"] += 1
            attempts, position = 0, seq


def _postpone(ws: Workspace, name: str, attempts: int, error: str) -> None:
    wait = min(2**attempts, MAX_BACKOFF_SECONDS)
    deliveries.failed(ws.database, name, attempts, moment(ws.now(), wait), error[:_MAX_ERROR])


def _bury(ws: Workspace, name: str, seq: int, error: str) -> None:
    letter = DeadLetter(name, seq, MAX_ATTEMPTS, error[:_MAX_ERROR], ws.now())
    deliveries.bury(ws.database, letter)


def _append(path: Path, line: str) -> None:
    """Append a line and flush it; what a dead process left half written is ended first."""
    with path.open("ab+") as handle:
        size = handle.seek(0, os.SEEK_END)
        if size:
            handle.seek(size - 1)
            broken = handle.read(1) != b"\n"
            handle.write(b"\n" if broken else b"")
        handle.write(line.encode() + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def _run(command: list[str], line: str, folder: Path) -> None:
    """Run a hook with the event on its standard input; nothing passes through a shell."""
    try:
        done: subprocess.CompletedProcess[Any] = subprocess.run(
            command, input=line.encode() + b"\n", cwd=folder, capture_output=True,
            timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotDelivered(f"{command[0]} took longer than {COMMAND_SECONDS} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise NotDelivered(f"{command[0]} ended with {done.returncode}: {said}")
