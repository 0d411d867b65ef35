"""The catalog: one row a record or note, with its names, tags, edges, links and passages.

Rows are written from parsed files and from what the state says of a record: the revision and the
lifecycle that count are the state's, whatever the file says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vault_kg.index import fts
from vault_kg.index.parsed import NOTE, RECORD, Parsed, partition_of
from vault_kg.records import ids, link_targets, names
from vault_kg.records.model import Problem, Record
from vault_kg.records.passages import passage_hash
from vault_kg.state import guards, merges, revisions
from vault_kg.state.database import Database
from vault_kg.store.files import Stamp
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


SOURCE_COLUMNS = ", ".join(Source.__dataclass_fields__)


@dataclass(frozen=True)
class Standing:
    """What the state says of a record: it outranks the file."""

    revision: int
    lifecycle: str
    partition: str | None
    successor: str | None


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


def standing(db: Database, record: Record) -> Standing:
    """Return what the state says of a record; for one that it does not know, what the file says."""
    head = revisions.head(db, record.id)
    guarded = guards.of(db, record.id)
    merge = merges.standing(db, record.id)
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
    )


def put(db: Database, parsed: Parsed, content_hash: str, stamp: Stamp, seen_ns: int) -> set[str]:
    """Write a file's rows, replacing what stood for its path.

    Returns:
        The ids whose standing may have changed: what was at the path, and what is there now.
    """
    touched = remove_rows(db, parsed.path, keep_key=parsed.kind in (RECORD, NOTE))
    _put_file(db, parsed, content_hash, stamp, seen_ns)
    if parsed.source is not None:
        _put_source(db, parsed.path, parsed.source)
    elif parsed.kind == RECORD and parsed.record is not None:
        touched.add(_put_record(db, parsed, parsed.record, content_hash))
    elif parsed.kind == NOTE:
        touched.add(_put_note(db, parsed, content_hash, stamp))
    put_findings(db, parsed.path, PARSE, parsed.problems)
    put_findings(db, parsed.path, WALK, ())
    return touched


def remove(db: Database, path: str) -> set[str]:
    """Forget a file, but not why it cannot be read; returns the ids that stood there."""
    touched = remove_rows(db, path)
    db.execute("DELETE FROM file WHERE path = ?", (path,))
    db.execute("DELETE FROM finding WHERE path = ? AND phase <> ?", (path, WALK))
    return touched


def put_findings(db: Database, path: str, phase: str, problems: Iterable[Problem]) -> None:
    """Replace a file's findings of one phase."""
    db.execute("DELETE FROM finding WHERE path = ? AND phase = ?", (path, phase))
    db.executemany(
        "INSERT INTO finding VALUES (?,?,?,?,?,?,?,?)",
        (
            (path, n, phase, p.code, p.line, p.severity, p.message, p.hint)
            for n, p in enumerate(problems)
        ),
    )


def set_valid(db: Database, path: str, valid: bool) -> None:
    """Say whether the record in a file keeps all rules."""
    db.execute("UPDATE record SET valid = ? WHERE path = ?", (int(valid), path))


def remove_rows(db: Database, path: str, *, keep_key: bool = False) -> set[str]:
    """Remove what a file put into the catalog; `keep_key` leaves the record row to be replaced."""
    touched = set()
    for key, record_id in db.rows("SELECT key, id FROM record WHERE path = ?", (path,)):
        touched.add(record_id)
        fts.delete_record(db, key)
        for table in ("name", "tag", "edge", "stated", "citation", "link", "link_name"):
            db.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
        if not keep_key:
            db.execute("DELETE FROM record WHERE key = ?", (key,))
    db.execute("DELETE FROM source WHERE descriptor = ?", (path,))
    return touched


def _put_file(db: Database, parsed: Parsed, content_hash: str, stamp: Stamp, seen_ns: int) -> None:
    db.execute(
        "INSERT OR REPLACE INTO file VALUES (?,?,?,?,?,?,?,?,?)",
        (
            parsed.path, parsed.path.rpartition("/")[0], stamp.size, stamp.mtime_ns, stamp.ctime_ns,
            stamp.inode, seen_ns, content_hash, parsed.kind,
        ),
    )  # fmt: skip


