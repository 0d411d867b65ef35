"""Who calls an operation, and what this caller may do and see."""

from __future__ import annotations

from dataclasses import dataclass

ALL_SCOPES = frozenset({"read", "write", "review", "admin"})
AGENT_SCOPES = frozenset({"read", "write"})


@dataclass(frozen=True)
class Caller:
    """The actor written into receipts and history, its scopes, and the partitions it sees.

    `partitions` is None for all. A record outside them does not exist for this caller: not in a
    list, a count, an impact or an error.
    """

    actor: str
    scopes: frozenset[str] = ALL_SCOPES
    partitions: frozenset[str] | None = None

    def sees(self, partition: str) -> bool:
        """Say whether a partition exists for this caller."""
        return self.partitions is None or partition in self.partitions
