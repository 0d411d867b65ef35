"""Sessions over the kg_* tools, what each has read in which revision, and the projects they name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_kg.state.database import Database


@dataclass(frozen=True)
class SessionRow:
    """One session as it stands."""

    id: str
    actor: str
    project: str | None
    maintenance: bool
    requests: int
    synced_seq: int
    told_seq: int
    started_at: str
    seen_at: str


@dataclass(frozen=True)
class Seen:
    """What a session has read of a page; `via` says how the page reached it."""

    revision: int
    full: bool
    via: str


_COLUMNS = "id, actor, project, maintenance, requests, synced_seq, told_seq, started_at, seen_at"


def session(db: Database, session_id: str) -> SessionRow | None:
    """Return a session."""
    row = db.row(f"SELECT {_COLUMNS} FROM kg_session WHERE id = ?", (session_id,))
    if row is None:
        return None
    values: list[Any] = [*row[:3], bool(row[3]), *row[4:]]
    return SessionRow(*values)


def start(db: Database, row: SessionRow, forget_before: str) -> None:
    """Begin a session, and forget those that were last seen before a time."""
    with db.write():
        db.execute("DELETE FROM kg_session WHERE seen_at < ? AND id <> ?", (forget_before, row.id))
        db.execute(
            "INSERT OR REPLACE INTO kg_session VALUES (?,?,?,?,?,?,?,?,?)",
            (
                row.id, row.actor, row.project, int(row.maintenance), row.requests, row.synced_seq,
                row.told_seq, row.started_at, row.seen_at,
            ),
        )  # fmt: skip


def touch(db: Database, session_id: str, at: str, project: str | None, maintenance: bool) -> None:
    """Note that a session is in use, of which project, and whether it is maintenance."""
    with db.write():
        db.execute(
            "UPDATE kg_session SET seen_at = ?, project = ?, maintenance = ? WHERE id = ?",
            (at, project, int(maintenance), session_id),
        )


def next_request(db: Database, session_id: str) -> int:
    """Count one more change that a session asks for, and return its number."""
    with db.write():
        found = db.value(
            "UPDATE kg_session SET requests = requests + 1 WHERE id = ? RETURNING requests",
            (session_id,),
        )
    return int(found or 0)


def set_mark(db: Database, session_id: str, *, synced: int | None = None, told: int) -> None:
    """Say up to which journal entry a session was told of changes by others."""
    with db.write():
        db.execute(
            "UPDATE kg_session SET synced_seq = coalesce(?, synced_seq), told_seq = ? WHERE id = ?",
            (synced, told, session_id),
        )


def saw(db: Database, session_id: str, pages: Mapping[str, int], *, full: bool, via: str) -> None:
    """Note which revisions of pages a session has read; a whole reading of one is not taken back."""
    with db.write():
        db.executemany(
            "INSERT INTO kg_seen VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET "
            "full = CASE WHEN revision = ?3 THEN max(full, ?4) ELSE ?4 END, "
            "revision = max(revision, ?3) WHERE revision <= ?3",
            ((session_id, page, revision, int(full), via) for page, revision in pages.items()),
        )


def seen(db: Database, session_id: str, record_id: str) -> Seen | None:
    """Return what a session has read of a page."""
    row = db.row(
        "SELECT revision, full, via FROM kg_seen WHERE session = ? AND record_id = ?",
        (session_id, record_id),
    )
    return Seen(row[0], bool(row[1]), row[2]) if row else None


def changes_by_others(
    db: Database, mark: str, after: int, partitions: Iterable[str]
) -> list[tuple[str, str, str, str]]:
    """Return what others than a session changed, in order: (record, kind, lifecycle, actor).

    Args:
        db: the state.
        mark: how the request ids of the session begin.
        after: the journal entry up to which the session knows.
        partitions: where.
    """
    rows = db.rows(
        "SELECT revision.record_id, revision.kind, lifecycle, actor, max(seq) FROM revision "
        "JOIN journal USING (seq) WHERE seq > ?1 AND kind IN ('page', 'relationship') "
        "AND substr(request_id, 1, length(?2)) <> ?2 "
        "AND revision.partition IN (SELECT value FROM json_each(?3)) "
        "GROUP BY revision.record_id ORDER BY max(seq), revision.record_id",
        (after, mark, json.dumps(list(partitions))),
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def author(db: Database, record_id: str) -> str | None:
    """Return the request that made a record."""
    found: str | None = db.value(
        "SELECT request_id FROM revision JOIN journal USING (seq) WHERE record_id = ? "
        "ORDER BY revision LIMIT 1",
        (record_id,),
    )
    return found


def holders(db: Database, record_ids: Iterable[str], since: str) -> set[str]:
    """Return those of some pages that a session which was in use since a time has read."""
    wanted = set(record_ids)
    rows = db.rows(
        "SELECT DISTINCT record_id FROM kg_seen JOIN kg_session ON kg_session.id = kg_seen.session "
        "WHERE seen_at >= ?",
        (since,),
    )
    return {record_id for (record_id,) in rows if record_id in wanted}


def project_at(db: Database, root: str) -> str | None:
    """Return the partition of a project root."""
    found: str | None = db.value("SELECT partition FROM kg_project WHERE root = ?", (root,))
    return found


def root_of(db: Database, partition: str) -> str | None:
    """Return the root of the project whose partition this is."""
    found: str | None = db.value("SELECT root FROM kg_project WHERE partition = ?", (partition,))
    return found


def add_project(db: Database, partition: str, root: str) -> None:
    """Give a project root its partition; the first one stands."""
    with db.write():
        db.execute("INSERT OR IGNORE INTO kg_project VALUES (?, ?)", (partition, root))
