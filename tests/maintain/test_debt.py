"""The debt by its formula: a worked example for each factor, and the line that shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_kg.maintain import debt
from vault_kg.maintain.debt import Counts, Smeared

FULL = Counts(days_untended=14, days_active=4, active=10)
"""Wholly stale and fully active, so that only the deficit tells scores apart."""


def scored(**changes: object) -> float:
    return debt.score(replace(FULL, **changes))  # type: ignore[arg-type]


def test_a_groomed_graph_in_use_scores_a_quarter() -> None:
    assert scored() == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("changes", "deficit"),
    [
        ({"oversized": 5}, 0.5),                                    # 5/10
        ({"unconnected": 4}, 0.2),                                  # .5 · 4/10
        ({"long_ids": 6}, 0.3),                                     # .5 · 6/10
        ({"dangling_nodes": 2, "dangling_touches": 7}, 0.1),        # .5 · 2/10: nodes, not touches
        ({"lift_members": 4, "lift_clusters": 2}, 0.1),             # .25 · 4/10
        ({"smeared": [Smeared("alpha", 9, "alpha-hub")]}, 0.08),    # .08 a term
        ({"smeared": [Smeared("alpha", 9, "h")] * 3}, 0.24),
        ({"smeared": [Smeared("alpha", 9, "h")] * 9}, 0.24),        # three count
        ({"oversized": 10, "unconnected": 10}, 1.5),                # more than all counts as all
    ],
)  # fmt: skip
def test_each_factor_has_its_weight(changes: dict[str, object], deficit: float) -> None:
    assert debt.deficit(replace(FULL, **changes)) == pytest.approx(deficit)  # type: ignore[arg-type]
    assert scored(**changes) == pytest.approx(0.25 + 0.75 * min(1, deficit))


@pytest.mark.parametrize(("days", "staleness"), [(None, 1), (0, 0), (7, 0.5), (14, 1), (200, 1)])
def test_staleness_saturates_and_never_is_wholly_stale(
    days: float | None, staleness: float
) -> None:
    assert scored(days_untended=days, oversized=10) == pytest.approx(staleness)


@pytest.mark.parametrize(("days", "weight"), [(0, 0.4), (1, 0.55), (2, 0.7), (4, 1), (7, 1)])
def test_activity_weights_debt_up(days: int, weight: float) -> None:
    assert scored(days_active=days, oversized=10) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("score", "verdict"),
    [(0.5, "HIGH"), (0.4999, "MED"), (0.3, "MED"), (0.2999, "LOW"), (0, "LOW")],
)
def test_verdicts(score: float, verdict: str) -> None:
    assert debt.verdict(score) == verdict


def test_an_empty_graph_owes_little() -> None:
    assert debt.score(Counts(None, 0, 0)) == pytest.approx(0.1)


def test_the_line_is_that_of_the_runbook() -> None:
    counts = replace(FULL, days_untended=None, active=30, oversized=14, unconnected=7)
    assert debt.line(counts) == (
        f"DEBT: HIGH ({debt.score(counts):.2f}) — 14 oversized gist(s), 7 unconnected, never maintained, "
        "active 4/7d — worth a /kg-maintain pass (or a maintenance subagent) now"
    )


def test_the_line_names_every_factor_that_is_not_nought() -> None:
    counts = Counts(
        3.9,
        2,
        30,
        1,
        2,
        3,
        4,
        2,
        1,
        2,
        [Smeared("lodge", 8, "lodge-api"), Smeared("queue", 7, "q")],
    )
    assert debt.line(counts) == (
        f"DEBT: LOW ({debt.score(counts):.2f}) — 1 oversized gist(s), 2 long id(s), 3 unconnected, "
        "4 dangling touch(es), 1 lift cluster(s), untended 3d, active 2/7d "
        "— smeared: lodge×8→lodge-api, queue×7→q"
    )


def test_health() -> None:
    assert debt.health(8, 6, 2) == "HEALTH: 8 nodes, 6 edges, 2 orphans (25%), avg 0.8 edges/node"
    assert debt.health(0, 0, 0) == "HEALTH: 0 nodes, 0 edges, 0 orphans (0%), avg 0.0 edges/node"
