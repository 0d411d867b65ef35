"""What a vault that is open for reading only answers: every operation, and why it is open or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.errors import VaultError, WriteFailed
from vault_kg.operations import registry
from vault_kg.operations.workspace import Workspace
from vault_kg.store import reading
from vault_kg.store import vault as vaults

OPERATIONS = registry.operations()

OPEN = {
    "kg_dead_letters": "lists what is in the state",
    "kg_event_subscribers": "lists what is in the state",
    "knowledge_wal_mark_list": "lists what is in the state",
    "knowledge_recover_full": "only says that nothing has to be recovered",
    "knowledge_strip_wal_embeddings": "only says that there is nothing to strip",
    "knowledge_dump_wal": "writes a copy of the journal, and never into the vault",
    "knowledge_build_indices": "derives anew what the next copy derives too",
    "knowledge_recover": "derives anew what the next copy derives too",
    "knowledge_backfill_summary_embeddings": "derives vectors, as the background does",
    "graph_index": "derives the graph, which lies with the state",
}
"""Of the operations whose scope is not one of reading, those that are open, and why."""

CLOSED = {
    "kg_abort_consolidation": "changes a session, which the next copy would lose",
    "kg_add_edge_candidate": "changes a session, which the next copy would lose",
    "kg_add_node_candidate": "changes a session, which the next copy would lose",
    "kg_begin_consolidation": "makes a session, which the next copy would lose",
    "kg_commit_consolidation": "changes records",
    "kg_delete_edge": "changes records",
    "kg_delete_node": "changes records",
    "kg_deliver_events": "the owner's receivers are the owner's to serve",
    "kg_event_subscribe": "makes a receiver, which the next copy would lose",
    "kg_event_unsubscribe": "removes a receiver, which the next copy would bring back",
    "kg_progress": "notes what was done, which the next copy would lose",
    "kg_propose_reconciliation": "changes a session, which the next copy would lose",
    "kg_put_edge": "changes records",
    "kg_put_node": "changes records",
    "kg_rename_node": "changes records",
    "kg_reprocess_dead_letters": "the owner's receivers are the owner's to serve",
    "kg_undo_consolidation": "changes records",
    "kg_useful": "gives credit, which the next copy would lose",
    "knowledge_add_cross_group_edge": "changes records",
    "knowledge_add_episode": "changes records",
    "knowledge_adopt": "changes records",
    "knowledge_apply_corrections": "changes records",
    "knowledge_assert_entity": "changes records",
    "knowledge_assert_relationship": "changes records",
    "knowledge_attach": "retains a source",
    "knowledge_attach_file": "retains a source",
    "knowledge_backfill_relation_types": "changes records",
    "knowledge_canonicalize_relations": "changes records",
    "knowledge_clear_all": "changes records",
    "knowledge_correct": "changes records",
    "knowledge_decline_merge": "notes a decision, which the next copy would lose",
    "knowledge_delete_by_group": "changes records",
    "knowledge_delete_by_source": "changes records",
    "knowledge_delete_chunk_episode": "changes records",
    "knowledge_delete_episode": "changes records",
    "knowledge_edit_body": "changes records",
    "knowledge_merge": "changes records",
    "knowledge_merge_entities": "changes records",
    "knowledge_prepare_checkpoint": "commits to Git",
    "knowledge_process_chunk": "changes records",
    "knowledge_rebind_pointers": "changes records",
    "knowledge_rebuild_from_wal": "changes records",
    "knowledge_reload_ontology": "takes a vocabulary over, which the next copy would lose",
    "knowledge_reprocess_entity_types": "changes records",
    "knowledge_reprocess_relation_types": "changes records",
    "knowledge_restore": "changes records",
    "knowledge_resume": "finishes a request; a copy has none that is accepted",
    "knowledge_review": "changes records",
    "knowledge_save_claim": "changes records",
    "knowledge_save_page": "changes records",
    "knowledge_save_relationship": "changes records",
    "knowledge_unmerge": "changes records",
    "knowledge_wal_mark_create": "makes a reference of Git",
    "knowledge_wal_mark_delete": "removes a reference of Git",
    "knowledge_withdraw": "changes records",
    "maintain_dispatch": "notes what was sent out, which the next copy would lose",
    "maintain_dispatch_end": "notes how it ended, which the next copy would lose",
}
"""Those that are refused, and why."""

READS = sorted(name for name, found in OPERATIONS.items() if found.read_only)


@pytest.fixture
def ws(vault: VaultBox, folder: Path) -> Iterator[Workspace]:
    vault.page("Ada")
    vault.page("Babbage", partition="user")
    state = folder / "mine" / "state.sqlite"
    reading.make(vault.root, vaults.default_state(vault.root), state, vault.ws.vault.id)
    opened = Workspace.open(vault.root, state, vault.clock)
    opened.scan()
    yield opened
    opened.close()


def everything(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def required(name: str) -> dict[str, Any]:
    """Return arguments of the right form for what an operation cannot do without."""
    known: dict[str, Any] = {
        "cwd": "/", "query": "ada", "text": "Ada", "name": "Ada", "statement": "MATCH (n) RETURN n",
        "cypher": "MATCH (n) RETURN n", "strategy": "drop_lbug_wal", "limit": 3,
    }  # fmt: skip
    schema = OPERATIONS[name].request.model_json_schema(by_alias=True)
    given: dict[str, Any] = {}
    for key in schema.get("required", []):
        kind = schema["properties"][key].get("type")
        form = {"array": ["Ada"], "integer": 1, "object": {}, "boolean": True, "number": 1}
        given[key] = known.get(key, form.get(kind, "Ada"))
    return given


def test_every_operation_is_decided() -> None:
    assert sorted({*OPEN, *CLOSED, *READS}) == sorted(OPERATIONS)
    assert not {*OPEN, *CLOSED} & {*READS} and not {*OPEN} & {*CLOSED}
    assert {name for name, found in OPERATIONS.items() if found.on_reading} == {*OPEN}


@pytest.mark.parametrize("name", CLOSED)
def test_what_would_be_lost_or_change_something_is_refused(ws: Workspace, name: str) -> None:
    before = everything(ws.vault.root)
    try:
        registry.call(ws, name, required(name), ANYBODY)
    except WriteFailed as error:
        assert "open for reading only" in error.message
    except VaultError as error:
        assert error.code == "invalid_argument", "the arguments are looked at first"
        with pytest.raises(WriteFailed):
            ws.vault.check_writable()
        assert not OPERATIONS[name].on_reading
    else:
        pytest.fail(f"{name} answered")
    assert everything(ws.vault.root) == before


@pytest.mark.parametrize("name", [*OPEN, *READS])
def test_what_reads_or_derives_answers_and_changes_nothing(ws: Workspace, name: str) -> None:
    before = everything(ws.vault.root)
    try:
        registry.call(ws, name, required(name), ANYBODY)
    except WriteFailed as error:
        pytest.fail(error.message)
    except VaultError as error:
        assert "reading only" not in error.message
        if name in OPEN:
            assert error.code == "unavailable" and "embed" in name, error
    assert everything(ws.vault.root) == before


def test_the_journal_is_exported_elsewhere_only(ws: Workspace, folder: Path) -> None:
    told = registry.call(ws, "knowledge_dump_wal", {}, ANYBODY)
    assert told["events"] and not Path(told["target_dir"]).is_relative_to(ws.vault.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EXPORTS", str(folder))
        with pytest.raises(WriteFailed, match="reading only"):
            inside = {"target_dir": str(ws.vault.root / "export")}
            registry.call(ws, "knowledge_dump_wal", inside, ANYBODY)
        there = {"target_dir": str(folder / "export")}
        assert registry.call(ws, "knowledge_dump_wal", there, ANYBODY)["success"]


def test_the_owners_receivers_are_listed(vault: VaultBox, folder: Path) -> None:
    vault.call("kg_event_subscribe", name="me", file=str(folder / "events.jsonl"))
    state = folder / "mine" / "state.sqlite"
    reading.make(vault.root, vaults.default_state(vault.root), state, vault.ws.vault.id)
    ws = Workspace.open(vault.root, state, vault.clock)
    try:
        told = registry.call(ws, "kg_event_subscribers", {}, ANYBODY)
        assert [each["name"] for each in told["subscribers"]] == ["me"]
        assert registry.call(ws, "kg_dead_letters", {}, ANYBODY)["count"] == 0
    finally:
        ws.close()
