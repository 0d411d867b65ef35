"""Direct assertion of facts: identity, no-ops, types and times, and the evidence of each."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    NotFound,
    ReservedEdgeType,
)


def revision(graph: Graph, record_id: str) -> int:
    return int(graph.get(record_id)["revision"])


def pair(graph: Graph) -> tuple[str, str]:
    return graph.entity("Ada", "Person"), graph.entity("Bob", "Person")


def test_a_fact_is_made_once_per_predicate(graph: Graph) -> None:
    ada, bob = pair(graph)
    first = graph.ask(
        "assert_relationship", source_name="ada", predicate="taught", target_name="BOB"
    )
    (row,) = graph.edges()
    assert first["created"] and row["uuid"] == first["edge_uuid"]
    assert (row["source_node_uuid"], row["target_node_uuid"]) == (ada, bob)
    assert (row["name"], row["fact"], row["relation_type"]) == ("taught", "Ada taught Bob", None)
    position = graph.position
    for predicate in ("taught", "TAUGHT", "Taught"):
        assert graph.edge("Ada", predicate, "Bob") == first["edge_uuid"]
    assert graph.position == position
    assert len({graph.edge("Bob", "taught", "Ada"), graph.edge("Ada", "met", "Bob")}) == 2
    assert len(graph.edges()) == 3


def test_a_changed_fact_is_a_new_revision_with_its_own_evidence(graph: Graph) -> None:
    pair(graph)
    uuid = graph.edge("Ada", "taught", "Bob", fact="In 1833.")
    first = graph.edges()[0]["episode_uuids"]
    assert graph.edge("Ada", "taught", "Bob", fact="In 1834.") == uuid
    (row,) = graph.edges()
    assert row["fact"] == "In 1834." and revision(graph, uuid) == 2
    assert len(row["episode_uuids"]) == 1 and row["episode_uuids"] != first
    assert graph.ask("find_relationships", query="1834")["total"] == 1
    assert graph.ask("find_relationships", query="1833")["total"] == 0
    before = graph.call("knowledge_get", id=uuid, revision=1)
    assert before["body"] == "In 1833." and [e["source"] for e in before["evidence"]] == first


def test_type_time_and_attributes_are_set_kept_and_cleared(graph: Graph) -> None:
    pair(graph)
    more = {"relation_type": "KNOWS", "valid_at": "1833-06-05 10:00:00", "attributes": {"n": 1}}
    graph.edge("Ada", "met", "Bob", fact="They met.", **more)
    graph.edge("Ada", "met", "Bob")
    (row,) = graph.edges()
    assert (row["relation_type"], row["valid_at"]) == ("knows", "1833-06-05T10:00:00Z")
    assert (row["attributes"], row["fact"]) == ({"n": 1}, "They met.")
    graph.edge("Ada", "met", "Bob", relation_type=None, valid_at=None, attributes=None)
    (row,) = graph.edges()
    assert (row["relation_type"], row["valid_at"], row["attributes"]) == (None, None, {})
    assert revision(graph, row["uuid"]) == 2
    refused = graph.refusal(
        "assert_relationship", source_name="Ada", predicate="met", target_name="Bob",
        valid_at="last summer",
    )  # fmt: skip
    assert isinstance(refused, InvalidArgument) and "valid_at" in refused.message


def test_a_type_must_join_the_kinds_and_not_be_reserved(graph: Graph) -> None:
    pair(graph)
    graph.entity("Engine", "Topic")
    asked = {"source_name": "Ada", "predicate": "x"}
    refused = graph.refusal(
        "assert_relationship", **asked, target_name="Engine", relation_type="married_to"
    )
    assert isinstance(refused, InvalidRecord)
    refused = graph.refusal(
        "assert_relationship", **asked, target_name="Bob", relation_type="mentions"
    )
    assert isinstance(refused, ReservedEdgeType)


def test_both_ends_must_be_in_the_group(graph: Graph) -> None:
    pair(graph)
    graph.entity("Cy", group="other")
    refused = graph.refusal(
        "assert_relationship", source_name="Ada", predicate="met", target_name="Cy"
    )
    assert isinstance(refused, NotFound) and "knowledge_add_cross_group_edge" in refused.message


def test_an_end_of_several_kinds_needs_its_kind(graph: Graph) -> None:
    pair(graph)
    graph.entity("Bob", "Topic")
    asked = {"source_name": "Ada", "predicate": "met", "target_name": "Bob"}
    refused = graph.refusal("assert_relationship", **asked)
    assert refused.data["reason"] == "ambiguous_entity"
    done = graph.ask("assert_relationship", **asked, target_kind="Topic")
    assert graph.ask("get_edges_by_uuids", uuids=[done["edge_uuid"]])["count"] == 1


def test_a_withdrawn_fact_is_made_anew_and_not_brought_back(graph: Graph) -> None:
    pair(graph)
    first = graph.edge("Ada", "met", "Bob")
    graph.withdraw(first)
    second = graph.edge("Ada", "met", "Bob")
    assert second != first and graph.edge_ids() == {second}


def test_a_typed_relationship_is_the_same_fact_as_its_type_asserted(graph: Graph) -> None:
    ada, bob = pair(graph)
    saved = graph.relationship(ada, bob, "knows", "They met.")
    assert graph.edge("Ada", "knows", "Bob") == saved
    assert graph.edges()[0]["fact"] == "They met."


def test_the_predicate_and_the_attributes_stand_in_the_file(graph: Graph) -> None:
    pair(graph)
    uuid = graph.edge("Ada", "wrote notes on", "Bob", attributes={"pages": 66})
    text = graph.path(uuid).read_text(encoding="utf-8")
    assert "\npredicate: wrote notes on\n" in text and "pages: 66" in text
    assert "/relationships/untyped/" in graph.path(uuid).as_posix()
    with graph.nothing_changes():
        graph.ws.scan()
