"""What counts as use of pages: reads, writes, endorsements, rewritten gists, and days in use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Use:
    """When a page was last read, and when it was written where that is not its own time."""

    read_at: str | None = None
    written_at: str | None = None
    written_revision: int | None = None


@dataclass(frozen=True)
class Credit:
    """One endorsement of a page, or a try at one that was refused."""

    record_id: str
    session: str
    kind: str
    credits: int
    via: str
    at: str
    refused: str | None = None


def read(db: Database, record_ids: Iterable[str], at: str) -> None:
    """Note that pages were read."""
    with db.write():
        db.executemany(
            "INSERT INTO kg_use (record_id, read_at) VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET read_at = excluded.read_at",
            ((record_id, at) for record_id in record_ids),
        )


def written_quietly(db: Database, record_id: str, at: str, revision: int) -> None:
    """Say when a page was last written but for the revision that a maintenance pass made."""
    with db.write():
        db.execute(
            "INSERT INTO kg_use (record_id, written_at, written_revision) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET written_at = excluded.written_at, "
            "written_revision = excluded.written_revision",
            (record_id, at, revision),
        )


def use_of(db: Database, record_id: str) -> Use:
    """Return what is known of one page."""
    row = db.row(
        "SELECT read_at, written_at, written_revision FROM kg_use WHERE record_id = ?",
        (record_id,),
    )
    return Use(*row) if row else Use()


def uses(db: Database, record_ids: Iterable[str]) -> dict[str, Use]:
    """Return what is known of pages, by id; a page of which nothing is known is left out."""
    rows = db.rows(
        "SELECT record_id, read_at, written_at, written_revision FROM kg_use "
        "WHERE record_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(record_ids)),),
    )
    return {row[0]: Use(*row[1:]) for row in rows}


def credit(db: Database, given: Credit) -> None:
    """Note an endorsement, or that one was refused."""
    with db.write():
        db.execute(
            "INSERT INTO kg_credit (record_id, session, kind, credits, via, refused, at) "
            "VALUES (?,?,?,?,?,?,?)",
            (given.record_id, given.session, given.kind, given.credits, given.via, given.refused,
             given.at),
        )  # fmt: skip


def credits_by(db: Database, session: str, kind: str) -> dict[str, int]:
    """Return what a session has given of a kind, by page."""
    rows = db.rows(
        "SELECT record_id, sum(credits) FROM kg_credit "
        "WHERE session = ? AND kind = ? AND refused IS NULL GROUP BY record_id",
        (session, kind),
    )
    return {record_id: int(total) for record_id, total in rows}


def has_credit(db: Database, record_id: str, kind: str, via: str) -> bool:
    """Say whether a page has an endorsement of a kind from one place already."""
    found = db.row(
        "SELECT 1 FROM kg_credit WHERE record_id = ? AND kind = ? AND via = ? AND refused IS NULL",
        (record_id, kind, via),
    )
    return found is not None


def credits_of(db: Database, record_ids: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Return (time, credits) of every endorsement of pages, by page."""
    rows = db.rows(
        "SELECT record_id, at, credits FROM kg_credit WHERE refused IS NULL "
        "AND record_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(record_ids)),),
    )
    found: dict[str, list[tuple[str, int]]] = {}
    for record_id, at, credits in rows:
        found.setdefault(record_id, []).append((at, int(credits)))
    return found


def rewritten(db: Database, record_id: str, revision: int, at: str) -> None:
    """Note that a revision of a page changed its gist."""
    with db.write():
        db.execute("INSERT OR IGNORE INTO kg_rewrite VALUES (?, ?, ?)", (record_id, revision, at))


def rewrites_since(db: Database, at: str) -> dict[str, int]:
    """Return how often the gist of each page was changed since a time."""
    rows = db.rows("SELECT record_id, count(*) FROM kg_rewrite WHERE at >= ? GROUP BY 1", (at,))
    return dict(rows)


def in_use_on(db: Database, partition: str, day: str) -> None:
    """Note a day (YYYY-MM-DD) on which a level was used."""
    with db.write():
        db.execute("INSERT OR IGNORE INTO kg_day VALUES (?, ?)", (partition, day))


def is_known_day(db: Database, partition: str, day: str) -> bool:
    """Say whether a day of use is noted already."""
    return (
        db.row("SELECT 1 FROM kg_day WHERE partition = ? AND day = ?", (partition, day)) is not None
    )


def days_since(db: Database, partition: str, day: str) -> int:
    """Return on how many days from this one on a level was used."""
    return int(
        db.value("SELECT count(*) FROM kg_day WHERE partition = ? AND day >= ?", (partition, day))
    )
