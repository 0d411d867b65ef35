"""Edges: relationship records with their own evidence, told apart by (from, to, rel)."""

from __future__ import annotations

import pytest

from tests.maintain.conftest import Garden, Talk
from vault_kg.errors import InvalidArgument, NotFound, ReservedEdgeType


def ends(source: str, target: str) -> dict[str, str]:
    return {"from": source, "to": target}


def test_an_edge_is_a_relationship_with_the_request_as_its_evidence(
    garden: Garden, talk: Talk
) -> None:
    talk.put("a")
    talk.put("b")
    answer = talk.join("a", "b", "instance-of", notes=["Because."])
    assert answer["text"] == "Created a → instance-of → b [user]."
    record = garden.box.get(answer["record"])
    assert record["kind"] == "relationship" and record["partition"] == "user"
    source = garden.box.call("knowledge_source", id=record["evidence"][0]["source"])
    assert '"rel": "instance-of"' in source["text"] and talk.id not in source["text"]
    assert garden.box.path(answer["record"]).read_text().endswith("a instance-of b\n\n- Because.\n")


def test_the_same_edge_again_is_brought_up_to_date(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    first = talk.join("a", "b", "instance-of", notes=["One."])
    with garden.box.nothing_changes():
        assert not talk.join("a", "b", "instance-of")["changed"]
        assert not talk.join("a", "b", "instance_of", notes=["One."])["changed"]
    again = talk.join("a", "b", "instance-of", notes=["One.", "Two."])
    assert again["record"] == first["record"] and again["changed"] and not again["created"]
    assert talk.node("a")["edges"][0]["notes"] == ["One.", "Two."]
    assert talk.join("b", "a", "instance-of")["created"], "the other way is another edge"
    assert talk.join("a", "b", "part-of")["created"], "so is another relation"


def test_notes_of_an_edge_are_not_written_over_unread(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    talk.join("a", "b", notes=["One."])
    other = garden.talk()
    asked = {**ends("a", "b"), "rel": "relates-to", "level": "user", "notes": ["Two."]}
    assert "- One." in other.refused("kg_put_edge", **asked).message
    other.call("kg_put_edge", **asked)


def test_ends_are_found_in_the_project_first_and_then_at_the_user(
    garden: Garden, talk: Talk
) -> None:
    talk.put("shared", "Of the user.")
    talk.put("p", level="project")
    talk.join("p", "shared", level="project")
    assert talk.node("p")["edges"][0]["to"] == "shared"
    talk.put("q")
    refused = talk.refused("kg_put_edge", **ends("q", "p"), rel="r", level="user")
    assert isinstance(refused, NotFound), "the user's level knows no project"
    beta = garden.talk("beta")
    assert isinstance(
        beta.refused("kg_put_edge", **ends("shared", "p"), rel="r", level="project"), NotFound
    )


@pytest.mark.parametrize("end", ["src/a.py", "~/x"])
def test_a_path_is_no_end(talk: Talk, end: str) -> None:
    talk.put("a")
    refused = talk.refused("kg_put_edge", **ends("a", end), rel="in", level="user")
    assert isinstance(refused, InvalidArgument) and "touches" in refused.message


def test_a_node_is_not_joined_to_itself(talk: Talk) -> None:
    talk.put("a")
    talk.refused("kg_put_edge", **ends("a", "a"), rel="is", level="user")


def test_relations_of_the_extractor_are_refused(talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    refused = talk.refused("kg_put_edge", **ends("a", "b"), rel="belongs_to", level="user")
    assert isinstance(refused, ReservedEdgeType)


def test_a_declared_relation_that_does_not_fit_is_a_name_only(garden: Garden, talk: Talk) -> None:
    garden.box.put(
        "ontology.yaml",
        "relationship_types:\n  employs:\n    description: x\n    from: [Company]\n    to: [Person]\n",
    )
    garden.box.scan()
    talk.put("a")
    talk.put("b")
    answer = talk.join("a", "b", "employs")
    assert garden.box.get(answer["record"])["type"] is None
    assert talk.node("a")["edges"][0]["rel"] == "employs"
    assert not garden.box.findings()


def test_deleting_an_edge(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    record = talk.join("a", "b")["record"]
    gone = talk.call("kg_delete_edge", **ends("a", "b"), rel="relates-to")
    assert gone["text"] == "deleted: a → relates-to → b [user]"
    assert garden.box.get(record)["lifecycle"] == "withdrawn"
    with garden.box.nothing_changes():
        again = talk.call("kg_delete_edge", **ends("a", "b"), rel="relates-to")
        assert again["text"].startswith("not found") and again["state"] == "not found"
        assert talk.call("kg_delete_edge", **ends("a", "nope"), rel="r")["state"] == "not found"
    assert talk.join("a", "b")["created"], "it may be stated anew"


def test_a_merge_of_two_nodes_as_the_runbook_does_it(talk: Talk) -> None:
    for id in ("rich", "poor", "other"):
        talk.put(id, notes=[f"Of {id}."], touches=[f"{id}.py"])
    talk.join("poor", "other", "part-of")
    talk.read("rich", "poor")
    talk.put("rich", notes=["Of rich.", "Of poor."], touches=["rich.py", "poor.py"])
    talk.join("rich", "other", "part-of")
    talk.call("kg_delete_edge", **ends("poor", "other"), rel="part-of")
    assert talk.call("kg_delete_node", id="poor")["edges_deleted"] == 0
    node = talk.node("rich")
    assert node["notes"] == ["Of rich.", "Of poor."] and len(node["edges"]) == 1
