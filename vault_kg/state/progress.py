"""Stamps of tasks: what the last one said, and the trail of those before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from vault_kg.state.database import Database

TRAIL = 20
"""So many stamps of a task are kept."""


@dataclass(frozen=True)
class Stamp:
    """One stamp; the time is the server's."""

    at: str
    session: str
    state: dict[str, Any]


def stamp(db: Database, partition: str, task: str, made: Stamp) -> None:
    """Add a stamp, and drop those that are older than the trail is long."""
    with db.write():
        db.execute(
            "INSERT INTO kg_stamp (partition, task, session, at, state) VALUES (?,?,?,?,?)",
            (partition, task, made.session, made.at, json.dumps(made.state, ensure_ascii=False)),
        )
        db.execute(
            "DELETE FROM kg_stamp WHERE partition = ?1 AND task = ?2 AND id NOT IN (SELECT id FROM "
            "kg_stamp WHERE partition = ?1 AND task = ?2 ORDER BY id DESC LIMIT ?3)",
            (partition, task, TRAIL),
        )


def trail(db: Database, partition: str, task: str) -> list[Stamp]:
    """Return the stamps of a task, newest last."""
    rows = db.rows(
        "SELECT at, session, state FROM kg_stamp WHERE partition = ? AND task = ? ORDER BY id",
        (partition, task),
    )
    return [Stamp(at, session, json.loads(state)) for at, session, state in rows]


def last_at(db: Database, partition: str, task: str) -> str | None:
    """Return when a task was last stamped."""
    found: str | None = db.value(
        "SELECT at FROM kg_stamp WHERE partition = ? AND task = ? ORDER BY id DESC LIMIT 1",
        (partition, task),
    )
    return found
