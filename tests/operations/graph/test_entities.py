"""Entities: listed, resolved by name, searched, and found by their source."""

from __future__ import annotations

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import Ambiguous


def test_a_row_says_what_its_page_says(graph: Graph) -> None:
    uuid = graph.page(
        "Ada Lovelace", "Person", summary="Mathematician.", aliases=["Ada"],
        fields={"born": "1815-12-10", "role": "analyst"}, evidence=graph.evidence,
    )  # fmt: skip
    source = graph.evidence[0]["source"]
    (row,) = graph.nodes()
    assert row == {
        "uuid": uuid, "name": "Ada Lovelace", "group_id": "main", "labels": ["Entity", "Person"],
        "kind": "Person", "created_at": row["created_at"], "ingested_at": row["created_at"],
        "updated_at": row["updated_at"], "summary": "Mathematician.",
        "attributes": {"born": "1815-12-10", "role": "analyst"}, "aliases": ["Ada"],
        "episode_uuids": [source], "episode_count": 1, "source_descriptions": ["notes.txt"],
        "lifecycle": "active",
    }  # fmt: skip


def test_attributes_keep_their_types(graph: Graph) -> None:
    values = {"n": 1, "x": 0.1, "yes": True, "no": "no", "code": "0755", "list": [1, {"a": "b"}]}
    uuid = graph.entity("T", attributes=values)
    graph.scan()
    assert graph.node(uuid)["attributes"] == values


def test_labels_are_the_kind_and_what_it_inherits_from(graph: Graph) -> None:
    graph.put("ontology.yaml", "page_types:\n  Essay: {parent: Document}\n")
    graph.scan()
    assert graph.node(graph.entity("E", "essay"))["labels"] == ["Entity", "Document", "Essay"]
    assert graph.node(graph.entity("U", "gadget"))["labels"] == ["Entity", "Gadget"]


def test_a_kind_is_exact_and_a_page_without_a_type_is_an_entity(graph: Graph) -> None:
    graph.put("ontology.yaml", "page_types:\n  Essay: {parent: Document}\n")
    graph.entity("Plain")
    graph.entity("Doc", "Document")
    graph.entity("Essay one", "Essay")
    for kind, names in (
        ("Entity", {"Plain"}), ("document", {"Doc"}), ("Essay", {"Essay one"}), ("Nope", set()),
    ):  # fmt: skip
        assert graph.names(kind=kind) == names
    assert len(graph.names()) == 3


@pytest.mark.parametrize(
    ("prefix", "names"),
    [("ad", {"Ada", "adam"}), ("ADA ", set()), ("łó", {"Łódź"}), ("NAI", set()), ("naï", {"naïve"}),
     ("%", set()), ("", {"Ada", "adam", "Łódź", "naïve", "東京都"}), ("東京", {"東京都"})],
)  # fmt: skip
def test_a_prefix_is_literal_and_folds_case_and_unicode_form(
    graph: Graph, prefix: str, names: set[str]
) -> None:
    for name in ("Ada", "adam", "Łódź", "naïve", "東京都"):
        graph.entity(name)
    assert graph.names(name_prefix=prefix) == names


def test_what_is_merged_withdrawn_or_hidden_is_absent_unless_asked_for(graph: Graph) -> None:
    ada, alias, gone = (graph.entity(name, "Person") for name in ("Ada", "Countess", "Gone"))
    graph.merge(ada, alias)
    graph.withdraw(gone)
    answer = graph.ask("list_entities")
    assert (answer["total"], graph.names()) == (1, {"Ada"})
    assert graph.ask("find_entities", query="Countess Gone")["total"] == 1
    everything = {n["name"]: n for n in graph.nodes(include_inactive=True)}
    assert {name: n["lifecycle"] for name, n in everything.items()} == {
        "Ada": "active", "Countess": "merged", "Gone": "withdrawn",
    }  # fmt: skip
    assert everything["Countess"]["labels"] == ["Entity", "Person", "Merged"]
    assert graph.ask("get_nodes_by_group", include_inactive=True)["total"] == 3


def test_a_name_resolves_by_title_and_alias_and_through_a_merge(graph: Graph) -> None:
    ada = graph.page("Ada Lovelace", "Person", aliases=["Enchantress"])
    other = graph.page("Augusta King", "Person")
    graph.merge(ada, other)
    for name in ("ada  LOVELACE", "enchantress", "Augusta King"):
        found = graph.ask("resolve_entity", name=name)
        assert found["found"] and found["node"]["uuid"] == ada
    graph.change(ada, aliases=None)
    assert graph.ask("resolve_entity", name="augusta king")["node"]["uuid"] == ada
    assert graph.ask("resolve_entity", name="Nobody") == {"found": False, "node": None}
    assert graph.ask("resolve_entity", name="Ada Lovelace", group_id="other")["found"] is False


