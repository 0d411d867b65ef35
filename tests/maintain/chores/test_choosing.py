"""Which chore is chosen, and what is passed over with which reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.maintain.chores.choosing import Circumstances, choose
from vault_kg.maintain.chores.kinds import KINDS, Kind, Target


def pages(*names: str) -> list[list[Target]]:
    return [[target(name)] for name in names]


def target(name: str) -> Target:
    return Target(f"pg_{name}", name, "something")


def chosen(
    offered: dict[Kind, list[list[Target]]], known: Circumstances | None = None
) -> tuple[str, list[str]]:
    chore, _ = choose("user", offered, known or Circumstances())
    return (chore.kind, [t.name for t in chore.targets]) if chore else ("", [])


def test_weight_times_number_leads() -> None:
    offered = {"gist": pages("a"), "id": pages("b", "c", "d"), "edge": pages("e", "f")}
    assert chosen(offered) == ("id", ["b", "c"])


def test_each_kind_takes_its_number_of_pages() -> None:
    for kind, rules in KINDS.items():
        if kind != "lift":
            assert len(chosen({kind: pages(*"abcdefgh")})[1]) == rules.targets
    assert len(chosen({"lift": [[target(name) for name in "abcdefgh"]]})[1]) == 5


def test_nothing_is_left() -> None:
    assert choose("user", {}, Circumstances()) == (None, [])


def test_three_of_one_kind_yield_to_another_that_has_work() -> None:
    offered = {"gist": pages("a", "b", "c"), "id": pages("d")}
    assert chosen(offered, Circumstances(last_kinds=["gist", "gist"]))[0] == "gist"
    assert chosen(offered, Circumstances(last_kinds=["gist"] * 3))[0] == "id"
    assert chosen(offered, Circumstances(last_kinds=["gist", "id", "gist", "gist"]))[0] == "gist"
    assert chosen({"gist": pages("a")}, Circumstances(last_kinds=["gist"] * 3))[0] == "gist"


@pytest.mark.parametrize(
    ("line", "passed"),
    [
        ("merge of long-gist into other: not one thing", True),
        ("LONG-GIST is fine as it is", True),
        ("not-a-long-gist was looked at", False),
        ("long-gist.v2 stays", False),
        ("pg_long-gist", True),
        ("nothing", False),
    ],
)
def test_what_was_declined_is_not_proposed_again(line: str, passed: bool) -> None:
    chore, over = choose("user", {"gist": pages("long-gist")}, Circumstances(declined=[line]))
    assert (chore is None) == passed
    assert [one.reason for one in over] == ["an earlier pass declined it"] * passed


def test_the_pages_of_the_last_chores_rest() -> None:
    offered = {"gist": pages("a", "b")}
    assert chosen(offered, Circumstances(last_targets={"pg_a"})) == ("gist", ["b"])


def test_what_a_session_holds_is_never_renamed_and_else_comes_last() -> None:
    held = Circumstances(held={"pg_a"})
    assert chosen({"id": pages("a", "b", "c")}, held) == ("id", ["b", "c"])
    assert chosen({"id": pages("a")}, held) == ("", [])
    assert chosen({"gist": pages("a", "b", "c")}, held) == ("gist", ["b", "c"])
    assert chosen({"gist": pages("a")}, held) == ("gist", ["a"]), (
        "no veto, or nothing were ever done"
    )


@pytest.mark.parametrize("kind", ["gist", "notes", "anchor"])
def test_a_page_is_not_rewritten_again_and_again(kind: Kind) -> None:
    offered = {kind: pages("a")}
    assert chosen(offered, Circumstances(rewrites={"pg_a": 2}))[1] == ["a"]
    assert chosen(offered, Circumstances(rewrites={"pg_a": 3}))[1] == []


@pytest.mark.parametrize("kind", ["id", "edge"])
def test_what_writes_no_text_may_be_done_to_a_page_that_was_rewritten(kind: Kind) -> None:
    assert chosen({kind: pages("a")}, Circumstances(rewrites={"pg_a": 9}))[1] == ["a"]


def test_a_lesson_needs_two_episodes_that_may_be_worked_on() -> None:
    group = [[target("week-1"), target("week-2")]]
    assert chosen({"lift": group})[1] == ["week-1", "week-2"]
    assert chosen({"lift": group}, Circumstances(last_targets={"pg_week-1"})) == ("", [])


names = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)


@given(
    st.dictionaries(st.sampled_from(list(KINDS)), names),
    st.sets(st.sampled_from([f"pg_{c}" for c in "abcdefghij"])),
    st.lists(st.sampled_from(list(KINDS)), max_size=12),
)
def test_whatever_is_chosen_was_offered_and_may_be_done(
    offered: dict[Kind, list[str]], resting: set[str], last: list[Kind]
) -> None:
    groups = {kind: pages(*some) for kind, some in offered.items()}
    chore, over = choose("user", groups, Circumstances(last_targets=resting, last_kinds=last))
    free = {k: [n for n in some if f"pg_{n}" not in resting] for k, some in offered.items()}
    assert (chore is None) == (not any(free.values()))
    assert len(over) == sum(f"pg_{n}" in resting for some in offered.values() for n in some)
    if chore is not None:
        assert {t.name for t in chore.targets} <= set(free[chore.kind])
        assert 1 <= len(chore.targets) <= KINDS[chore.kind].targets
