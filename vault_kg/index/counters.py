"""Counters over pages: what maintenance asks of a whole partition, kept per page and per term.

A publication only notes which records it changed (`mark`); the next one who asks brings the counters
up to date for just those (`settle`). Nothing is scanned, and who never asks pays for one row.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from vault_kg.index.parsed import stem
from vault_kg.index.stopwords import STOPWORDS
from vault_kg.records import names, slugs
from vault_kg.state import merges
from vault_kg.state.database import Database

VERSION = 2

TABLES = {
    "recount": """
        CREATE TABLE recount (record_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    """,
    # One row for each page that default reads see.
    "counted_page": """
        CREATE TABLE counted_page (
            record_id   TEXT PRIMARY KEY,
            partition   TEXT NOT NULL,
            path        TEXT NOT NULL,
            slug        TEXT NOT NULL,
            slug_key    TEXT NOT NULL,
            gist        TEXT NOT NULL,
            touches     TEXT NOT NULL,
            terms       TEXT NOT NULL,
            long_slug   INTEGER NOT NULL,
            dated       INTEGER NOT NULL,
            degree      INTEGER NOT NULL,
            tier        TEXT NOT NULL,
            revision    INTEGER NOT NULL,
            recorded_at TEXT NOT NULL,
            updated_at  TEXT NOT NULL,
            until       TEXT
        ) STRICT;
        CREATE INDEX counted_page_tier ON counted_page (partition, tier);
        CREATE INDEX counted_page_degree ON counted_page (partition, degree);
        CREATE INDEX counted_page_slug ON counted_page (partition, slug_key);
        CREATE INDEX counted_page_until ON counted_page (until) WHERE until IS NOT NULL;
    """,
    # One row for each relationship that default reads see, its ends with merges followed.
    "counted_edge": """
        CREATE TABLE counted_edge (
            record_id TEXT PRIMARY KEY,
            partition TEXT NOT NULL,
            from_id   TEXT NOT NULL,
            to_id     TEXT NOT NULL,
            rel       TEXT NOT NULL,
            until     TEXT
        ) STRICT;
        CREATE INDEX counted_edge_from ON counted_edge (from_id);
        CREATE INDEX counted_edge_to ON counted_edge (to_id);
        CREATE INDEX counted_edge_partition ON counted_edge (partition);
        CREATE INDEX counted_edge_until ON counted_edge (until) WHERE until IS NOT NULL;
    """,
    # In how many pages of a partition a term stands, and which pages have it in their slug.
    "counted_term": """
        CREATE TABLE counted_term (
            partition TEXT NOT NULL,
            term      TEXT NOT NULL,
            pages     INTEGER NOT NULL,
            PRIMARY KEY (partition, term)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX counted_term_pages ON counted_term (partition, pages);
    """,
    "counted_name": """
        CREATE TABLE counted_name (
            partition TEXT NOT NULL,
            term      TEXT NOT NULL,
            record_id TEXT NOT NULL,
            PRIMARY KEY (partition, term, record_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX counted_name_record ON counted_name (record_id);
    """,
    # What was worked out of a partition from the counters; forgotten when one of them changes.
    "counted_memo": """
        CREATE TABLE counted_memo (
            partition TEXT PRIMARY KEY,
            value     TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    """,
}

STEP = 2_000
"""So many records are counted in one transaction: whoever wants to write waits no longer than that."""

_CHANGED = f"SELECT record_id FROM recount ORDER BY record_id LIMIT {STEP}"
_LISTED = "SELECT value FROM json_each(?)"
_CURRENT = "record.eligible = 1 AND (record.eligible_until IS NULL OR record.eligible_until > :now)"

_Terms = Counter[tuple[str, str]]


def mark(db: Database, changed: Iterable[str]) -> None:
    """Note records whose standing may have changed; joins the caller's transaction."""
    db.executemany("INSERT OR IGNORE INTO recount VALUES (?)", ((one,) for one in changed))


def settle(db: Database, now: str) -> set[str]:
    """Bring the counters up to date.

    Args:
        db: the state.
        now: the time; what held until then is taken out.

    Returns:
        The partitions of which something changed.
    """
    partitions: set[str] = set()
    while _is_due(db, now):
        with db.write():
            partitions |= _settle_some(db, now)
    return partitions


def _settle_some(db: Database, now: str) -> set[str]:
    """Bring the counters up to date for some of the changed records; returns their partitions."""
    for table in ("counted_page", "counted_edge"):
        db.execute(
            f"INSERT OR IGNORE INTO recount SELECT record_id FROM {table} WHERE until <= ?", (now,)
        )
    ends, partitions = _settle_edges(db, now)
    partitions |= _settle_pages(db, now)
    _count_degrees(db, ends)
    db.execute(f"DELETE FROM recount WHERE record_id IN ({_CHANGED})")
    db.executemany("DELETE FROM counted_memo WHERE partition = ?", [(p,) for p in partitions])
    return partitions


def set_tiers(db: Database, moved: Iterable[tuple[str, str]]) -> None:
    """Say in which tier pages are: (page, tier). What is durable of it is `state.tiers`."""
    with db.write():
        db.executemany("UPDATE counted_page SET tier = ?2 WHERE record_id = ?1", list(moved))


def _is_due(db: Database, now: str) -> bool:
    return bool(
        db.value(
            "SELECT EXISTS (SELECT 1 FROM recount) "
            "OR EXISTS (SELECT 1 FROM counted_page WHERE until <= ?1) "
            "OR EXISTS (SELECT 1 FROM counted_edge WHERE until <= ?1)",
            (now,),
        )
    )


def _settle_edges(db: Database, now: str) -> tuple[set[str], set[str]]:
    """Take the changed edges in anew; returns the pages at either side's ends, and partitions."""
    chains = merges.targets(db)
    before = db.rows(
        f"SELECT partition, from_id, to_id FROM counted_edge WHERE record_id IN ({_CHANGED})"
    )
    db.execute(f"DELETE FROM counted_edge WHERE record_id IN ({_CHANGED})")
    after = [
        (record_id, partition, merges.resolve(chains, source) or source,
         merges.resolve(chains, target) or target, rel, until)
        for record_id, partition, source, target, rel, until in db.rows(
            "SELECT record.id, partition, from_id, to_id, coalesce(json_extract(stated.value, "
            f"'$.predicate'), type, ''), eligible_until FROM ({_CHANGED}) AS recount "
            "JOIN record ON record.id = recount.record_id LEFT JOIN stated USING (key) "
            f"WHERE kind = 'relationship' AND {_CURRENT} ORDER BY path",
            {"now": now},
        )
    ]  # fmt: skip
    db.executemany("INSERT OR IGNORE INTO counted_edge VALUES (?,?,?,?,?,?)", after)
    ends = {end for row in before for end in row[1:]} | {end for row in after for end in row[2:4]}
    return ends, {row[0] for row in before} | {row[1] for row in after}


def _settle_pages(db: Database, now: str) -> set[str]:
    """Take the changed pages in anew; returns their partitions."""
    change: _Terms = Counter()
    partitions = set()
    for partition, terms in db.rows(
        f"SELECT partition, terms FROM counted_page WHERE record_id IN ({_CHANGED})"
    ):
        partitions.add(partition)
        change.subtract((partition, term) for term in json.loads(terms))
    db.execute(f"DELETE FROM counted_page WHERE record_id IN ({_CHANGED})")
    db.execute(f"DELETE FROM counted_name WHERE record_id IN ({_CHANGED})")
    rows = db.rows(
        "SELECT record.id, record.partition, path, summary, json_extract(stated.value, '$.touches'), "
        "coalesce(tier, 'active'), revision, recorded_at, updated_at, eligible_until "
        f"FROM ({_CHANGED}) AS recount "
        "JOIN record ON record.id = recount.record_id LEFT JOIN stated USING (key) "
        f"LEFT JOIN kg_tier USING (record_id) WHERE kind = 'page' AND {_CURRENT} ORDER BY path",
        {"now": now},
    )
    made = [_page(row) for row in {row[0]: row for row in reversed(rows)}.values()]
    db.executemany(
        f"INSERT INTO counted_page VALUES (?{',?' * 15})", (values for values, _, _ in made)
    )
    db.executemany(
        "INSERT OR IGNORE INTO counted_name VALUES (?,?,?)",
        ((values[1], term, values[0]) for values, _, own in made for term in own),
    )
    for values, terms, _ in made:
        partitions.add(values[1])
        change.update((values[1], term) for term in terms)
    _count_terms(db, change)
    return partitions


def _page(row: tuple[Any, ...]) -> tuple[tuple[Any, ...], set[str], set[str]]:
    """Return the row of a page, its terms, and those of its slug where that carries no date."""
    record_id, partition, path, summary, touches, tier, revision, recorded, updated, until = row
    slug, gist = stem(path), slugs.one_line(summary)
    own = slugs.terms(slug.replace("_", "-"), STOPWORDS)
    terms = own | slugs.terms(gist, STOPWORDS)
    dated = slugs.is_dated(slug)
    values = (
        record_id, partition, path, slug, names.file_key(slug), gist, touches or "[]",
        json.dumps(sorted(terms), ensure_ascii=False), int(slugs.is_long(slug)), int(dated), 0,
        tier, revision, recorded, updated, until,
    )  # fmt: skip
    return values, terms, set() if dated else own


def _count_degrees(db: Database, ends: Collection[str]) -> None:
    """Count the edges of pages, those that lie in the partition of the page itself."""
    db.execute(
        "UPDATE counted_page SET degree = "
        "(SELECT count(*) FROM counted_edge AS edge WHERE edge.from_id = counted_page.record_id "
        "AND edge.partition = counted_page.partition) + "
        "(SELECT count(*) FROM counted_edge AS edge WHERE edge.to_id = counted_page.record_id "
        "AND edge.from_id <> edge.to_id AND edge.partition = counted_page.partition) "
        f"WHERE record_id IN (SELECT record_id FROM ({_CHANGED}) UNION {_LISTED})",
        (json.dumps(list(ends)),),
    )


def _count_terms(db: Database, change: _Terms) -> None:
    db.executemany(
        "INSERT INTO counted_term VALUES (?,?,?) "
        "ON CONFLICT DO UPDATE SET pages = pages + excluded.pages",
        ((*key, number) for key, number in change.items() if number),
    )
    db.executemany(
        "DELETE FROM counted_term WHERE partition = ? AND term = ? AND pages <= 0",
        (key for key, number in change.items() if number < 0),
    )