def test_a_name_of_several_kinds_is_ambiguous_until_a_kind_is_given(graph: Graph) -> None:
    topic, channel = graph.entity("adr", "Topic"), graph.entity("adr", "KnowledgeChannel")
    assert topic != channel
    refused = graph.refusal("resolve_entity", name="ADR")
    assert isinstance(refused, Ambiguous)
    assert refused.data == {
        "reason": "ambiguous_entity", "name": "ADR", "group_id": "main",
        "candidates": [
            {"uuid": topic, "kind": "Topic"}, {"uuid": channel, "kind": "KnowledgeChannel"},
        ],
    }  # fmt: skip
    found = graph.ask("resolve_entity", name="adr", kind="Topic")
    assert found["node"]["uuid"] == topic
    assert graph.ask("resolve_entity", name="adr", kind="Person")["found"] is False


def test_an_edit_is_seen_by_the_next_resolution(graph: Graph) -> None:
    uuid = graph.entity("Ada")
    graph.edit(uuid, "title: Ada", "title: Adah")
    assert graph.ask("resolve_entity", name="Adah")["found"] is False, "no scan has seen it"
    graph.edit(uuid, "title: Adah", "title: Ada\nsummary: Edited.")
    assert graph.ask("resolve_entity", name="Ada")["node"]["summary"] == "Edited."


def test_search_gives_the_exact_name_first_and_says_why(graph: Graph) -> None:
    for number in range(9):
        graph.entity(f"Engine part {number}", summary="A part of the analytical engine.")
    exact = graph.entity("Analytical engine")
    found = graph.ask("find_entities", query="analytical engine")
    assert found["nodes"][0]["uuid"] == exact and found["total"] == 10
    assert found["nodes"][0]["search"]["exact_name"] is True
    search = found["nodes"][1]["search"]
    assert search["text_match"] and search["bm25_score"] > 0 and search["rrf_score"] > 0
    assert search["name_similarity"] is search["summary_similarity"] is search["similarity"] is None
    assert found["semantic"]["state"] == "off", "words answer, and it is said that meaning does not"
    again = graph.ask("find_entities", query="analytical engine")
    assert [n["uuid"] for n in again["nodes"]] == [n["uuid"] for n in found["nodes"]]


def test_gibberish_finds_nothing(graph: Graph) -> None:
    graph.entity("Ada", summary="Mathematician.")
    for floor in ({}, {"min_similarity": 0.4}, {"min_similarity": 7}):
        assert graph.ask("find_entities", query="zxqv wvkj", **floor)["nodes"] == []
    graph.refusal("find_entities", query="   ")
    graph.refusal("find_entities", query="Ada", min_similarity="much")


def test_search_filters_before_it_takes_the_best(graph: Graph) -> None:
    for number in range(12):
        graph.entity(f"Ada {number}")
    wanted = graph.entity("Ada of the other", group="other")
    topic = graph.entity("Ada as a topic", "Topic")
    few = {"query": "Ada", "num_results": 1}
    assert graph.ask("find_entities", **few, group_ids=["other"])["nodes"][0]["uuid"] == wanted
    assert graph.ask("find_entities", **few, kind="Topic")["nodes"][0]["uuid"] == topic


def test_search_pages(graph: Graph) -> None:
    for number in range(7):
        graph.entity(f"Ada {number}")
    whole = [n["uuid"] for n in graph.ask("find_entities", query="Ada")["nodes"]]
    pages = graph.paged("find_entities", "nodes", 3, query="Ada")
    assert [len(p) for p in pages] == [3, 3, 1] and [u for p in pages for u in p] == whole


def test_a_source_is_matched_exactly(graph: Graph) -> None:
    ada, bob, cy = (graph.page(name) for name in ("Ada", "Bob", "Cy"))
    one, two = graph.source("Of Ada.\n", name="a.md"), graph.source("Of Bob.\n", name="ba.md")
    graph.claim(ada, evidence=[{"source": one}])
    graph.relationship(bob, cy, evidence=[{"source": two}])
    graph.page("Dora", evidence=[{"source": one}])

    def names(source: str) -> set[str]:
        found = graph.ask("get_entities_by_source", source=source)
        assert found["source"] == source and found["total"] == found["count"]
        return {n["name"] for n in found["nodes"]}

    assert names("a.md") == names(one) == {"Ada", "Dora"}
    assert names("ba.md") == {"Bob", "Cy"}
    assert names("A.md") == names("a") == names("nope") == set()


def test_a_source_of_a_withdrawn_claim_mentions_nobody(graph: Graph) -> None:
    ada, source = graph.page("Ada"), graph.source("Of Ada.\n", name="a.md")
    claim = graph.claim(ada, evidence=[{"source": source}])
    assert graph.node(ada)["episode_uuids"] == [source]
    graph.withdraw(claim)
    assert graph.node(ada)["episode_uuids"] == []
    assert graph.ask("get_entities_by_source", source="a.md")["total"] == 0
