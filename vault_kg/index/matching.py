"""Pages that a new one may be the same as: by reference to its source, by title, by its beginning."""

from __future__ import annotations

import json
from collections.abc import Collection

from vault_kg.index.catalog import QUALIFIED, Row, row
from vault_kg.index.eligibility import CURRENT
from vault_kg.index.listing import Filter
from vault_kg.records import names
from vault_kg.state.database import Database

_PREFIX_SHARE = 0.3
"""Titles that share less of a beginning than this part of one are not compared."""


def by_reference(
    db: Database, wanted: Filter, references: Collection[str]
) -> list[tuple[str, Row]]:
    """Return (reference, page) of the pages whose field `source_ref` is one of these texts."""
    condition, values = wanted.condition()
    rows = db.rows(
        f"SELECT json_extract(stated.value, '$.fields.source_ref') AS ref, {QUALIFIED} "
        f"FROM record JOIN stated USING (key) WHERE {condition} "
        "AND ref IN (SELECT value FROM json_each(:references)) ORDER BY record.id",
        values | {"references": json.dumps(sorted(references))},
    )
    return [(found[0], row(found[1:])) for found in rows]


def by_title(db: Database, wanted: Filter, titles: Collection[str]) -> list[tuple[str, Row]]:
    """Return (lookup key, page) of the pages that have one of these titles in any spelling."""
    condition, values = wanted.condition()
    keys = json.dumps(sorted({names.lookup_key(title) for title in titles}))
    rows = db.rows(
        f"SELECT name.name, {QUALIFIED} FROM name CROSS JOIN record USING (key) "  # names first
        "WHERE name.source = 'title' AND name.name IN (SELECT value FROM json_each(:titles)) "
        f"AND {condition} ORDER BY record.id",
        values | {"titles": keys},
    )
    return [(found[0], row(found[1:])) for found in rows]


def by_beginning(
    db: Database, wanted: Filter, title: str, limit: int, floor: float
) -> list[tuple[Row, float]]:
    """Return the pages whose titles begin like one, the most alike first.

    The score is the length of the common beginning over that of the longer title, both as lookup
    keys: from 0 to 1, and 1 for the same title.
    """
    key = names.lookup_key(title)
    if not key:
        return []
    condition, values = wanted.condition()
    start = key[: max(1, int(len(key) * max(floor, _PREFIX_SHARE)))]
    rows = db.rows(
        f"SELECT name.name, {QUALIFIED} FROM record JOIN name USING (key) "
        f"WHERE {condition} AND name.source = 'title' "
        "AND substr(name.name, 1, length(:start)) = :start ORDER BY record.id",
        values | {"start": start},
    )
    scored = [(row(found[1:]), _alike(key, found[0])) for found in rows]
    kept = [one for one in scored if one[1] >= floor]
    return sorted(kept, key=lambda one: -one[1])[:limit]


def _alike(first: str, second: str) -> float:
    common = next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return round(common / max(len(first), len(second)), 6)


def relationship(
    db: Database,
    type_name: str,
    source: str,
    target: str,
    now: str,
    partitions: Collection[str] | None,
) -> str | None:
    """Return the current relationship of a type from one page to another; the oldest of several.

    A `+` keeps SQLite from walking all relationships of the type instead of those of the page.

    Args:
        db: the state.
        type_name: the relationship's type.
        source: the page that it leads from.
        target: the page that it leads to.
        now: the time.
        partitions: where it may lie; None is anywhere.
    """
    found: str | None = db.value(
        "SELECT record.id FROM record WHERE record.from_id = :source AND record.to_id = :target "
        f"AND +record.kind = 'relationship' AND +record.type = :type AND {CURRENT} "
        "AND (:partitions IS NULL OR record.partition IN (SELECT value FROM json_each(:partitions))) "
        "ORDER BY record.id LIMIT 1",
        {
            "source": source, "target": target, "type": type_name, "now": now,
            "partitions": None if partitions is None else json.dumps(sorted(partitions)),
        },
    )  # fmt: skip
    return found


def of_artefact(db: Database, wanted: Filter, artefact: str) -> list[Row]:
    """Return the pages whose field `source_ref` names an artefact or a part of it, oldest first."""
    condition, values = wanted.condition()
    rows = db.rows(
        f"SELECT {QUALIFIED} FROM record JOIN stated USING (key) WHERE {condition} AND "
        "(json_extract(stated.value, '$.fields.source_ref') = :whole OR substr(json_extract("
        "stated.value, '$.fields.source_ref'), 1, length(:part)) = :part) ORDER BY record.id",
        values | {"whole": artefact, "part": f"{artefact}#"},
    )
    return [row(found) for found in rows]
