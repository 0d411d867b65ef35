"""Which nodes of a level are in view: archive, refill, rebalance, and the anchors of the archived.

Pure functions over what a level's text would be. A node is in view (`active`), named only
(`archived`), or found by search only (`orphaned`); none is ever deleted. Three rules keep the steps
from chasing one another: the room that is filled (80 %) lies well below the room at which nodes are
taken out (100 %); a node that was moved rests for some rounds; and a swap is made only where it would
not be made back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from vault_kg.maintain.layout import ANCHORS, Layout
from vault_kg.maintain.scoring import connectedness
from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

TARGET = 0.8
"""Taking out ends, and filling ends, at this share of the budget (core/compactor.py)."""

WHOLE = 0.9
"""The whole archive comes back where all of it fits into this share: between target and budget, so
that one more node does not take it out again."""

FRESH = 0.3
"""The newest nodes whose lines and edges fit this share are not scored and stay (core/compactor.py)."""

MARGIN = 0.05
"""By so much an archived node must beat one in view to take its place (core/compactor.py)."""

MAX_SWAPS = 3
"""So many places are exchanged in one tending (core/compactor.py)."""

REST = 5
"""A node that was moved or used is left where it is for so many rounds (what happens begins one)."""

Score = Callable[[Mapping[str, str]], Mapping[str, float]]
"""Gives the score of each node for the tiers that nodes would have."""


def fresh(layout: Layout) -> set[str]:
    """Return the newest nodes in view that fit their share; they stay, whatever their score."""
    room, found = FRESH * layout.budget, set()
    newest = sorted(
        layout.of(ACTIVE), key=lambda node: (layout.items[node].recorded_at, node), reverse=True
    )
    for node in newest:
        cost = layout.cost(node)
        if cost > FRESH * layout.budget:
            continue  # one that fills the share alone does not take it from all others
        room -= cost
        if room < 0:
            break
        found.add(node)
    return found


def tend(layout: Layout, score: Score, moved: Iterable[str] = ()) -> dict[str, str]:
    """Bring a level into its budget and its best nodes into view.

    Args:
        layout: the level; its tiers are changed.
        score: gives the scores for some tiers.
        moved: nodes at rest: they stay where they are, unless the level is over its budget without
            others to take out.

    Returns:
        The new tier of each node that was moved; none of them moves again while it is in `moved`.
    """
    before = dict(layout.tiers)
    care = _Care(layout, score, set(moved))
    care.trim()
    if layout.size > layout.budget:
        care.compact()
        care.trim()
    while layout.size < TARGET * layout.budget and care.refill():
        care.trim()
    if layout.size >= TARGET * layout.budget:
        care.rebalance()
        care.trim()
    return {node: layout.tiers[node] for node in layout.items if layout.tiers[node] != before[node]}


class _Care:
    """One tending of a level."""

    def __init__(self, layout: Layout, score: Score, moved: set[str]) -> None:
        self._layout = layout
        self._score = score
        self._moved = moved
        self._resting = frozenset(moved)
        self._fresh = fresh(layout)

    def compact(self) -> None:
        """Archive the lowest until the target, then put back what fits after all, best first."""
        layout, taken = self._layout, []
        for node in self._lowest(layout.of(ACTIVE)):
            if layout.trimmed <= TARGET * layout.budget:
                break
            if node in self._moved and layout.trimmed <= layout.budget:
                break  # what is at rest is taken out only to be within the budget at all
            layout.move(node, ARCHIVED)
            taken.append(node)
        for node in reversed(taken):
            if layout.fits(node, TARGET):
                layout.move(node, ACTIVE)
        self._moved.update(taken)

    def trim(self) -> None:
        """Let the least connected archived nodes be found by search only, until the anchors fit."""
        layout = self._layout
        room = ANCHORS * layout.budget
        if layout.anchors <= room:
            return
        archived = layout.of(ARCHIVED)
        joined = connectedness(archived, layout.tiers, ((t.source, t.target) for t in layout.ties))
        for node in sorted(
            archived, key=lambda n: (n in self._resting, joined[n], layout.items[n].recorded_at, n)
        ):
            if layout.anchors <= room:
                return
            layout.move(node, ORPHANED)
            self._moved.add(node)

    def refill(self) -> bool:
        """Bring archived nodes back into view: all where they fit, else the best; say if any came."""
        layout = self._layout
        waiting = [node for node in layout.of(ARCHIVED) if node not in self._moved]
        if not waiting:
            return False
        room = WHOLE if self._whole_fits() else TARGET
        came = False
        for node in self._highest(waiting):
            if layout.fits(node, room):
                layout.move(node, ACTIVE)
                self._moved.add(node)
                came = True
        return came

    def rebalance(self) -> None:
        """Exchange the worst in view for archived nodes that beat them by the margin."""
        layout = self._layout
        for _ in range(MAX_SWAPS):
            scores = self._score(layout.tiers)
            out = self._first(self._lowest(layout.of(ACTIVE), scores))
            into = self._first(self._highest(layout.of(ARCHIVED), scores))
            if out is None or into is None or scores[into] - scores[out] < MARGIN:
                return
            if not self._swap(out, into):
                return

    def _swap(self, out: str, into: str) -> bool:
        """Exchange two places, unless that would not fit, or be made back at once."""
        layout = self._layout
        layout.move(out, ARCHIVED)
        layout.move(into, ACTIVE)
        after = self._score(layout.tiers)
        if layout.size <= layout.budget and after[out] - after[into] < MARGIN:
            self._moved |= {out, into}
            return True
        layout.move(into, ARCHIVED)
        layout.move(out, ACTIVE)
        return False

    def _whole_fits(self) -> bool:
        layout = self._layout
        archived = layout.of(ARCHIVED)
        for node in archived:
            layout.move(node, ACTIVE)
        size = layout.size
        for node in archived:
            layout.move(node, ARCHIVED)
        return size <= WHOLE * layout.budget

    def _lowest(self, nodes: Iterable[str], scores: Mapping[str, float] | None = None) -> list[str]:
        """Return the nodes that may go, what was just moved last, else the lowest score first."""
        known = self._score(self._layout.tiers) if scores is None else scores
        return sorted(
            (node for node in nodes if node not in self._fresh),
            key=lambda node: (node in self._moved, known[node], node),
        )

    def _highest(
        self, nodes: Iterable[str], scores: Mapping[str, float] | None = None
    ) -> list[str]:
        known = self._score(self._layout.tiers) if scores is None else scores
        return sorted(nodes, key=lambda node: (-known[node], node))

    def _first(self, ordered: Iterable[str]) -> str | None:
        return next((node for node in ordered if node not in self._moved), None)
