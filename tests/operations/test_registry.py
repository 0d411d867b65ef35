"""The registry: one list of operations, each complete, from which every face is made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import InvalidArgument, NotFound, ScopeDenied
from vault_kg.operations import catalogue, registry
from vault_kg.operations.caller import AGENT_SCOPES, Caller

OPERATIONS = registry.operations()
SPECIFIED = {
    "knowledge_ontology": "read", "knowledge_save_page": "write", "knowledge_edit_body": "write",
    "knowledge_save_claim": "write", "knowledge_save_relationship": "write",
    "knowledge_correct": "write", "knowledge_withdraw": "write", "knowledge_merge": "write",
    "knowledge_unmerge": "write", "knowledge_resume": "write", "knowledge_impact": "read",
    "knowledge_get": "read", "knowledge_history": "read", "knowledge_records": "read",
    "knowledge_lookup": "read", "knowledge_connections": "read", "knowledge_attach_file": "write",
    "knowledge_attach": "write", "knowledge_source": "read", "knowledge_diagnostics": "read",
    "knowledge_review": "review", "knowledge_adopt": "write", "knowledge_search": "read",
    "knowledge_status": "read",
}  # fmt: skip
REQUIRED = {
    "knowledge_edit_body": {"requestId", "id", "expectedRevision", "expectedHash", "edits"},
    "knowledge_save_claim": {"requestId", "claimKind", "statement", "owner", "evidence"},
    "knowledge_save_relationship": {"requestId", "from", "to", "fact", "evidence"},
    "knowledge_correct": {
        "requestId", "id", "expectedRevision", "expectedHash", "reason",
        "expectedOntologyFingerprint", "replacement",
    },
    "knowledge_withdraw": {"requestId", "id", "expectedRevision", "expectedHash", "reason"},
    "knowledge_merge": {"requestId", "reason", "survivor", "absorbed"},
    "knowledge_unmerge": {"requestId", "id", "expectedRevision", "expectedHash", "reason"},
    "knowledge_resume": {"requestId"}, "knowledge_impact": {"id"}, "knowledge_get": {"id"},
    "knowledge_history": {"id"}, "knowledge_lookup": {"text"}, "knowledge_connections": {"id"},
    "knowledge_attach_file": {"requestId", "filePath", "sha256"},
    "knowledge_attach": {"requestId", "name", "sha256", "size", "offset", "chunk"},
    "knowledge_source": {"id"}, "knowledge_review": {"requestId", "conflictId", "choice", "reason"},
    "knowledge_search": {"query"}, "knowledge_records": set(), "knowledge_status": set(),
}  # fmt: skip


def test_every_specified_operation_is_there_with_its_scope() -> None:
    assert SPECIFIED.items() <= {name: o.scope for name, o in OPERATIONS.items()}.items()


@pytest.mark.parametrize("name", REQUIRED)
def test_the_required_keys_are_those_of_the_contract(name: str) -> None:
    schema = OPERATIONS[name].request.model_json_schema(by_alias=True)
    assert set(schema.get("required", [])) == REQUIRED[name]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_does_and_what_it_takes(name: str) -> None:
    found = OPERATIONS[name]
    assert 30 < len(found.description) < 900 and found.description.endswith(".")
    assert found.request.model_config["extra"] == "forbid"
    schema = found.request.model_json_schema(by_alias=True)
    json.dumps(schema)
    keys = list(schema.get("properties", {}))
    assert not [k for k in keys if "_" in k] or not [k for k in keys if k != k.lower()]
    if found.scope == "write" and found.toolset == "records":
        assert "requestId" in keys


def test_unknown_operations_are_not_found(vault: VaultBox) -> None:
    for name in ("knowledge_delete", "", "__init__", "knowledge_get "):
        with pytest.raises(NotFound, match="vault-kg operations"):
            registry.call(vault.ws, name, {}, Caller("x"))


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_scope_is_checked_before_anything_else(vault: VaultBox, name: str) -> None:
    scope = OPERATIONS[name].scope
    caller = Caller("x", scopes=frozenset({"read", "write", "review", "admin"}) - {scope})
    with vault.nothing_changes(), pytest.raises(ScopeDenied) as caught:
        registry.call(vault.ws, name, {"nonsense": 1}, caller)
    assert scope in caught.value.message and caught.value.data["scope"] == scope


def test_agents_are_not_offered_what_only_a_person_decides() -> None:
    offered = {name for name, o in OPERATIONS.items() if o.scope in AGENT_SCOPES}
    assert not offered & {"knowledge_review", "knowledge_restore", "knowledge_decline_merge"}


@pytest.mark.parametrize("arguments", [[], "text", None, 3])
def test_arguments_must_be_an_object(vault: VaultBox, arguments: Any) -> None:
    with pytest.raises(InvalidArgument, match="object"):
        registry.call(vault.ws, "knowledge_status", arguments, Caller("x"))


def test_answers_are_plain_json(vault: VaultBox) -> None:
    vault.put(
        "main/pages/gizmo/odd.md",
        "---\nformat: knowledge-record-v1\nid: pg_01kh0000000000000000000001\nkind: page\n"
        "revision: 1\ntitle: Odd\nlifecycle: active\nrecorded_at: 2026-01-05T10:00:00Z\n"
        "updated_at: 2026-01-05T10:00:00Z\ntype: Gizmo\n"
        "fields: {nan: .nan, inf: -.inf, deep: [[.inf]], date: 2024-01-05, big: 12345678901234567890}\n"
        "lifecycle_change: {at: .nan}\n---\n",
    )
    vault.scan()
    view = vault.get("pg_01kh0000000000000000000001")
    text = json.dumps(view, allow_nan=False)
    assert json.loads(text) == view
    assert view["fields"]["nan"] == ".nan" and view["fields"]["inf"] == "-.inf"
    assert view["fields"]["big"] == 12345678901234567890


def test_an_error_is_plain_json_with_a_code(vault: VaultBox) -> None:
    vault.page()
    vault.page()
    for name, arguments in (
        ("knowledge_lookup", {"text": "ada"}), ("knowledge_get", {"id": "pg_x"}),
        ("knowledge_save_page", {"requestId": "x"}),
    ):  # fmt: skip
        with pytest.raises(Exception) as caught:
            registry.call(vault.ws, name, arguments, Caller("x"))
        wire = caught.value.to_dict()  # type: ignore[attr-defined]
        assert set(wire) == {"code", "message", "data"} and json.dumps(wire, allow_nan=False)


def test_refusals_name_keys_in_the_spelling_of_the_wire(vault: VaultBox) -> None:
    refused = vault.refused("knowledge_save_page", id="pg_x", title="x")
    assert "expectedRevision and expectedHash" in refused.message
    refused = vault.refused("knowledge_withdraw", id="pg_x", expectedRevision=0)
    fields = {p["field"] for p in refused.data["problems"]}
    assert {"expectedRevision", "expectedHash", "reason"} == fields


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_found_in_the_family_that_its_name_says(name: str) -> None:
    package = OPERATIONS[name].handler.__module__.split(".")[1]
    named = [f.package for f in catalogue.FAMILIES if name.startswith(f.prefixes)]
    assert package in named
    assert registry.find(name) is OPERATIONS[name]
