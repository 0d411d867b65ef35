"""Pages and relationships as nodes and edges: narrowed, counted and read in keyset order.

A row comes with what lists show of it beyond the catalog, so that no file is read for a list. The
order is by falling id, which is by falling age, then by path where two files share an id.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vault_kg.index.catalog import QUALIFIED, Row, row
from vault_kg.index.eligibility import CURRENT, NOT_BLOCKED
from vault_kg.index.listing import Filter
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state.database import Database

_FACT = "(SELECT text FROM passage WHERE passage.record = record.key ORDER BY ordinal LIMIT 1)"
_READ = f"SELECT {QUALIFIED}, stated.value, {_FACT} FROM record LEFT JOIN stated USING (key)"


class GraphRow(NamedTuple):
    """A record, what its file states beyond its row, and a relationship's fact."""

    row: Row
    stated: Mapping[str, Any]
    fact: str


class Place(NamedTuple):
    """Where a record stands, and the ids of the pages that it is about."""

    partition: str
    owner: str | None
    from_id: str | None
    to_id: str | None


@dataclass(frozen=True)
class Narrow:
    """Which pages or relationships are wanted. None means any."""

    wanted: Filter
    prefix: str | None = None
    """What the name begins with, as a lookup key: a page's title, an edge's predicate."""
    ids: Collection[str] | None = None
    sources: Collection[str] | None = None
    """Ids under which the page that a relationship comes from may be named."""
    targets: Collection[str] | None = None
    """Ids under which the page that a relationship leads to may be named."""
    not_sources: Collection[str] | None = None
    pointing: bool = False
    """Only relationships with an end that is named as one of another group."""

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL condition on `record` and `stated`, and its parameters."""
        condition, values = self.wanted.condition()
        parts = [condition]
        if self.prefix:
            parts.append(_NAMED_FROM)
            values["prefix"] = self.prefix
        for column, name, ids in (
            ("id IN", "ids", self.ids), ("from_id IN", "sources", self.sources),
            ("to_id IN", "targets", self.targets),
            ("from_id NOT IN", "not_sources", self.not_sources),
        ):  # fmt: skip
            if ids is not None:
                parts.append(f"record.{column} {_listed(name)}")
                values[name] = _json(ids)
        if self.pointing:
            parts.append("json_extract(stated.value, '$.pointers') IS NOT NULL")
        return " AND ".join(parts), values


_NAMED_FROM = (
    "CASE record.kind WHEN 'relationship' "
    "THEN substr(json_extract(stated.value, '$.name_key'), 1, length(:prefix)) = :prefix "
    "ELSE EXISTS (SELECT 1 FROM name WHERE name.key = record.key AND name.source = 'title' "
    "AND substr(name.name, 1, length(:prefix)) = :prefix) END"
)


def count(db: Database, narrow: Narrow) -> int:
    """Return how many records are wanted."""
    condition, values = narrow.condition()
    sql = f"SELECT count(*) FROM record LEFT JOIN stated USING (key) WHERE {condition}"
    return int(db.value(sql, values))


def places(db: Database, narrow: Narrow) -> dict[str, Place]:
    """Return where all wanted records stand, by id."""
    condition, values = narrow.condition()
    columns = ", ".join(f"record.{name}" for name in ("id", *Place._fields))
    rows = db.rows(
        f"SELECT {columns} FROM record LEFT JOIN stated USING (key) WHERE {condition} "
        "ORDER BY record.id, record.path",
        values,
    )
    return {record_id: Place(*place) for record_id, *place in rows}


def page(
    db: Database, narrow: Narrow, limit: int, after: tuple[str, str] | None = None
) -> list[GraphRow]:
    """Return records by falling id, after an (id, path) position."""
    condition, values = narrow.condition()
    if after is not None:
        condition += " AND (record.id < :at OR (record.id = :at AND record.path > :path))"
        values |= {"at": after[0], "path": after[1]}
    return _read(db, f"{condition} ORDER BY record.id DESC, record.path LIMIT :limit",
                 values | {"limit": limit})  # fmt: skip


def every(db: Database, narrow: Narrow) -> list[GraphRow]:
    """Return all wanted records, the oldest first."""
    condition, values = narrow.condition()
    return _read(db, f"{condition} ORDER BY record.id, record.path", values)


def of_keys(db: Database, keys: Iterable[int]) -> dict[int, GraphRow]:
    """Return records by the key of their row."""
    found = _read(db, f"record.key IN {_listed('keys')}", {"keys": json.dumps(list(keys))})
    return {each.row.key: each for each in found}


def named(
    db: Database, key: str, group: str, types: Collection[str] | None, lifecycle: str
) -> list[tuple[Row, bool]]:
    """Return the pages of a group that a name means, each with whether it is the title.

    Args:
        db: the state.
        key: the name as a lookup key.
        group: the partition.
        types: only pages of these types.
        lifecycle: only pages of this lifecycle; a blocked page counts too.
    """
    condition = f"AND coalesce(record.type, '{ROOT_TYPE}') IN {_listed('types')}"
    rows = db.rows(
        f"SELECT max(name.source = 'title'), {QUALIFIED} FROM name JOIN record USING (key) "
        "WHERE name.name = :name AND name.source IN ('title', 'alias') AND record.kind = 'page' "
        "AND record.partition = :group AND record.lifecycle = :lifecycle "
        f"{condition if types is not None else ''} GROUP BY record.key "
        "ORDER BY record.recorded_at, record.id",
        {"name": key, "group": group, "lifecycle": lifecycle, "types": _json(types or ())},
    )
    return [(row(values[1:]), bool(values[0])) for values in rows]


def page_names(db: Database, group: str) -> list[tuple[str, str]]:
    """Return (page, name) for each title and alias of the active pages of a group, as written."""
    pages = "record WHERE record.kind = 'page' AND record.partition = :group"
    active = "record.lifecycle = 'active'"
    rows = db.rows(
        f"SELECT id, title FROM {pages} AND {active} UNION ALL "
        "SELECT record.id, alias.value FROM stated JOIN record USING (key), "
        "json_each(stated.value, '$.aliases') AS alias "
        f"WHERE record.kind = 'page' AND record.partition = :group AND {active}",
        {"group": group},
    )
    return [(page_id, str(name)) for page_id, name in rows]


def mentions(
    db: Database, pages: Collection[str], now: str, partitions: Collection[str] | None
) -> list[tuple[str, str]]:
    """Return (page, source) for each source that a page, or a current record naming it, cites.

    Args:
        db: the state.
        pages: ids under which pages may be named.
        now: the time.
        partitions: where the naming records may lie; None for anywhere.
    """
    inside = f"AND record.partition IN {_listed('partitions')}" if partitions is not None else ""
    values = {"ids": _json(pages), "now": now, "partitions": _json(partitions or ())}
    found = db.rows(
        "SELECT record.id, citation.source FROM record JOIN citation USING (key) "
        f"WHERE record.id IN {_listed('ids')} UNION "
        "SELECT edge.target, citation.source FROM edge JOIN record USING (key) "
        f"JOIN citation ON citation.key = record.key WHERE edge.target IN {_listed('ids')} "
        f"AND edge.via <> 'dependencies' AND {CURRENT} AND {NOT_BLOCKED} {inside} ORDER BY 1, 2",
        values,
    )
    return [(page_id, source) for page_id, source in found]


def mentioned(
    db: Database, sources: Collection[str], now: str, partitions: Collection[str] | None
) -> set[str]:
    """Return the ids of the pages that cite a source, or that a current record citing it names."""
    inside = f"AND record.partition IN {_listed('partitions')}" if partitions is not None else ""
    citing = (
        f"record JOIN citation USING (key) WHERE citation.source IN {_listed('sources')} "
        f"AND {CURRENT} AND {NOT_BLOCKED} {inside}"
    )
    rows = db.rows(
        f"SELECT record.id FROM {citing} AND record.kind = 'page' UNION "
        "SELECT edge.target FROM edge WHERE edge.via <> 'dependencies' "
        f"AND edge.key IN (SELECT record.key FROM {citing})",
        {"sources": _json(sources), "now": now, "partitions": _json(partitions or ())},
    )
    return {page_id for (page_id,) in rows}


def citing(db: Database, sources: Collection[str]) -> list[GraphRow]:
    """Return every record that cites one of these sources, inactive ones too, by id."""
    inside = f"(SELECT key FROM citation WHERE source IN {_listed('sources')})"
    return _read(
        db, f"record.key IN {inside} ORDER BY record.id, record.path", {"sources": _json(sources)}
    )


def standing_on(db: Database, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return (record, what it stands on) for every active record that stands on one of these."""
    rows = db.rows(
        "SELECT DISTINCT record.id, edge.target FROM edge JOIN record USING (key) "
        f"WHERE edge.target IN {_listed('ids')} AND record.lifecycle = 'active' ORDER BY 1, 2",
        {"ids": _json(ids)},
    )
    return [(record_id, target) for record_id, target in rows]


