"""The pages of a tier: how many there are, and those that something is to be said of.

As `nodes`, all is read from the counters, and only the pages that are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vault_kg.index.nodes import LISTED, SHARED, SHOWN, Node, select
from vault_kg.state.database import Database


@dataclass(frozen=True)
class Tally:
    """How many pages of a tier there are, and of how many something is to be said."""

    pages: int
    oversized: int
    long_slugs: int
    unconnected: int


_NAME = f"CASE WHEN {SHARED} THEN page.record_id ELSE page.slug END"
_IN_TIER = f"{SHOWN} AND page.partition = ? AND page.tier = ?"


def tally(db: Database, partition: str, tier: str, gist: int, aside: Iterable[str]) -> Tally:
    """Count the pages of a tier, without reading what they hold.

    Args:
        db: the state.
        partition: the level.
        tier: the tier.
        gist: how many characters a gist may have.
        aside: ids of pages whose long slug is not counted.
    """
    row = db.row(
        "SELECT count(*), total(length(page.gist) > ?), "
        f"total(page.long_slug AND page.record_id NOT IN {LISTED}), total(page.degree = 0) "
        f"FROM counted_page AS page WHERE {_IN_TIER}",
        (gist, json.dumps(list(aside)), partition, tier),
    )
    return Tally(*map(int, row or (0, 0, 0, 0)))


def slugs_in(db: Database, partition: str, tier: str) -> dict[str, str]:
    """Return the slugs of the pages of a tier, by id."""
    sql = f"SELECT page.record_id, page.slug FROM counted_page AS page WHERE {_IN_TIER}"
    return dict(db.rows(sql, (partition, tier)))


def touches_in(db: Database, partition: str, tier: str) -> list[tuple[str, str]]:
    """Return (page, touch) of the touches of the pages of a tier."""
    sql = (
        "SELECT page.record_id, touch.value FROM counted_page AS page, "
        f"json_each(page.touches) AS touch WHERE page.touches <> '[]' AND {_IN_TIER}"
    )
    return [(record_id, touch) for record_id, touch in db.rows(sql, (partition, tier))]


def oversized(db: Database, partition: str, tier: str, gist: int, limit: int) -> list[Node]:
    """Return the pages of a tier whose gist has more characters than this, the longest first."""
    chosen = f"length(page.gist) > ? ORDER BY length(page.gist) DESC, {_NAME} LIMIT ?"
    return _chosen(db, partition, tier, chosen, (gist, limit))


def long_slugs(db: Database, partition: str, tier: str) -> list[Node]:
    """Return the pages of a tier whose slug is long or dated, by name."""
    return _chosen(db, partition, tier, f"page.long_slug ORDER BY {_NAME}", ())


def sources_of(db: Database, partition: str, tier: str, rel: str) -> set[str]:
    """Return those pages of a tier with a long or dated slug from which an edge of this name goes."""
    rows = db.rows(
        f"SELECT page.record_id FROM counted_page AS page WHERE {_IN_TIER} AND page.long_slug "
        "AND EXISTS (SELECT 1 FROM counted_edge AS edge WHERE edge.from_id = page.record_id "
        "AND edge.partition = page.partition AND replace(edge.rel, '_', '-') = ?)",
        (partition, tier, rel),
    )
    return {record_id for (record_id,) in rows}


def unconnected(db: Database, partition: str, tier: str, limit: int) -> list[Node]:
    """Return the pages of a tier that are in no edge, by name."""
    return _chosen(db, partition, tier, f"page.degree = 0 ORDER BY {_NAME} LIMIT ?", (limit,))


def revised(db: Database, partition: str, tier: str, least: int, limit: int) -> list[Node]:
    """Return the pages of a tier that were revised so often, the most revised first."""
    chosen = f"page.revision >= ? ORDER BY page.revision DESC, {_NAME} LIMIT ?"
    return _chosen(db, partition, tier, chosen, (least, limit))


def _chosen(
    db: Database, partition: str, tier: str, condition: str, values: tuple[Any, ...]
) -> list[Node]:
    return select(
        db, f"page.partition = ? AND page.tier = ? AND {condition}", (partition, tier, *values)
    )
