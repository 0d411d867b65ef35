"""How much a node has earned its place in view: recency, connectedness and usefulness, as ranks.

Pure functions. The formula is that of the knowledge-graph plugin's scorer; ranks make it indifferent
to the units of its parts, and to time passing where nothing happens.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

Value = TypeVar("Value", str, float)

RECENCY, CONNECTEDNESS, USEFULNESS = 0.25, 0.40, 0.35
"""Weights of the three ranks (core/scorer.py)."""

IN_WEIGHT, OUT_WEIGHT, BREADTH = 0.66, 0.33, 0.5
"""connectedness = max(.66·in + .33·out, .5·ln(1 + edges)) (core/scorer.py)."""

NEIGHBOUR = {"active": 1.0, "archived": 0.2, "orphaned": 0.0}
"""What an edge to a neighbour of a tier is worth (core/scorer.py)."""

HALF_LIFE_DAYS = 90.0
"""An endorsement counts half after so many days (core/scorer.py)."""


@dataclass(frozen=True)
class Facts:
    """What is known of a node: when it was last used, and its endorsements as (time, credits)."""

    last_used: str
    credits: Sequence[tuple[str, int]] = ()


def scores(
    facts: Mapping[str, Facts],
    tiers: Mapping[str, str],
    edges: Iterable[tuple[str, str]],
    now: str,
) -> dict[str, float]:
    """Return the score of each node, from 0 to 1.

    Args:
        facts: the nodes to score, by id.
        tiers: the tier of every node that edges may name.
        edges: (source, target) ids.
        now: the time, RFC 3339.
    """
    connected = connectedness(facts, tiers, edges)
    recent = ranks({node: known.last_used for node, known in facts.items()})
    joined = ranks(connected)
    useful = ranks({node: usefulness(known.credits, now) for node, known in facts.items()})
    return {
        node: RECENCY * recent[node] + CONNECTEDNESS * joined[node] + USEFULNESS * useful[node]
        for node in facts
    }


def connectedness(
    nodes: Iterable[str], tiers: Mapping[str, str], edges: Iterable[tuple[str, str]]
) -> dict[str, float]:
    """Return how well each node is connected; neighbours in view count more."""
    inward = dict.fromkeys(nodes, 0.0)
    outward = dict.fromkeys(inward, 0.0)
    count = dict.fromkeys(inward, 0)
    for source, target in edges:
        if target in inward:
            inward[target] += NEIGHBOUR[tiers.get(source, "orphaned")]
            count[target] += 1
        if source in outward:
            outward[source] += NEIGHBOUR[tiers.get(target, "orphaned")]
            count[source] += source != target
    return {
        node: max(
            IN_WEIGHT * inward[node] + OUT_WEIGHT * outward[node],
            BREADTH * math.log1p(count[node]),
        )
        for node in inward
    }


def usefulness(credits: Iterable[tuple[str, int]], now: str) -> float:
    """Return Σ credits · ½^(age in days / 90)."""
    at = datetime.fromisoformat(now)
    return math.fsum(
        number * 0.5 ** (max(0.0, _days(datetime.fromisoformat(given), at)) / HALF_LIFE_DAYS)
        for given, number in credits
    )


def ranks(values: Mapping[str, Value]) -> dict[str, float]:
    """Return each value's percentile rank from 0 to 1; equal values share theirs, a single one has ½."""
    ordered = sorted(values.values())
    if len(ordered) < 2:
        return dict.fromkeys(values, 0.5)
    last = len(ordered) - 1
    return {
        node: (bisect_left(ordered, value) + bisect_right(ordered, value) - 1) / 2 / last
        for node, value in values.items()
    }


def _days(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / 86_400
