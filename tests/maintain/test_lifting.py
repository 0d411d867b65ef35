"""Which episodes have a lesson in common."""

from __future__ import annotations

import pytest

from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain import lifting


def node(slug: str, gist: str = "", touches: tuple[str, ...] = ()) -> Node:
    return Node(
        slug, "user", f"user/pages/{slug}.md", slug, gist, touches, False, False, 0, "active", 1,
        "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", False,
    )  # fmt: skip


def edge(source: str, target: str, rel: str = "relates_to") -> Edge:
    return Edge(f"re_{source}-{target}", "user", source, target, rel)


@pytest.mark.parametrize(
    "slug",
    [
        "deploy-2026-01-05", "2026-01-notes", "session-with-ada", "design-review", "week1-plan",
        "sprint-12", "release-retro", "status", "run7", "incident-db", "handover",
    ],
)  # fmt: skip
def test_ids_of_episodes(slug: str) -> None:
    assert lifting.is_episode(slug)


@pytest.mark.parametrize("slug", ["deploy-rules", "reviewing-code", "weekly", "v2-plan", "audited"])
def test_ids_of_what_lasts(slug: str) -> None:
    assert not lifting.is_episode(slug)


def test_a_file_that_both_touch_joins() -> None:
    a, b = (node(f"review-{n}", touches=("src/a.py:12",)) for n in "ab")
    assert lifting.clusters([a, b, node("rules", touches=("src/a.py",))], []) == [
        ["review-a", "review-b"]
    ]


def test_an_edge_joins() -> None:
    active = [node("session-x"), node("session-y"), node("session-z")]
    assert lifting.clusters(active, [edge("session-x", "session-y")]) == [
        ["session-x", "session-y"]
    ]


def test_three_terms_or_neighbours_join_and_two_do_not() -> None:
    said = "retry backoff"
    two = [node("audit-a", said), node("status-b", said)]
    assert lifting.clusters(two, []) == []
    beside = [edge("audit-a", "hub"), edge("status-b", "hub")]
    assert lifting.clusters(two, beside) == [["audit-a", "status-b"]]
    three = [node("audit-a", f"{said} jitter"), node("status-b", f"{said} jitter")]
    assert lifting.clusters(three, []) == [["audit-a", "status-b"]]


def test_what_has_its_principle_is_done() -> None:
    active = [node("session-x"), node("session-y")]
    edges = [edge("session-x", "session-y"), edge("session-x", "principle", "instance_of")]
    assert lifting.clusters(active, edges) == []


def test_a_group_has_five_at_most_and_a_page_is_in_one_only() -> None:
    active = [node(f"session-{n}") for n in range(12)]
    edges = [edge(f"session-{n}", f"session-{n + 1}") for n in range(11)]
    found = lifting.clusters(active, edges)
    members = [one for group in found for one in group]
    assert all(2 <= len(group) <= 5 for group in found)
    assert len(members) == len(set(members)) >= 10


def test_what_very_many_have_in_common_joins_none() -> None:
    active = [node(f"session-{chr(97 + n)}{n}x", touches=("README.md",)) for n in range(9)]
    assert lifting.clusters(active, []) == []
    assert len(lifting.clusters(active[:8], [])) == 2
