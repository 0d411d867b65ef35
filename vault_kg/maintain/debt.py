"""The debt of a graph: how much care it is owed, by a formula that its line lets a reader check.

    score = staleness · (.4 + .6 · activity) · (.25 + .75 · min(1, deficit))

Pure functions. Weights and thresholds are those of the knowledge-graph plugin (core/debt.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

STALE_DAYS = 14.0
"""A graph is wholly stale so many days after the last stamp; one that was never stamped is, too."""

ACTIVE_DAYS, WEEK = 4.0, 7
"""Use on so many of the last seven days is full activity."""

IDLE_WEIGHT, ACTIVE_WEIGHT = 0.4, 0.6
GROOMED, DEFICIT_WEIGHT = 0.25, 0.75
"""What a graph without any deficit still scores when it is stale and active, and the rest."""

OVERSIZED = 1.0
UNCONNECTED = LONG_IDS = DANGLING = 0.5
LIFT = 0.25
SMEARED, MAX_SMEARED, SMEARED_CAP = 0.08, 3, 0.25
"""Weights of the factors in the deficit, each by its share of the nodes in view."""

HIGH, MEDIUM = 0.5, 0.3
GIST_WANTED = 300
"""Characters; a longer gist is oversized (kg-maintain: "active gists >300 chars")."""

SMEARED_LEAST, SMEARED_SHARE = 6, 0.08
"""A term is smeared from so many nodes on, and from this share of all nodes."""

Verdict = Literal["HIGH", "MED", "LOW"]


@dataclass(frozen=True)
class Smeared:
    """A term that many nodes describe anew, and the node that it belongs to."""

    term: str
    nodes: int
    hub: str


@dataclass(frozen=True)
class Counts:
    """What the debt of a graph is worked out from; all but the first two are of nodes in view."""

    days_untended: float | None
    """Since the last stamp; None where there never was one."""
    days_active: int
    """Of the last seven."""
    active: int
    oversized: int = 0
    long_ids: int = 0
    unconnected: int = 0
    dangling_touches: int = 0
    dangling_nodes: int = 0
    lift_clusters: int = 0
    lift_members: int = 0
    smeared: Sequence[Smeared] = ()


def staleness(counts: Counts) -> float:
    """Return how long the graph has waited, from 0 to 1."""
    return 1.0 if counts.days_untended is None else min(1.0, counts.days_untended / STALE_DAYS)


def activity(counts: Counts) -> float:
    """Return how much the graph is used, from 0 to 1."""
    return min(1.0, counts.days_active / ACTIVE_DAYS)


def deficit(counts: Counts) -> float:
    """Return how much there is to do: weighted shares of the nodes in view."""
    smeared = min(SMEARED_CAP, SMEARED * min(MAX_SMEARED, len(counts.smeared)))
    if not counts.active:
        return smeared
    weighted = (
        OVERSIZED * counts.oversized + UNCONNECTED * counts.unconnected
        + LONG_IDS * counts.long_ids + DANGLING * counts.dangling_nodes
        + LIFT * counts.lift_members
    )  # fmt: skip
    return weighted / counts.active + smeared


def score(counts: Counts) -> float:
    """Return the debt, from 0 to 1."""
    waited = staleness(counts) * (IDLE_WEIGHT + ACTIVE_WEIGHT * activity(counts))
    return waited * (GROOMED + DEFICIT_WEIGHT * min(1.0, deficit(counts)))


def verdict(debt: float) -> Verdict:
    """Return what a debt means."""
    return "HIGH" if debt >= HIGH else "MED" if debt >= MEDIUM else "LOW"


def least_smeared(nodes: int) -> float:
    """Return from how many nodes on a term is smeared in a graph of so many."""
    return max(SMEARED_LEAST, SMEARED_SHARE * nodes)


def line(counts: Counts) -> str:
    """Return the DEBT line."""
    debt = score(counts)
    found = verdict(debt)
    said = f"DEBT: {found} ({debt:.2f}) — {', '.join(factors(counts))}"
    if counts.smeared:
        terms = (f"{s.term}×{s.nodes}→{s.hub}" for s in counts.smeared[:MAX_SMEARED])
        said += f" — smeared: {', '.join(terms)}"
    if found == "HIGH":
        said += " — worth a /kg-maintain pass (or a maintenance subagent) now"
    return said


def factors(counts: Counts) -> list[str]:
    """Return what the line says of each factor; those that are nought are left out."""
    days = counts.days_untended
    named = (
        (counts.oversized, "oversized gist(s)"), (counts.long_ids, "long id(s)"),
        (counts.unconnected, "unconnected"), (counts.dangling_touches, "dangling touch(es)"),
        (counts.lift_clusters, "lift cluster(s)"),
    )  # fmt: skip
    return [
        *(f"{number} {what}" for number, what in named if number),
        "never maintained" if days is None else f"untended {int(days)}d",
        f"active {counts.days_active}/{WEEK}d",
    ]


def health(nodes: int, edges: int, orphans: int) -> str:
    """Return the HEALTH line."""
    share = 100 * orphans / nodes if nodes else 0
    average = edges / nodes if nodes else 0
    return (
        f"HEALTH: {nodes} nodes, {edges} edges, {orphans} orphans ({share:.0f}%), "
        f"avg {average:.1f} edges/node"
    )
