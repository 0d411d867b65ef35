"""What a backend remembers of the records of the vault, beside their nodes and edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from vault_kg.extract.backends.values import Finding


class RecordBackend(Protocol):
    """What records follow from, and what they lack."""

    def put_needs(self, by_node: Mapping[int, Collection[str]]) -> None:
        """Replace the names of what the edges of nodes follow from; the nodes have no references."""
        ...

    def needing(self, root: str, names: Collection[str]) -> set[int]:
        """Return the nodes of a root that hold one of these names."""
        ...

    def put_findings(self, subjects: Collection[str] | None, findings: Sequence[Finding]) -> None:
        """Replace the findings of some nodes, by uid; those of all where None."""
        ...
