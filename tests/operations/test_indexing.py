"""Reads before the vault's files were all read: each says so, in one place, until it is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import NotFound
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.indexing import Indexing
from vault_kg.operations.workspace import MANY, Workspace

ME = Caller("me")
UNKNOWN = {"done": 0, "total": None}


def write_notes(root: Path, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        (root / f"note-{number}.md").write_text(f"Words of note {number}.\n")


def search(ws: Workspace) -> dict[str, object]:
    return registry.call(ws, "knowledge_search", {"query": "words", "mode": "text"}, ME)


def asked_at_each_step(ws: Workspace) -> list[object]:
    """Take the files in, and ask at each batch how far it is."""
    told: list[object] = []
    ws.scan(lambda _done, _total: told.append(search(ws).get("indexing")))
    return told


def test_a_read_before_the_first_look_says_that_it_may_miss_something(tmp_path: Path) -> None:
    write_notes(tmp_path, 3)
    ws = Workspace.create(tmp_path)
    assert search(ws) | {"indexing": UNKNOWN} == search(ws)
    assert registry.call(ws, "knowledge_records", {}, ME)["indexing"] == UNKNOWN
    assert registry.call(ws, "graph_search", {"query": "words"}, ME)["indexing"] == UNKNOWN
    assert asked_at_each_step(ws)[-1] == {"done": 3, "total": 3}
    assert "indexing" not in search(ws)
    ws.close()
    ws = Workspace.open(tmp_path)  # another process, later
    assert "indexing" not in search(ws)
    ws.close()


def test_what_is_not_found_before_the_first_look_may_still_come(tmp_path: Path) -> None:
    write_notes(tmp_path, 3)
    ws = Workspace.create(tmp_path)
    with pytest.raises(NotFound) as refused:
        registry.call(ws, "knowledge_lookup", {"text": "note-2"}, ME)
    assert "not all been read yet" in refused.value.message
    assert refused.value.data["indexing"] == UNKNOWN
    ws.scan()
    assert registry.call(ws, "knowledge_lookup", {"text": "note-2"}, ME)["record"]
    with pytest.raises(NotFound) as refused:
        registry.call(ws, "knowledge_lookup", {"text": "note-77"}, ME)
    assert "indexing" not in refused.value.data and "read yet" not in refused.value.message
    ws.close()


def test_a_plain_answer_says_it_in_its_text(tmp_path: Path) -> None:
    ws = Workspace.create(tmp_path)
    read = registry.call(ws, "kg_read", {"cwd": str(tmp_path)}, ME)
    assert read["indexing"] == UNKNOWN and "not all been read yet" in read["text"]
    ws.close()


def test_notes_put_into_a_vault_that_was_made_empty_are_a_first_look_too(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path)
    made.scan()
    made.close()
    write_notes(tmp_path, 3)
    ws = Workspace.open(tmp_path)
    assert search(ws)["indexing"] == UNKNOWN
    ws.scan()
    assert "indexing" not in search(ws)
    ws.close()


def test_some_edits_are_not_told_and_many_new_files_are(vault: VaultBox) -> None:
    vault.ws.scan()
    write_notes(vault.root, 20)
    assert asked_at_each_step(vault.ws)[-1] is None
    write_notes(vault.root, MANY, start=20)
    last = Indexing.model_validate(asked_at_each_step(vault.ws)[-1])
    assert last.total is not None and last.done == last.total >= MANY
    assert "indexing" not in search(vault.ws)


def test_only_reads_have_it_and_their_schema_says_so() -> None:
    for found in registry.operations().values():
        assert ("indexing" in found.answer_schema()["properties"]) == found.read_only
