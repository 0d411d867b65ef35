"""The journal's rows: accepted requests, the bytes they install, and the queue to Git."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vault_kg.state.database import Database
from vault_kg.state.entries import Entry as Entry
from vault_kg.state.entries import FileRow as FileRow
from vault_kg.state.entries import dump as dump

ACCEPTED, INSTALLING, PUBLISHED = "accepted", "installing", "published"
CONFLICTED, RESOLVED, ABANDONED = "conflicted", "resolved", "abandoned"
UNFINISHED = (ACCEPTED, INSTALLING)

OBSERVE_ONLY = "operation = 'observe'"
"""What holds of entries that nobody asked for: somebody saved files."""


_COLUMNS = (
    "seq, request_id, operation, partition, actor, reason, payload_hash, payload, effects, state, "
    "accepted_at, published_at, receipt, commit_id"
)


def add(db: Database, entry: Entry, files: list[FileRow]) -> int:
    """Write an entry with its files and return its number: its own `seq`, or the next where 0."""
    with db.write():
        db.execute(
            "INSERT INTO journal (seq, request_id, operation, partition, actor, reason, "
            "payload_hash, payload, effects, state, accepted_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                entry.seq or None, entry.request_id, entry.operation, entry.partition,
                entry.actor, entry.reason, entry.payload_hash, entry.payload_text,
                entry.effects_text, entry.state, entry.accepted_at,
            ),
        )  # fmt: skip
        seq = db.connection.last_insert_rowid()
        db.executemany(
            "INSERT INTO journal_file VALUES (?,?,?,?,?,?,?,?)",
            (
                (seq, n, f.path, f.record_id, f.before, f.after, f.before_hash, f.after_hash)
                for n, f in enumerate(files)
            ),
        )
    return seq


def find(db: Database, request_id: str) -> Entry | None:
    """Return the entry that answers a request id; abandoned ones answer nothing."""
    return _one(db, "request_id = ? AND state <> 'abandoned'", request_id)


def get(db: Database, seq: int) -> Entry | None:
    """Return the entry with a number."""
    return _one(db, "seq = ?", seq)


def unfinished(db: Database) -> list[Entry]:
    """Return the accepted entries that are not published, oldest first."""
    rows = db.rows(  # by `journal_open`, which holds the conflicted ones too
        f"SELECT {_COLUMNS} FROM journal WHERE state IN ('accepted', 'installing', 'conflicted') "
        "AND state <> 'conflicted' ORDER BY seq"
    )
    return [Entry(*row) for row in rows]


def files(db: Database, seq: int) -> list[FileRow]:
    """Return an entry's files in order."""
    rows = db.rows(
        "SELECT path, record_id, before, after, before_hash, after_hash FROM journal_file "
        "WHERE seq = ? ORDER BY ordinal",
        (seq,),
    )
    return [FileRow(*row) for row in rows]


def resolved_by(db: Database, seq: int) -> int | None:
    """Return the review that closed the conflict of an entry."""
    found = db.value(
        "SELECT journal.seq FROM conflict CROSS JOIN journal ON journal.seq > conflict.seq "
        "JOIN json_each(journal.effects, '$.resolves') AS closed ON closed.value = conflict.id "
        "WHERE conflict.seq = ? AND operation = 'knowledge_review' AND state = 'published' LIMIT 1",
        (seq,),
    )
    return int(found) if found is not None else None


def set_state(db: Database, seq: int, state: str) -> None:
    """Move an entry to a state."""
    with db.write():
        db.execute("UPDATE journal SET state = ? WHERE seq = ?", (state, seq))


def set_receipt(db: Database, seq: int, state: str, receipt: dict[str, Any], at: str) -> None:
    """Close an entry with its receipt."""
    with db.write():
        db.execute(
            "UPDATE journal SET state = ?, receipt = ?, published_at = ? WHERE seq = ?",
            (state, dump(receipt), at, seq),
        )


def last_seq(db: Database) -> int:
    """Return the number of the newest entry; it is the position of everything derived."""
    return int(db.value("SELECT coalesce(max(seq), 0) FROM journal"))


