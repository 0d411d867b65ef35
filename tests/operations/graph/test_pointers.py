"""Edges between groups: named ends, kept where they lead nowhere, never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.operations.caller import Caller


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {end: p["binding_state"] for end, p in answer["cross_group_pointers"].items()}


def test_a_named_end_is_bound_and_the_edge_is_read_from_both_sides(graph: Graph) -> None:
    ada, hub = graph.entity("Ada"), graph.entity("Hub", "Topic", group="hub")
    done = graph.pointer(ada, "hub", " HUB ")
    assert (done["created"], done["source_node_uuid"], done["target_node_uuid"]) == (True, ada, hub)
    pointer = done["cross_group_pointers"]["dst"]
    assert pointer["binding_state"] == "bound" and pointer["resolved_uuid"] == hub
    assert pointer["bound_at_seq"] == graph.ask("status")["wal_groups"]["hub"]["applied_seq"]
    for uuid in (ada, hub):
        (edge,) = graph.ask("get_entity_neighbors", entity_uuid=uuid)["edges"]
        assert edge["uuid"] == done["uuid"] and edge["group_id"] == "main"
        assert edge["cross_group_pointers"] == done["cross_group_pointers"]
    assert edge["evidence"], "the request is retained"


def test_the_same_edge_again_changes_nothing(graph: Graph) -> None:
    ada = graph.entity("Ada")
    for group in ("hub", "nowhere"):
        graph.entity("Hub", group="hub")
        first = graph.pointer(ada, group, "Hub")
        position = graph.position
        again = graph.pointer(ada, group, "hub")
        assert (again["uuid"], again["created"]) == (first["uuid"], False)
        assert graph.position == position


def test_an_end_that_is_not_there_is_kept_unbound_and_hidden(graph: Graph) -> None:
    ada = graph.entity("Ada")
    done = graph.pointer(ada, "hub", "Nobody")
    assert (states(done), done["target_node_uuid"]) == ({"dst": "unbound"}, "")
    assert graph.edges() == [] and graph.ask("find_relationships", query="relate")["total"] == 0
    assert graph.ask("get_entity_neighbors", entity_uuid=ada)["total"] == 0
    (edge,) = graph.edges(include_inactive=True)
    assert edge["cross_group_pointers"]["dst"]["endpoint_name"] == "Nobody"
    assert graph.ask("status")["cross_group_pointers"] == {"bound": 0, "unbound": 1, "ambiguous": 0}
    (finding,) = graph.findings("unbound_pointer")
    assert finding["severity"] == "warning" and "rebind" in finding["hint"]


def test_a_name_of_several_entities_is_ambiguous_unless_pinned_to_a_kind(graph: Graph) -> None:
    ada = graph.entity("Ada")
    topic = graph.entity("Hub", "Topic", group="hub")
    graph.entity("Hub", "Place", group="hub")
    assert states(graph.pointer(ada, "hub", "Hub")) == {"dst": "ambiguous"}
    pinned = graph.pointer(ada, "hub", "Hub", target_kind="topic", name="is about")
    assert states(pinned) == {"dst": "bound"} and pinned["target_node_uuid"] == topic
    assert graph.ask("status")["cross_group_pointers"]["ambiguous"] == 1


@pytest.mark.parametrize(
    "endpoint",
    [{}, {"uuid": "x", "endpoint_name": "y"}, {"source_group_id": "hub"}, {"endpoint_name": "y"},
     {"uuid": "x", "source_group_id": "hub", "endpoint_name": "y"}, {"zz": 1}, "Ada"],
)  # fmt: skip
def test_an_end_is_a_uuid_or_a_name_in_a_group(graph: Graph, endpoint: Any) -> None:
    ada = graph.entity("Ada")
    refused = graph.refusal(
        "add_cross_group_edge", name="x", fact="F.", source={"uuid": ada}, target=endpoint
    )
    assert isinstance(refused, InvalidArgument)


def test_a_uuid_of_another_group_is_refused_before_anything_is_written(graph: Graph) -> None:
    ada, hub = graph.entity("Ada"), graph.entity("Hub", group="hub")
    asked = {"name": "x", "fact": "F.", "source": {"uuid": ada}}
    refused = graph.refusal("add_cross_group_edge", **asked, target={"uuid": hub})
    assert isinstance(refused, InvalidArgument) and "endpoint_name" in refused.message
    refused = graph.refusal("add_cross_group_edge", **asked, target={"uuid": "pg_" + "0" * 26})
    assert isinstance(refused, NotFound)
    refused = graph.refusal(
        "add_cross_group_edge", **asked, target={"uuid": ada}, target_kind="Topic"
    )
    assert isinstance(refused, InvalidArgument) and "kind" in refused.message
    own = {"source_group_id": "main", "endpoint_name": "Ada"}
    assert isinstance(graph.refusal("add_cross_group_edge", **asked, target=own), InvalidArgument)


def test_a_group_that_the_caller_does_not_see_cannot_be_probed(graph: Graph) -> None:
    ada, hub = graph.entity("Ada"), graph.entity("Hub", group="secret")
    caller = Caller("c", partitions=frozenset({"main"}))
    asked = {"name": "x", "fact": "F.", "source": {"uuid": ada}}
    said = {
        graph.refusal(
            "add_cross_group_edge", caller, **asked,
            target={"source_group_id": group, "endpoint_name": name},
        ).message.replace(group, "G")
        for group, name in (("secret", "Hub"), ("secret", "No"), ("nowhere", "Hub"))
    }  # fmt: skip
    assert len(said) == 1
    said = {
        graph.refusal(
            "add_cross_group_edge", caller, **asked, target={"uuid": uuid}
        ).message.replace(uuid, "U")
        for uuid in (hub, "pg_" + "0" * 26)
    }
    assert len(said) == 1
