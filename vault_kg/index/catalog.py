"""The catalog: one row a record or note, its tags and findings, and what the state says of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_kg.records.model import Problem, Record
from vault_kg.state import guards, merges, revisions
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.merges import Merge
from vault_kg.state.revisions import Revision
from vault_kg.store.sources import Source

PARSE, STATE, RULES, WALK = "parse", "state", "rules", "walk"
"""Who found something: a file is judged anew by each on its own occasion."""


@dataclass(frozen=True)
class Row:
    """A row of the catalog."""

    key: int
    path: str
    id: str
    kind: str
    partition: str
    type: str | None
    title: str
    summary: str | None
    revision: int
    hash: str
    lifecycle: str
    recorded_at: str
    updated_at: str
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    owner: str | None
    from_id: str | None
    to_id: str | None
    successor: str | None
    valid: bool
    eligible: bool
    eligible_until: str | None

    def current(self, now: str) -> bool:
        """Say whether a default read may see it now."""
        return self.eligible and (self.eligible_until is None or self.eligible_until > now)


COLUMNS = (
    "key, path, id, kind, partition, type, title, summary, revision, hash, lifecycle, recorded_at, "
    "updated_at, valid_from, valid_until, expires_at, owner, from_id, to_id, successor, valid, "
    "eligible, eligible_until"
)
_FLAGS = (COLUMNS.split(", ").index("valid"), COLUMNS.split(", ").index("eligible"))
QUALIFIED = ", ".join(f"record.{c}" for c in COLUMNS.split(", "))


_PUT_FINDING = "INSERT INTO finding VALUES (?,?,?,?,?,?,?,?)"

SOURCE_COLUMNS = ", ".join(Source.__dataclass_fields__)


@dataclass(frozen=True)
class Standing:
    """What the state says of a record: it outranks the file."""

    revision: int
    lifecycle: str
    partition: str | None
    successor: str | None
    guarded: Mapping[str, Guard]
    """Its guards by kind."""
    merge: Merge | None
    """The merge that it is absorbed by."""


@dataclass(frozen=True)
class Judgement:
    """What was found of the record in one file."""

    path: str
    valid: bool
    """Whether it keeps all rules."""
    by_rules: Sequence[Problem]
    by_state: Sequence[Problem]
    """Where the file says something that only the state says."""


def row(values: Sequence[Any]) -> Row:
    """Build a row from the values of `COLUMNS`."""
    typed: list[Any] = [bool(v) if n in _FLAGS else v for n, v in enumerate(values)]
    return Row(*typed)


def by_id(db: Database, record_id: str) -> list[Row]:
    """Return the rows with an id: more than one where files repeat it."""
    return [
        row(values)
        for values in db.rows(
            f"SELECT {COLUMNS} FROM record WHERE id = ? ORDER BY path", (record_id,)
        )
    ]


def by_path(db: Database, path: str) -> Row | None:
    """Return the row of a file."""
    values = db.row(f"SELECT {COLUMNS} FROM record WHERE path = ?", (path,))
    return row(values) if values else None


def by_key(db: Database, keys: Sequence[int]) -> dict[int, Row]:
    """Return rows by key."""
    marks = ",".join("?" * len(keys))
    found = db.rows(f"SELECT {COLUMNS} FROM record WHERE key IN ({marks})", keys)
    return {values[0]: row(values) for values in found}


def kind_and_type(db: Database, record_id: str) -> tuple[str, str | None] | None:
    """Return a record's kind and type."""
    found = db.row("SELECT kind, type FROM record WHERE id = ?", (record_id,))
    return (found[0], found[1]) if found else None


def source(db: Database, source_id: str) -> Source | None:
    """Return a source's descriptor."""
    found = db.row(
        f"SELECT {SOURCE_COLUMNS} FROM source WHERE id = ?",
        (source_id,),
    )
    return Source(*found) if found else None


def tags(db: Database, key: int) -> list[str]:
    """Return the tags of a row, its inline ones among them."""
    return [tag for (tag,) in db.rows("SELECT tag FROM tag WHERE key = ? ORDER BY tag", (key,))]


def blocked(db: Database) -> list[str]:
    """Return the records that no default read shows, since a conflict waits for a person."""
    rows = db.rows(
        "SELECT DISTINCT record_id FROM conflict "
        "WHERE resolved_at IS NULL AND record_id IS NOT NULL ORDER BY record_id"
    )
    return [record_id for (record_id,) in rows]


def names_of(db: Database, ids: Collection[str]) -> set[str]:
    """Return the names by which links find some records and notes."""
    rows = db.rows(
        "SELECT DISTINCT name FROM record JOIN name USING (key) "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {name for (name,) in rows}


def files(db: Database) -> set[str]:
    """Return the paths of all Markdown files, broken ones among them."""
    return {path for (path,) in db.rows("SELECT path FROM file")}


def has_file(db: Database, path: str) -> bool:
    """Say whether there was a Markdown file at a path when the vault was last looked at."""
    return db.row("SELECT 1 FROM file WHERE path = ?", (path,)) is not None


def standing(db: Database, record: Record) -> Standing:
    """Return what the state says of a record; for one that it does not know, what the file says."""
    return standings(db, [record])[0]


def standings(db: Database, records: Sequence[Record]) -> list[Standing]:
    """Return what the state says of each of some records, in their order."""
    ids = {record.id for record in records}
    heads, merged = revisions.heads_of(db, ids), merges.standing_of(db, ids)
    guarded = guards.of_each(db, ids)
    return [
        _standing(record, heads.get(record.id), guarded[record.id], merged.get(record.id))
        for record in records
    ]


def _standing(
    record: Record, head: Revision | None, guarded: Mapping[str, Guard], merge: Merge | None
) -> Standing:
    if guards.WITHDRAWN in guarded:
        lifecycle = "withdrawn"
    elif guards.SUPERSEDED in guarded:
        lifecycle = "superseded"
    elif merge is not None:
        lifecycle = "merged"
    else:
        lifecycle = head.lifecycle if head else record.lifecycle
    superseded = guarded.get(guards.SUPERSEDED)
    successor = superseded.successor if superseded else merge.survivor if merge else None
    return Standing(
        head.revision if head else record.revision,
        lifecycle,
        head.partition if head else None,
        successor,
        guarded,
        merge,
    )


def put_findings(db: Database, path: str, phase: str, problems: Iterable[Problem]) -> None:
    """Replace a file's findings of one phase."""
    db.execute("DELETE FROM finding WHERE path = ? AND phase = ?", (path, phase))
    db.executemany(_PUT_FINDING, [_finding(path, n, phase, p) for n, p in enumerate(problems)])


def put_judgements(db: Database, judgements: Sequence[Judgement]) -> None:
    """Replace what the rules and the state said of files' records."""
    db.executemany(
        f"DELETE FROM finding WHERE path = ? AND phase IN ('{RULES}', '{STATE}')",
        [(one.path,) for one in judgements],
    )
    db.executemany(
        _PUT_FINDING,
        [
            _finding(one.path, n, phase, problem)
            for one in judgements
            for phase, problems in ((RULES, one.by_rules), (STATE, one.by_state))
            for n, problem in enumerate(problems)
        ],
    )
    db.executemany(
        "UPDATE record SET valid = ? WHERE path = ?",
        [(int(one.valid), one.path) for one in judgements],
    )


def _finding(path: str, ordinal: int, phase: str, problem: Problem) -> tuple[Any, ...]:
    return (
        path, ordinal, phase, problem.code, problem.line, problem.severity, problem.message,
        problem.hint,
    )  # fmt: skip
