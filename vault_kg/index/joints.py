"""Relationships seen from the pages that they join: how many, and which of a type."""

from __future__ import annotations

import json
from collections.abc import Collection

from vault_kg.index.catalog import QUALIFIED, Row, row
from vault_kg.index.eligibility import CURRENT, NOT_BLOCKED
from vault_kg.state.database import Database

_CURRENT = f"record.kind = 'relationship' AND {CURRENT} AND {NOT_BLOCKED}"


def degrees(
    db: Database, ids: Collection[str], now: str, partitions: Collection[str] | None
) -> dict[str, int]:
    """Return how many current relationships lead to or from each of some pages."""
    inside = _inside(partitions)
    rows = db.rows(
        "SELECT page, count(*) FROM ("
        f"SELECT from_id AS page FROM record WHERE from_id IN {_listed('ids')} AND {_CURRENT} {inside} "
        f"UNION ALL SELECT to_id FROM record WHERE to_id IN {_listed('ids')} AND {_CURRENT} {inside}"
        ") GROUP BY page",
        _values(ids, now, partitions),
    )
    return dict(rows)


def of_type(
    db: Database,
    type_name: str,
    now: str,
    partitions: Collection[str] | None,
    ids: Collection[str] | None = None,
    limit: int = 1_000_000,
) -> list[Row]:
    """Return current relationships of a type, oldest first; only those of pages where these are given."""
    joined = (
        f"AND (record.from_id IN {_listed('ids')} OR record.to_id IN {_listed('ids')})"
        if ids is not None
        else ""
    )
    rows = db.rows(
        f"SELECT {QUALIFIED} FROM record WHERE record.type = :type AND {_CURRENT} "
        f"{joined} {_inside(partitions)} ORDER BY record.id LIMIT :limit",
        _values(ids or (), now, partitions) | {"type": type_name, "limit": limit},
    )
    return [row(values) for values in rows]


def of_pages(
    db: Database, ids: Collection[str], now: str, partitions: Collection[str] | None
) -> list[Row]:
    """Return the current relationships that lead to or from some pages, oldest first."""
    rows = db.rows(
        f"SELECT {QUALIFIED} FROM record WHERE (record.from_id IN {_listed('ids')} "
        f"OR record.to_id IN {_listed('ids')}) AND {_CURRENT} {_inside(partitions)} ORDER BY record.id",
        _values(ids, now, partitions),
    )
    return [row(values) for values in rows]


def _values(
    ids: Collection[str], now: str, partitions: Collection[str] | None
) -> dict[str, str | int]:
    return {
        "ids": json.dumps(sorted(ids)), "now": now, "partitions": json.dumps(sorted(partitions or ()))
    }  # fmt: skip


def _inside(partitions: Collection[str] | None) -> str:
    return "" if partitions is None else f"AND record.partition IN {_listed('partitions')}"


def _listed(name: str) -> str:
    return f"(SELECT value FROM json_each(:{name}))"
