"""What the graph in memory remembers of records, beside their nodes and edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from vault_kg.extract.backends.memory_graph import Graph
from vault_kg.extract.backends.values import Finding


class MemoryRecords:
    """The part of the backend that only records need."""

    graph: Graph

    def put_needs(self, by_node: Mapping[int, Collection[str]]) -> None:
        """Replace the names of what the edges of nodes follow from; the nodes have no references."""
        for key, names in by_node.items():
            self.graph.names[key] = set(names)

    def needing(self, root: str, names: Collection[str]) -> set[int]:
        """Return the nodes of a root that hold one of these names."""
        wanted = set(names)
        return {
            key
            for key, held in self.graph.names.items()
            if self.graph.nodes[key].root == root and held & wanted
        }

    def put_findings(self, subjects: Collection[str] | None, findings: Sequence[Finding]) -> None:
        """Replace the findings of some nodes, by uid; those of all where None."""
        kept = [
            f for f in self.graph.findings if subjects is not None and f.subject not in subjects
        ]
        self.graph.findings[:] = [*kept, *findings]
