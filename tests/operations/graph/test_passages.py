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


def test_a_retained_text_is_searched_and_says_where_it_stands(graph: Graph) -> None:
    text = "First line.\n\n# Engines\n\nThe difference engine weaves nothing.\n"
    source = graph.source(text, "engines.md")
    row = graph.ask("search_passages", query="difference engine")["passages"][0]
    assert (row["uuid"], row["kind"], row["name"]) == (source, "source", "engines.md")
    assert (row["heading"], row["source_description"]) == ("Engines", "engines.md")
    assert row["path"].endswith("/engines.md") and row["group_id"] == "main"
    read = graph.call("knowledge_source", id=source, lines=row["lines"])
    assert row["content"].strip() in read["text"]


def test_only_text_is_searched_and_no_request(graph: Graph) -> None:
    graph.source(b"Zugzwang \0 in bytes", "a.bin")
    graph.source("Zugzwang in no text.", "a.pdf")
    graph.source("x" * 2_000_001 + " Zugzwang", "long.txt")
    graph.entity("Zugzwang")
    found = graph.ask("search_passages", query="zugzwang")["passages"]
    assert {p["kind"] for p in found} == {"page"}, "a request is retained, and is no text"


def test_other_reads_do_not_know_of_the_rows_of_sources(graph: Graph) -> None:
    before = graph.call("knowledge_status")["records"]
    source = graph.source("Zugzwang again.", "z.txt")
    status = graph.call("knowledge_status")
    assert status["records"] == before
    assert graph.call("knowledge_search", query="zugzwang", mode="text")["total"] == 0
    assert source not in graph.listed(lifecycle="all")
    graph.refused("knowledge_get", id=source)
    graph.refused("knowledge_lookup", text="z.txt")
    assert graph.findings() == []


def test_a_source_that_goes_is_not_found_any_more(graph: Graph) -> None:
    source = graph.source("Zugzwang for a while.", "z.txt")
    assert graph.ask("search_passages", query="zugzwang")["total"] == 1
    graph.ask("delete_episode", episode_uuid=source)
    assert graph.ask("search_passages", query="zugzwang")["total"] == 0


def test_a_text_that_is_not_what_was_retained_is_not_searched(graph: Graph) -> None:
    source = graph.source("Zugzwang as retained.", "z.txt")
    (row,) = graph.ask("search_passages", query="zugzwang")["passages"]
    assert row["uuid"] == source
    graph.put(row["path"], "Zugzwang as forged.")
    graph.ask("build_indices")
    assert graph.ask("search_passages", query="zugzwang")["total"] == 0


def test_a_rebuilt_index_finds_the_same(graph: Graph) -> None:
    graph.source("Zugzwang one.", "one.txt")
    graph.source("Zugzwang two.", "two.txt", partition="other")
    asked = {"query": "zugzwang", "group_ids": ["other"]}
    before = graph.ask("search_passages", **asked)["passages"]
    assert [p["name"] for p in before] == ["two.txt"]
    graph.ask("build_indices")
    assert graph.ask("search_passages", **asked)["passages"] == before
