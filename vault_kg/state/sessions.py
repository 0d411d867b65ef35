"""Consolidation sessions and their candidates, from their beginning to their end.

Whether a session is committed is never written here: it is, once the journal has published the
entry with the request id `commit:<session>`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_kg.state.database import Database

COMMIT, UNDO = "kg_commit_consolidation", "kg_undo_consolidation"
"""The operations whose journal entries commit a session, and take one back."""

NODE, EDGE = "node", "edge"


@dataclass(frozen=True)
class Session:
    """One session. `source_*` say which artefact it consolidates, `content` is its text if given."""

    id: str
    partition: str
    agent: str
    source_type: str
    source_id: str
    source_version: str | None
    content_hash: str
    content: str | None
    lenient: bool
    opened_at: str
    expires_at: str
    version: int = 0
    aborted_at: str | None = None
    abort_reason: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Candidate:
    """One candidate of a session; its proposal is None until a reconciliation was proposed."""

    id: str
    kind: str
    value: dict[str, Any]
    proposal: dict[str, Any] | None = None


def commit_request(session_id: str) -> str:
    """Return the request id under which a session is committed."""
    return f"commit:{session_id}"


def undo_request(session_id: str) -> str:
    """Return the request id under which a session is taken back."""
    return f"undo:{session_id}"


_COLUMNS = (
    "id, partition, agent, source_type, source_id, source_version, content_hash, content, lenient, "
    "opened_at, expires_at, version, aborted_at, abort_reason, failure"
)
_WITHOUT_TEXT = _COLUMNS.replace(" content,", " NULL,")
_LENIENT = _COLUMNS.split(", ").index("lenient")
_ENDED = (
    "EXISTS (SELECT 1 FROM journal WHERE request_id = 'commit:' || session.id "
    f"AND operation = '{COMMIT}' AND state <> 'abandoned' AND state IN ('published', 'resolved'))"
)


def add(db: Database, session: Session) -> None:
    """Write a new session."""
    values = [getattr(session, name) for name in _COLUMNS.split(", ")]
    values[_LENIENT] = int(session.lenient)
    with db.write():
        db.execute(f"INSERT INTO session ({_COLUMNS}) VALUES (?{',?' * 14})", values)


def get(db: Database, session_id: str) -> Session | None:
    """Return a session."""
    row = db.row(f"SELECT {_COLUMNS} FROM session WHERE id = ?", (session_id,))
    return _session(row) if row else None


def open_ones(
    db: Database,
    now: str,
    partitions: Collection[str] | None,
    session_id: str | None,
    limit: int,
    after: tuple[str, str] | None = None,
) -> tuple[list[Session], int]:
    """Return the sessions that can still be committed, the latest first, and how many there are.

    Args:
        db: the state.
        now: the time.
        partitions: on these boards; None for all.
        session_id: only this one, if it is one of them.
        limit: so many at most; they come without their texts.
        after: only those behind this (opened_at, id); they are all counted.
    """
    where = (
        "aborted_at IS NULL AND expires_at > :now AND (:all OR partition IN "
        f"(SELECT value FROM json_each(:partitions))) AND id = coalesce(:id, id) AND NOT {_ENDED}"
    )
    values: dict[str, Any] = {
        "now": now, "all": partitions is None, "partitions": json.dumps(list(partitions or ())),
        "id": session_id,
    }  # fmt: skip
    total = int(db.value(f"SELECT count(*) FROM session WHERE {where}", values))
    behind = "opened_at < :opened OR (opened_at = :opened AND id > :last)" if after else "1"
    opened, last = after or (None, None)
    rows = db.rows(
        f"SELECT {_WITHOUT_TEXT} FROM session WHERE {where} AND ({behind}) "
        "ORDER BY opened_at DESC, id LIMIT :limit",
        values | {"opened": opened, "last": last, "limit": limit},
    )
    return [_session(row) for row in rows], total


def last_committed(
    db: Database, partition: str, source_type: str, source_id: str
) -> Session | None:
    """Return the session whose commit of an artefact stands: the last that was not undone."""
    row = db.row(
        f"SELECT {', '.join(f'session.{c}' for c in _COLUMNS.split(', '))} FROM session "
        "JOIN journal ON journal.request_id = 'commit:' || session.id AND journal.operation = ? "
        f"AND {_applied('journal')} "
        "WHERE session.partition = ? AND source_type = ? AND source_id = ? AND NOT EXISTS ("
        "SELECT 1 FROM journal AS undo WHERE undo.request_id = 'undo:' || session.id "
        f"AND undo.operation = ? AND {_applied('undo')}) ORDER BY journal.seq DESC LIMIT 1",
        (COMMIT, partition, source_type, source_id, UNDO),
    )
    return _session(row) if row else None


def touch(db: Database, session_id: str, expires_at: str) -> None:
    """Raise a session's version and put its end off."""
    with db.write():
        db.execute(
            "UPDATE session SET version = version + 1, expires_at = ?, failure = NULL WHERE id = ?",
            (expires_at, session_id),
        )


