"""Retained sources as episodes: listed in keyset order, and found by where they come from."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from vault_kg.index.catalog import SOURCE_COLUMNS
from vault_kg.state.database import Database
from vault_kg.store.sources import Source


@dataclass(frozen=True)
class Wanted:
    """Which sources are wanted. None means any."""

    groups: Collection[str] | None = None
    prefix: str | None = None
    """What the name begins with, literally."""
    ids: Collection[str] | None = None
    origin: str | None = None
    """Exactly its id, file name, path, source file, or `file:chunk`."""
    source_file: str | None = None
    """Its file name, or the file that it is a chunk of."""
    chunk_id: str | None = None

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL condition on `source`, and its parameters."""
        parts = ["1"]
        values: dict[str, Any] = {}
        for name, given in (("partition", self.groups), ("id", self.ids)):
            if given is not None:
                parts.append(f"{name} IN (SELECT value FROM json_each(:{name}))")
                values[name] = json.dumps(sorted(given))
        for name, text, condition in (
            ("prefix", self.prefix, "substr(coalesce(chunk_id, filename), 1, length(:prefix)) = :prefix"),
            ("origin", self.origin, _ORIGIN),
            ("file", self.source_file, "coalesce(source_file, filename) = :file"),
            ("chunk", self.chunk_id, "coalesce(chunk_id, filename) = :chunk"),
        ):  # fmt: skip
            if text is not None:
                parts.append(condition)
                values[name] = text
        return " AND ".join(parts), values


_ORIGIN = (
    "(:origin IN (id, filename, path, source_file) OR source_file || ':' || chunk_id = :origin)"
)


def count(db: Database, wanted: Wanted) -> int:
    """Return how many sources are wanted."""
    condition, values = wanted.condition()
    return int(db.value(f"SELECT count(*) FROM source WHERE {condition}", values))


def page(
    db: Database, wanted: Wanted, limit: int, after: tuple[str, str] | None = None
) -> list[Source]:
    """Return sources, the latest first, after a (time, id) position."""
    condition, values = wanted.condition()
    if after is not None:
        condition += " AND (recorded_at, id) < (:at, :after)"
        values |= {"at": after[0], "after": after[1]}
    return _read(
        db,
        f"{condition} ORDER BY recorded_at DESC, id DESC LIMIT :limit",
        values | {"limit": limit},
    )


def every(db: Database, wanted: Wanted) -> list[Source]:
    """Return all wanted sources by id."""
    condition, values = wanted.condition()
    return _read(db, f"{condition} ORDER BY id", values)


def span(db: Database, groups: Collection[str] | None) -> tuple[str | None, str | None]:
    """Return when the first and the last source of these groups were retained."""
    condition, values = Wanted(groups).condition()
    found = db.row(
        f"SELECT min(recorded_at), max(recorded_at) FROM source WHERE {condition}", values
    )
    return (found[0], found[1]) if found else (None, None)


def _read(db: Database, condition: str, values: dict[str, Any]) -> list[Source]:
    rows = db.rows(f"SELECT {SOURCE_COLUMNS} FROM source WHERE {condition}", values)
    return [Source(*values) for values in rows]
