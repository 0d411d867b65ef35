"""Lists and exact look-ups over the catalog; filters come before counts and limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from vault_kg.index import eligibility
from vault_kg.index.catalog import QUALIFIED, Row, row
from vault_kg.records import names
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state.database import Database

_ORDER = {"id": 0, "path": 1, "title": 2, "alias": 3, "stem": 4}


@dataclass(frozen=True)
class Filter:
    """Which records a read may see and wants. None means any."""

    now: str
    kinds: Collection[str] | None = ("page", "claim", "relationship")
    types: Collection[str] | None = None
    partitions: Collection[str] | None = None
    owners: Collection[str] | None = None
    """Pages that are one: a page and those that were merged into it."""
    lifecycle: str = "active"
    """`active`: what is eligible now; `unresolved`: active but not eligible; `all`; or one state."""
    tags: Collection[str] | None = None
    updated_after: str | None = None
    updated_before: str | None = None
    page_types: Collection[str] | None = None
    """Types of pages, where a page without one is an Entity."""
    ends_in: Collection[str] | None = None
    """Partitions in which both ends of a relationship, and the owner of a claim, must lie."""
    blocked: bool = False
    """Also what waits for a person to resolve its conflict."""

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL condition on a `record` row, and its parameters."""
        parts = ["TRUE" if self.blocked else eligibility.NOT_BLOCKED]
        values: dict[str, Any] = {}
        if self.lifecycle == "active":
            parts.append(eligibility.CURRENT)
            values["now"] = self.now
        elif self.lifecycle == "unresolved":
            parts.append(f"record.lifecycle = 'active' AND NOT {eligibility.CURRENT}")
            values["now"] = self.now
        elif self.lifecycle == "historical":
            parts.append("record.lifecycle <> 'withdrawn'")
        elif self.lifecycle != "all":
            parts.append("record.lifecycle = :lifecycle")
            values["lifecycle"] = self.lifecycle
        for column, wanted in (
            ("kind", self.kinds), ("type", self.types), ("partition", self.partitions),
            ("owner", self.owners),
        ):  # fmt: skip
            if wanted is not None:
                marks = [f":{column}{n}" for n in range(len(wanted))]
                parts.append(f"record.{column} IN ({', '.join(marks)})")
                values |= {f"{column}{n}": value for n, value in enumerate(sorted(wanted))}
        if self.page_types is not None:
            parts.append(f"coalesce(record.type, '{ROOT_TYPE}') IN {_in_json('page_types')}")
            values["page_types"] = json.dumps(sorted(self.page_types))
        if self.ends_in is not None:
            inside = (
                f"(SELECT id FROM record AS ends WHERE ends.partition IN {_in_json('ends_in')})"
            )
            both = f"record.from_id IN {inside} AND record.to_id IN {inside}"
            parts.append(f"(record.kind <> 'relationship' OR ({both}))")
            parts.append(f"(record.kind <> 'claim' OR record.owner IN {inside})")
            values["ends_in"] = json.dumps(sorted(self.ends_in))
        for n, tag in enumerate(sorted(self.tags or ())):
            parts.append(
                f"record.key IN (SELECT key FROM tag WHERE tag = :tag{n} OR tag GLOB :tagged{n})"
            )
            values |= {f"tag{n}": tag, f"tagged{n}": _glob(tag) + "/*"}
        for operator, bound in ((">", self.updated_after), ("<", self.updated_before)):
            if bound is not None:
                name = "after" if operator == ">" else "before"
                parts.append(f"record.updated_at {operator} :{name}")
                values[name] = bound
        return " AND ".join(parts), values


def _in_json(name: str) -> str:
    return f"(SELECT value FROM json_each(:{name}))"


def count(db: Database, wanted: Filter) -> int:
    """Return how many records a filter lets through."""
    condition, values = wanted.condition()
    return int(db.value(f"SELECT count(*) FROM record WHERE {condition}", values))


def page(
    db: Database, wanted: Filter, limit: int, after: tuple[str, str] | None = None
) -> list[Row]:
    """Return records, the latest changed first, after a (time, path) position."""
    condition, values = wanted.condition()
    if after is not None:
        condition += (
            " AND (record.updated_at < :at OR (record.updated_at = :at AND record.path > :path))"
        )
        values |= {"at": after[0], "path": after[1]}
    rows = db.rows(
        f"SELECT {QUALIFIED} FROM record WHERE {condition} "
        "ORDER BY record.updated_at DESC, record.path LIMIT :limit",
        values | {"limit": limit},
    )
    return [row(values) for values in rows]


def named(db: Database, text: str, wanted: Filter) -> list[Row]:
    """Return the records that a name means exactly: the best kind of name that any of them has."""
    key = names.lookup_key(text[:-3] if text.lower().endswith(".md") else text)
    condition, values = wanted.condition()
    rows = db.rows(
        f"SELECT name.source, {QUALIFIED} FROM name JOIN record USING (key) "
        f"WHERE name.name = :name AND {condition} ORDER BY record.path",
        values | {"name": key},
    )
    if not rows:
        return []
    best = min(_ORDER[values[0]] for values in rows)
    if best in (_ORDER["title"], _ORDER["alias"]):
        fitting = [v for v in rows if _ORDER[v[0]] in (_ORDER["title"], _ORDER["alias"])]
    else:
        fitting = [v for v in rows if _ORDER[v[0]] == best]
    return [row(v) for v in {values[1]: values[1:] for values in fitting}.values()]


def counts(db: Database, wanted: Filter) -> dict[str, int]:
    """Return how many records of each kind a filter lets through."""
    condition, values = wanted.condition()
    rows = db.rows(
        f"SELECT kind, count(*) FROM record WHERE {condition} GROUP BY kind ORDER BY kind", values
    )
    return dict(rows)


def type_counts(db: Database, wanted: Filter) -> dict[tuple[str, str], int]:
    """Return how many records of each kind and type a filter lets through."""
    condition, values = wanted.condition()
    found: Counter[tuple[str, str]] = Counter()
    for kind, name, number in db.rows(  # by partition too, as `record_listing` is ordered
        f"SELECT kind, type, count(*) FROM record WHERE {condition} GROUP BY kind, partition, type",
        values,
    ):
        found[kind, name or ""] += number
    return found


def _glob(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)


def lifecycle_counts(db: Database, partitions: Collection[str] | None) -> dict[str, int]:
    """Return how many records of each lifecycle there are, history among them."""
    found = {"active": 0, "superseded": 0, "withdrawn": 0, "merged": 0}
    condition, values = Filter(
        "", partitions=partitions, ends_in=partitions, lifecycle="all"
    ).condition()
    rows = db.rows(
        f"SELECT lifecycle, count(*) FROM record WHERE {condition} GROUP BY lifecycle", values
    )
    return found | dict(rows)


def passage_count(db: Database, partitions: Collection[str] | None = None) -> int:
    """Return how many passages are indexed."""
    if partitions is None:
        return int(db.value("SELECT count(*) FROM passage"))
    condition, values = Filter(
        "", kinds=None, partitions=partitions, ends_in=partitions, lifecycle="all"
    ).condition()
    sql = (
        f"SELECT count(*) FROM passage JOIN record ON record.key = passage.record WHERE {condition}"
    )
    return int(db.value(sql, values))