def _put_source(db: Database, path: str, found: Source) -> None:
    values = asdict(found)
    values["descriptor"] = path
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT OR REPLACE INTO source ({columns}) VALUES ({marks})", values)


def _put_record(db: Database, parsed: Parsed, record: Record, content_hash: str) -> str:
    stands = standing(db, record)
    errors = any(p.severity == "error" for p in parsed.problems)
    key = _put_row(
        db,
        {
            "path": parsed.path, "id": record.id, "kind": record.kind,
            "partition": partition_of(parsed.path), "type": record.type,
            "title": parsed.title, "title_key": names.title_key(parsed.title),
            "summary": record.summary, "revision": stands.revision, "hash": content_hash,
            "lifecycle": stands.lifecycle, "recorded_at": record.recorded_at,
            "updated_at": record.updated_at, "valid_from": record.valid_from,
            "valid_until": record.valid_until, "expires_at": record.expires_at,
            "owner": record.owner, "from_id": record.from_id, "to_id": record.to_id,
            "successor": stands.successor, "valid": int(not errors),
            "eligible": 0, "eligible_until": None,
        },
    )  # fmt: skip
    db.executemany(
        "INSERT OR IGNORE INTO edge VALUES (?,?,?)",
        ((key, ref.via, ref.target) for ref in record.references()),
    )
    db.execute("INSERT INTO stated VALUES (?,?)", (key, _stated(record)))
    db.executemany(
        "INSERT OR IGNORE INTO citation VALUES (?,?)", ((key, c.source) for c in record.evidence)
    )
    _put_words(db, key, parsed)
    return record.id


def _stated(record: Record) -> str:
    """Return what lists show of a record beyond its row, as JSON; empty values are left out."""
    name = record.predicate or record.type or "" if record.kind == "relationship" else None
    values = {
        "fields": dict(record.fields),
        "aliases": list(record.aliases),
        "evidence": [citation.to_value() for citation in record.evidence],
        "predicate": record.predicate,
        "name_key": names.lookup_key(name) if name else None,
        "pointers": dict(record.pointers),
        "changed_at": (record.lifecycle_change or {}).get("at"),
    }
    kept = {key: value for key, value in values.items() if value not in (None, [], {})}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), default=str)


def _put_note(db: Database, parsed: Parsed, content_hash: str, stamp: Stamp) -> str:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    note_id = ids.note_id(parsed.path)
    key = _put_row(
        db,
        {
            "path": parsed.path, "id": note_id, "kind": "note",
            "partition": partition_of(parsed.path), "type": None, "title": parsed.title,
            "title_key": names.title_key(parsed.title), "summary": None, "revision": 0,
            "hash": content_hash, "lifecycle": "active", "recorded_at": at, "updated_at": at,
            "valid_from": None, "valid_until": None, "expires_at": None, "owner": None,
            "from_id": None, "to_id": None, "successor": None, "valid": 1, "eligible": 1,
            "eligible_until": None,
        },
    )  # fmt: skip
    _put_words(db, key, parsed)
    return note_id


def _put_row(db: Database, values: dict[str, object]) -> int:
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    updates = ", ".join(f"{name} = excluded.{name}" for name in values)
    found = db.row(
        f"INSERT INTO record ({columns}) VALUES ({marks}) "
        f"ON CONFLICT (path) DO UPDATE SET {updates} RETURNING key",
        values,
    )
    assert found is not None
    return int(found[0])


def _put_words(db: Database, key: int, parsed: Parsed) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO name VALUES (?,?,?)",
        ((name, key, origin) for name, origin in parsed.names),
    )
    db.executemany("INSERT OR IGNORE INTO tag VALUES (?,?)", ((tag, key) for tag in parsed.tags))
    db.executemany(
        "INSERT INTO link VALUES (?,?,?,?,?,?)",
        (
            (key, n, link.kind, link.target, link.heading, link.line)
            for n, link in enumerate(parsed.links)
        ),
    )
    db.executemany(
        "INSERT OR IGNORE INTO link_name VALUES (?,?,?)",
        (
            (name, key, n)
            for n, link in enumerate(parsed.links)
            for name in link_targets.link_names(link.target)
        ),
    )
    fts.put_record(
        db,
        key,
        " \n".join((parsed.title, *parsed.aliases)),
        [(p, passage_hash(parsed.title, p.heading_path, p.text)) for p in parsed.passages],
    )
