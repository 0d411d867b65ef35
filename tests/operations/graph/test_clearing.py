"""Clearing groups: confirmed, counted, guarded, and still in the Git history."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, ScopeDenied
from vault_kg.operations.caller import Caller


def filled(graph: Graph, group: str = "main") -> None:
    graph.entity("Ada", "Person", group=group)
    graph.entity("Bob", "Person", group=group)
    graph.edge("Ada", "met", "Bob", group=group)


def test_it_needs_a_confirmation_and_admin(graph: Graph) -> None:
    filled(graph)
    for name, given in (("delete_by_group", {"group_ids": ["main"]}), ("clear_all", {})):
        assert isinstance(graph.refusal(name, **given), InvalidArgument)
        assert isinstance(graph.refusal(name, **given, confirm=False), InvalidArgument)
        writer = Caller("w", scopes=frozenset({"read", "write"}))
        assert isinstance(graph.refusal(name, writer, **given, confirm=True), ScopeDenied)
    for groups in ({}, {"group_ids": []}, {"group_ids": None}):
        graph.refusal("delete_by_group", **groups, confirm=True)
    refused = graph.refusal("clear_all", confirm=True, preserve_wal=False)
    assert "never deleted" in refused.message


def test_a_dry_run_counts_what_is_then_removed(graph: Graph) -> None:
    filled(graph)
    ada = graph.ask("resolve_entity", name="Ada")["node"]["uuid"]
    graph.claim(ada)
    filled(graph, "other")
    with graph.nothing_changes():
        plan = graph.ask("delete_by_group", group_ids=["other", "nowhere"], dry_run=True)
    done = graph.ask("delete_by_group", group_ids=["other", "nowhere"], confirm=True)
    assert done["groups"] == plan["groups"] and done["success"] and not done["applied_seq_reset"]
    assert done["groups"][1] == {
        "group_id": "other", "entities": 2, "episodes": 3, "edges": 1, "claims": 0,
    }  # fmt: skip
    assert graph.names() == {"Ada", "Bob"} and len(graph.edges()) == 1
    again = graph.ask("delete_by_group", group_ids=["other"], confirm=True)
    assert (again["success"], again["changed"]) == (True, False)


def test_other_groups_and_notes_stay_byte_for_byte(graph: Graph) -> None:
    filled(graph)
    filled(graph, "other")
    graph.put("notes/n.md", "Mine.\n")
    graph.put("main/pages/person/broken.md", "---\nformat: knowledge-record-v1\nx: [\n---\n")
    graph.scan()
    kept = {p: b for p, b in graph.files().items() if not p.startswith("main/")}
    position = graph.position
    done = graph.ask("clear_all", dry_run=True)
    assert [g["group_id"] for g in done["groups"]] == ["main", "other"]
    graph.ask("delete_by_group", group_ids=["main"], confirm=True)
    assert graph.position == position + 1, "one entry"
    left = graph.files()
    assert left.pop("main/pages/person/broken.md") and left == kept


def test_it_stays_removed_and_its_history_can_be_read(graph: Graph) -> None:
    filled(graph)
    uuid = graph.nodes()[0]["uuid"]
    path, old = graph.path(uuid), graph.path(uuid).read_bytes()
    graph.ask("clear_all", confirm=True)
    assert graph.ask("list_entities", include_inactive=True)["total"] == 0
    assert graph.episode_ids() == set()
    assert graph.findings(section="missing") == [], "what was removed on purpose is not missing"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(old)
    graph.scan()
    assert graph.nodes() == [] and graph.node(uuid)["lifecycle"] == "withdrawn"
    history = graph.history(uuid)
    assert [h["lifecycle"] for h in history[:2]] == ["withdrawn", "active"]
    assert graph.call("knowledge_get", id=uuid, revision=1)["title"] == "Bob"
    graph.entity("Ada", "Person")
    assert graph.names() == {"Ada"}


def test_pointers_into_a_cleared_group_are_told_and_their_edges_hidden(graph: Graph) -> None:
    ada = graph.entity("Ada")
    graph.entity("Hub", group="hub")
    graph.pointer(ada, "hub", "Hub")
    assert graph.ask("list_relationships")["total"] == 1
    done = graph.ask("delete_by_group", group_ids=["hub"], confirm=True)
    assert done["unbound_impacts"] == [{"group_id": "main", "pointer_count": 1}]
    assert graph.ask("list_relationships")["total"] == 0
    status = graph.ask("status")["cross_group_pointers"]
    assert status == {"bound": 0, "unbound": 1, "ambiguous": 0}


def test_a_caller_clears_only_what_it_sees(graph: Graph) -> None:
    filled(graph)
    filled(graph, "secret")
    caller = Caller("c", partitions=frozenset({"main"}))
    done = graph.ask("clear_all", caller, confirm=True)
    assert [g["group_id"] for g in done["groups"]] == ["main"]
    assert graph.names(group_ids=["secret"]) == {"Ada", "Bob"}
    done = graph.ask("delete_by_group", caller, group_ids=["secret"], confirm=True)
    assert (done["groups"], done["changed"]) == ([], False)


def test_a_cleared_vault_is_recovered_as_cleared(graph: Graph) -> None:
    for number in range(25):
        graph.page(f"P{number}")
    graph.ask("clear_all", confirm=True)
    graph.page("New")
    graph.ws.close()
    state = graph.root / ".vault-kg/state.sqlite"
    for path in state.parent.glob("state.sqlite*"):
        path.unlink()
    from vault_kg.operations import care

    report = care.recover(graph.root)
    graph.reopen()
    graph.scan()
    assert graph.names() == {"New"} and report["guards"] == 25 and report["unproven"] == []
