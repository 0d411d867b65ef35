"""Edges: each with its own evidence, and only those that stand."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph


def test_a_row_says_what_its_relationship_says(graph: Graph) -> None:
    ada, bob = graph.page("Ada"), graph.page("Bob")
    uuid = graph.relationship(
        ada, bob, "knows", "They met in 1833.", validFrom="1833-06-05", validUntil="2099-01-01"
    )
    (row,) = graph.edges()
    citation = graph.evidence[0]
    assert row == {
        "uuid": uuid, "name": "knows", "source_node_uuid": ada, "target_node_uuid": bob,
        "group_id": "main", "fact": "They met in 1833.", "relation_type": "knows",
        "created_at": row["created_at"], "ingested_at": row["created_at"],
        "updated_at": row["updated_at"], "valid_at": "1833-06-05", "invalid_at": "2099-01-01",
        "attributes": {}, "episode_uuids": [citation["source"]],
        "source_descriptions": ["notes.txt"], "evidence": [citation], "lifecycle": "active",
    }  # fmt: skip


def test_evidence_is_of_the_edge_and_not_of_its_ends(graph: Graph) -> None:
    ada, bob = graph.page("Ada"), graph.page("Bob")
    sources = [graph.source(f"Text {n}.\n", name=f"{n}.txt") for n in range(2)]
    for source, fact in zip(sources, ("They met.", "They wrote."), strict=True):
        graph.relationship(ada, bob, fact=fact, evidence=[{"source": source}])
    graph.claim(ada, evidence=[{"source": graph.source("Of Ada alone.\n")}])
    told = {e["fact"]: e["episode_uuids"] for e in graph.edges()}
    assert told == {"They met.": sources[:1], "They wrote.": sources[1:]}
    assert graph.ask("find_relationships", query="met")["edges"][0]["episode_uuids"] == sources[:1]


def test_what_no_longer_stands_is_absent_unless_asked_for(graph: Graph) -> None:
    ada, bob, cy = (graph.page(name) for name in ("Ada", "Bob", "Cy"))
    gone = graph.relationship(ada, bob, fact="They met once.")
    wrong = graph.relationship(ada, bob, fact="They met twice.")
    over = graph.relationship(ada, bob, fact="They met thrice.", validUntil="2001-01-01")
    hidden = graph.relationship(ada, cy, fact="They met too.")
    graph.withdraw(gone)
    right = graph.correct(wrong, graph.relationship_values(ada, bob, fact="They met often."))
    graph.withdraw(cy)
    assert graph.edge_ids() == {right["replacementId"]}
    assert graph.ask("find_relationships", query="met")["total"] == 1
    assert graph.edge_ids(include_inactive=True) == {
        gone, wrong, over, hidden, right["replacementId"],
    }  # fmt: skip
    found = graph.ask("get_edges_by_uuids", uuids=[gone, over, right["replacementId"]])
    assert (found["count"], found["missing"]) == (1, [gone, over])
    found = graph.ask("get_edges_by_uuids", uuids=[gone], include_inactive=True)
    assert found["edges"][0]["invalid_at"] is not None and found["missing"] == []


def test_edges_come_in_the_order_they_are_asked_for_and_missing_ones_are_named(
    graph: Graph,
) -> None:
    ada, bob = graph.page("Ada"), graph.page("Bob")
    one = graph.relationship(ada, bob, fact="One.")
    two = graph.relationship(ada, bob, fact="Two.")
    found = graph.ask("get_edges_by_uuids", uuids=[two, "re_none", one, two, ada])
    assert [e["uuid"] for e in found["edges"]] == [two, one]
    assert found["missing"] == ["re_none", ada] and found["total"] == 2


def test_ends_mean_the_survivors_of_merges(graph: Graph) -> None:
    ada, alias, bob = (graph.page(name) for name in ("Ada", "Countess", "Bob"))
    uuid = graph.relationship(alias, bob)
    graph.merge(ada, alias)
    (row,) = graph.edges()
    assert (row["uuid"], row["source_node_uuid"]) == (uuid, ada)


def test_a_prefix_is_of_the_predicate(graph: Graph) -> None:
    graph.entity("Ada", "Person")
    graph.entity("Bob", "Person")
    graph.edge("Ada", "Wrote notes on", "Bob")
    graph.edge("Ada", "knows", "Bob", relation_type="knows")
    assert {e["name"] for e in graph.edges(name_prefix="wrote")} == {"Wrote notes on"}
    assert {e["name"] for e in graph.edges(name_prefix="KNOW")} == {"knows"}


def test_a_fact_is_found_by_its_words_and_its_predicate(graph: Graph) -> None:
    graph.entity("Ada")
    graph.entity("Bob")
    uuid = graph.edge("Ada", "taught calculus to", "Bob", fact="Lessons began in spring.")
    for query in ("lessons spring", "calculus"):
        (found,) = graph.ask("find_relationships", query=query)["edges"]
        assert found["uuid"] == uuid and found["search"]["text_match"]
        assert found["search"]["fact_similarity"] is None
    assert graph.ask("find_relationships", query="zxqv")["edges"] == []
