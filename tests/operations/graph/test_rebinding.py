"""Binding pointers anew after their group has changed."""

from __future__ import annotations

from typing import Any

from tests.operations.graph.graphs import Graph

ZERO = dict.fromkeys(
    ("checked", "bound", "unbound", "ambiguous", "invalidated_self_loop", "invalidated_duplicate",
     "staleness_skipped"), 0,
)  # fmt: skip


def rebind(graph: Graph, group: str = "hub") -> dict[str, Any]:
    answer = graph.ask("rebind_pointers", source_group_id=group)
    return {key: answer[key] for key in ZERO}


def test_what_was_unbound_is_bound_once_it_is_there(graph: Graph) -> None:
    ada = graph.entity("Ada")
    edge = graph.pointer(ada, "hub", "Hub")["uuid"]
    assert rebind(graph) == ZERO | {"checked": 1, "unbound": 1}
    hub = graph.entity("Hub", group="hub")
    assert graph.edges() == [], "only rebinding looks again"
    position = graph.position
    assert rebind(graph) == ZERO | {"checked": 1, "bound": 1}
    assert graph.position == position + 1
    (row,) = graph.edges()
    assert (row["uuid"], row["target_node_uuid"]) == (edge, hub)
    assert graph.findings("unbound_pointer") == []


def test_a_second_call_changes_nothing_and_says_what_it_passed_over(graph: Graph) -> None:
    ada = graph.entity("Ada")
    graph.entity("Hub", group="hub")
    graph.pointer(ada, "hub", "Hub")
    graph.pointer(ada, "hub", "Nobody", name="y")
    rebind(graph)
    with graph.nothing_changes():
        assert rebind(graph) == ZERO | {"checked": 1, "unbound": 1, "staleness_skipped": 1}
    graph.entity("Third")
    with graph.nothing_changes():
        assert rebind(graph)["staleness_skipped"] == 1, "another group's change is none"
    graph.entity("Fourth", group="hub")
    with graph.nothing_changes():
        assert rebind(graph) == ZERO | {"checked": 2, "bound": 1, "unbound": 1}
    assert rebind(graph, "nowhere") == ZERO


def test_a_second_entity_of_the_name_makes_it_ambiguous_and_a_pinned_one_stays(
    graph: Graph,
) -> None:
    ada = graph.entity("Ada")
    graph.entity("Hub", "Topic", group="hub")
    free = graph.pointer(ada, "hub", "Hub")["uuid"]
    pinned = graph.pointer(ada, "hub", "Hub", name="is about", target_kind="Topic")["uuid"]
    graph.entity("Hub", "Place", group="hub")
    assert graph.edge_ids() == {free, pinned}
    assert rebind(graph) == ZERO | {"checked": 2, "bound": 1, "ambiguous": 1}
    assert graph.edge_ids() == {pinned}


def test_a_purged_and_restored_group_is_bound_again(graph: Graph) -> None:
    ada = graph.entity("Ada")
    graph.entity("Hub", group="hub")
    edge = graph.pointer(ada, "hub", "Hub")["uuid"]
    graph.ask("delete_by_group", group_ids=["hub"], confirm=True)
    assert rebind(graph) == ZERO | {"checked": 1, "unbound": 1}
    hub = graph.entity("Hub", group="hub")
    assert rebind(graph) == ZERO | {"checked": 1, "bound": 1}
    (row,) = graph.edges()
    assert (row["uuid"], row["target_node_uuid"]) == (edge, hub)


def test_a_binding_that_makes_a_self_loop_or_a_duplicate_invalidates_the_edge(
    graph: Graph,
) -> None:
    ada, hub = graph.entity("Ada"), graph.entity("Hub", group="hub")
    graph.pointer(ada, "hub", "Hub", fact="They relate.")
    duplicate = graph.pointer(ada, "hub", "Centre", fact="They relate.")["uuid"]
    loop = graph.ask(
        "add_cross_group_edge", name="is", fact="One is the other.",
        source={"source_group_id": "hub", "endpoint_name": "Hub"},
        target={"source_group_id": "hub", "endpoint_name": "Middle"},
    )["uuid"]  # fmt: skip
    for alias in ("Centre", "Middle"):
        graph.change(hub, aliases=[*graph.get(hub)["aliases"], alias])
    assert rebind(graph) == ZERO | {
        "checked": 4, "bound": 4, "invalidated_self_loop": 1, "invalidated_duplicate": 1,
    }  # fmt: skip
    assert len(graph.edges()) == 1
    for uuid in (duplicate, loop):
        assert graph.get(uuid)["lifecycle"] == "withdrawn"
    graph.scan()
    assert len(graph.edges()) == 1
