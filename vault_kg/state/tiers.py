"""Tiers of pages and rounds of levels; former ids; and what was last found of touches and lessons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_kg.state.database import Database

ACTIVE, ARCHIVED, ORPHANED = "active", "archived", "orphaned"


@dataclass(frozen=True)
class LevelRow:
    """Where the care of a level stands."""

    round: int = 0
    tended: int = -1
    tended_at: str | None = None
    checked_at: str | None = None


def put(db: Database, partition: str, moved: Mapping[str, str], round_: int, at: str) -> None:
    """Give pages their tier."""
    with db.write():
        db.executemany(
            "INSERT OR REPLACE INTO kg_tier VALUES (?,?,?,?,?)",
            ((record_id, partition, tier, round_, at) for record_id, tier in moved.items()),
        )


def moved_since(db: Database, partition: str, round_: int) -> set[str]:
    """Return the pages that were moved or used in a round of a level, or after it."""
    rows = db.rows(
        "SELECT record_id FROM kg_tier WHERE partition = ? AND round >= ?", (partition, round_)
    )
    return {record_id for (record_id,) in rows}


def level(db: Database, partition: str) -> LevelRow:
    """Return where the care of a level stands."""
    row = db.row(
        "SELECT round, tended, tended_at, checked_at FROM kg_level WHERE partition = ?",
        (partition,),
    )
    return LevelRow(*row) if row else LevelRow()


def begin_round(db: Database, partitions: Iterable[str]) -> None:
    """Begin another round of levels: something of them was used or changed."""
    with db.write():
        db.executemany(
            "INSERT INTO kg_level (partition, round, tended) VALUES (?, 1, -1) "
            "ON CONFLICT DO UPDATE SET round = round + 1",
            ((partition,) for partition in partitions),
        )


def tended(db: Database, partition: str, round_: int, at: str) -> None:
    """Note that a level was tended in a round."""
    with db.write():
        db.execute(
            "INSERT INTO kg_level (partition, round, tended, tended_at) VALUES (?1, ?2, ?2, ?3) "
            "ON CONFLICT DO UPDATE SET tended = ?2, tended_at = ?3",
            (partition, round_, at),
        )


def former(db: Database, partition: str, slug_key: str) -> str | None:
    """Return the page that had an id (as a file key) before it was renamed."""
    found: str | None = db.value(
        "SELECT record_id FROM kg_former WHERE partition = ? AND slug_key = ?",
        (partition, slug_key),
    )
    return found


def renamed(
    db: Database, partition: str, slug_keys: tuple[str, str], record_id: str, at: str
) -> None:
    """Remember a page's former id; its new one is nobody's former id any more."""
    old, new = slug_keys
    with db.write():
        db.execute(
            "INSERT OR REPLACE INTO kg_former VALUES (?,?,?,?)", (partition, old, record_id, at)
        )
        taken(db, partition, new)


def taken(db: Database, partition: str, slug_key: str) -> None:
    """Forget whose former id this was: a page has it now."""
    with db.write():
        db.execute(
            "DELETE FROM kg_former WHERE partition = ? AND slug_key = ?", (partition, slug_key)
        )


def put_dangling(db: Database, partition: str, found: Iterable[tuple[str, str]], at: str) -> None:
    """Replace what is known of the touches of a level that lead nowhere: (page, touch)."""
    with db.write():
        db.execute("DELETE FROM kg_dangling WHERE partition = ?", (partition,))
        db.executemany(
            "INSERT OR IGNORE INTO kg_dangling VALUES (?,?,?)",
            ((partition, record_id, touch) for record_id, touch in found),
        )
        db.execute(
            "INSERT INTO kg_level (partition, round, tended, checked_at) VALUES (?1, 0, -1, ?2) "
            "ON CONFLICT DO UPDATE SET checked_at = ?2",
            (partition, at),
        )


def put_dangling_of(db: Database, partition: str, record_id: str, touches: Iterable[str]) -> None:
    """Replace what is known of the touches of one page that lead nowhere."""
    with db.write():
        db.execute(
            "DELETE FROM kg_dangling WHERE partition = ? AND record_id = ?", (partition, record_id)
        )
        db.executemany(
            "INSERT OR IGNORE INTO kg_dangling VALUES (?,?,?)",
            ((partition, record_id, touch) for touch in touches),
        )


def dangling(db: Database, partition: str) -> list[tuple[str, str]]:
    """Return (page, touch) of the touches of a level that lead nowhere."""
    rows = db.rows(
        "SELECT record_id, touch FROM kg_dangling WHERE partition = ? ORDER BY 1, 2", (partition,)
    )
    return [(record_id, touch) for record_id, touch in rows]


def put_lifts(db: Database, partition: str, clusters: Iterable[Iterable[str]]) -> None:
    """Replace the groups of pages of a level that have a lesson in common."""
    with db.write():
        db.execute("DELETE FROM kg_lift WHERE partition = ?", (partition,))
        db.executemany(
            "INSERT OR IGNORE INTO kg_lift VALUES (?,?,?)",
            (
                (partition, number, record_id)
                for number, members in enumerate(clusters)
                for record_id in members
            ),
        )


def lifts(db: Database, partition: str) -> dict[str, int]:
    """Return the pages of a level that have a lesson in common, each with its group."""
    rows = db.rows("SELECT record_id, cluster FROM kg_lift WHERE partition = ?", (partition,))
    return dict(rows)
