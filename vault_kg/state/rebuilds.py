"""What bounded rebuilds left out and rolled back, and what happened since a journal position."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NamedTuple

from vault_kg.state.database import Database
from vault_kg.state.revisions import Revision

_REVISION = "record_id, revision, seq, kind, partition, path, hash, blob, lifecycle, at"


class Bound(NamedTuple):
    """A bounded rebuild: its entry, and the one after which it left out what came."""

    seq: int
    to_seq: int


def bounded(db: Database, operation: str, partition: str) -> list[Bound]:
    """Return the bounded rebuilds of a partition since its last unbounded one, oldest first.

    Args:
        db: the state.
        operation: the operation that rebuilds; its receipt's result has `to_seq`.
        partition: the partition.
    """
    rows = db.rows(
        "SELECT seq, json_extract(receipt, '$.result.to_seq') FROM journal "
        "WHERE operation = ? AND partition = ? AND state = 'published' ORDER BY seq",
        (operation, partition),
    )
    found: list[Bound] = []
    for seq, to_seq in rows:
        found = [*found, Bound(seq, to_seq)] if to_seq is not None else []
    return found


def removed_by(db: Database, entries: Collection[int]) -> set[str]:
    """Return the paths whose file an entry removed."""
    rows = db.rows(
        "SELECT path FROM journal_file WHERE after_hash IS NULL "
        "AND seq IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(entries)),),
    )
    return {path for (path,) in rows}


def edited_since(db: Database, seq: int) -> set[str]:
    """Return the records that a person has edited or made in an editor since an entry."""
    rows = db.rows(
        "SELECT DISTINCT record_id FROM revision JOIN journal USING (seq) "
        "WHERE revision.seq > ? AND operation = 'observe'",
        (seq,),
    )
    return {record_id for (record_id,) in rows}


def merged_since(db: Database, seq: int) -> list[tuple[str, str]]:
    """Return (absorbed, survivor) of each merge that was made or taken back since an entry."""
    rows = db.rows(
        "SELECT DISTINCT absorbed, survivor FROM merge WHERE seq > ?1 OR undone_by > ?1", (seq,)
    )
    return [(absorbed, survivor) for absorbed, survivor in rows]


def superseded(db: Database) -> list[tuple[str, str]]:
    """Return (record, its replacement) of each supersession."""
    rows = db.rows(
        "SELECT record_id, successor FROM guard WHERE kind = 'superseded' AND successor IS NOT NULL"
    )
    return [(record_id, successor) for record_id, successor in rows]


def last_but(db: Database, record_id: str, entries: Collection[int]) -> Revision | None:
    """Return a record's newest revision that none of these entries made."""
    row = db.row(
        f"SELECT {_REVISION} FROM revision WHERE record_id = ? "
        "AND seq NOT IN (SELECT value FROM json_each(?)) ORDER BY revision DESC LIMIT 1",
        (record_id, json.dumps(sorted(entries))),
    )
    return Revision(*row) if row else None


def made_by(db: Database, entries: Collection[int]) -> list[Revision]:
    """Return what stands of the records whose standing revision one of these entries made."""
    rows = db.rows(
        f"SELECT {_REVISION} FROM revision AS r WHERE seq IN (SELECT value FROM json_each(?)) "
        "AND revision = (SELECT max(revision) FROM revision WHERE record_id = r.record_id) "
        "ORDER BY record_id",
        (json.dumps(sorted(entries)),),
    )
    return [Revision(*row) for row in rows]


def appeared_since(db: Database, prefix: str, seq: int) -> set[str]:
    """Return the paths beginning so that a request, and no person, gave a file since an entry."""
    rows = db.rows(
        "SELECT path, max(seq), after_hash, operation FROM journal_file JOIN journal USING (seq) "
        "WHERE substr(path, 1, length(?1)) = ?1 AND state = 'published' GROUP BY path",
        (prefix,),
    )
    before = db.rows(
        "SELECT path, max(seq), after_hash FROM journal_file JOIN journal USING (seq) "
        "WHERE substr(path, 1, length(?1)) = ?1 AND state = 'published' AND seq <= ?2 "
        "GROUP BY path",
        (prefix, seq),
    )
    there = {path for path, _, after_hash in before if after_hash is not None}
    return {
        path for path, _, after_hash, operation in rows
        if after_hash is not None and operation != 'observe' and path not in there
    }  # fmt: skip


def last_content(db: Database, path: str) -> int | None:
    """Return the newest published entry that gave a path a file."""
    found = db.value(
        "SELECT max(seq) FROM journal_file JOIN journal USING (seq) "
        "WHERE path = ? AND after_hash IS NOT NULL AND state = 'published'",
        (path,),
    )
    return int(found) if found is not None else None
