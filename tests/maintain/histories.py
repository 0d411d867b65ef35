"""Random histories of a level, and what must hold after every step of each.

    python -m tests.maintain.histories --count 20000

A history makes, reads, endorses, joins, changes and deletes nodes; the level is tended after each
step, as kg_read would.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from datetime import datetime, timedelta

from vault_kg.maintain import archive, scoring
from vault_kg.maintain.layout import ANCHORS, Item, Layout, Tie
from vault_kg.maintain.scoring import Facts
from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

START = datetime(2026, 1, 1)
BUDGET = 600
"""Characters; small, so that a history of some dozen steps meets every rule."""


class History:
    """A level as it is lived in. `faults` names what did not hold."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.at = START
        self.items: dict[str, Item] = {}
        self.ties: list[Tie] = []
        self.tiers: dict[str, str] = {}
        self.used: dict[str, str] = {}
        self.credits: dict[str, list[tuple[str, int]]] = {}
        self.moved_at: dict[str, int] = {}
        self.faults: list[str] = []
        self.left: dict[str, list[int]] = {}
        """The steps at which a node left the view, since it was used last."""
        self.step = 0
        self.compactions = 0

    def run(self, steps: int) -> None:
        """Live through so many steps."""
        for _ in range(steps):
            self.step += 1
            self.at += timedelta(minutes=self.random.choice((1, 60, 3_000)))
            touched = self.random.choice((self.make, self.make, self.use, self.use, self.endorse,
                                          self.join, self.drop, self.grow))()  # fmt: skip
            self.tend(touched)

    # What happens

    def make(self) -> set[str]:
        name = f"n{len(self.used)}"
        line = self.random.choice((10, 20, 40, 40, 80, 150, 300))
        self.items[name] = Item(name, line, self.random.randint(3, 12), self.now)
        self.used[name] = self.now
        self.put(name, ACTIVE)
        if len(self.items) > 1 and self.random.random() < 0.7:
            self.tie(name, self.any())
        return {name}

    def use(self) -> set[str]:
        if not self.items:
            return set()
        name = self.any()
        self.used[name] = self.now
        if self.tiers[name] == ACTIVE or self.items[name].line <= archive.FRESH * BUDGET:
            self.put(name, ACTIVE)
        for tie in self.ties:
            for other in {tie.source, tie.target} - {name} if name in tie[:2] else ():
                if self.tiers[other] == ORPHANED:
                    self.put(other, ARCHIVED)
        return {name}

    def endorse(self) -> set[str]:
        if not self.items:
            return set()
        name = self.any()
        self.credits.setdefault(name, []).append((self.now, self.random.randint(1, 3)))
        if self.tiers[name] == ORPHANED:
            self.put(name, ARCHIVED)
        return set()

    def join(self) -> set[str]:
        if len(self.items) > 1:
            self.tie(*self.random.sample(sorted(self.items), 2))
        return set()

    def drop(self) -> set[str]:
        if not self.items:
            return set()
        name = self.any()
        del self.items[name], self.tiers[name]
        self.ties = [tie for tie in self.ties if name not in tie[:2]]
        return {name}

    def grow(self) -> set[str]:
        if not self.items:
            return set()
        name = self.any()
        line = self.random.choice((10, 40, 90))
        self.items[name] = self.items[name]._replace(line=line)
        self.used[name] = self.now
        self.put(name, ACTIVE)
        return {name}

    # What is done about it, and what must hold

    def tend(self, touched: set[str]) -> None:
        before = dict(self.tiers)
        level = self.layout()
        over = level.size > BUDGET
        fresh = archive.fresh(level)
        changed = archive.tend(level, self.score, self.moved)
        self.tiers = {name: level.tiers[name] for name in self.items}
        self.compactions += over
        self.hold(level.size <= BUDGET, "over the budget after tending")
        self.hold(level.anchors <= ANCHORS * BUDGET, "too many anchors")
        self.hold(level.size == self.layout().size, "the charge is not what is rendered")
        self.hold(
            not any(changed.get(one, ACTIVE) != ACTIVE for one in fresh), "fresh was archived"
        )
        self.hold(set(self.tiers) == set(self.items), "a node was lost")
        if not over:
            self.hold(
                not any(before[one] == ACTIVE and tier != ACTIVE for one, tier in changed.items()
                        if one in touched), "what was just used was taken out",
            )  # fmt: skip
        self.moved_at.update(dict.fromkeys(changed, self.step))
        self.still(self.moved)
        self.count(changed, touched)

    def count(self, changed: dict[str, str], touched: set[str]) -> None:
        """Hold that no node leaves the view, returns and leaves again, unless it was used."""
        for one in touched:
            self.left.pop(one, None)
        for one, tier in changed.items():
            if tier == ARCHIVED and one not in touched:
                left = self.left.setdefault(one, [])
                left.append(self.step)
                self.hold(
                    len(left) < 2 or left[-1] - left[-2] > archive.REST, "a node goes to and fro"
                )

    def still(self, moved: set[str]) -> None:
        """Hold that tending without anything happening ends, and moves no node twice."""
        for _ in range(20):
            level = self.layout()
            again = archive.tend(level, self.score, set(moved))
            self.hold(not set(again) & moved, "a node was moved twice with nothing happening")
            if not again:
                return
            moved |= set(again)
            self.tiers = {name: level.tiers[name] for name in self.items}
        self.hold(False, "tending does not come to rest")

    def hold(self, truth: bool, fault: str) -> None:
        if not truth:
            self.faults.append(fault)

    # Details

    @property
    def moved(self) -> set[str]:
        """The nodes that are at rest: moved in this step or one of those before."""
        return {one for one, at in self.moved_at.items() if self.step - at < archive.REST}

    @property
    def now(self) -> str:
        return self.at.isoformat() + "Z"

    def any(self) -> str:
        return self.random.choice(sorted(self.items))

    def tie(self, source: str, target: str) -> None:
        self.ties.append(Tie(source, target, self.random.randint(12, 30)))

    def put(self, name: str, tier: str) -> None:
        self.tiers[name] = tier
        self.moved_at[name] = self.step

    def layout(self) -> Layout:
        return Layout(dict(self.items), list(self.ties), dict(self.tiers), 8, 20, 2, BUDGET)

    def score(self, tiers: dict[str, str]) -> dict[str, float]:
        facts = {
            name: Facts(max([self.used[name], *(at for at, _ in self.credits.get(name, []))]),
                        self.credits.get(name, []))
            for name in self.items
        }  # fmt: skip
        return scoring.scores(facts, tiers, [tie[:2] for tie in self.ties], self.now)


def faults_of(seed: int, steps: int = 40) -> list[str]:
    """Return what did not hold in one history."""
    history = History(seed)
    history.run(steps)
    return history.faults


def main() -> None:
    """Run as many histories as asked for, and say what did not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=40)
    asked = parser.parse_args()
    found: Counter[str] = Counter()
    compactions = 0
    for seed in range(asked.count):
        history = History(seed)
        history.run(asked.steps)
        compactions += history.compactions
        found.update(set(history.faults))
        if history.faults:
            print(seed, sorted(set(history.faults)))
    print(f"{asked.count} histories, {compactions} times over the budget; faults: {dict(found)}")


if __name__ == "__main__":
    main()
