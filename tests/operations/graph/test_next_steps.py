"""Refusals of the graph family say what to do next."""

from __future__ import annotations

import pytest

from tests.operations.builder import made_id
from tests.operations.graph.graphs import Graph
from vault_kg.operations.caller import Caller

SOME = Caller("c", partitions=frozenset({"main"}))


@pytest.fixture
def ids(graph: Graph) -> dict[str, str]:
    made = {"ada": graph.entity("Ada"), "bob": graph.entity("Bob"), "cy": graph.entity("Cy")}
    made["apart"] = graph.entity("Apart", group="other")
    made["edge"] = graph.edge("Ada", "knows", "Bob")
    graph.withdraw(made["cy"])
    return made | {"none": made_id(1), "no_edge": made_id(1, "re")}


@pytest.mark.parametrize(
    ("name", "arguments", "next_step"),
    [
        ("delete_episode", {"episode_uuid": "sr_x"}, "knowledge_get_episodes"),
        ("get_entity_neighbors", {"entity_uuid": "none"}, "knowledge_resolve_entity"),
        ("merge_entities", {"canonical_uuid": "cy", "alias_uuids": ["ada"]}, "an active one"),
        ("merge_entities", {"canonical_name": "Nobody", "alias_uuids": ["ada"]},
         "knowledge_find_entities"),
        ("ontology", {"partition": "hidden"}, "knowledge_status"),
        ("assert_entity", {"name": "X", "group_id": "other"}, "may write to main"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(
    graph: Graph, ids: dict[str, str], name: str, arguments: dict[str, object], next_step: str
) -> None:
    def named(value: object) -> object:
        if isinstance(value, list):
            return [named(item) for item in value]
        return ids.get(str(value), value)

    refused = graph.refusal(name, SOME, **{key: named(value) for key, value in arguments.items()})
    assert next_step in refused.message


@pytest.mark.parametrize(
    ("edge", "next_step"),
    [("no_edge", "knowledge_list_relationships"), ("ada", "knowledge_withdraw"),
     ("edge", "take the entry out")],
)  # fmt: skip
def test_a_correction_that_cannot_be_applied_says_what_to_do(
    graph: Graph, ids: dict[str, str], edge: str, next_step: str
) -> None:
    graph.withdraw(ids["edge"])
    graph.put(
        "corrections.yaml", f"corrections:\n- {{id: r, type: retract, edge_uuid: {ids[edge]}}}\n"
    )
    assert next_step in graph.ask("apply_corrections")["errors"][0]["message"]


def test_pages_that_cannot_be_merged_say_what_to_do(graph: Graph, ids: dict[str, str]) -> None:
    for absorbed, next_step in ((ids["ada"], "two different"), (ids["apart"], "move the file")):
        refused = graph.refused("knowledge_merge", **graph.merging(ids["ada"], absorbed))
        assert next_step in refused.message
