"""The journal's entries of consolidation: the audit of what was committed and undone, in order.

An entry that met somebody's edit took effect when a person let it through: in the order, it stands
where that review stands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vault_kg.state import journal
from vault_kg.state.database import Database
from vault_kg.state.journal import Entry
from vault_kg.state.sessions import COMMIT, UNDO, commit_request, undo_request

_REVIEW = "knowledge_review"
_APPLIED = (
    "(state = 'published' OR (state = 'resolved' AND json_extract(receipt, '$.result') "
    "IS NOT NULL))"
)
_HAPPENED = (
    f"(state = 'published' AND (operation IN ('{COMMIT}', '{UNDO}') OR "
    f"(operation = '{_REVIEW}' AND json_extract(receipt, '$.result.session_id') IS NOT NULL)))"
)


class Happened(NamedTuple):
    """A commit or undoing, and where it stands in the order of what happened."""

    seq: int
    entry: Entry


def after(db: Database, seq: int, limit: int) -> list[Happened]:
    """Return the commits and undoings behind a number, in their order."""
    rows = _read(db, f"{_HAPPENED} AND seq > ? ORDER BY seq LIMIT ?", (seq, limit))
    return [Happened(entry.seq, _reviewed(db, entry)) for entry in rows]


def at(db: Database, seq: int) -> Happened:
    """Return the commit or undoing that stands at a number."""
    entry = journal.get(db, seq)
    assert entry is not None, "a journal row never goes away"
    return Happened(seq, _reviewed(db, entry))


def last(db: Database) -> int:
    """Return the number of the newest commit or undoing; 0 where there is none."""
    return int(db.value(f"SELECT coalesce(max(seq), 0) FROM journal WHERE {_HAPPENED}"))


def waiting(db: Database, seq: int) -> int:
    """Return how many commits and undoings there are behind a number."""
    return int(db.value(f"SELECT count(*) FROM journal WHERE {_HAPPENED} AND seq > ?", (seq,)))


@dataclass(frozen=True)
class Commits:
    """Which commits are wanted. None means any."""

    partitions: Collection[str] | None = None
    record_id: str | None = None
    """Only those that gave this record a revision."""
    session: str | None = None
    source_id: str | None = None

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on a `journal` row, and its parameters."""
        parts = [f"operation = '{COMMIT}'", _APPLIED]
        values: list[Any] = []
        if self.partitions is not None:
            parts.append("partition IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(self.partitions)))
        if self.record_id is not None:
            parts.append(
                "(seq IN (SELECT seq FROM revision WHERE record_id = ?) "
                "OR seq IN (SELECT seq FROM conflict WHERE record_id = ?))"
            )
            values += [self.record_id, self.record_id]
        if self.session is not None:
            parts.append("request_id = ?")
            values.append(commit_request(self.session))
        if self.source_id is not None:
            parts.append("json_extract(payload, '$.session.source_id') = ?")
            values.append(self.source_id)
        return " AND ".join(parts), values


def commits(db: Database, which: Commits, limit: int, before: int | None = None) -> list[Entry]:
    """Return commits, the newest first, those with a number below `before` where it is given."""
    condition, values = which.condition()
    return _read(
        db,
        f"{condition} AND seq < ? ORDER BY seq DESC LIMIT ?",
        [*values, before if before is not None else 1 << 62, limit],
    )


def count(db: Database, which: Commits) -> int:
    """Return how many commits there are."""
    condition, values = which.condition()
    return int(db.value(f"SELECT count(*) FROM journal WHERE {condition}", values))


def of_request(db: Database, request_id: str, operation: str) -> Entry | None:
    """Return the entry of a commit or an undoing that took effect, or is on its way to."""
    found = journal.find(db, request_id)
    return found if found is not None and found.operation == operation else None


def applied(db: Database, request_id: str, operation: str) -> Entry | None:
    """Return the entry of a commit or an undoing that took effect."""
    entry = of_request(db, request_id, operation)
    if entry is None or entry.state not in (journal.PUBLISHED, journal.RESOLVED):
        return None
    return entry if entry.receipt and "result" in entry.receipt else None


def undone(db: Database, session_id: str) -> Entry | None:
    """Return the entry that took a session back, or None where its commit stands."""
    return applied(db, undo_request(session_id), UNDO)


def _reviewed(db: Database, entry: Entry) -> Entry:
    """Return the entry that a review let through; any other entry itself."""
    if entry.operation != _REVIEW:
        return entry
    result = (entry.receipt or {})["result"]
    name = result["session_id"]
    commits = "applied" in result
    found = applied(
        db, commit_request(name) if commits else undo_request(name), COMMIT if commits else UNDO
    )
    return found if found is not None else entry


def _read(db: Database, condition: str, values: Sequence[Any]) -> list[Entry]:
    seqs = [seq for (seq,) in db.rows(f"SELECT seq FROM journal WHERE {condition}", values)]
    found = (journal.get(db, seq) for seq in seqs)
    return [entry for entry in found if entry is not None]
