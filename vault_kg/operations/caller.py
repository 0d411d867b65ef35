"""Who calls an operation, and what this caller may do and see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

ALL_SCOPES = frozenset({"read", "write", "review", "cypher", "admin"})
AGENT_SCOPES = frozenset({"read", "write"})


Report = Callable[[int, int, str], None]
"""Told (done, total, what) while something long is under way."""


def _quiet(done: int, total: int, what: str) -> None:
    """Tell nobody."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Caller:
    """The actor written into receipts and history, its scopes, and the partitions it sees.

    `partitions` is None for all. A record outside them does not exist for this caller: not in a
    list, a count, an impact or an error.
    """

    actor: str
    scopes: frozenset[str] = ALL_SCOPES
    partitions: frozenset[str] | None = None
    tools: frozenset[str] | None = None
    """The operations that this caller may run of those that its scopes allow; None for all."""
    report: Report = field(default=_quiet, compare=False)
    cancelled: Callable[[], bool] = field(default=_never, compare=False)
    """Asked between the steps of something long; it then ends, and says what is written by then."""

    def sees(self, partition: str) -> bool:
        """Say whether a partition exists for this caller."""
        return self.partitions is None or partition in self.partitions
