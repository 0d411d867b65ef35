"""A level as text: charged as it is rendered, within its budget, and saying what it left out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain import render
from vault_kg.maintain.render import Picture
from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

TIERS = st.sampled_from([ACTIVE, ACTIVE, ARCHIVED, ORPHANED])
GISTS = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=120)


def node(name: str, gist: str, tier: str = ACTIVE, partition: str = "user") -> Node:
    return Node(
        name, partition, f"{partition}/pages/entity/{name}.md", name, gist, (), False, False, 0,
        tier, 1, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", False,
    )  # fmt: skip


@st.composite
def levels(draw: st.DrawFn) -> tuple[list[Node], list[Node], list[Edge]]:
    """Draw the nodes of a level, nodes of another one, and edges of the level."""
    own = [
        node(f"n{n}", gist, draw(TIERS))
        for n, gist in enumerate(draw(st.lists(GISTS, max_size=25)))
    ]
    other = [node(f"user-{n}", "g", draw(TIERS), "other") for n in range(draw(st.integers(0, 3)))]
    ends = [one.id for one in (*own, *other)]
    pairs = (
        draw(st.lists(st.tuples(st.sampled_from(ends), st.sampled_from(ends)), max_size=40))
        if ends
        else []
    )
    edges = [Edge(f"e{n}", "user", a, b, f"rel-{n}") for n, (a, b) in enumerate(pairs)]
    return own, other, edges


def picture(own: list[Node], other: list[Node], edges: list[Edge]) -> Picture:
    called = {one.id: one.name for one in (*own, *other) if one.tier == ACTIVE}
    return Picture("user", [one for one in own if one.tier != ORPHANED], edges, called)


@given(levels())
def test_what_is_charged_is_what_is_rendered(
    drawn: tuple[list[Node], list[Node], list[Edge]],
) -> None:
    own, other, edges = drawn
    called = {one.id: one.name for one in (*own, *other)}
    layout = render.layout(own, edges, called, {one.id: one.tier for one in other})
    assert len(render.text(picture(own, other, edges), 1_000_000).text) == layout.size


@given(levels(), st.integers(len(render.HEADER), 3_000))
def test_a_text_fits_any_budget_and_says_what_it_left_out(
    drawn: tuple[list[Node], list[Node], list[Edge]], budget: int
) -> None:
    whole = render.text(picture(*drawn), 1_000_000)
    found = render.text(picture(*drawn), budget)
    assert len(found.text) <= budget
    if len(whole.text) <= budget:
        assert found == whole and not found.left_out
    else:
        assert found.left_out
        assert budget < render.NOTE_ROOM or f"degraded to fit {budget}" in found.text


@pytest.mark.parametrize("count", [10, 1_000, 20_000])
def test_any_size_of_graph_fits(count: int) -> None:
    own = [node(f"node-{n}", f"Gist number {n}, with some more words in it.") for n in range(count)]
    edges = [Edge(f"e{n}", "user", f"node-{n}", f"node-{n + 1}", "next") for n in range(count - 1)]
    found = render.text(picture(own, [], edges))
    assert len(found.text) <= render.LEVEL_BUDGET
    left = dict(re.findall(r"(\d+) (edge|node)\(s\)", found.text.split("left out: ")[-1]))
    shown = len(re.findall(r"^  node-", found.text, re.MULTILINE))
    missing = next((int(n) for n, what in left.items() if what == "node"), 0)
    assert shown + missing == count


def test_ids_go_before_edges_and_edges_before_gists() -> None:
    own = [node(f"a{n}", "gist " * 10) for n in range(10)] + [
        node(f"z{n}", "", ARCHIVED) for n in range(10)
    ]
    edges = [Edge(f"e{n}", "user", "a0", f"a{n}", "rel") for n in range(1, 10)]
    whole = picture(own, [], edges)
    size = len(render.text(whole, 100_000).text)
    assert render.text(whole, size).left_out == []
    assert render.text(whole, size - 1).left_out[0].endswith("archived id(s)")
    small = render.text(whole, 800).left_out
    assert [said.split(" ", 1)[1] for said in small[:2]] == ["archived id(s)", "edge(s)"]


@pytest.mark.parametrize("count", [80, 90, 120, 200])
def test_gists_are_cut_no_more_than_it_takes_the_longest_first(count: int) -> None:
    own = [node(f"a-node-number-{n:03}", "g" * 200) for n in range(count)]
    short = node("short", "s" * 60)
    found = render.text(picture([*own, short], [], []))
    assert render.LEVEL_BUDGET - render.NOTE_ROOM - count <= len(found.text)
    assert len(found.text) <= render.LEVEL_BUDGET
    if count < 170:
        assert found.left_out == [f"{count} gist end(s)"] and found.shown == [short]
    else:
        assert found.left_out[-1].endswith("node(s)"), "not even short ones fit"


def test_one_long_gist_is_cut_before_all_others() -> None:
    own = [node(f"a-node-number-{n:03}", "g" * 150) for n in range(90)]
    found = render.text(picture([*own, node("long", "x" * 3_000)], [], []))
    assert found.left_out == ["1 gist end(s)"] and len(found.shown) == 90


def test_what_belongs_together_stands_together() -> None:
    own = [node(name, "g") for name in ("a", "b", "c", "d")]
    edges = [Edge("1", "user", "d", "b", "of"), Edge("2", "user", "b", "c", "of")]
    lines = render.text(picture(own, [], edges)).text.splitlines()
    assert lines == [
        "ACTIVE:", "  b: g", "    → of → c", "  d: g", "    → of → b", "  c: g", "  a: g",
    ]  # fmt: skip


def test_an_edge_from_another_level_stands_under_its_target() -> None:
    own, other = [node("a", "g")], [node("u", "g", partition="other")]
    said = render.text(picture(own, other, [Edge("1", "user", "u", "a", "of")])).text
    assert said == "ACTIVE:\n  a: g\n    ← of ← u\n"
