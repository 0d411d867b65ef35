"""Conflicts: an accepted request that met somebody's edit, with all three versions kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Conflict:
    """One file of a conflicted entry; None means that there is no file in that version."""

    id: str
    seq: int
    path: str
    record_id: str | None
    original: bytes | None
    proposed: bytes | None
    displaced: bytes | None
    found_at: str
    resolved_at: str | None = None
    choice: str | None = None
    reason: str | None = None
    actor: str | None = None


_COLUMNS = (
    "id, seq, path, record_id, original, proposed, displaced, found_at, resolved_at, choice, "
    "reason, actor"
)


def add(db: Database, found: Sequence[Conflict]) -> None:
    """Write the conflicts of an entry."""
    with db.write():
        db.executemany(
            "INSERT OR IGNORE INTO conflict (id, seq, path, record_id, original, proposed, "
            "displaced, found_at) VALUES (?,?,?,?,?,?,?,?)",
            (
                (c.id, c.seq, c.path, c.record_id, c.original, c.proposed, c.displaced, c.found_at)
                for c in found
            ),
        )


def get(db: Database, conflict_id: str) -> Conflict | None:
    """Return one conflict."""
    row = db.row(f"SELECT {_COLUMNS} FROM conflict WHERE id = ?", (conflict_id,))
    return Conflict(*row) if row else None


def open_ones(db: Database) -> list[Conflict]:
    """Return the conflicts that wait for a person, oldest entry first."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM conflict WHERE resolved_at IS NULL ORDER BY seq, id")
    return [Conflict(*row) for row in rows]


def of_entry(db: Database, seq: int) -> list[Conflict]:
    """Return all conflicts of a journal entry."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM conflict WHERE seq = ? ORDER BY id", (seq,))
    return [Conflict(*row) for row in rows]


def blocked(db: Database) -> dict[str, str]:
    """Return the blocked record ids, each with the conflict that blocks it."""
    rows = db.rows(
        "SELECT record_id, id FROM conflict WHERE resolved_at IS NULL AND record_id IS NOT NULL"
    )
    return dict(rows)


def blocking(db: Database, record_id: str) -> str | None:
    """Return the open conflict that blocks a record."""
    found: str | None = db.value(
        "SELECT id FROM conflict WHERE record_id = ? AND resolved_at IS NULL", (record_id,)
    )
    return found


def resolve(db: Database, conflict_id: str, choice: str, reason: str, actor: str, at: str) -> None:
    """Close a conflict with a person's choice; its three versions stay."""
    with db.write():
        db.execute(
            "UPDATE conflict SET resolved_at = ?, choice = ?, reason = ?, actor = ? WHERE id = ?",
            (at, choice, reason, actor, conflict_id),
        )
