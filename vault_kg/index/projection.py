"""Writing what files hold into the derived tables, many files in one go.

Rows are written from parsed files and from what the state says of a record: the revision and the
lifecycle that count are the state's, whatever the file says. A file that is there already keeps the
key of its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, NamedTuple

from vault_kg.index import fts
from vault_kg.index.catalog import PARSE, WALK, Standing, standings
from vault_kg.index.parsed import NOTE, RECORD, SOURCE, Looked, Parsed, partition_of
from vault_kg.records import ids, names
from vault_kg.records.model import Problem, Record
from vault_kg.state.database import Database
from vault_kg.store.sources import Source

_HANGING = ("name", "tag", "edge", "stated", "citation", "link", "link_name")
_COLUMNS = (
    "key, path, id, kind, partition, type, title, title_key, summary, revision, hash, lifecycle, "
    "recorded_at, updated_at, valid_from, valid_until, expires_at, owner, from_id, to_id, "
    "successor, valid, eligible, eligible_until"
)

_Row = tuple[Any, ...]


class _Keyed(NamedTuple):
    """A record or note with the key of its row."""

    key: int
    file: Looked


def put(db: Database, files: Sequence[Looked]) -> set[str]:
    """Write files' rows, replacing what stood for their paths.

    Args:
        db: the state, in a write transaction.
        files: the files as they were read, no two of one path.

    Returns:
        The ids whose standing may have changed: what was at the paths, and what is there now.
    """
    known = _rows_at(db, [file.parsed.path for file in files])
    _remove_hanging(db, [key for key, _ in known.values()])
    shown = [file for file in files if _is_shown(file.parsed)]
    keyed = _keyed(db, shown, known)
    _remove_rows(db, {key for key, _ in known.values()} - {key for key, _ in keyed})
    _put_files(db, files)
    _put_sources(db, files)
    _put_records(db, keyed)
    _put_names(db, keyed)
    fts.put(db, ((key, file.parsed.entries) for key, file in keyed))
    _put_findings(db, files)
    return {record_id for _, record_id in known.values()} | {_id_of(f.parsed) for f in shown}


def remove(db: Database, paths: Sequence[str]) -> set[str]:
    """Forget files, but not why they cannot be read; returns the ids that stood there."""
    known = _rows_at(db, paths)
    keys = [key for key, _ in known.values()]
    _remove_hanging(db, keys)
    _remove_rows(db, keys)
    many = [(path,) for path in paths]
    db.executemany("DELETE FROM source WHERE descriptor = ?", many)
    db.executemany("DELETE FROM file WHERE path = ?", many)
    db.executemany(f"DELETE FROM finding WHERE path = ? AND phase <> '{WALK}'", many)
    return {record_id for _, record_id in known.values()}


def _rows_at(db: Database, paths: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return key and id of the rows that stand for some paths."""
    rows = db.among("SELECT path, key, id FROM record WHERE path IN ({})", paths)
    return {path: (key, record_id) for path, key, record_id in rows}


def _keyed(
    db: Database, files: Sequence[Looked], known: dict[str, tuple[int, str]]
) -> list[_Keyed]:
    following = int(db.value("SELECT coalesce(max(key), 0) FROM record")) + 1
    keyed = []
    for file in files:
        there = known.get(file.parsed.path)
        keyed.append(_Keyed(there[0] if there else following, file))
        following += there is None
    return keyed


def _remove_hanging(db: Database, keys: Sequence[int]) -> None:
    """Remove what hangs on rows: names, links, passages."""
    if not keys:
        return
    fts.remove(db, keys)
    for table in _HANGING:
        db.executemany(f"DELETE FROM {table} WHERE key = ?", ((key,) for key in keys))


def _remove_rows(db: Database, keys: Iterable[int]) -> None:
    db.executemany("DELETE FROM record WHERE key = ?", ((key,) for key in keys))


def _put_files(db: Database, files: Iterable[Looked]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO file VALUES (?,?,?,?,?,?,?,?,?)",
        (
            (
                file.parsed.path, file.parsed.path.rpartition("/")[0], file.stamp.size,
                file.stamp.mtime_ns, file.stamp.ctime_ns, file.stamp.inode, file.seen_ns,
                file.hash, file.parsed.kind,
            )
            for file in files
        ),
    )  # fmt: skip


def _put_sources(db: Database, files: Iterable[Looked]) -> None:
    db.executemany(
        "DELETE FROM source WHERE descriptor = ?", ((file.parsed.path,) for file in files)
    )
    for file in files:
        if file.parsed.source is not None:
            values = asdict(file.parsed.source) | {"descriptor": file.parsed.path}
            columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
            db.execute(f"INSERT OR REPLACE INTO source ({columns}) VALUES ({marks})", values)


