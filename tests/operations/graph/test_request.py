"""What holds of every request of the graph family: spelling, groups, projection, cursors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller

OPERATIONS = {n: o for n, o in registry.operations().items() if o.toolset == "graph"}
GROUPED = {
    "list_entities": ("nodes", {}),
    "get_nodes_by_group": ("nodes", {}),
    "find_entities": ("nodes", {"query": "Ada"}),
    "get_entities_by_source": ("nodes", {"source": "assertion.json"}),
    "list_relationships": ("edges", {}),
    "get_edges_by_group": ("edges", {}),
    "find_relationships": ("edges", {"query": "Ada"}),
    "get_entity_neighbors": ("edges", {}),
    "search_passages": ("passages", {"query": "Ada"}),
    "get_episodes": ("episodes", {}),
}  # fmt: skip


def filled(graph: Graph) -> str:
    ada = graph.entity("Ada", "Person")
    graph.entity("Bob", "Person")
    graph.edge("Ada", "knows", "Bob", fact="Ada knows Bob.")
    for name in ("Ada", "Cy"):
        graph.entity(name, "Person", group="other")
    graph.edge("Ada", "knows", "Cy", group="other", fact="Ada knows Cy.")
    return ada


def arguments(name: str, ada: str) -> dict[str, Any]:
    return GROUPED[name][1] | ({"entity_uuid": ada} if name == "get_entity_neighbors" else {})


def test_every_read_that_takes_groups_is_held_here() -> None:
    taking = {
        name.removeprefix("knowledge_")
        for name, found in OPERATIONS.items()
        if found.read_only and "group_ids" in found.request.model_fields
    }
    assert taking == set(GROUPED)


@pytest.mark.parametrize("name", GROUPED)
def test_groups_left_out_or_null_are_all_and_an_empty_list_is_none(graph: Graph, name: str) -> None:
    ada, key = filled(graph), GROUPED[name][0]
    given = arguments(name, ada)
    everything = graph.ask(name, **given)
    assert everything["count"] > 0
    assert graph.ask(name, **given, group_ids=None) == everything
    both = graph.ask(name, **given, group_ids=["main", "other"])
    assert both[key] == everything[key]
    main = graph.ask(name, **given, group_ids=["main"])
    assert {item["group_id"] for item in main[key]} == {"main"}
    assert graph.ask(name, **given, group_ids="main") == main, "one group may be a plain text"
    assert graph.ask(name, **given, group_ids='["main"]') == main, "a list may be JSON"
    for nobody in ([], "[]", ["nowhere"]):
        empty = graph.ask(name, **given, group_ids=nobody)
        assert (empty["count"], empty["total"], empty[key]) == (0, 0, [])


@pytest.mark.parametrize("name", OPERATIONS)
def test_keys_are_snake_case_and_camel_case_is_accepted(name: str) -> None:
    schema = OPERATIONS[name].request.model_json_schema(by_alias=True)
    keys = schema.get("properties", {})
    assert all(key == key.lower() for key in keys)
    result = OPERATIONS[name].result.model_json_schema(by_alias=True, mode="serialization")
    assert all(key == key.lower() for key in result["properties"])


def test_camel_case_is_the_same_request(graph: Graph) -> None:
    graph.entity("Ada")
    assert graph.ask("list_entities", numResults=1, groupIds=["main"])["count"] == 1
    refused = graph.refusal("list_entities", num_results=1, numResults=1)
    assert isinstance(refused, InvalidArgument) and "numResults" in refused.message


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unknown_key_is_named(graph: Graph, name: str) -> None:
    refused = graph.refusal(name.removeprefix("knowledge_"), zz=1)
    assert isinstance(refused, InvalidArgument) and "zz: unknown key" in refused.message


PROJECTED = {
    "list_entities": ("nodes", "uuid"), "list_relationships": ("edges", "fact"),
    "get_episodes": ("episodes", "name"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROJECTED)
def test_fields_project_and_an_unknown_or_empty_projection_is_refused(
    graph: Graph, name: str
) -> None:
    filled(graph)
    key, field = PROJECTED[name]
    assert {frozenset(item) for item in graph.ask(name, fields=[field])[key]} == {
        frozenset([field])
    }
    assert "zz" in graph.refusal(name, fields=[field, "zz"]).message
    graph.refusal(name, fields=[])


PAGED = ["list_entities", "get_nodes_by_group", "list_relationships", "get_edges_by_group",
         "get_episodes"]  # fmt: skip


@pytest.mark.parametrize("name", PAGED)
def test_pages_hold_everything_once_and_in_order(graph: Graph, name: str) -> None:
    filled(graph)
    key = GROUPED[name][0]
    whole = [item["uuid"] for item in graph.ask(name)[key]]
    assert len(whole) > 1 and graph.ask(name)["total"] == len(whole)
    for size in (1, 2, 100):
        assert [uuid for page in graph.paged(name, key, size) for uuid in page] == whole


@pytest.mark.parametrize("name", PAGED)
def test_what_comes_between_two_pages_repeats_and_skips_nothing(graph: Graph, name: str) -> None:
    filled(graph)
    key, limit = GROUPED[name][0], "last_n" if name == "get_episodes" else "num_results"
    before = [item["uuid"] for item in graph.ask(name)[key]]
    first = graph.ask(name, **{limit: 1})
    graph.entity("Dora")
    graph.edge("Dora", "knows", "Ada", fact="Dora knows Ada.")
    rest = graph.ask(name, **{limit: 1_000}, cursor=first["next_cursor"])
    assert [i["uuid"] for i in first[key]] + [i["uuid"] for i in rest[key]] == before


@pytest.mark.parametrize("name", PAGED)
def test_a_cursor_belongs_to_its_query(graph: Graph, name: str) -> None:
    filled(graph)
    limit = "last_n" if name == "get_episodes" else "num_results"
    cursor = graph.ask(name, **{limit: 1})["next_cursor"]
    graph.ask(name, cursor=cursor)
    graph.ask(name, cursor=cursor, fields=["uuid"])
    for more in ({"group_ids": ["main"]}, {"group_ids": []}):
        assert "cursor" in graph.refusal(name, cursor=cursor, **more).message
    for wrong in ("zz", "e30=", "W10="):
        assert "cursor" in graph.refusal(name, cursor=wrong).message


PREFIXED = ["list_entities", "get_nodes_by_group", "list_relationships", "get_edges_by_group",
            "get_episodes", "get_entities_by_source", "get_entity_neighbors"]  # fmt: skip


@pytest.mark.parametrize("name", PREFIXED)
def test_a_prefix_narrows_before_counting(graph: Graph, name: str) -> None:
    ada = filled(graph)
    key, given = GROUPED[name][0], arguments(name, ada)
    whole = graph.ask(name, **given)
    first = (whole[key][0]["name"])[:2]
    some = graph.ask(name, **given, name_prefix=first)
    wanted = [i["uuid"] for i in whole[key] if i["name"].startswith(first)]
    assert [i["uuid"] for i in some[key]] == wanted and some["total"] == len(wanted)
    assert graph.ask(name, **given, name_prefix="zz")["total"] == 0


def test_a_request_id_makes_a_change_happen_once(graph: Graph) -> None:
    given = {"name": "Ada", "summary": "First.", "request_id": "mine"}
    first = graph.ask("assert_entity", **given)
    graph.ask("assert_entity", name="Ada", summary="Second.")
    assert graph.ask("assert_entity", **given) == first, "the same request, the same answer"
    assert graph.node(first["entity_uuid"])["summary"] == "Second."
    refused = graph.refusal("assert_entity", **given | {"summary": "Third."})
    assert refused.code == "request_mismatch"


def test_every_answer_is_json(graph: Graph) -> None:
    filled(graph)
    for name, (_, given) in GROUPED.items():
        ada = graph.ask("resolve_entity", name="Ada")["node"]["uuid"]
        answer = graph.ask(name, **(given | ({"entity_uuid": ada} if "neigh" in name else {})))
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer


def test_a_group_that_the_caller_does_not_see_is_none(graph: Graph) -> None:
    ada = filled(graph)
    caller = Caller("c", partitions=frozenset({"main"}))
    for name, (key, _) in GROUPED.items():
        answer = graph.ask(name, caller, **arguments(name, ada))
        assert {item["group_id"] for item in answer[key]} == {"main"}, name
        assert graph.ask(name, caller, **arguments(name, ada), group_ids=["other"])["total"] == 0
