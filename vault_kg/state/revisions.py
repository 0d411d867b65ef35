"""The revision table: what stands of each record, and everything that stood before."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Revision:
    """One accepted revision. `hash` is `sha256:<hex>` of the file's bytes, `blob` Git's id."""

    record_id: str
    revision: int
    seq: int
    kind: str
    partition: str
    path: str
    hash: str
    blob: str
    lifecycle: str
    at: str


@dataclass(frozen=True)
class HistoryRow:
    """One revision with who made it, how and why."""

    revision: Revision
    operation: str
    actor: str
    reason: str | None
    request_id: str
    commit_id: str | None


_COLUMNS = "record_id, revision, seq, kind, partition, path, hash, blob, lifecycle, at"


def add(db: Database, revisions: Iterable[Revision]) -> None:
    """Write new revisions; one that stands already is left as it is."""
    with db.write():
        db.executemany(
            "INSERT OR IGNORE INTO revision VALUES (?,?,?,?,?,?,?,?,?,?)",
            (
                (r.record_id, r.revision, r.seq, r.kind, r.partition, r.path, r.hash, r.blob,
                 r.lifecycle, r.at)
                for r in revisions
            ),
        )  # fmt: skip


def move(db: Database, record_id: str, path: str) -> None:
    """Say where the file of a record's standing revision lies now."""
    with db.write():
        db.execute(
            "UPDATE revision SET path = ?1 WHERE record_id = ?2 AND revision = "
            "(SELECT max(revision) FROM revision WHERE record_id = ?2)",
            (path, record_id),
        )


def written(db: Database, record_id: str) -> int | None:
    """Return the `revision` that a record's file should state: what we or its first file wrote."""
    found = db.value(
        "SELECT max(revision) FROM revision JOIN journal USING (seq) "
        "WHERE record_id = ? AND operation <> 'observe'",
        (record_id,),
    )
    if found is None:
        found = db.value("SELECT min(revision) FROM revision WHERE record_id = ?", (record_id,))
    return int(found) if found is not None else None


def is_written(db: Database, record_id: str, revision: int) -> bool:
    """Say whether we, or its first file, ever wrote a number into a record's file.

    An older file that comes back, as by a reset in Git, states the number that it had.
    """
    found = db.row(
        "SELECT 1 FROM revision JOIN journal USING (seq) WHERE record_id = ?1 AND revision = ?2 "
        "AND (operation <> 'observe' OR revision = "
        "(SELECT min(revision) FROM revision WHERE record_id = ?1))",
        (record_id, revision),
    )
    return found is not None


def made_by(db: Database, record_id: str) -> str | None:
    """Return the operation that made a record's first revision."""
    found: str | None = db.value(
        "SELECT operation FROM revision JOIN journal USING (seq) WHERE record_id = ? "
        "ORDER BY revision LIMIT 1",
        (record_id,),
    )
    return found


def head(db: Database, record_id: str) -> Revision | None:
    """Return what stands of a record."""
    row = db.row(
        f"SELECT {_COLUMNS} FROM revision WHERE record_id = ? ORDER BY revision DESC LIMIT 1",
        (record_id,),
    )
    return Revision(*row) if row else None


def heads_of(db: Database, record_ids: Collection[str]) -> dict[str, Revision]:
    """Return what stands of each of some records, by id; unknown ones are left out."""
    sql = (
        f"SELECT {_COLUMNS} FROM revision r WHERE record_id IN ({{}}) AND revision = "
        "(SELECT max(revision) FROM revision WHERE record_id = r.record_id)"
    )
    return {row[0]: Revision(*row) for row in db.among(sql, record_ids)}


def get(db: Database, record_id: str, revision: int) -> Revision | None:
    """Return one revision of a record."""
    row = db.row(
        f"SELECT {_COLUMNS} FROM revision WHERE record_id = ? AND revision = ?",
        (record_id, revision),
    )
    return Revision(*row) if row else None