def _put_records(db: Database, keyed: Sequence[_Keyed]) -> None:
    records = [(key, f.parsed.record) for key, f in keyed if f.parsed.record is not None]
    known = standings(db, [record for _, record in records])
    stands = {key: each for (key, _), each in zip(records, known, strict=True)}
    db.executemany(
        f"INSERT OR REPLACE INTO record ({_COLUMNS}) VALUES (?{',?' * _COLUMNS.count(',')})",
        [_row(key, file, stands.get(key)) for key, file in keyed],
    )
    db.executemany(
        "INSERT OR IGNORE INTO edge VALUES (?,?,?)",
        ((key, ref.via, ref.target) for key, record in records for ref in record.references()),
    )
    db.executemany(
        "INSERT INTO stated VALUES (?,?)", ((key, _stated(record)) for key, record in records)
    )
    db.executemany(
        "INSERT OR IGNORE INTO citation VALUES (?,?)",
        ((key, citation.source) for key, record in records for citation in record.evidence),
    )


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
        "touches": list(record.touches),
        "changed_at": (record.lifecycle_change or {}).get("at"),
    }
    kept = {key: value for key, value in values.items() if value not in (None, [], {})}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), default=str)


def _put_names(db: Database, keyed: Sequence[_Keyed]) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO name VALUES (?,?,?)",
        ((name, key, origin) for key, file in keyed for name, origin in file.parsed.names),
    )
    db.executemany(
        "INSERT OR IGNORE INTO tag VALUES (?,?)",
        ((tag, key) for key, file in keyed for tag in file.parsed.tags),
    )
    db.executemany(
        "INSERT INTO link VALUES (?,?,?,?,?,?)",
        (
            (key, n, link.kind, link.target, link.heading, link.line)
            for key, file in keyed
            for n, link in enumerate(file.parsed.links)
        ),
    )
    db.executemany(
        "INSERT OR IGNORE INTO link_name VALUES (?,?,?)",
        (
            (name, key, n)
            for key, file in keyed
            for n, found in enumerate(file.parsed.link_names)
            for name in found
        ),
    )


def _put_findings(db: Database, files: Sequence[Looked]) -> None:
    db.executemany(
        f"DELETE FROM finding WHERE path = ? AND phase IN ('{PARSE}', '{WALK}')",
        ((file.parsed.path,) for file in files),
    )
    db.executemany(
        "INSERT INTO finding VALUES (?,?,?,?,?,?,?,?)",
        (
            _finding(file.parsed.path, n, problem)
            for file in files
            for n, problem in enumerate(file.parsed.problems)
        ),
    )


def _finding(path: str, ordinal: int, problem: Problem) -> _Row:
    return (
        path, ordinal, PARSE, problem.code, problem.line, problem.severity, problem.message,
        problem.hint,
    )  # fmt: skip


def _row(key: int, file: Looked, stands: Standing | None) -> _Row:
    record, source = file.parsed.record, file.parsed.source
    if source is not None:
        return _source_row(key, file, source)
    if record is None or stands is None:
        return _note_row(key, file)
    return _record_row(key, file, record, stands)


def _record_row(key: int, file: Looked, record: Record, stands: Standing) -> _Row:
    parsed = file.parsed
    valid = not any(problem.severity == "error" for problem in parsed.problems)
    return (
        key, parsed.path, record.id, record.kind, partition_of(parsed.path), record.type,
        parsed.title, names.title_key(parsed.title), record.summary, stands.revision, file.hash,
        stands.lifecycle, record.recorded_at, record.updated_at, record.valid_from,
        record.valid_until, record.expires_at, record.owner, record.from_id, record.to_id,
        stands.successor, int(valid), 0, None,
    )  # fmt: skip


def _note_row(key: int, file: Looked) -> _Row:
    parsed = file.parsed
    at = datetime.fromtimestamp(file.stamp.mtime_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        key, parsed.path, _id_of(parsed), "note", partition_of(parsed.path), None, parsed.title,
        names.title_key(parsed.title), None, 0, file.hash, "active", at, at, None, None, None,
        None, None, None, None, 1, 1, None,
    )  # fmt: skip


def _source_row(key: int, file: Looked, source: Source) -> _Row:
    return (
        key, file.parsed.path, source.id, SOURCE, source.partition, source.media_type,
        source.name, names.title_key(source.name), None, 0, file.hash, "active",
        source.recorded_at, source.recorded_at, source.reference_time, None, None, None, None,
        None, None, 1, 1, None,
    )  # fmt: skip


def _is_shown(parsed: Parsed) -> bool:
    """Say whether a file has a row of its own: a record, a note, a source whose text is searched."""
    return parsed.kind in (RECORD, NOTE) or (parsed.kind == SOURCE and bool(parsed.entries))


def _id_of(parsed: Parsed) -> str:
    if parsed.source is not None:
        return parsed.source.id
    return parsed.record.id if parsed.record is not None else ids.note_id(parsed.path)
