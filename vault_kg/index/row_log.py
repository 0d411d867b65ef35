"""Which records changed last, in order: a log that the database keeps by itself.

Triggers write it, so that whoever changes a row of a record, its passages or its tags, and however,
is in it; only a row that a `REPLACE` of another key pushes out is not. It holds the latest changes;
who has seen fewer looks at everything. Each entry has a random stamp, so that a log that was rolled
back, restored or begun anew is never taken for the one that was seen before.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from vault_kg.index.ddl import Objects

if TYPE_CHECKING:
    from vault_kg.state.database import Database

KEPT = 65_536
"""So many entries stay at least."""

_TRIM = 1_024
"""So many entries are removed at a time."""

_NOTE = "INSERT INTO row_log (record, id)"
_OBJECTS = Objects(
    {
        "row_log": """CREATE TABLE row_log (
            seq    INTEGER PRIMARY KEY,
            stamp  INTEGER NOT NULL DEFAULT (random()),
            record INTEGER NOT NULL,
            id     TEXT
        ) STRICT""",
        "row_log_trim": f"""CREATE TRIGGER row_log_trim AFTER INSERT ON row_log
        WHEN NEW.seq % {_TRIM} = 0
        BEGIN DELETE FROM row_log WHERE seq <= NEW.seq - {KEPT}; END""",
        "row_log_record_over": f"""CREATE TRIGGER row_log_record_over BEFORE INSERT ON record
        BEGIN
            {_NOTE} SELECT key, id FROM record WHERE key = NEW.key OR path = NEW.path;
        END""",  # what is replaced is not deleted as triggers see it
        "row_log_record_put": f"""CREATE TRIGGER row_log_record_put AFTER INSERT ON record
        BEGIN {_NOTE} VALUES (NEW.key, NEW.id); END""",
        "row_log_record_set": f"""CREATE TRIGGER row_log_record_set AFTER UPDATE ON record
        BEGIN
            {_NOTE} SELECT OLD.key, OLD.id WHERE (OLD.key, OLD.id) IS NOT (NEW.key, NEW.id);
            {_NOTE} VALUES (NEW.key, NEW.id);
        END""",
        "row_log_record_gone": f"""CREATE TRIGGER row_log_record_gone AFTER DELETE ON record
        BEGIN {_NOTE} VALUES (OLD.key, OLD.id); END""",
        "row_log_passage_put": f"""CREATE TRIGGER row_log_passage_put AFTER INSERT ON passage
        BEGIN {_NOTE} VALUES (NEW.record, NULL); END""",
        "row_log_passage_set": f"""CREATE TRIGGER row_log_passage_set AFTER UPDATE OF key, record
        ON passage
        BEGIN {_NOTE} VALUES (OLD.record, NULL), (NEW.record, NULL); END""",
        "row_log_passage_gone": f"""CREATE TRIGGER row_log_passage_gone AFTER DELETE ON passage
        BEGIN {_NOTE} VALUES (OLD.record, NULL); END""",
        "row_log_tag_put": f"""CREATE TRIGGER row_log_tag_put AFTER INSERT ON tag
        BEGIN {_NOTE} VALUES (NEW.key, NULL); END""",
        "row_log_tag_gone": f"""CREATE TRIGGER row_log_tag_gone AFTER DELETE ON tag
        BEGIN {_NOTE} VALUES (OLD.key, NULL); END""",
    }
)


class Mark(NamedTuple):
    """A place in the log, and what proves that it is the same log."""

    seq: int
    stamp: int

    def as_text(self) -> str:
        """Return the place in a form that can be kept."""
        return f"{self.seq}/{self.stamp}"

    @classmethod
    def of_text(cls, text: str) -> Mark:
        """Return the place that was kept; one that is never come to for what was not."""
        seq, _, stamp = text.partition("/")
        return cls(int(seq), int(stamp)) if stamp else _nowhere()


class Changed(NamedTuple):
    """What changed since a place in the log."""

    records: set[int]
    """The keys of records of which a row, passage or tag came, went or changed."""
    ids: set[str]
    """The ids of those whose own row did."""


def ensure(db: Database) -> None:
    """Make the log and what writes it, unless they stand; joins the caller's transaction."""
    if _OBJECTS.stand(db):
        return
    with db.write():
        _OBJECTS.make(db)
        db.execute("INSERT INTO row_log (record) VALUES (0)")


def drop(db: Database) -> None:
    """Drop the log and what writes it; joins the caller's transaction."""
    _OBJECTS.drop(db)


def mark(db: Database) -> Mark:
    """Return where the log ends, as of the transaction that is open, or of now.

    Where there is no log, or nothing that writes it, it is a place that is never come to again.
    """
    row = (
        db.row("SELECT seq, stamp FROM row_log ORDER BY seq DESC LIMIT 1")
        if _OBJECTS.stand(db)
        else None
    )
    return Mark(*row) if row else _nowhere()


def since(db: Database, seen: Mark) -> Changed | None:
    """Return what changed since a place, or None where the log does not tell."""
    if not _OBJECTS.stand(db):
        return None
    if db.value("SELECT stamp FROM row_log WHERE seq = ?", (seen.seq,)) != seen.stamp:
        return None
    rows = db.rows("SELECT DISTINCT record, id FROM row_log WHERE seq > ?", (seen.seq,))
    return Changed({key for key, _ in rows}, {record_id for _, record_id in rows if record_id})


def _nowhere() -> Mark:
    return Mark(-1, secrets.randbits(62))
