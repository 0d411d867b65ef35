"""What a caller sees of the nodes, as SQL: no other partition, and nothing that is hidden."""

from __future__ import annotations

import json
from typing import Any

_LISTED = "IN (SELECT value FROM json_each(:partitions))"


class Sight:
    """Conditions on nodes and on the ends of edges; there are none for who sees everything."""

    def __init__(self, partitions: frozenset[str] | None, hidden: frozenset[int]) -> None:
        self._parts = partitions is not None
        self.all = partitions is None and not hidden
        self.values: dict[str, Any] = {}
        """The parameters of the conditions."""
        if partitions is not None:
            self.values["partitions"] = json.dumps(sorted(partitions))
        self._hidden = bool(hidden)
        if hidden:
            self.values["hidden"] = json.dumps(sorted(hidden))

    def partition(self, table: str) -> str:
        """Return the condition that the partition of a row is seen; of several, each."""
        if not self._parts:
            return "TRUE"
        column = f"{table}.partition"
        each = f"""json_each('["' || replace({column}, '/', '","') || '"]')"""
        several = f"NOT EXISTS (SELECT 1 FROM {each} AS part WHERE NOT part.value {_LISTED})"
        return f"({column} IS NULL OR {column} {_LISTED} OR instr({column}, '/') AND {several})"

    def node(self, table: str = "node") -> str:
        """Return the condition that a node is seen, apart from whether it is a stub."""
        shown = f"{table}.key NOT IN (SELECT value FROM json_each(:hidden))"
        return f"{self.partition(table)} AND {shown if self._hidden else 'TRUE'}"

    def stub(self) -> str:
        """Return the condition that a stub is named in something that is seen."""
        return (
            "(NOT node.stub OR EXISTS (SELECT 1 FROM edge JOIN node AS named_by "
            f"ON named_by.key = edge.source WHERE edge.target = node.key "
            f"AND {self.node('named_by')}))"
        )

    def finding(self) -> str:
        """Return the condition that a finding is seen: what lacks something is not hidden."""
        hidden = "SELECT uid FROM node WHERE key IN (SELECT value FROM json_each(:hidden))"
        shown = f"finding.subject NOT IN ({hidden})"
        return f"{self.partition('finding')} AND {shown if self._hidden else 'TRUE'}"

    def end(self, column: str) -> str:
        """Return the condition that an end of an edge is seen: its `source` or `target`."""
        if not self._parts:
            return f"edge.{column} NOT IN (SELECT value FROM json_each(:hidden))"
        return (
            f"EXISTS (SELECT 1 FROM node AS beyond WHERE beyond.key = edge.{column} "
            f"AND {self.node('beyond')})"
        )
