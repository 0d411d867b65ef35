"""Episodes: retained sources, listed with what they say and whom they mention."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph


def test_a_row_says_what_is_retained(graph: Graph) -> None:
    uuid = graph.source("Of Ada.\n", name="a.md", attribution="Grace")
    ada = graph.page("Ada", evidence=[{"source": uuid}])
    (row,) = graph.ask("get_episodes")["episodes"]
    assert row == {
        "uuid": uuid, "name": "a.md", "group_id": "main", "created_at": row["created_at"],
        "ingested_at": row["created_at"], "source": "text", "source_description": "a.md",
        "content": "Of Ada.\n", "content_chars": 8, "content_shown": 8, "valid_at": None,
        "entity_edges": [ada], "entity_count": 1,
        "attributes": row["attributes"],
    }  # fmt: skip
    assert row["attributes"]["attribution"] == "Grace" and row["attributes"]["size"] == 8


def test_the_latest_come_first(graph: Graph) -> None:
    made = [graph.source(f"Text {n}.\n", name=f"{n}.txt") for n in range(5)]
    assert [e["uuid"] for e in graph.ask("get_episodes")["episodes"]] == made[::-1]
    assert graph.paged("get_episodes", "episodes", 2) == [
        made[:2:-1], made[2:0:-1], made[:1],
    ]  # fmt: skip


def test_groups_are_joined(graph: Graph) -> None:
    one = graph.source("One.\n")
    two = graph.source("Two.\n", partition="other")
    assert graph.episode_ids(group_id="main") == {one}
    assert graph.episode_ids(group_id="main", group_ids=["other"]) == {one, two}
    assert graph.episode_ids(group_id="other", group_ids=[]) == {two}


def test_a_prefix_is_exact(graph: Graph) -> None:
    graph.source("One.\n", name="Notes.md")
    graph.source("Two.\n", name="notes.txt")
    found = graph.ask("get_episodes", name_prefix="Notes")["episodes"]
    assert [e["name"] for e in found] == ["Notes.md"]
    assert graph.ask("get_episodes", name_prefix="%")["total"] == 0


def test_a_long_content_says_how_long_it_is_and_a_binary_one_has_none(graph: Graph) -> None:
    graph.source("x" * 50_000, name="long.txt")
    graph.source(b"\x89PNG\0\0", name="a.png")
    found = {e["name"]: e for e in graph.ask("get_episodes")["episodes"]}
    long, image = found["long.txt"], found["a.png"]
    assert (long["content_chars"], long["content_shown"]) == (50_000, 20_000)
    assert len(long["content"]) == 20_000
    assert (image["content"], image["source"]) == (None, "image/png")


def test_an_assertion_is_an_episode(graph: Graph) -> None:
    ada = graph.entity("Ada")
    (row,) = graph.ask("get_episodes")["episodes"]
    assert (row["source"], row["entity_edges"]) == ("assertion", [ada])
