"""Scores: weights of the three ranks, ties, and that time passing alone changes nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.maintain import scoring
from vault_kg.maintain.scoring import Facts

NOW = "2026-03-01T12:00:00Z"


def test_ranks_are_percentiles_and_ties_share_theirs() -> None:
    assert scoring.ranks({"a": 1.0, "b": 2.0, "c": 3.0}) == {"a": 0, "b": 0.5, "c": 1}
    assert scoring.ranks({"a": 1.0, "b": 1.0, "c": 3.0}) == {"a": 0.25, "b": 0.25, "c": 1}
    assert scoring.ranks({"a": 7.0}) == {"a": 0.5}


def test_an_endorsement_counts_half_after_ninety_days() -> None:
    assert scoring.usefulness([("2025-12-01T12:00:00Z", 2)], NOW) == pytest.approx(1)
    assert scoring.usefulness([(NOW, 3)], NOW) == pytest.approx(3)
    assert scoring.usefulness([("2030-01-01T00:00:00Z", 1)], NOW) == 1, "no more than whole"


def test_connectedness_counts_neighbours_in_view_more() -> None:
    edges = [("a", "b"), ("c", "b"), ("b", "d")]
    tiers = {"a": "active", "b": "active", "c": "archived", "d": "orphaned"}
    found = scoring.connectedness(["b"], tiers, edges)["b"]
    assert found == pytest.approx(max(0.66 * 1.2 + 0.33 * 0.0, 0.5 * math.log(4)))


def test_the_three_ranks_have_their_weights() -> None:
    facts = {"new": Facts("2026-02-01T00:00:00Z"), "old": Facts("2026-01-01T00:00:00Z")}
    tiers = dict.fromkeys(facts, "active")
    assert scoring.scores(facts, tiers, [], NOW) == {
        "new": pytest.approx(0.25 * 1 + 0.4 * 0.5 + 0.35 * 0.5),
        "old": pytest.approx(0.25 * 0 + 0.4 * 0.5 + 0.35 * 0.5),
    }


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 10), min_size=1))
def test_ranks_keep_the_order(values: dict[str, float]) -> None:
    found = scoring.ranks(values)
    assert all(0 <= rank <= 1 for rank in found.values())
    for one in values:
        for other in values:
            assert (values[one] < values[other]) == (found[one] < found[other])


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.lists(st.integers(0, 300), max_size=3), min_size=2
    ),
    st.integers(0, 300),
)
def test_time_passing_changes_no_score(given_ago: dict[str, list[int]], later: int) -> None:
    from datetime import datetime, timedelta

    start = datetime.fromisoformat(NOW)
    facts = {
        node: Facts(NOW, [((start - timedelta(days=ago)).isoformat(), 1) for ago in given])
        for node, given in given_ago.items()
    }
    after = (start + timedelta(days=later)).isoformat()
    before = {n: scoring.usefulness(f.credits, NOW) for n, f in facts.items()}
    then = {n: scoring.usefulness(f.credits, after) for n, f in facts.items()}
    factor = 0.5 ** (later / scoring.HALF_LIFE_DAYS)
    assert all(then[n] == pytest.approx(before[n] * factor) for n in facts)
