"""What the tables remember of records, beside their nodes and edges."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from vault_kg.extract.backends.sqlite_files import AMONG, SqliteFiles
from vault_kg.extract.backends.values import Finding


class SqliteRecords(SqliteFiles):
    """The part of the backend that only records need."""

    def put_needs(self, by_node: Mapping[int, Collection[str]]) -> None:
        """Replace the names of what the edges of nodes follow from; the nodes have no references."""
        self.database.execute(
            f"DELETE FROM reference_name WHERE source {AMONG}", (json.dumps(list(by_node)),)
        )
        self.database.executemany(
            "INSERT INTO reference_name VALUES (?,?)",
            sorted({(name, key) for key, names in by_node.items() for name in names}),
        )

    def needing(self, root: str, names: Collection[str]) -> set[int]:
        """Return the nodes of a root that hold one of these names."""
        found = self.database.rows(
            "SELECT DISTINCT source FROM reference_name JOIN node ON node.key = source "
            f"WHERE root = ? AND name {AMONG}",
            (self._root(root), json.dumps(list(names))),
        )
        return {key for (key,) in found}

    def put_findings(self, subjects: Collection[str] | None, findings: Sequence[Finding]) -> None:
        """Replace the findings of some nodes, by uid; those of all where None."""
        if subjects is None:
            self.database.execute("DELETE FROM finding")
        else:
            self.database.execute(
                f"DELETE FROM finding WHERE subject {AMONG}", (json.dumps(list(subjects)),)
            )
        self.database.executemany("INSERT INTO finding VALUES (?,?,?,?,?)", findings)
