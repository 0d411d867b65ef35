"""Pages and relationships as maintenance sees them, read from the counters.

What is asked of a level is answered by its index, whatever the level's size. Whoever asks has settled
the counters before (`counters.settle`). A page in conflict is not shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Node:
    """A page; `name` is the id that people and agents call it by."""

    id: str
    partition: str
    path: str
    slug: str
    gist: str
    touches: tuple[str, ...]
    long_slug: bool
    dated: bool
    degree: int
    tier: str
    revision: int
    recorded_at: str
    updated_at: str
    shared: bool
    """Another page of the partition has the same slug."""

    @property
    def name(self) -> str:
        """Its slug, or its record id where the slug is not its alone."""
        return self.id if self.shared else self.slug


class Edge(NamedTuple):
    """A relationship, with the ids of the pages that it joins."""

    id: str
    partition: str
    source: str
    target: str
    rel: str


@dataclass(frozen=True)
class Totals:
    """How large a level is. An orphan is a page in no edge."""

    nodes: int
    edges: int
    orphans: int


SHARED = (
    "(SELECT count(*) FROM counted_page AS twin WHERE twin.partition = page.partition "
    "AND twin.slug_key = page.slug_key) > 1"
)
_NODE = (
    "SELECT page.record_id, page.partition, page.path, page.slug, page.gist, page.touches, "
    "page.long_slug, page.dated, page.degree, page.tier, page.revision, page.recorded_at, "
    f"page.updated_at, {SHARED} FROM counted_page AS page"
)
_EDGE = (
    "SELECT edge.record_id, edge.partition, edge.from_id, edge.to_id, edge.rel "
    "FROM counted_edge AS edge"
)
SHOWN = (
    "page.record_id NOT IN (SELECT record_id FROM conflict "
    "WHERE resolved_at IS NULL AND record_id IS NOT NULL)"
)
LISTED = "(SELECT value FROM json_each(?))"


def named(db: Database, partition: str, slug_key: str) -> list[Node]:
    """Return the pages of a partition whose slug, as a file key, is this."""
    return select(
        db, "page.partition = ? AND page.slug_key = ? ORDER BY page.path", (partition, slug_key)
    )


def of_ids(db: Database, ids: Iterable[str]) -> dict[str, Node]:
    """Return pages by id; those that default reads do not see are left out."""
    found = select(db, f"page.record_id IN {LISTED}", (json.dumps(list(ids)),))
    return {node.id: node for node in found}


def in_tier(db: Database, partition: str, tier: str) -> list[Node]:
    """Return the pages of a partition that are in a tier, the oldest first."""
    return select(
        db,
        "page.partition = ? AND page.tier = ? ORDER BY page.recorded_at, page.record_id",
        (partition, tier),
    )


def edges_at(db: Database, ids: Iterable[str]) -> list[Edge]:
    """Return every edge at one of some pages, in any partition."""
    listed = json.dumps(list(ids))
    rows = db.rows(
        f"{_EDGE} WHERE edge.from_id IN {LISTED} UNION {_EDGE} WHERE edge.to_id IN {LISTED} "
        "ORDER BY 1",
        (listed, listed),
    )
    return [Edge(*row) for row in rows]


def edges_of(db: Database, ids: Iterable[str]) -> list[Edge]:
    """Return edges by their own ids."""
    rows = db.rows(f"{_EDGE} WHERE edge.record_id IN {LISTED}", (json.dumps(list(ids)),))
    return [Edge(*row) for row in rows]


def edges_among(db: Database, partition: str, ids: Collection[str]) -> list[Edge]:
    """Return the edges of a partition at whose source or target some pages are."""
    wanted = set(ids)
    return [edge for edge in edges_at(db, wanted) if edge.partition == partition]


def facts(db: Database, ids: Iterable[str]) -> dict[str, str]:
    """Return the text of relationships by id."""
    rows = db.rows(
        "SELECT record.id, group_concat(passage.text, char(10)) FROM record "
        "JOIN passage ON passage.record = record.key "
        f"WHERE record.kind = 'relationship' AND record.id IN {LISTED} GROUP BY record.key",
        (json.dumps(list(ids)),),
    )
    return dict(rows)


def revisions_of(db: Database, ids: Iterable[str]) -> dict[str, int]:
    """Return the standing revisions of records, by id."""
    rows = db.rows(
        f"SELECT id, max(revision) FROM record WHERE id IN {LISTED} GROUP BY id",
        (json.dumps(list(ids)),),
    )
    return dict(rows)


def totals(db: Database, partition: str) -> Totals:
    """Return how large a level is."""
    row = db.row(
        "SELECT (SELECT count(*) FROM counted_page WHERE partition = ?1), "
        "(SELECT count(*) FROM counted_edge WHERE partition = ?1), "
        "(SELECT count(*) FROM counted_page WHERE partition = ?1 AND degree = 0)",
        (partition,),
    )
    return Totals(*row) if row else Totals(0, 0, 0)


def partitions(db: Database) -> list[str]:
    """Return the partitions that have pages."""
    return [name for (name,) in db.rows("SELECT DISTINCT partition FROM counted_page ORDER BY 1")]


def common_terms(db: Database, partition: str, least: int) -> list[tuple[str, int]]:
    """Return (term, pages) of the terms that stand in so many pages, the most frequent first."""
    rows = db.rows(
        "SELECT term, pages FROM counted_term WHERE partition = ? AND pages >= ? "
        "ORDER BY pages DESC, term",
        (partition, least),
    )
    return [(term, int(pages)) for term, pages in rows]


def term_pages(db: Database, partition: str, terms: Collection[str]) -> dict[str, int]:
    """Return in how many pages of a partition each of some terms stands."""
    rows = db.rows(
        f"SELECT term, pages FROM counted_term WHERE partition = ? AND term IN {LISTED}",
        (partition, json.dumps(sorted(terms))),
    )
    return dict(rows)


def owner(db: Database, partition: str, term: str) -> Node | None:
    """Return the best connected page of a partition whose undated slug has a term."""
    found = select(
        db,
        "page.record_id IN (SELECT record_id FROM counted_name WHERE partition = ? AND term = ?) "
        "ORDER BY page.degree DESC, page.slug LIMIT 1",
        (partition, term),
    )
    return found[0] if found else None


def memo(db: Database, partition: str) -> Any:
    """Return what was worked out of a partition since it changed last, or None."""
    found = db.value("SELECT value FROM counted_memo WHERE partition = ?", (partition,))
    return None if found is None else json.loads(found)


def remember(db: Database, partition: str, value: Any) -> None:
    """Keep what was worked out of a partition until it changes."""
    with db.write():
        db.execute(
            "INSERT OR REPLACE INTO counted_memo VALUES (?, ?)", (partition, json.dumps(value))
        )


def with_term(db: Database, partition: str, term: str, limit: int) -> list[Node]:
    """Return pages of a partition in whose slug or gist a term stands, the best connected first."""
    return select(
        db,
        "page.partition = ? AND EXISTS (SELECT 1 FROM json_each(page.terms) WHERE value = ?) "
        "ORDER BY page.degree DESC, page.slug LIMIT ?",
        (partition, term, limit),
    )


def select(db: Database, condition: str, values: tuple[Any, ...]) -> list[Node]:
    """Return the pages, of those that are shown, for which a condition on `page` holds."""
    return [_node(row) for row in db.rows(f"{_NODE} WHERE {SHOWN} AND {condition}", values)]


def _node(row: tuple[Any, ...]) -> Node:
    values = list(row)
    values[5] = () if row[5] == "[]" else tuple(json.loads(row[5]))
    for flag in (6, 7, 13):
        values[flag] = bool(row[flag])
    return Node(*values)
