"""Dispatches of chores and passes: what was sent out, what was refused, and how each ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vault_kg.state.database import Database

RUNNING, REFUSED = "running", "refused"


@dataclass(frozen=True)
class Dispatch:
    """One dispatch, or its refusal. `kind` is that of the chore, or `pass`."""

    id: int
    partition: str
    kind: str
    targets: tuple[str, ...]
    """Record ids."""
    agent: str
    state: str
    """`running`, `done`, `failed`, `timed_out`, `lost`, `refused`."""
    reason: str
    at: str
    ended_at: str | None = None


_LATER = 1 << 62
_COLUMNS = "id, partition, kind, targets, agent, state, reason, at, ended_at"


def add(db: Database, made: Dispatch) -> int:
    """Note a dispatch or a refusal (its `id` is ignored) and return its number."""
    with db.write():
        db.execute(
            "INSERT INTO kg_dispatch (partition, kind, targets, agent, state, reason, at, ended_at) "
            "VALUES (?,?,?,?,?,?,?,?)",
            (
                made.partition, made.kind, json.dumps(made.targets), made.agent, made.state,
                made.reason, made.at, made.ended_at,
            ),
        )  # fmt: skip
        return db.connection.last_insert_rowid()


def end(db: Database, number: int, state: str, reason: str, at: str) -> bool:
    """Say how a running dispatch ended; says whether it was running."""
    with db.write():
        changed = db.execute(
            "UPDATE kg_dispatch SET state = ?, reason = ?, ended_at = ? "
            f"WHERE id = ? AND state = '{RUNNING}'",
            (state, reason, at, number),
        )
    return changed > 0


def get(db: Database, number: int) -> Dispatch | None:
    """Return a dispatch."""
    row = db.row(f"SELECT {_COLUMNS} FROM kg_dispatch WHERE id = ?", (number,))
    return _read(row) if row else None


def dispatched(db: Database, limit: int) -> list[Dispatch]:
    """Return the last dispatches that were not refused, newest first."""
    return [
        _read(row)
        for row in db.rows(
            f"SELECT {_COLUMNS} FROM kg_dispatch WHERE state <> '{REFUSED}' "
            "ORDER BY id DESC LIMIT ?",
            (limit,),
        )
    ]


def running(db: Database) -> list[Dispatch]:
    """Return the dispatches that have not ended."""
    return [
        _read(row)
        for row in db.rows(f"SELECT {_COLUMNS} FROM kg_dispatch WHERE state = '{RUNNING}'")
    ]


def log(
    db: Database, partitions: Sequence[str] | None, limit: int, before: int | None = None
) -> tuple[list[Dispatch], int]:
    """Return dispatches and refusals, newest first, and how many there are in all.

    Args:
        db: the state.
        partitions: of these levels; None for all.
        limit: so many at most.
        before: only those with lower numbers; they are all counted.
    """
    where = "" if partitions is None else "WHERE partition IN (SELECT value FROM json_each(?))"
    values = () if partitions is None else (json.dumps(list(partitions)),)
    total = int(db.value(f"SELECT count(*) FROM kg_dispatch {where}", values))
    older = f"{'AND' if where else 'WHERE'} id < ?"
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM kg_dispatch {where} {older} ORDER BY id DESC LIMIT ?",
        (*values, _LATER if before is None else before, limit),
    )
    return [_read(row) for row in rows], total


def _read(row: tuple[object, ...]) -> Dispatch:
    number, partition, kind, targets, agent, state, reason, at, ended_at = row
    return Dispatch(
        int(str(number)), str(partition), str(kind), tuple(json.loads(str(targets))), str(agent),
        str(state), str(reason), str(at), str(ended_at) if ended_at is not None else None,
    )  # fmt: skip
