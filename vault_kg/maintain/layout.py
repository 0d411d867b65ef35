"""How large a level's text is, as it follows from which nodes are in view: to the character.

Pure. What is charged here is what `render` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

LEVEL_BUDGET = 17_500
"""Characters that a level's text may have (core/compactor.py)."""

ANCHORS = 0.3
"""The ids of archived nodes may take this share (core/compactor.py)."""


class Item(NamedTuple):
    """A node as it would be shown: characters of its line in view, and of its anchor."""

    id: str
    line: int
    anchor: int
    recorded_at: str


class Tie(NamedTuple):
    """An edge as it would be shown: its line is there while both ends are in view."""

    source: str
    target: str
    line: int


@dataclass
class Layout:
    """A level's nodes with their tiers, and the exact size of its text as it follows from them."""

    items: Mapping[str, Item]
    ties: Sequence[Tie]
    tiers: dict[str, str]
    """Of the level's nodes, and of nodes of other levels that its edges name."""
    header: int = 0
    archive_header: int = 0
    separator: int = 0
    budget: int = LEVEL_BUDGET
    _at: dict[str, list[Tie]] = field(init=False, default_factory=dict)
    _active: int = field(init=False, default=0)
    _anchors: int = field(init=False, default=0)
    _archived: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        for tie in self.ties:
            for end in {tie.source, tie.target}:
                self._at.setdefault(end, []).append(tie)
        self._active = sum(i.line for i in self.items.values() if self._is(i.id, ACTIVE))
        self._active += sum(tie.line for tie in self.ties if self._shows(tie))
        archived = [i for i in self.items.values() if self._is(i.id, ARCHIVED)]
        self._archived, self._anchors = len(archived), sum(i.anchor for i in archived)

    @property
    def anchors(self) -> int:
        """Characters of the line of archived nodes."""
        if not self._archived:
            return 0
        return self.archive_header + self._anchors + self.separator * (self._archived - 1)

    @property
    def size(self) -> int:
        """Characters of the whole text."""
        return self.header + self._active + self.anchors

    @property
    def trimmed(self) -> float:
        """Characters of the text once its anchors are trimmed to their share."""
        return self.header + self._active + min(self.anchors, ANCHORS * self.budget)

    def of(self, tier: str) -> list[str]:
        """Return the nodes that are in a tier."""
        return [node for node in self.items if self._is(node, tier)]

    def cost(self, node: str) -> int:
        """Return what a node in view takes: its line, and its edges to others in view."""
        ties = self._at.get(node, ())
        return self.items[node].line + sum(
            tie.line
            for tie in ties
            if all(end == node or self._is(end, ACTIVE) for end in (tie.source, tie.target))
        )

    def move(self, node: str, tier: str) -> None:
        """Put a node into a tier."""
        item, before = self.items[node], self.tiers[node]
        if before == tier:
            return
        if before == ACTIVE:
            self._active -= self.cost(node)
        elif before == ARCHIVED:
            self._archived, self._anchors = self._archived - 1, self._anchors - item.anchor
        self.tiers[node] = tier
        if tier == ACTIVE:
            self._active += self.cost(node)
        elif tier == ARCHIVED:
            self._archived, self._anchors = self._archived + 1, self._anchors + item.anchor

    def fits(self, node: str, room: float) -> bool:
        """Say whether a node could come into view within a share of the budget."""
        before, item = self.tiers[node], self.items[node]
        gained = item.anchor + self.separator + self.archive_header
        if self.trimmed + item.line - gained > room * self.budget:
            return False  # its line alone is too much
        self.move(node, ACTIVE)
        size = self.trimmed
        self.move(node, before)
        return size <= room * self.budget

    def _is(self, node: str, tier: str) -> bool:
        return self.tiers.get(node, ORPHANED) == tier

    def _shows(self, tie: Tie) -> bool:
        return self._is(tie.source, ACTIVE) and self._is(tie.target, ACTIVE)
