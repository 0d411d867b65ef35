"""How relevant a node is: by its confidence, its connections, its use, and what contradicts it.

    relevance = clamp to [0, 1.5] of
        ( 0.4 * confidence
        + 0.3 * ln(1 + degree) / ln(100)
        + 0.3 * hits * 0.5 ** (days since the last query / 30)
        - min(sum of the confidences of incoming contradictions, 0.5)
        + priority boost )
        * min(1 + 0.1 * ln(attestations), 1.5)

The formula is that of Okto Pulse's scoring. Nothing of it is kept but the use of a page; it is worked
out when it is asked for, so that decay needs no clock of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HIGHEST = 1.5
HALF_LIFE_DAYS = 30.0
UNSTATED_CONFIDENCE = 0.7
UNSTATED_CONTRADICTION = 0.5
"""The confidence of a contradiction that states none."""

PRIORITIES = {
    "none": 0.0, "low": 0.0, "medium": 0.05, "high": 0.10, "very_high": 0.15, "critical": 0.20
}  # fmt: skip
SEVERITIES = {"minor": 0.10, "major": 0.15, "critical": 0.20}
"""Of bugs."""


@dataclass(frozen=True)
class Standing:
    """What the relevance of a node is worked out from."""

    confidence: float = UNSTATED_CONFIDENCE
    degree: int = 0
    hits: int = 0
    days_since_query: float = 0.0
    contradictions: Sequence[float | None] = ()
    boost: float = 0.0
    attestations: int = 1


def relevance(node: Standing) -> float:
    """Return the relevance of a node, from 0 to 1.5."""
    score = (
        0.4 * node.confidence
        + 0.3 * math.log1p(node.degree) / math.log(100)
        + 0.3 * decayed(node.hits, node.days_since_query)
        - contradicted(node.contradictions)
        + node.boost
    )
    return min(max(score * attested(node.attestations), 0.0), HIGHEST)


def decayed(hits: int, days: float) -> float:
    """Return what queries count for after so many days: half of it every 30 days."""
    return float(hits * 0.5 ** (max(days, 0.0) / HALF_LIFE_DAYS))


def contradicted(confidences: Sequence[float | None]) -> float:
    """Return what contradictions take away, at most a half."""
    stated = (UNSTATED_CONTRADICTION if each is None else each for each in confidences)
    return min(sum(stated), 0.5)


def attested(attestations: int) -> float:
    """Return what it counts for that a node was asserted more than once, at most 1.5."""
    return min(1 + 0.1 * math.log(max(attestations, 1)), 1.5)


def boost(type_name: str | None, fields: Mapping[str, Any]) -> float:
    """Return the boost by a node's priority and, of a bug, its severity: the higher of both."""
    priority = PRIORITIES.get(str(fields.get("priority")), 0.0)
    severity = SEVERITIES.get(str(fields.get("severity")), 0.0) if type_name == "Bug" else 0.0
    return max(priority, severity)


def confidence(fields: Mapping[str, Any]) -> float:
    """Return the confidence that a node states, or what counts where it states none."""
    stated = fields.get("confidence")
    if isinstance(stated, int | float) and not isinstance(stated, bool):
        return float(stated)
    return UNSTATED_CONFIDENCE
