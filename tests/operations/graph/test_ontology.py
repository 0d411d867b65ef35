"""Taking an edited ontology over: drift is told, and a change of identity refused."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph
from vault_kg.errors import IdentityRefused, ScopeDenied
from vault_kg.operations.caller import Caller

GADGET = "page_types:\n  Gadget: {}\n"
IDENTITY = "page_types:\n  Topic: {identity: true}\n"


def reload(graph: Graph, group: str = "main") -> dict[str, object]:
    return graph.ask("reload_ontology", group_id=group)


def test_an_unchanged_ontology_is_no_change(graph: Graph) -> None:
    graph.entity("T", "Topic")
    first = reload(graph)
    assert first["changed"] is False and first["previous_hash"] == first["new_hash"]
    with graph.nothing_changes():
        assert reload(graph) == first


def test_an_edit_is_told_as_drift_until_it_is_taken_over(graph: Graph) -> None:
    uuid = graph.entity("T", "Gadget")
    before = graph.path(uuid).read_bytes()
    assert [f["code"] for f in graph.findings(section="files")] == ["undeclared_type"]
    graph.put("ontology.yaml", GADGET)
    status = graph.ask("status")
    assert status["ontology"]["drifted"] is True
    assert status["group_ontology_drift"][0]["drift_summary"] == "page types added: Gadget"
    done = reload(graph)
    assert done["changed"] is True and done["previous_hash"] != done["new_hash"]
    assert done["drift"] == {
        "group_id": "main", "drifted": True, "drift_summary": "page types added: Gadget",
    }  # fmt: skip
    assert done["identity_refusal"] is None
    assert graph.findings(section="files") == [], "records are judged by it from now on"
    assert graph.path(uuid).read_bytes() == before
    assert reload(graph)["changed"] is False
    assert graph.ask("status")["ontology"]["drifted"] is False


def test_a_change_of_what_tells_pages_apart_is_refused_while_there_are_such_pages(
    graph: Graph,
) -> None:
    graph.entity("T", "Topic")
    graph.put("ontology.yaml", IDENTITY)
    for _ in range(2):
        refusal = reload(graph)["identity_refusal"]
        assert isinstance(refusal, dict)
        assert (refusal["label"], refusal["count"], refusal["adding"]) == ("Topic", 1, True)
    (told,) = graph.ask("status")["group_identity_refusals"]
    assert told["group_id"] == "main" and "Topic" in told["message"]
    refused = graph.refusal("add_episode", name="x", episode_body="Text.")
    assert isinstance(refused, IdentityRefused) and refused.data["rpc_code"] == -32003
    assert refused.data["reason"] == "identity_set_change_refused"
    assert (refused.data["label"], refused.data["entity_count"]) == ("Topic", 1)
    (graph.root / "ontology.yaml").unlink()
    assert reload(graph)["identity_refusal"] is None
    assert graph.refusal("add_episode", name="x", episode_body="Text.").code == "unavailable"


def test_other_groups_are_not_touched(graph: Graph) -> None:
    graph.entity("T", "Topic", group="other")
    graph.entity("P", "Person")
    graph.put("ontology.yaml", IDENTITY)
    assert reload(graph)["identity_refusal"] is None, "main has no topics"
    assert reload(graph, "other")["identity_refusal"] is not None


def test_a_broken_ontology_is_not_taken_over(graph: Graph) -> None:
    graph.entity("T", "Topic")
    graph.put("ontology.yaml", "page_types: [\n")
    done = reload(graph)
    assert done["issues"] and graph.ask("status")["ontology"]["loaded"] is False


def test_it_needs_a_group_and_admin(graph: Graph) -> None:
    graph.refusal("reload_ontology")
    writer = Caller("w", scopes=frozenset({"read", "write"}))
    assert isinstance(graph.refusal("reload_ontology", writer, group_id="main"), ScopeDenied)
