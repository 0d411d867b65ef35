"""Making one entry of the journal stand for all: what stands is kept, and what stood before is not."""

from __future__ import annotations

from typing import Any

from vault_kg.state.database import Database
from vault_kg.state.journal import OBSERVE_ONLY, Entry, FileRow, dump, get, last_seq

_LAST = "(SELECT max(seq) FROM journal_file AS newer WHERE newer.path = journal_file.path)"
_STANDS = f"seq = {_LAST} AND after IS NOT NULL"
_OF_NO_FILE = (
    "path NOT IN (SELECT path FROM journal_file) OR revision NOT IN "
    "(SELECT max(revision) FROM revision AS other WHERE other.record_id = revision.record_id "
    "UNION SELECT min(revision) FROM revision AS other WHERE other.record_id = revision.record_id)"
)
"""Of each record the first revision stays, too: its number is the one that the file states."""


def is_needed(db: Database) -> bool:
    """Say whether the journal holds more than what stands, and saves of files are all there is."""
    asked = db.value(f"SELECT EXISTS (SELECT 1 FROM journal WHERE NOT ({OBSERVE_ONLY}))")
    past = db.value(f"SELECT EXISTS (SELECT 1 FROM journal_file WHERE NOT ({_STANDS}))")
    return bool(past) and not asked


def collapse(db: Database) -> None:
    """Let the newest entry hold every file and revision that stands, and forget all others."""
    with db.write():
        seq = last_seq(db)
        entry = get(db, seq)
        assert entry is not None, "there is something to forget"
        effects = _effects(db, entry)
        files = _standing_files(db)
        db.execute("DELETE FROM journal_file")
        db.executemany(
            "INSERT INTO journal_file VALUES (?,?,?,?,NULL,?,NULL,?)",
            (
                (seq, number, file.path, file.record_id, file.after, file.after_hash)
                for number, file in enumerate(files)
            ),
        )
        db.execute(f"DELETE FROM revision WHERE {_OF_NO_FILE}")
        db.execute("UPDATE revision SET seq = ?", (seq,))
        db.execute("UPDATE merge SET seq = ?", (seq,))
        db.execute("DELETE FROM git_outbox")
        if files:
            db.execute("INSERT INTO git_outbox (seq) VALUES (?)", (seq,))
        db.execute("DELETE FROM journal WHERE seq <> ?", (seq,))
        effects["revisions"] = _heads(db)
        effects["label"] = f"{len(files)} files"
        db.execute("UPDATE journal SET effects = ? WHERE seq = ?", (dump(effects), seq))


def _effects(db: Database, newest: Entry) -> dict[str, Any]:
    """Return the effects of the newest entry with the guards and merges of all of them."""
    effects = dict(newest.effects)
    for name in ("guards", "lifts", "merges", "contributions"):
        effects[name] = []
    for (seq,) in db.rows("SELECT seq FROM journal ORDER BY seq"):
        entry = get(db, seq)
        for name in ("guards", "lifts", "merges", "contributions"):
            effects[name] += entry.effects.get(name, []) if entry else []
    effects["moves"] = []
    return effects


def _standing_files(db: Database) -> list[FileRow]:
    rows = db.rows(
        "SELECT path, record_id, NULL, after, NULL, after_hash FROM journal_file "
        f"WHERE {_STANDS} ORDER BY path"
    )
    return [FileRow(*row) for row in rows]


def _heads(db: Database) -> list[dict[str, object]]:
    names = ("record_id", "revision", "kind", "path", "partition", "lifecycle", "hash", "blob")
    rows = db.rows(
        f"SELECT {', '.join(names)} FROM revision WHERE revision = (SELECT max(revision) "
        "FROM revision AS other WHERE other.record_id = revision.record_id) ORDER BY path"
    )
    return [dict(zip(names, row, strict=True)) for row in rows]
