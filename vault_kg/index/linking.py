"""Links by the names that they use, and what those names stand for: to foresee a rename."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from vault_kg.records.link_targets import Candidate
from vault_kg.records.names import lookup_key
from vault_kg.state.database import Database


class Standing(NamedTuple):
    """Something that a link may mean, with its partition."""

    partition: str
    candidate: Candidate


def by_names(db: Database, wanted: Iterable[str]) -> list[tuple[str, str]]:
    """Return (file, target) of every link that may name one of these, notes among the files."""
    keys = sorted({lookup_key(name) for name in wanted})
    rows = db.rows(
        "SELECT DISTINCT record.path, link.target FROM link_name "
        "JOIN link ON link.key = link_name.key AND link.ordinal = link_name.ordinal "
        "JOIN record ON record.key = link.key "
        "WHERE link_name.name IN (SELECT value FROM json_each(?)) AND link.target <> '' "
        "ORDER BY 1, 2",
        (json.dumps(keys),),
    )
    return [(path, target) for path, target in rows]


def candidates(db: Database, names: Iterable[str]) -> list[Standing]:
    """Return everything that has one of these names, as links find it."""
    rows = db.rows(
        "SELECT partition, record.id, record.path, name.name, name.source "
        "FROM name JOIN record USING (key) "
        "WHERE name.name IN (SELECT value FROM json_each(?)) ORDER BY record.path",
        (json.dumps(list(names)),),
    )
    return [Standing(row[0], Candidate(*row[1:])) for row in rows]
