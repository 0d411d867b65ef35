"""Direct assertion: identity, no-ops, what is left out and cleared, and the evidence it retains."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import (
    Ambiguous,
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    NotFound,
)
from vault_kg.operations.caller import Caller


def revision(graph: Graph, record_id: str) -> int:
    return int(graph.get(record_id)["revision"])


# Entities


def test_an_entity_is_made_once_and_found_by_any_spelling(graph: Graph) -> None:
    first = graph.ask("assert_entity", name="Ada Lovelace", kind="person", summary="Analyst.")
    assert (first["created"], first["changed"], first["kind"]) == (True, True, "Person")
    assert first["git"]["state"] == "committed"
    position = graph.position
    for name in ("Ada Lovelace", "ADA  lovelace", " ada lovelace "):
        again = graph.ask("assert_entity", name=name, kind="Person", summary="Analyst.")
        assert again["entity_uuid"] == first["entity_uuid"]
        assert (again["created"], again["changed"], again["git"]) == (False, False, None)
    assert graph.position == position and revision(graph, first["entity_uuid"]) == 1
    assert graph.get(first["entity_uuid"])["title"] == "Ada Lovelace"


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u00a0\u2060"])
def test_a_name_that_nobody_can_see_is_refused(graph: Graph, name: str) -> None:  # C14
    assert graph.refusal("assert_entity", name=name).code == "invalid_argument"


def test_space_around_a_name_is_no_part_of_it(graph: Graph) -> None:
    assert graph.node(graph.entity("  Ada Lovelace "))["name"] == "Ada Lovelace"


@pytest.mark.parametrize("groups", ["", [""], "[]", []])
def test_a_group_without_a_name_is_none_that_a_deletion_could_mean(
    graph: Graph, groups: Any
) -> None:  # C15
    refusal = graph.refusal("delete_by_source", source_file="a.md", group_ids=groups)
    assert refusal.code == "invalid_argument" and "group_ids" in refusal.message


def test_kind_and_group_are_part_of_the_identity(graph: Graph) -> None:
    uuids = {
        graph.entity("adr"), graph.entity("adr", "Topic"), graph.entity("adr", "Channel"),
        graph.entity("adr", group="other"), graph.entity("ADR", "Topic"),
    }  # fmt: skip
    assert len(uuids) == 4 and len(graph.nodes()) == 4
    kinds = {n["kind"] for n in graph.nodes(group_ids=["main"])}
    assert kinds == {"Entity", "Topic", "Channel"}


def test_many_at_once_make_one_entity(graph: Graph) -> None:
    with ThreadPoolExecutor(8) as pool:
        uuids = set(pool.map(lambda n: graph.entity("Ada", summary=f"{n % 2}"), range(16)))
    assert len(uuids) == len(graph.nodes()) == 1


def test_near_names_are_never_one_entity(graph: Graph) -> None:
    names = ["ADR 2018", "ADR 2019", "RFC 9110", "RFC 9111", "Phase A", "Phase B", "UK", "USA"]
    assert len({graph.entity(name) for name in names}) == len(names)


@pytest.mark.parametrize("kind", ["", "  ", "Merged", "merged", "a\u001fb", "!!"])
def test_a_kind_must_be_one(graph: Graph, kind: str) -> None:
    assert isinstance(graph.refusal("assert_entity", name="x", kind=kind), InvalidArgument)


def test_an_undeclared_kind_is_reported_in_an_open_vocabulary_and_refused_in_a_strict_one(
    graph: Graph,
) -> None:
    done = graph.ask("assert_entity", name="x", kind="Gadget")
    assert any("Gadget" in warning for warning in done["warnings"])
    graph.put("ontology.yaml", "mode: strict\n")
    assert isinstance(graph.refusal("assert_entity", name="y", kind="Gadget"), InvalidRecord)


def test_what_is_left_out_stays_and_null_clears(graph: Graph) -> None:
    uuid = graph.entity(
        "Ada", "Person", summary="S", attributes={"role": "analyst", "born": "1815-12-10"}
    )
    graph.entity("Ada", "Person", summary="T")
    view = graph.get(uuid)
    assert (view["summary"], view["fields"]) == ("T", {"role": "analyst", "born": "1815-12-10"})
    graph.entity("Ada", "Person", attributes={"role": "writer"})
    assert graph.get(uuid)["fields"] == {"role": "writer"}, "attributes are replaced as a whole"
    graph.entity("Ada", "Person", summary=None, attributes=None)
    view = graph.get(uuid)
    assert (view["summary"], view["fields"]) == (None, {})


def test_by_uuid_it_is_that_entity_of_that_group_or_none(graph: Graph) -> None:
    uuid, other = graph.entity("Ada", "Person"), graph.entity("Bob", "Person")
    claim = graph.claim(uuid)
    for wrong in ("pg_" + "0" * 26, claim, "zz"):
        refused = graph.refusal("assert_entity", name="x", entity_uuid=wrong)
        assert isinstance(refused, NotFound)
    assert isinstance(
        graph.refusal("assert_entity", name="Ada", entity_uuid=uuid, group_id="other"), NotFound
    )
    refused = graph.refusal("assert_entity", name="Ada", entity_uuid=uuid, kind="Topic")
    assert isinstance(refused, InvalidArgument) and "Person" in refused.message
    refused = graph.refusal("assert_entity", name="bob", entity_uuid=uuid)
    assert isinstance(refused, Ambiguous) and refused.data["candidates"][0]["uuid"] == other
    done = graph.ask("assert_entity", name="Ada King", entity_uuid=uuid)
    assert done["entity_uuid"] == uuid and graph.get(uuid)["title"] == "Ada King"


def test_a_merged_name_or_uuid_means_the_survivor(graph: Graph) -> None:
    ada, alias = graph.page("Ada"), graph.page("Countess")
    graph.merge(ada, alias)
    for given in ({"name": "Countess", "kind": "Person"}, {"name": "Ada", "entity_uuid": alias}):
        done = graph.ask("assert_entity", **given, summary="One.")
        assert (done["entity_uuid"], done["created"]) == (ada, False)
    graph.change(ada, aliases=None)
    assert graph.entity("Countess", "Person") == ada, "its tombstone leads there"
    graph.withdraw(ada)
    refused = graph.refusal("assert_entity", name="Ada", entity_uuid=alias)
    assert isinstance(refused, LifecycleRefused)


def test_a_withdrawn_name_makes_a_new_entity(graph: Graph) -> None:
    first = graph.entity("Ada")
    graph.withdraw(first)
    assert graph.entity("Ada") != first
    refused = graph.refusal("assert_entity", name="Ada", entity_uuid=first)
    assert isinstance(refused, LifecycleRefused)


def test_two_pages_of_one_name_and_kind_are_ambiguous(graph: Graph) -> None:
    pages = {graph.page("Ada"), graph.page("ada")}
    refused = graph.refusal("assert_entity", name="Ada", kind="Person")
    assert isinstance(refused, Ambiguous)
    assert {c["uuid"] for c in refused.data["candidates"]} == pages


def test_labels_beyond_the_kind_are_kept_as_tags(graph: Graph) -> None:
    uuid = graph.entity("Ada", "Person", labels=["Entity", "Person", "Pioneer"])
    assert graph.get(uuid)["tags"] == ["Pioneer"]
    position = graph.position
    graph.entity("Ada", "Person", labels='["pioneer"]')
    assert graph.position == position


def test_a_page_that_a_person_wrote_keeps_its_text(graph: Graph) -> None:
    uuid = graph.page("Ada", body="By hand.\n\n<!-- a comment -->")
    graph.entity("Ada", "Person", summary="Asserted.")
    view = graph.get(uuid)
    assert (view["summary"], view["body"]) == ("Asserted.", "By hand.\n\n<!-- a comment -->")


# Evidence


def test_the_request_is_retained_with_its_actor_and_cited(graph: Graph) -> None:
    caller = Caller("Grace's agent")
    done = graph.ask(
        "assert_entity", caller, name="Ada", summary="O'Brien said \"it's `done`\"; -- \n\\t",
        request_id="r1",
    )  # fmt: skip
    (cited,) = graph.get(done["entity_uuid"])["evidence"]
    source = graph.call("knowledge_source", id=cited["source"])
    assert source["mediaType"] == "application/x-assertion"
    assert (source["attribution"], source["verified"]) == ("Grace's agent", True)
    said = json.loads(source["text"])
    assert said == {
        "operation": "knowledge_assert_entity", "actor": "Grace's agent", "group_id": "main",
        "arguments": {"name": "Ada", "summary": "O'Brien said \"it's `done`\"; -- \n\\t"},
    }  # fmt: skip
    assert graph.get(done["entity_uuid"])["summary"] == said["arguments"]["summary"]


def test_one_assertion_is_one_entry_and_one_commit(graph: Graph) -> None:
    graph.entity("First")
    position, commits = graph.position, int(graph.git("rev-list", "--count", "HEAD"))
    graph.entity("Ada")
    assert graph.position == position + 1
    assert int(graph.git("rev-list", "--count", "HEAD")) == commits + 1
    assert graph.git("status", "--short", "--", "main") == ""


def test_a_refused_assertion_retains_nothing(graph: Graph) -> None:
    graph.entity("Ada")
    graph.refusal("assert_relationship", source_name="Ada", predicate="met", target_name="Nobody")
    graph.refusal("assert_entity", name="x", kind="Person", attributes={"born": "yesterday"})
    assert len(graph.episode_ids()) == 1
