"""The kg_* tools as an agent and a person meet them: MCP with plain text, and the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.cli.conftest import Outcome
from tests.cli.conftest import vault_kg as vault_kg
from tests.maintain.conftest import Garden, Talk

ROOT = Path(__file__).parents[2]
TOOLS = {
    "kg_read", "kg_search", "kg_put_node", "kg_put_edge", "kg_rename_node", "kg_delete_node",
    "kg_delete_edge", "kg_useful", "kg_sync", "kg_progress",
}  # fmt: skip


def test_an_agent_reads_plain_text_and_programs_read_values(garden: Garden) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_kg.cli", "mcp", "--vault", str(garden.box.root), "--toolset", "maintain"],
        env={"PYTHONPATH": str(ROOT), "VAULT_KG_EMBEDDING_MODEL": "off", "HOME": str(garden.folder)},
    )  # fmt: skip

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert listed >= TOOLS and not any("knowledge" in name for name in listed)
                first = await client.call_tool("kg_read", {"cwd": garden.project()})
                text = first.content[0].text  # type: ignore[union-attr]
                session = first.structured_content["session_id"]
                assert text.startswith(f"session_id: {session}\nUSER GRAPH (user)\nACTIVE:\n")
                assert "text" not in first.structured_content
                refused = await client.call_tool("kg_read", {"session_id": session, "id": "nope"})
                said = refused.content[0].text  # type: ignore[union-attr]
                assert refused.is_error and said.startswith("Error: there is no node 'nope'")
                assert refused.structured_content["error"]["code"] == "not_found"

    anyio.run(run)


@pytest.mark.parametrize(
    ("tools", "missing"), [("", set()), ("kg_read, kg_search", TOOLS - {"kg_read", "kg_search"})]
)
def test_what_a_server_does_not_list_it_does_not_run(
    garden: Garden, tools: str, missing: set[str]
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            "-m", "vault_kg.cli", "mcp", "--vault", str(garden.box.root), "--toolset", "maintain",
            "--scope", "read,write,admin",
        ],
        env={
            "PYTHONPATH": str(ROOT), "VAULT_KG_EMBEDDING_MODEL": "off", "HOME": str(garden.folder),
            "VAULT_KG_TOOLS": tools,
        },
    )  # fmt: skip

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert TOOLS - listed == missing
                page = {"requestId": "a", "type": "Person", "title": "Ada"}
                outside = {"knowledge_save_page": page, "graph_doctor": {}}
                for name, given in (outside | {one: {} for one in missing}).items():
                    refused = await client.call_tool(name, given)
                    said = refused.structured_content["error"]
                    assert refused.is_error and said["code"] == "scope_denied", name
                    assert ("--toolset" in said["message"]) == (name in outside)
                if missing:
                    assert (await client.call_tool("knowledge_close", {})).is_error
                assert not (await client.call_tool("kg_read", {"cwd": "/"})).is_error

    before = garden.box.position
    anyio.run(run)
    assert garden.box.position == before


def test_status_shows_debt_and_the_pages_behind_it(
    vault_kg: Any, garden: Garden, talk: Talk
) -> None:
    talk.put("one-two-three-four-five-six", "x" * 320)
    for n in range(12):
        talk.put(f"n{n}")
    root = garden.box.root
    shown: Outcome = vault_kg("maintain", "status", cwd=root)
    assert shown.code == 0
    assert "DEBT: LOW (0.28)" in shown.out and "HEALTH: 13 nodes" in shown.out
    assert (
        "  oversized gists (1)\n    one-two-three-four-five-six  gist of 320 characters\n"
        in shown.out
    )
    assert "  in no edge (13)\n" in shown.out and "… and 3 more" in shown.out
    only = vault_kg("maintain", "status", "--partition", "elsewhere", "--vault", root)
    assert only.out == "There are no graphs yet.\n"
    found = json.loads(vault_kg("maintain", "status", "--json", "--vault", root).out)
    assert found["graphs"][0]["partition"] == "user"


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_the_tools_are_those_of_the_runbook(tool: str) -> None:
    from vault_kg.operations import registry

    found = registry.operations()[tool]
    assert found.toolset == "maintain" and "text" in found.result.model_fields
