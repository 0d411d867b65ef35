"""Who is told of consolidations: subscribers with how far each is, and what could not be delivered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from vault_kg.state.database import Database

Kind = Literal["command", "file"]


@dataclass(frozen=True)
class Subscriber:
    """One subscriber. `target` is a command's words, or a list of the file's path alone."""

    name: str
    kind: Kind
    target: list[str]
    cursor: int
    attempts: int
    next_at: str | None
    error: str | None
    created_at: str


@dataclass(frozen=True)
class DeadLetter:
    """An event that a subscriber was not given, after all attempts."""

    subscriber: str
    seq: int
    attempts: int
    error: str
    at: str


_COLUMNS = "name, kind, target, cursor, attempts, next_at, error, created_at"


def put(db: Database, name: str, kind: Kind, target: list[str], cursor: int, at: str) -> None:
    """Write a subscriber; one of the same name keeps its place and gets the new target."""
    with db.write():
        db.execute(
            f"INSERT INTO subscriber ({_COLUMNS}) VALUES (?,?,?,?,0,NULL,NULL,?) ON CONFLICT DO "
            "UPDATE SET kind = excluded.kind, target = excluded.target, attempts = 0, "
            "next_at = NULL, error = NULL",
            (name, kind, json.dumps(target, ensure_ascii=False), cursor, at),
        )


def remove(db: Database, name: str) -> bool:
    """Remove a subscriber with its dead letters; says whether it was there."""
    with db.write():
        return bool(db.execute("DELETE FROM subscriber WHERE name = ?", (name,)))


def subscribers(db: Database) -> list[Subscriber]:
    """Return every subscriber by name."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM subscriber ORDER BY name")
    return [Subscriber(row[0], row[1], json.loads(row[2]), *row[3:]) for row in rows]


def delivered(db: Database, name: str, seq: int) -> None:
    """Move a subscriber on behind an event."""
    with db.write():
        db.execute(
            "UPDATE subscriber SET cursor = max(cursor, ?), attempts = 0, next_at = NULL, "
            "error = NULL WHERE name = ?",
            (seq, name),
        )


def failed(db: Database, name: str, attempts: int, next_at: str, error: str) -> None:
    """Note a failed attempt at the next event, and when to try again."""
    with db.write():
        db.execute(
            "UPDATE subscriber SET attempts = ?, next_at = ?, error = ? WHERE name = ?",
            (attempts, next_at, error, name),
        )


def bury(db: Database, letter: DeadLetter) -> None:
    """Give an event up for a subscriber, and go on with the next one."""
    with db.write():
        db.execute(
            "INSERT OR REPLACE INTO dead_letter VALUES (?,?,?,?,?)",
            (letter.subscriber, letter.seq, letter.attempts, letter.error, letter.at),
        )
        delivered(db, letter.subscriber, letter.seq)


def dead_letters(db: Database, subscriber: str | None = None) -> list[DeadLetter]:
    """Return what could not be delivered, oldest first."""
    condition, values = ("WHERE subscriber = ?", [subscriber]) if subscriber else ("", [])
    rows: list[tuple[Any, ...]] = db.rows(
        f"SELECT subscriber, seq, attempts, error, at FROM dead_letter {condition} "
        "ORDER BY seq, subscriber",
        values,
    )
    return [DeadLetter(*row) for row in rows]


def exhume(db: Database, subscriber: str, seq: int) -> None:
    """Take a dead letter out of the list: it was delivered after all."""
    with db.write():
        db.execute("DELETE FROM dead_letter WHERE subscriber = ? AND seq = ?", (subscriber, seq))