def positions(db: Database, partition: str) -> tuple[int, int]:
    """Return the newest published and the newest accepted entry that changed a partition."""
    found = db.row(
        "SELECT coalesce(max(CASE WHEN state = 'published' THEN seq END), 0), coalesce(max(seq), 0) "
        "FROM journal WHERE state IN ('accepted', 'installing', 'published') AND (partition = ?1 "
        "OR seq IN (SELECT seq FROM revision WHERE partition = ?1))",
        (partition,),
    )
    return (int(found[0]), int(found[1])) if found else (0, 0)


def positions_of_each(db: Database) -> dict[str, tuple[int, int]]:
    """Return what `positions` does for every partition that an entry ever changed, in one look."""
    rows = db.rows(
        "WITH changed AS (SELECT partition, seq, state FROM journal UNION ALL "
        "SELECT revision.partition, seq, state FROM revision JOIN journal USING (seq)) "
        "SELECT partition, coalesce(max(CASE WHEN state = 'published' THEN seq END), 0), max(seq) "
        "FROM changed WHERE state IN ('accepted', 'installing', 'published') GROUP BY partition"
    )
    return {partition: (int(applied), int(accepted)) for partition, applied, accepted in rows}


def span(db: Database, partition: str) -> tuple[int | None, int | None]:
    """Return the first and the last published entry that changed a partition."""
    found = db.row(
        "SELECT min(seq), max(seq) FROM journal WHERE state = 'published' AND (partition = ?1 "
        "OR seq IN (SELECT seq FROM revision WHERE partition = ?1))",
        (partition,),
    )
    return (found[0], found[1]) if found else (None, None)


def published(db: Database, after: int, limit: int) -> list[Entry]:
    """Return published entries in their order, those after a number."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM journal WHERE seq > ? AND state = 'published' ORDER BY seq LIMIT ?",
        (after, limit),
    )
    return [Entry(*row) for row in rows]


def queue_commit(db: Database, seq: int) -> None:
    """Put an entry's files into the queue to Git."""
    with db.write():
        db.execute("INSERT OR IGNORE INTO git_outbox (seq) VALUES (?)", (seq,))


