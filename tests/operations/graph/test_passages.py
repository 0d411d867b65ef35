"""Passages: pieces of text that answer, found by words where there is no model."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph


def test_a_passage_says_where_it_stands(graph: Graph) -> None:
    uuid = graph.page("Ada", body="# Notes\n\nShe wrote about Bernoulli numbers.\n")
    (row,) = graph.ask("search_passages", query="Bernoulli")["passages"]
    assert row["uuid"] == uuid and "Bernoulli numbers" in row["content"]
    assert row["source_description"] == f"{row['path']}:{row['lines']}"
    assert (row["heading"], row["score"]) == ("Notes", None)
    assert row["search"]["text_match"] is True


def test_every_kind_of_text_answers_and_gibberish_does_not(graph: Graph) -> None:
    ada, bob = graph.page("Ada", body="Zugzwang."), graph.page("Bob")
    graph.claim(ada, "Zugzwang is near.")
    graph.relationship(ada, bob, fact="Zugzwang again.")
    graph.put("notes/n.md", "Zugzwang in a note.\n")
    graph.scan()
    found = graph.ask("search_passages", query="zugzwang", num_results=10)
    assert {p["kind"] for p in found["passages"]} == {"page", "claim", "relationship", "note"}
    assert found["total"] == found["count"] == 4
    assert graph.ask("search_passages", query="zxqv wvkj", min_score=0)["passages"] == []
    graph.refusal("search_passages", query=" ")


def test_passages_page(graph: Graph) -> None:
    for number in range(5):
        graph.page(f"P{number}", body="Zugzwang.")
    pages = graph.paged("search_passages", "passages", 2, query="zugzwang")
    assert [len(p) for p in pages] == [2, 2, 1] and len({u for p in pages for u in p}) == 5
