"""The archive: one history after another, and each rule by itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.maintain.histories import faults_of
from vault_kg.maintain import archive
from vault_kg.maintain.layout import ANCHORS, Item, Layout, Tie
from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

BUDGET = 1_000


def level(
    sizes: Mapping[str, int], tiers: Mapping[str, str] | None = None, ties: list[Tie] | None = None
) -> Layout:
    """Return a level of nodes with lines of so many characters, the first the oldest."""
    items = {
        name: Item(name, line, 5, f"2026-01-{n:02}")
        for n, (name, line) in enumerate(sizes.items(), 1)
    }
    standing = dict.fromkeys(sizes, ACTIVE) | dict(tiers or {})
    return Layout(items, ties or [], standing, budget=BUDGET)


def by(**scores: float) -> archive.Score:
    return lambda tiers: {name: scores.get(name, 0.5) for name in tiers}


def test_histories_hold_every_rule() -> None:
    """`python -m tests.maintain.histories` runs 20,000."""
    faults = {seed: found for seed in range(400) if (found := faults_of(seed))}
    assert not faults


def test_a_level_within_its_budget_is_left_alone() -> None:
    assert archive.tend(level({"a": 500, "b": 500}), by()) == {}


def test_over_the_budget_the_lowest_go_until_the_target() -> None:
    layout = level(dict.fromkeys("abcde", 210))
    moved = archive.tend(layout, by(a=0.9, b=0.1, c=0.2, d=0.8))
    assert moved == {"b": ARCHIVED, "c": ARCHIVED}, "e is the newest, and fresh"
    assert layout.size == 3 * 210 + 10


def test_what_was_taken_out_for_nothing_is_put_back() -> None:
    layout = level({"a": 60, "b": 500, "c": 300, "d": 290})
    moved = archive.tend(layout, by(a=0.1, b=0.2, c=0.9))
    assert moved == {"b": ARCHIVED}, "with b gone there is room for a"


def test_the_newest_are_not_scored() -> None:
    layout = level({"a": 900, "new": 200})
    assert archive.fresh(layout) == {"new"}
    assert archive.tend(layout, by(a=0.9, new=0.0)) == {"a": ARCHIVED}


def test_edges_are_charged_while_both_ends_are_in_view() -> None:
    layout = level({"a": 100, "b": 100}, ties=[Tie("a", "b", 30)])
    assert layout.size == 230
    layout.move("a", ARCHIVED)
    assert layout.size == 105
    layout.move("a", ORPHANED)
    assert layout.size == 100


def test_the_whole_archive_comes_back_where_it_fits() -> None:
    layout = level({"a": 300, "b": 300, "c": 295}, {"a": ARCHIVED, "b": ARCHIVED})
    assert archive.tend(layout, by()) == {"a": ACTIVE, "b": ACTIVE}


def test_else_the_best_come_back_and_what_does_not_fit_is_passed_over() -> None:
    away = dict.fromkeys("abc", ARCHIVED)
    layout = level({"a": 300, "b": 600, "c": 200, "d": 250}, away)
    assert archive.tend(layout, by(a=0.5, b=0.9, c=0.4)) == {"a": ACTIVE, "c": ACTIVE}


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_at_just_the_target_nothing_chases_anything(step: int) -> None:
    """C31: a graph at exactly 80 % of its budget."""
    sizes = {"a": 100, "b": 100, "c": 100, "d": 100, "e": 395 + step, "x": 100, "y": 150}
    layout = level(sizes, {"x": ARCHIVED, "y": ARCHIVED})
    before = layout.size
    assert before == 0.8 * BUDGET + 5 + step
    for _ in range(10):
        assert archive.tend(layout, by(x=0.52, y=0.51)) == {}
    assert layout.size == before


def test_an_archived_node_takes_a_place_only_by_the_margin() -> None:
    sizes = {"a": 420, "b": 420, "x": 400}
    assert archive.tend(level(sizes, {"x": ARCHIVED}), by(a=0.5, b=0.9, x=0.54)) == {}
    swapped = archive.tend(level(sizes, {"x": ARCHIVED}), by(a=0.5, b=0.9, x=0.56))
    assert swapped == {"x": ACTIVE, "a": ARCHIVED}


def test_a_swap_that_would_be_made_back_is_not_made() -> None:
    def fickle(tiers: Mapping[str, str]) -> dict[str, float]:
        """Whoever is archived looks better."""
        return {name: 0.9 if tier == ARCHIVED else 0.1 for name, tier in tiers.items()}

    assert archive.tend(level({"a": 420, "b": 420, "x": 400}, {"x": ARCHIVED}), fickle) == {}


def test_what_is_at_rest_is_taken_out_only_where_nothing_else_is_left() -> None:
    layout = level({"a": 390, "b": 390, "c": 390})
    assert archive.tend(layout, by(a=0.1, b=0.9, c=0.9), moved={"a"}) == {"b": ARCHIVED}
    layout = level({"a": 600, "b": 600})
    moved = archive.tend(layout, by(a=0.1), moved={"a", "b"})
    assert layout.size <= BUDGET and moved == {"a": ARCHIVED}


def test_anchors_have_their_share_and_the_least_connected_go_first() -> None:
    sizes = {f"n{n}": 10 for n in range(100)} | {"hub": 700}
    away = {name: ARCHIVED for name in sizes if name != "hub"}
    layout = level(sizes, away, [Tie("hub", "n3", 20)])
    archive.tend(layout, by())
    assert layout.anchors <= ANCHORS * BUDGET
    assert layout.tiers["n3"] == ARCHIVED
    assert set(layout.tiers) == set(sizes)
