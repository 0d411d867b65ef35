"""The tools as a model reads them: complete in names, brief in words, valid as JSON schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import jsonschema
import pytest

from vault_kg.operations import registry
from vault_kg.operations.base import Model
from vault_kg.operations.registry import Operation
from vault_kg.serve import schemas


def offered() -> list[Operation]:
    return [
        operation for operation in registry.operations().values()
        if operation.scope in ("read", "write") and operation.toolset == "records"
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tools() -> dict[str, dict]:
    return {tool["name"]: tool for tool in schemas.describe(offered())}


def test_the_default_list_stays_under_15_000_characters(tools) -> None:
    assert len(json.dumps({"tools": list(tools.values())}, separators=(",", ":"))) < 15_000


@pytest.mark.parametrize("operation", offered(), ids=lambda o: o.name)
def test_a_tool_names_every_argument_with_its_type(tools, operation) -> None:
    lean = tools[operation.name]["inputSchema"]
    full = operation.request.model_json_schema(by_alias=True)
    assert set(full.get("properties", {})) - set(lean["properties"]) <= {"expectedVaultId"}
    assert lean.get("required", []) == full.get("required", [])
    assert all("type" in rule or "enum" in rule for rule in lean["properties"].values())
    jsonschema.Draft202012Validator.check_schema(lean)
    jsonschema.Draft202012Validator.check_schema(tools[operation.name]["outputSchema"])


def test_a_nested_object_is_shown_by_its_signature(tools) -> None:
    claim = tools["knowledge_save_claim"]["inputSchema"]["properties"]
    assert claim["evidence"]["type"] == "array"
    assert claim["evidence"]["description"].startswith("{source, lines?, quote?, attribution?}")
    merge = tools["knowledge_merge"]["inputSchema"]["properties"]
    assert "{id, expectedRevision, expectedHash}" in merge["survivor"]["description"]


def test_what_null_clears_may_be_sent_as_null(tools) -> None:
    page = tools["knowledge_save_page"]["inputSchema"]["properties"]
    assert page["summary"]["type"] == ["string", "null"]
    assert page["aliases"]["type"] == ["array", "null"]
    assert page["expectedHash"]["type"] == "string"


def test_annotations_tell_reads_and_what_destroys(tools) -> None:
    for operation in offered():
        said = tools[operation.name]["annotations"]
        if operation.scope == "read":
            assert said == {"readOnlyHint": True}
        else:
            assert said == {"destructiveHint": operation.destructive, "idempotentHint": True}


def test_where_there_is_room_a_result_is_told_by_its_keys_and_their_types() -> None:
    reads = [operation for operation in offered() if operation.read_only]
    told = {tool["name"]: tool["outputSchema"] for tool in schemas.describe(reads)}
    assert told["knowledge_search"]["properties"] | {"semantic": 0, "asOf": 0} == {
        "hits": {"type": "array"}, "count": {"type": "integer"}, "total": {"type": "integer"},
        "nextCursor": {"type": ["string", "null"]}, "semantic": 0, "asOf": 0,
    }  # fmt: skip
    for operation in reads:
        full = operation.result.model_json_schema(by_alias=True, mode="serialization")
        assert set(told[operation.name]["properties"]) == set(full["properties"])
        assert told[operation.name].get("required") == full.get("required")


def test_a_smaller_budget_says_less_and_keeps_the_names() -> None:
    rich = schemas.describe(offered(), budget=60_000)
    lean = schemas.describe(offered(), budget=1)
    assert [tool["name"] for tool in rich] == [tool["name"] for tool in lean]
    assert len(schemas.compact(lean)) < 15_000 < len(schemas.compact(rich))
    assert all(
        tool["description"] == o.description for tool, o in zip(rich, offered(), strict=True)
    )
    for tool in rich:
        assert "required" in tool["outputSchema"]
    for budget in (14_000, 16_000, 20_000):
        assert len(schemas.compact({"tools": schemas.describe(offered(), budget)})) <= budget


class _Strange(Model):
    done: Literal[True]
    count: Literal[1, 2] | None
    word: Literal["a", "b"]
    anything: Any
    either: int | str


def test_a_result_is_never_promised_another_type_than_it_has() -> None:
    operation = next(iter(registry.operations().values()))
    told = schemas.describe([replace(operation, result=_Strange)], budget=100_000)
    assert told[0]["outputSchema"]["properties"] == {
        "done": {"type": "boolean"},
        "count": {"type": ["integer", "null"]},
        "word": {"type": "string"},
        "anything": {},
        "either": {},
    }