def fail(db: Database, session_id: str, why: str) -> None:
    """Note why a commit of a session failed."""
    with db.write():
        db.execute("UPDATE session SET failure = ? WHERE id = ?", (why, session_id))


def abort(db: Database, session_id: str, at: str, reason: str | None) -> None:
    """End a session that is not to be committed, and let its candidates go."""
    with db.write():
        db.execute(
            "UPDATE session SET aborted_at = ?, abort_reason = ? WHERE id = ?",
            (at, reason, session_id),
        )
        forget(db, session_id)


def forget(db: Database, session_id: str) -> None:
    """Let the candidates and the text of a session go: it has ended."""
    with db.write():
        db.execute("DELETE FROM candidate WHERE session = ?", (session_id,))
        db.execute("UPDATE session SET content = NULL WHERE id = ?", (session_id,))


def sweep(db: Database, before: str) -> None:
    """Remove the sessions that ended uncommitted before a time."""
    with db.write():
        db.execute(f"DELETE FROM session WHERE expires_at < ? AND NOT {_ENDED}", (before,))


def add_candidate(db: Database, session_id: str, candidate: Candidate) -> tuple[Candidate, int]:
    """Write a candidate behind those that are there.

    Returns:
        The candidate as it is read back, and the characters that it takes.
    """
    value = _dump(candidate.value)
    with db.write():
        db.execute(
            "INSERT INTO candidate SELECT ?1, coalesce(max(ordinal), 0) + 1, ?2, ?3, ?4, NULL "
            "FROM candidate WHERE session = ?1",
            (session_id, candidate.id, candidate.kind, value),
        )
    return Candidate(candidate.id, candidate.kind, json.loads(value)), len(value)


def candidates(db: Database, session_id: str) -> list[Candidate]:
    """Return a session's candidates in the order in which they were added."""
    rows = db.rows(
        "SELECT id, kind, value, proposal FROM candidate WHERE session = ? ORDER BY ordinal",
        (session_id,),
    )
    return [Candidate(i, k, json.loads(v), json.loads(p) if p else None) for i, k, v, p in rows]


def characters(db: Database, session_id: str) -> int:
    """Return how many characters the candidates of a session take, proposals aside."""
    return int(
        db.value(
            "SELECT coalesce(sum(length(value)), 0) FROM candidate WHERE session = ?",
            (session_id,),
        )
    )


def counts(db: Database, session_id: str) -> dict[str, int]:
    """Return how many candidates of each kind a session has."""
    rows = db.rows(
        "SELECT kind, count(*) FROM candidate WHERE session = ? GROUP BY kind", (session_id,)
    )
    return {NODE: 0, EDGE: 0} | dict(rows)


def propose(db: Database, session_id: str, proposals: Mapping[str, Any]) -> None:
    """Write what is proposed for each candidate, by its id."""
    many: Iterable[tuple[str, str, str]] = (
        (_dump(proposal), session_id, name) for name, proposal in proposals.items()
    )
    with db.write():
        db.executemany("UPDATE candidate SET proposal = ? WHERE session = ? AND id = ?", many)


def commits_since(db: Database, agent: str, at: str) -> list[str]:
    """Return when an agent's sessions were committed after a time, the oldest first."""
    rows = db.rows(
        "SELECT accepted_at FROM journal WHERE operation = ? AND actor = ? AND accepted_at > ? "
        "AND state <> 'abandoned' ORDER BY seq",
        (COMMIT, agent, at),
    )
    return [found for (found,) in rows]


def _applied(table: str) -> str:
    """Return the condition that an entry took effect, at once or after a review."""
    return (
        f"{table}.state <> 'abandoned' "  # by the words of the index on request ids
        f"AND ({table}.state = 'published' OR ({table}.state = 'resolved' "
        f"AND json_extract({table}.receipt, '$.result') IS NOT NULL))"
    )


def _session(row: tuple[Any, ...]) -> Session:
    values = list(row)
    values[_LENIENT] = bool(values[_LENIENT])
    return Session(*values)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