def heads(db: Database) -> dict[str, Revision]:
    """Return what stands of every record, by id."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM revision ORDER BY record_id, revision")
    return {row[0]: Revision(*row) for row in rows}


def head_at_path(db: Database, path: str) -> Revision | None:
    """Return the record whose standing revision lies at a path; the newest of several."""
    return heads_at_paths(db, [path]).get(path)


def heads_at_paths(db: Database, paths: Collection[str]) -> dict[str, Revision]:
    """Return for each of some paths the record whose standing revision lies there, if any does."""
    rows = db.among(
        f"SELECT {_COLUMNS} FROM revision r WHERE path IN ({{}}) AND revision = "
        "(SELECT max(revision) FROM revision WHERE record_id = r.record_id) ORDER BY seq",
        paths,
    )
    found = (Revision(*row) for row in rows)
    return {revision.path: revision for revision in found}  # the newest of several


_SEEN = "(?2 IS NULL OR r.partition IN (SELECT value FROM json_each(?2)))"


def history(
    db: Database,
    record_id: str,
    limit: int,
    below: int | None = None,
    partitions: Collection[str] | None = None,
) -> list[HistoryRow]:
    """Return a record's revisions, newest first.

    Args:
        db: the state.
        record_id: the record.
        limit: so many.
        below: only those under this number.
        partitions: only those that lay in one of these; all where None.
    """
    columns = ", ".join(f"r.{c}" for c in _COLUMNS.split(", "))
    rows = db.rows(
        f"SELECT {columns}, j.operation, j.actor, j.reason, j.request_id, j.commit_id "
        "FROM revision r JOIN journal j USING (seq) "
        f"WHERE record_id = ?1 AND {_SEEN} AND revision < ?3 ORDER BY revision DESC LIMIT ?4",
        (record_id, _listed(partitions), below if below is not None else 1 << 62, limit),
    )
    return [HistoryRow(Revision(*row[:10]), *row[10:]) for row in rows]


def count(db: Database, record_id: str, partitions: Collection[str] | None = None) -> int:
    """Return how many revisions a record has, or had in some partitions."""
    return int(
        db.value(
            f"SELECT count(*) FROM revision r WHERE record_id = ?1 AND {_SEEN}",
            (record_id, _listed(partitions)),
        )
    )


def _listed(partitions: Collection[str] | None) -> str | None:
    return None if partitions is None else json.dumps(sorted(partitions))


def heads_at(db: Database, seq: int) -> list[Revision]:
    """Return the revision of every record that stood after a journal entry."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM revision r WHERE revision = (SELECT max(revision) FROM revision "
        "WHERE record_id = r.record_id AND seq <= ?) ORDER BY record_id",
        (seq,),
    )
    return [Revision(*row) for row in rows]


def head_at(db: Database, record_id: str, seq: int) -> Revision | None:
    """Return the revision of a record that stood after a journal entry."""
    row = db.row(
        f"SELECT {_COLUMNS} FROM revision WHERE record_id = ? AND seq <= ? "
        "ORDER BY revision DESC LIMIT 1",
        (record_id, seq),
    )
    return Revision(*row) if row else None


def of_seq(db: Database, seq: int) -> list[Revision]:
    """Return the revisions that a journal entry made, by id."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM revision WHERE seq = ? ORDER BY record_id", (seq,))
    return [Revision(*row) for row in rows]


def last_seq_of(db: Database, partition: str) -> int:
    """Return the number of the newest entry that changed a partition; 0 where none did."""
    found = db.value(
        "SELECT max(seq) FROM (SELECT max(seq) AS seq FROM revision WHERE partition = ?1 UNION "
        "SELECT max(seq) FROM journal WHERE partition = ?1 AND state = 'published')",
        (partition,),
    )
    return int(found or 0)


def of_blob(db: Database, record_id: str, blob: str) -> Revision | None:
    """Return the newest revision of a record whose bytes have a Git object id."""
    row = db.row(
        f"SELECT {_COLUMNS} FROM revision WHERE record_id = ? AND blob = ? "
        "ORDER BY revision DESC LIMIT 1",
        (record_id, blob),
    )
    return Revision(*row) if row else None
