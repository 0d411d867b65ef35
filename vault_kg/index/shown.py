"""Hits as they are given to a reader: the record, the lines, the snippet and what matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.index import catalog
from vault_kg.index.snippets import Snippet, explain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vault_kg.index.catalog import Row
    from vault_kg.index.query import Query
    from vault_kg.index.ranked import Hit
    from vault_kg.state.database import Database


@dataclass(frozen=True)
class Shown:
    """A hit as it is given to a reader."""

    row: Row
    hit: Hit
    heading: str
    start_line: int
    end_line: int
    snippet: Snippet
    matched: Sequence[str]
    text: str


def show(db: Database, query: Query, hits: Sequence[Hit]) -> list[Shown]:
    """Return hits with their records, lines and snippets."""
    if not hits:
        return []
    rows = catalog.by_key(db, [hit.record for hit in hits])
    found = passages(db, [hit.passage for hit in hits])
    aliases = _aliases(db, rows)
    shown = []
    for hit in hits:
        heading, start, end, text = found[hit.passage]
        row = rows[hit.record]
        named = "\n".join((row.title, *aliases.get(hit.record, ()), heading))
        cut, matched = explain(text, named, query)
        matched = matched if hit.bm25 is not None else []
        shown.append(Shown(row, hit, heading, start, end, cut, matched, text))
    return shown


def _aliases(db: Database, keys: Collection[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for key, name in db.among(
        "SELECT key, name FROM name WHERE key IN ({}) AND source = 'alias'", keys
    ):
        found.setdefault(key, []).append(name)
    return found


def passages(db: Database, keys: list[int]) -> dict[int, tuple[str, int, int, str]]:
    """Return heading, first line, last line and text of some passages."""
    rows = db.among(
        "SELECT key, heading, start_line, end_line, text FROM passage WHERE key IN ({})", keys
    )
    return {key: (heading, start, end, text) for key, heading, start, end, text in rows}