def queued(db: Database, limit: int) -> list[Entry]:
    """Return the oldest entries that wait for their Git commit."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM journal WHERE seq IN "
        "(SELECT seq FROM git_outbox ORDER BY seq LIMIT ?) ORDER BY seq",
        (limit,),
    )
    return [Entry(*row) for row in rows]


def queue_state(db: Database) -> tuple[int, str | None]:
    """Return how many entries wait for Git, and the reason of the oldest."""
    row = db.row(
        "SELECT count(*), (SELECT reason FROM git_outbox ORDER BY seq LIMIT 1) FROM git_outbox"
    )
    return (int(row[0]), row[1]) if row else (0, None)


def queue_reason(db: Database, seq: int) -> tuple[bool, str | None]:
    """Return whether an entry waits for Git, and why."""
    row = db.row("SELECT reason FROM git_outbox WHERE seq = ?", (seq,))
    return (row is not None, row[0] if row else None)


def note_queue_reason(db: Database, reason: str) -> None:
    """Record why Git did not take the queue."""
    with db.write():
        db.execute("UPDATE git_outbox SET reason = ?", (reason,))


def before_in_queue(db: Database, seq: int) -> int | None:
    """Return the newest published entry with something for Git that is older than another one."""
    found = db.value(
        "SELECT seq FROM journal WHERE seq < ? AND state = 'published' "
        "AND (commit_id IS NOT NULL OR seq IN (SELECT seq FROM git_outbox)) "
        "ORDER BY seq DESC LIMIT 1",
        (seq,),
    )
    return int(found) if found is not None else None


def decided_before(db: Database, seq: int) -> int | None:
    """Return the newest entry that Git must tell of and that is older than another one.

    An edit is none: it decides nothing of a record, and the commit of whoever made it may tell it.
    """
    found = db.value(
        "SELECT seq FROM journal WHERE seq < ? AND state = 'published' "
        "AND (commit_id IS NOT NULL OR seq IN (SELECT seq FROM git_outbox)) "
        f"AND (NOT ({OBSERVE_ONLY}) OR json_array_length(effects, '$.guards') > 0 "
        "OR json_array_length(effects, '$.merges') > 0) ORDER BY seq DESC LIMIT 1",
        (seq,),
    )
    return int(found) if found is not None else None


def is_committed(db: Database) -> bool:
    """Say whether any entry is in Git."""
    return db.row("SELECT 1 FROM journal WHERE commit_id IS NOT NULL LIMIT 1") is not None


def is_asked(db: Database) -> bool:
    """Say whether any entry was published that somebody asked for, and not only saved."""
    found = db.row(
        f"SELECT 1 FROM journal WHERE NOT ({OBSERVE_ONLY}) AND state = 'published' LIMIT 1"
    )
    return found is not None


def mark_committed(db: Database, commits: dict[int, str]) -> None:
    """Record the commits of entries and let go of the bytes that Git now holds.

    What an entry replaced is kept where no entry before it says that it was those bytes.
    """
    with db.write():
        for seq, commit in commits.items():
            db.execute("UPDATE journal SET commit_id = ? WHERE seq = ?", (commit, seq))
            db.execute(
                "UPDATE journal_file AS mine SET after = NULL, before = CASE WHEN EXISTS ("
                "SELECT 1 FROM journal_file AS older WHERE older.path = mine.path "
                "AND older.seq < mine.seq AND older.after_hash = mine.before_hash "
                "AND older.seq IN (SELECT seq FROM journal WHERE state = 'published')"
                ") THEN NULL ELSE before END WHERE seq = ?",
                (seq,),
            )
            db.execute("DELETE FROM git_outbox WHERE seq = ?", (seq,))


def leave_queue(db: Database, entries: Iterable[int]) -> None:
    """Let entries wait no more for Git, which does not hold their bytes: they stay here."""
    with db.write():
        db.executemany("DELETE FROM git_outbox WHERE seq = ?", ((seq,) for seq in entries))


def kept_bytes(db: Database, seq: int, content_hash: str) -> bytes | None:
    """Return the bytes with a hash that an entry still holds."""
    found: bytes | None = db.value(
        "SELECT after FROM journal_file WHERE seq = ? AND after_hash = ? AND after IS NOT NULL",
        (seq, content_hash),
    )
    return found


def seq_at(db: Database, at: str) -> int:
    """Return the number of the last entry published at or before a time."""
    return int(db.value("SELECT coalesce(max(seq), 0) FROM journal WHERE published_at <= ?", (at,)))


def published_at(db: Database, seq: int | None) -> str | None:
    """Return when an entry was published; None for one that was not, or is unknown."""
    found: str | None = db.value("SELECT published_at FROM journal WHERE seq = ?", (seq,))
    return found


def removed(db: Database, seq: int | None = None) -> set[str]:
    """Return the paths whose file was removed, as of an entry or by now, and has not come back."""
    rows = db.rows(
        "SELECT path FROM (SELECT path, max(seq), after_hash FROM journal_file "
        "JOIN journal USING (seq) WHERE state = 'published' AND seq <= ? GROUP BY path) "
        "WHERE after_hash IS NULL",
        (seq if seq is not None else 1 << 62,),
    )
    return {path for (path,) in rows}


def of_commit(db: Database, commit_id: str) -> int | None:
    """Return the newest entry that a commit holds."""
    found = db.value("SELECT max(seq) FROM journal WHERE commit_id = ?", (commit_id,))
    return int(found) if found is not None else None


def last_hash(db: Database, path: str, before: int | None = None) -> str | None:
    """Return the hash of the bytes that a published entry last gave a path, or one before another.

    None where there is none, or the last one removed the file.
    """
    found: str | None = db.value(
        "SELECT after_hash FROM journal_file JOIN journal USING (seq) "
        "WHERE path = ? AND seq < ? AND state = 'published' ORDER BY seq DESC LIMIT 1",
        (path, before if before is not None else 1 << 62),
    )
    return found


def last_files(db: Database, prefix: str) -> list[tuple[int, str, str | None]]:
    """Return (entry, path, hash) of what published entries last gave each path that begins so.

    The hash is None where the last one removed the file.
    """
    rows = db.rows(
        "SELECT max(seq), path, after_hash FROM journal_file JOIN journal USING (seq) "
        "WHERE substr(path, 1, length(?1)) = ?1 AND state = 'published' GROUP BY path ORDER BY path",
        (prefix,),
    )
    return [(seq, path, after_hash) for seq, path, after_hash in rows]


def _one(db: Database, condition: str, value: Any) -> Entry | None:
    row = db.row(f"SELECT {_COLUMNS} FROM journal WHERE {condition}", (value,))
    return Entry(*row) if row else None
