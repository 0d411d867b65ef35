"""What following a path can come to."""

from __future__ import annotations

from typing import Final, NamedTuple

from vault_kg.extract.model import Node, Signal


class Outcome(NamedTuple):
    """Where a path leads: to a node, to something outside (module and name), or nowhere."""

    node: Node | None
    outside: tuple[str, str] | None = None
    signals: tuple[Signal, ...] = ()
    is_value: bool = False
    """Whether the path means an instance of the node, a class, and not the class."""
    missing: bool = False
    """Whether the module is part of the tree but does not have the name."""

    def because(self, signal: Signal) -> Outcome:
        """Return the outcome with one more reason to doubt it."""
        if self.node is None and self.outside is None:
            return self
        return self._replace(signals=(*self.signals, signal))


UNKNOWN: Final = Outcome(None)
"""The path's beginning is known, but not what follows."""
ABSENT: Final = Outcome(None, missing=True)
"""A file does not have the path's first name."""
