"""The tables of a projection, and the Cypher that makes and changes them.

Nothing is loaded with COPY: the engine ends its process where that meets a table with rows in it.

A row is a list of values: of a node its columns, of a relationship the keys of its two ends and then
its columns. The first column is the key, `uuid`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT, TEXTS = "STRING", "STRING[]"

Row = Sequence[Any]
"""Texts, lists of texts, and None."""


@dataclass(frozen=True)
class Table:
    """A node table, or with `ends` a relationship table; its columns by name."""

    name: str
    columns: Mapping[str, str]
    ends: tuple[str, str] | None = None

    @property
    def key_at(self) -> int:
        """Where the key stands in a row."""
        return 2 if self.ends else 0

    def key(self, row: Row) -> str:
        """Return the key of a row."""
        return str(row[self.key_at])

    def ddl(self) -> str:
        """Return the statement that makes the table."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        if self.ends is None:
            return f"CREATE NODE TABLE {self.name}({columns}, PRIMARY KEY(uuid))"
        return f"CREATE REL TABLE {self.name}(FROM {self.ends[0]} TO {self.ends[1]}, {columns})"

    def insert(self) -> str:
        """Return the statement that adds `$rows`."""
        pairs = zip(self.columns, self._values(), strict=True)
        given = ", ".join(f"{name}: {value}" for name, value in pairs)
        if self.ends is None:
            return f"UNWIND $rows AS r CREATE (:{self.name} {{{given}}})"
        return (
            f"UNWIND $rows AS r MATCH (a:{self.ends[0]} {{uuid: r.a}}) "
            f"MATCH (b:{self.ends[1]} {{uuid: r.b}}) CREATE (a)-[:{self.name} {{{given}}}]->(b)"
        )

    def update(self) -> str:
        """Return the statement that gives nodes the values of `$rows`."""
        pairs = list(zip(self.columns, self._values(), strict=True))[1:]
        given = ", ".join(f"n.{name} = {value}" for name, value in pairs)
        return f"UNWIND $rows AS r MATCH (n:{self.name} {{uuid: r.c0}}) SET {given}"

    def delete(self) -> str:
        """Return the statement that removes what has a key of `$keys`."""
        if self.ends is None:
            return f"UNWIND $keys AS k MATCH (n:{self.name} {{uuid: k}}) DETACH DELETE n"
        return f"MATCH ()-[r:{self.name}]->() WHERE list_contains($keys, r.uuid) DELETE r"

    def parameters(self, rows: Iterable[Row]) -> list[dict[str, Any]]:
        """Return rows as the parameter `$rows` of these statements."""
        return [self._parameter(row) for row in rows]

    def _parameter(self, row: Row) -> dict[str, Any]:
        at = self.key_at
        ends: dict[str, Any] = {"a": row[0], "b": row[1]} if self.ends else {}
        columns = enumerate(zip(self.columns.values(), row[at:], strict=True))
        # The engine cannot tell the type of an empty list: each list has a first item, cut off again.
        return ends | {
            f"c{n}": ["", *(value or ())] if kind == TEXTS else value
            for n, (kind, value) in columns
        }

    def _values(self) -> list[str]:
        return [
            f"r.c{n}[2:]" if kind == TEXTS else f"r.c{n}"
            for n, kind in enumerate(self.columns.values())
        ]


ENTITY = Table(
    "Entity",
    {
        "uuid": TEXT, "name": TEXT, "kind": TEXT, "labels": TEXTS, "group_id": TEXT,
        "summary": TEXT, "aliases": TEXTS, "attributes": TEXT, "created_at": TEXT,
        "updated_at": TEXT,
    },
)  # fmt: skip
CLAIM = Table(
    "Claim",
    {
        "uuid": TEXT, "name": TEXT, "kind": TEXT, "group_id": TEXT, "fact": TEXT,
        "valid_at": TEXT, "invalid_at": TEXT, "created_at": TEXT, "updated_at": TEXT,
    },
)  # fmt: skip
EPISODIC = Table(
    "Episodic",
    {
        "uuid": TEXT, "name": TEXT, "group_id": TEXT, "source_description": TEXT,
        "media_type": TEXT, "valid_at": TEXT, "created_at": TEXT,
    },
)  # fmt: skip
RELATES_TO = Table(
    "RELATES_TO",
    {
        "uuid": TEXT, "name": TEXT, "relation_type": TEXT, "group_id": TEXT, "fact": TEXT,
        "valid_at": TEXT, "invalid_at": TEXT, "attributes": TEXT, "episode_uuids": TEXTS,
        "created_at": TEXT, "updated_at": TEXT,
    },
    ends=("Entity", "Entity"),
)  # fmt: skip
MENTIONS = Table("MENTIONS", {"uuid": TEXT}, ends=("Episodic", "Entity"))
ABOUT = Table("ABOUT", {"uuid": TEXT, "role": TEXT}, ends=("Claim", "Entity"))

TABLES = {t.name: t for t in (ENTITY, CLAIM, EPISODIC, RELATES_TO, MENTIONS, ABOUT)}
"""Every table by name, nodes before the relationships between them."""

VERSION = 1
"""Raise it whenever a table here, or what is put into one, changes."""
