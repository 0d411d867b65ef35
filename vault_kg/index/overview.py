"""What a person sees before naming anything: shelves by type, titles in order, retained sources."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from vault_kg.index.catalog import QUALIFIED, Row, row
from vault_kg.index.listing import Filter
from vault_kg.records import names
from vault_kg.state.database import Database
from vault_kg.store.sources import Source

_TITLED = "record INDEXED BY record_titled"
"""Read in the order of titles, so that a page ends where it is full; it holds all that filters ask."""

_SOURCE = "id, sha256, path, filename, media_type, size, attribution, partition, recorded_at"


class Shelf(NamedTuple):
    """How many records of one kind and type a partition holds."""

    partition: str
    kind: str
    type: str | None
    records: int


def shelves(db: Database, wanted: Filter) -> list[Shelf]:
    """Return the shelves that hold records which a filter lets through, in order of their names."""
    condition, values = wanted.condition()
    rows = db.rows(
        f"SELECT partition, kind, type, count(*) FROM record WHERE {condition} "
        "GROUP BY partition, kind, type ORDER BY partition, kind, type",
        values,
    )
    return [Shelf(*values) for values in rows]


def titled(
    db: Database,
    wanted: Filter,
    text: str | None,
    limit: int,
    after: tuple[str, str] | None = None,
) -> list[Row]:
    """Return records by title after a (title, path) position; with a text those containing it."""
    condition, values = _containing(wanted, text)
    if after is not None:
        condition += " AND (record.title_key, record.path) > (:title, :path)"
        values |= {"title": after[0], "path": after[1]}
    rows = db.rows(
        f"SELECT {QUALIFIED} FROM {_TITLED} WHERE {condition} "
        "ORDER BY record.title_key, record.path LIMIT :limit",
        values | {"limit": limit},
    )
    return [row(values) for values in rows]


def titled_count(db: Database, wanted: Filter, text: str | None) -> int:
    """Return how many records a filter lets through whose title or path contains a text."""
    condition, values = _containing(wanted, text)
    table = _TITLED if text else "record"
    return int(db.value(f"SELECT count(*) FROM {table} WHERE {condition}", values))


def sources(
    db: Database, partitions: Collection[str] | None, limit: int, after: tuple[str, str] | None
) -> list[Source]:
    """Return retained sources by file name, after a (file name, id) position."""
    condition, values = _in_partitions(partitions)
    if after is not None:
        condition += " AND (filename, id) > (:name, :id)"
        values |= {"name": after[0], "id": after[1]}
    rows = db.rows(
        f"SELECT {_SOURCE} FROM source WHERE {condition} ORDER BY filename, id LIMIT :limit",
        values | {"limit": limit},
    )
    columns = _SOURCE.split(", ")
    return [Source(**dict(zip(columns, values, strict=True))) for values in rows]


def source_count(db: Database, partitions: Collection[str] | None) -> int:
    """Return how many sources are retained."""
    condition, values = _in_partitions(partitions)
    return int(db.value(f"SELECT count(*) FROM source WHERE {condition}", values))


def _containing(wanted: Filter, text: str | None) -> tuple[str, dict[str, object]]:
    condition, values = wanted.condition()
    if not text:
        return condition, values
    condition += " AND (instr(record.title_key, :words) OR instr(lower(record.path), :text))"
    words = names.title_key(text) or text
    return condition, values | {"words": words, "text": names.lookup_key(text)}


def _in_partitions(partitions: Collection[str] | None) -> tuple[str, dict[str, object]]:
    if partitions is None:
        return "1", {}
    marks = {f"p{n}": name for n, name in enumerate(sorted(partitions))}
    return f"partition IN ({', '.join(f':{m}' for m in marks)})", dict(marks)
