"""The neighbours of an entity: its limit shared fairly, its pages complete."""

from __future__ import annotations

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import NotFound
from vault_kg.operations.caller import Caller


def hub(graph: Graph, out: int, into: int) -> str:
    uuid = graph.entity("Hub")
    for number in range(max(out, into)):
        graph.entity(f"N{number}")
        if number < out:
            graph.edge("Hub", "to", f"N{number}")
        if number < into:
            graph.edge(f"N{number}", "from", "Hub")
    return uuid


@pytest.mark.parametrize(
    ("out", "into", "limit", "shown"),
    [(9, 9, 6, (3, 3)), (9, 9, 5, (3, 2)), (9, 1, 6, (5, 1)), (1, 9, 6, (1, 5)), (0, 9, 4, (0, 4)),
     (2, 1, 50, (2, 1)), (3, 3, 1, (1, 0))],
)  # fmt: skip
def test_the_limit_is_shared_fairly(
    graph: Graph, out: int, into: int, limit: int, shown: tuple[int, int]
) -> None:
    uuid = hub(graph, out, into)
    found = graph.ask("get_entity_neighbors", entity_uuid=uuid, num_results=limit)
    ways = [e["source_node_uuid"] == uuid for e in found["edges"]]
    assert (ways.count(True), ways.count(False)) == shown
    assert (found["total"], found["outgoing_total"], found["incoming_total"]) == (
        out + into, out, into,
    )  # fmt: skip
    assert found["edge_count"] == sum(shown) and found["count"] == found["node_count"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_pages_hold_every_edge_once(graph: Graph, limit: int) -> None:
    uuid = hub(graph, 7, 3)
    cursor, seen = "", []
    while cursor is not None:
        found = graph.ask(
            "get_entity_neighbors", entity_uuid=uuid, num_results=limit, cursor=cursor
        )
        seen += [e["uuid"] for e in found["edges"]]
        cursor = found["next_cursor"]
    assert len(seen) == len(set(seen)) == 10 and set(seen) == graph.edge_ids()


def test_nodes_are_the_other_ends(graph: Graph) -> None:
    uuid = hub(graph, 2, 1)
    graph.edge("Hub", "is", "Hub")
    found = graph.ask("get_entity_neighbors", entity_uuid=uuid)
    assert found["center_uuid"] == uuid
    assert {n["name"] for n in found["nodes"]} == {"N0", "N1"} and found["edge_count"] == 4
    assert all(e["episode_uuids"] for e in found["edges"])


def test_a_merged_entity_means_its_survivor_and_what_is_gone_is_absent(graph: Graph) -> None:
    ada, alias, bob, cy = (graph.page(n) for n in ("Ada", "Countess", "Bob", "Cy"))
    edge = graph.relationship(alias, bob)
    graph.relationship(ada, cy)
    graph.merge(ada, alias)
    graph.withdraw(cy)
    for uuid in (ada, alias):
        found = graph.ask("get_entity_neighbors", entity_uuid=uuid)
        assert (found["center_uuid"], [e["uuid"] for e in found["edges"]]) == (ada, [edge])
        assert [n["uuid"] for n in found["nodes"]] == [bob]


def test_an_unknown_entity_is_an_error(graph: Graph) -> None:
    graph.entity("Ada")
    for uuid in ("zz", "pg_" + "0" * 26):
        assert isinstance(graph.refusal("get_entity_neighbors", entity_uuid=uuid), NotFound)
    for cursor in ("zz", "W1tdLFtdXQ=="):
        graph.refusal("get_entity_neighbors", entity_uuid=graph.nodes()[0]["uuid"], cursor=cursor)


def test_an_edge_into_a_group_that_is_not_seen_does_not_exist(graph: Graph) -> None:
    ada = graph.entity("Ada")
    graph.entity("Bob", group="secret")
    graph.pointer(ada, "secret", "Bob")
    everybody = graph.ask("get_entity_neighbors", entity_uuid=ada)
    assert (everybody["total"], everybody["nodes"][0]["group_id"]) == (1, "secret")
    caller = Caller("c", partitions=frozenset({"main"}))
    found = graph.ask("get_entity_neighbors", caller, entity_uuid=ada)
    assert (found["total"], found["nodes"], found["edges"]) == (0, [], [])
    assert graph.ask("list_relationships", caller)["total"] == 0
