"""Guards: what was withdrawn or superseded, and may not become current by a file coming back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vault_kg.state.database import Database

WITHDRAWN, SUPERSEDED = "withdrawn", "superseded"


@dataclass(frozen=True)
class Guard:
    """One withdrawal or supersession of a record."""

    record_id: str
    kind: str
    partition: str
    successor: str | None
    reason: str
    actor: str
    request_id: str
    at: str


_COLUMNS = "record_id, kind, partition, successor, reason, actor, request_id, at"


def add(db: Database, guard: Guard) -> None:
    """Write a guard; the first of its kind for a record stands."""
    with db.write():
        db.execute(
            "INSERT OR IGNORE INTO guard VALUES (?,?,?,?,?,?,?,?)",
            (
                guard.record_id, guard.kind, guard.partition, guard.successor, guard.reason,
                guard.actor, guard.request_id, guard.at,
            ),
        )  # fmt: skip


def settle(db: Database, guard: Guard) -> None:
    """Write a guard that another clone set; of two of a kind the earlier stands, in every clone."""
    standing = of(db, guard.record_id).get(guard.kind)
    if standing is not None and (guard.at, guard.request_id) < (standing.at, standing.request_id):
        lift(db, guard.record_id, guard.kind)
    add(db, guard)


def lift(db: Database, record_id: str, kind: str) -> None:
    """Take a guard back: what set it was undone."""
    with db.write():
        db.execute("DELETE FROM guard WHERE record_id = ? AND kind = ?", (record_id, kind))


def of(db: Database, record_id: str) -> dict[str, Guard]:
    """Return a record's guards by kind."""
    return of_each(db, [record_id])[record_id]


def of_each(db: Database, record_ids: Collection[str]) -> dict[str, dict[str, Guard]]:
    """Return the guards of each of some records, by id and kind."""
    found: dict[str, dict[str, Guard]] = {record_id: {} for record_id in record_ids}
    for row in db.among(f"SELECT {_COLUMNS} FROM guard WHERE record_id IN ({{}})", record_ids):
        found[row[0]][row[1]] = Guard(*row)
    return found


def succeeded_by(db: Database, record_id: str) -> list[str]:
    """Return the records whose successor this one is, by id."""
    rows = db.rows(
        f"SELECT record_id FROM guard WHERE successor = ? AND kind = '{SUPERSEDED}' "
        "ORDER BY record_id",
        (record_id,),
    )
    return [found for (found,) in rows]


def of_request(db: Database, request_id: str) -> list[Guard]:
    """Return the guards that a request set."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM guard WHERE request_id = ? ORDER BY record_id, kind", (request_id,)
    )
    return [Guard(*row) for row in rows]


def lifecycles(db: Database) -> dict[str, str]:
    """Return the lifecycle that guards impose on each guarded record; withdrawal outranks."""
    rows = db.rows("SELECT record_id, kind FROM guard ORDER BY kind")  # superseded, then withdrawn
    return dict(rows)