def claimed(db: Database, ids: Collection[str] | None = None) -> list[tuple[str, str, str]]:
    """Return (claim, role, page) for each page that a claim is owned by or speaks of.

    Args:
        db: the state.
        ids: only of these claims; of all where None.
    """
    among = f"AND record.id IN {_listed('ids')}" if ids is not None else ""
    rows = db.rows(
        "SELECT DISTINCT record.id, edge.via, edge.target FROM edge JOIN record USING (key) "
        f"WHERE record.kind = 'claim' AND edge.via <> 'dependencies' {among} ORDER BY 1, 2, 3",
        {"ids": _json(ids)} if ids is not None else {},
    )
    return [(claim, role, page) for claim, role, page in rows]


def groups(db: Database) -> list[str]:
    """Return the partitions that hold a record or a source."""
    rows = db.rows(
        "SELECT partition FROM record WHERE kind <> 'note' UNION SELECT partition FROM source "
        "ORDER BY 1"
    )
    return [name for (name,) in rows]


def leads(db: Database, keys: Collection[int]) -> dict[int, int]:
    """Return the passage that holds a page's name and summary, by the key of the page's row."""
    rows = db.rows(
        f"SELECT record, max(key) FROM passage WHERE record IN {_listed('keys')} "
        "AND heading = '' AND start_line = 1 AND end_line = 1 GROUP BY record",
        {"keys": json.dumps(list(keys))},
    )
    return dict(rows)


def _read(db: Database, condition: str, values: dict[str, Any]) -> list[GraphRow]:
    width = QUALIFIED.count(",") + 1
    return [
        GraphRow(row(found[:width]), _stated(found[width]), found[width + 1] or "")
        for found in db.rows(f"{_READ} WHERE {condition}", values)
    ]


def _stated(text: str | None) -> Mapping[str, Any]:
    """Read what a file states; a number that JSON has no word for stays a word."""
    return json.loads(text, parse_constant=str) if text else {}


def _listed(name: str) -> str:
    return f"(SELECT value FROM json_each(:{name}))"


def _json(values: Iterable[str]) -> str:
    return json.dumps(sorted(values))
