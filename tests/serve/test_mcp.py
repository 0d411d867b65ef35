"""The MCP server as an agent meets it: the SDK's own client, over stdio, on a small vault."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation

from tests.operations.builder import VaultBox
from vault_kg.operations import registry
from vault_kg.serve.schemas import compact

ROOT = Path(__file__).parents[2]
AGENT = Implementation(name="Test Agent", version="1")


class Agent:
    """A connected agent; `ask` holds that what it says is consistent."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> CallToolResult:
        result = await self.client.call_tool(name, arguments)
        assert result.content[0].type == "text"
        shown = json.loads(result.content[0].text)
        assert set(shown) <= set(result.structured_content)
        return result

    async def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(name, **arguments)
        assert not result.is_error, result.structured_content
        answer: dict[str, Any] = result.structured_content
        return answer

    async def refused(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(name, **arguments)
        assert result.is_error
        assert set(result.structured_content) == {"error"}
        error: dict[str, Any] = result.structured_content["error"]
        assert set(error) == {"code", "message", "data"}
        return error

    async def fence(self, record: str) -> dict[str, Any]:
        view = await self.ask("knowledge_get", id=record, followMerges=False)
        return {
            "id": record,
            "expectedRevision": view["revision"],
            "expectedHash": view["hash"],
        }


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VaultBox:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    return VaultBox(tmp_path / "vault")


def connected(
    root: Path, work: Callable[[Agent], Awaitable[None]], *options: str, mode: str = "legacy"
) -> None:
    """Start a server on a vault, and let an agent work with it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_kg.cli", "mcp", "--vault", str(root), *options],
        env={"PYTHONPATH": str(ROOT), "VAULT_KG_EMBEDDING_MODEL": "off", "HOME": str(root.parent)},
    )

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, mode=mode, client_info=AGENT) as client:
                await work(Agent(client))

    anyio.run(run)


def test_an_agent_corrects_merges_and_withdraws_end_to_end(box: VaultBox, tmp_path: Path) -> None:
    ada, twin = box.page("Ada Lovelace"), box.page("Countess of Lovelace", tags=["noble"])
    claim = box.claim(ada, "Ada built the engine.")
    source = box.evidence[0]["source"]
    position = box.position
    box.ws.close()

    async def work(agent: Agent) -> None:
        found = await agent.ask("knowledge_lookup", text="ada lovelace")
        assert found["record"]["id"] == ada
        words = await agent.ask("knowledge_ontology")
        correct = {
            **await agent.fence(claim), "requestId": "a-1", "reason": "the source says otherwise",
            "expectedOntologyFingerprint": words["fingerprint"],
            "replacement": {
                "kind": "claim", "claimKind": "fact", "owner": ada,
                "statement": "Ada wrote the notes.",
                "evidence": [{"source": source, "lines": "1", "quote": "Ada wrote the notes."}],
            },
        }  # fmt: skip
        corrected = await agent.ask("knowledge_correct", **correct)
        assert corrected["actor"] == "Test Agent"
        assert corrected["git"]["state"] == "committed"
        assert await agent.ask("knowledge_correct", **correct) == corrected, "a retry is safe"
        stale = await agent.refused("knowledge_correct", **{**correct, "requestId": "a-2"})
        assert stale["code"] in ("stale_revision", "lifecycle_refused")

        merged = await agent.ask(
            "knowledge_merge", requestId="a-3", reason="the registry says so",
            survivor=await agent.fence(ada), absorbed=await agent.fence(twin),
        )  # fmt: skip
        assert merged["added"]["tags"] == ["noble"]
        means = await agent.ask("knowledge_lookup", text="Countess of Lovelace")
        assert means["record"]["id"] == ada

        withdrawn = await agent.ask(
            "knowledge_withdraw", requestId="a-4", reason="not wanted", **await agent.fence(ada)
        )
        assert withdrawn["impact"]["total"] >= 1
        listed = await agent.ask("knowledge_records")
        assert (listed["records"], listed["total"]) == ([], 0)
        history = await agent.ask("knowledge_history", id=claim)
        assert [r["operation"] for r in history["revisions"]] == [
            "knowledge_correct", "knowledge_save_claim",
        ]  # fmt: skip

    connected(box.root, work)
    box.reopen()
    assert box.position == position + 3
    box.ws.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_are_the_operations_of_read_and_write(box: VaultBox, mode: str) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        listed = await agent.client.list_tools()
        tools = {tool.name: tool for tool in listed.tools}
        expected = {
            name for name, o in registry.operations().items()
            if o.scope in ("read", "write") and o.toolset == "records"
        }  # fmt: skip
        assert set(tools) == expected
        assert not {"knowledge_review", "knowledge_restore", "knowledge_decline_merge"} & set(tools)
        withdraw, get = tools["knowledge_withdraw"], tools["knowledge_get"]
        assert withdraw.annotations is not None and get.annotations is not None
        assert withdraw.annotations.destructive_hint is True
        assert withdraw.annotations.idempotent_hint is True
        assert get.annotations.read_only_hint is True
        assert all(tool.output_schema for tool in listed.tools)
        sent = {"tools": [t.model_dump(by_alias=True, exclude_none=True) for t in listed.tools]}
        assert len(compact(sent)) < 15_000

    connected(box.root, work, mode=mode)


def test_refusals_are_results_that_say_what_to_do(box: VaultBox) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        unknown = await agent.refused("knowledge_dance")
        assert unknown["code"] == "not_found"
        review = await agent.refused("knowledge_review", requestId="r")
        assert review["code"] == "scope_denied"
        missing = await agent.refused("knowledge_get", id="pg_" + "0" * 26)
        assert missing["code"] == "not_found"
        odd = await agent.refused("knowledge_get", id=["a"], colour=1)
        assert {"field": "colour", "problem": "unknown key"} in odd["data"]["problems"]

    connected(box.root, work)


def test_scope_read_offers_and_allows_reads_only(box: VaultBox) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        listed = await agent.client.list_tools()
        assert "knowledge_save_page" not in {tool.name for tool in listed.tools}
        denied = await agent.refused("knowledge_save_page", requestId="r", type="Topic", title="T")
        assert denied["code"] == "scope_denied"

    connected(box.root, work, "--scope", "read")


def test_answers_are_of_the_schemas_that_were_announced(box: VaultBox) -> None:
    ada, bob = box.page("Ada"), box.page("Bob")
    box.relationship(ada, bob)
    box.claim(ada)
    source = box.evidence[0]["source"]
    box.ws.close()

    async def work(agent: Agent) -> None:
        """Ask what can be asked; the SDK's client checks each answer against the tool's schema."""
        listed = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert all(tool.output_schema["properties"] for tool in listed.values())
        for name, given in (
            ("knowledge_status", {}), ("knowledge_search", {"query": "ada"}),
            ("knowledge_records", {}), ("knowledge_get", {"id": ada}),
            ("knowledge_lookup", {"text": "Bob"}), ("knowledge_history", {"id": ada, "diff": True}),
            ("knowledge_connections", {"id": ada}), ("knowledge_impact", {"id": ada}),
            ("knowledge_source", {"id": source}), ("knowledge_diagnostics", {}),
            ("knowledge_ontology", {}),
        ):  # fmt: skip
            await agent.ask(name, **given)
        assert (await agent.refused("knowledge_get", id="pg_" + "0" * 26))["code"] == "not_found"

    connected(box.root, work, "--scope", "read")


def test_other_partitions_do_not_exist_for_the_agent(box: VaultBox) -> None:
    hidden = box.page("Secret", partition="private")
    box.page("Known")
    box.ws.close()

    async def work(agent: Agent) -> None:
        assert (await agent.ask("knowledge_records"))["total"] == 1
        assert (await agent.refused("knowledge_get", id=hidden))["code"] == "not_found"

    connected(box.root, work, "--partition", "main")


def test_the_actor_option_stands_above_the_client_s_name(box: VaultBox) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        receipt = await agent.ask(
            "knowledge_save_page", requestId="r", type="Topic", title="T", tags='["a", "b"]'
        )
        assert receipt["actor"] == "Grace"
        view = await agent.ask("knowledge_get", id=receipt["targetId"])
        assert view["tags"] == ["a", "b"], "a list may come as a JSON string"

    connected(box.root, work, "--actor", "Grace", mode="auto")


def test_a_record_of_300_000_characters_is_read_completely(box: VaultBox) -> None:
    body = "".join(f'Line {n} with "quotes" and ümlauts.\n' for n in range(9_000))
    assert len(body) > 300_000
    page = box.page("Long", "Topic", body=body)
    box.ws.close()

    async def work(agent: Agent) -> None:
        read, offset = "", 0
        while True:
            result = await agent.call("knowledge_get", id=page, bodyOffset=offset)
            view = result.structured_content
            assert len(compact(view)) <= 100_000
            assert view["bodyTotal"] == len(body.strip("\n"))
            read += view["body"]
            if view["nextBodyOffset"] is None:
                break
            offset = view["nextBodyOffset"]
        assert read == body.strip("\n")

    connected(box.root, work)


def test_a_long_list_is_paged_and_complete(box: VaultBox) -> None:
    for number in range(80):
        box.page(f"Page {number}", "Topic", summary="s" * 290)
    box.ws.close()

    async def work(agent: Agent) -> None:
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await agent.ask("knowledge_records", limit=1000, **cursor)
            assert len(compact(page)) <= 20_000
            seen += [record["id"] for record in page["records"]]
            if page["nextCursor"] is None:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert len(seen) == len(set(seen)) == page["total"] == 80

    connected(box.root, work, "--max-chars", "20000")


def test_an_edit_on_disk_is_searchable_without_a_restart(box: VaultBox) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        await agent.ask("knowledge_status")
        (box.root / "note.md").write_text("# Carding engines\n\nFor wool.\n")
        with anyio.fail_after(20):
            while not (await agent.ask("knowledge_search", query="carding"))["hits"]:
                await anyio.sleep(0.02)

    connected(box.root, work)


def test_a_vault_that_lost_its_state_says_so_and_serves_after_recovery(box: VaultBox) -> None:
    page = box.page("Ada")
    box.ws.close()
    state = box.root / ".vault-kg" / "state.sqlite"
    away = box.root.parent / "away.sqlite"
    state.replace(away)

    async def work(agent: Agent) -> None:
        await agent.client.list_tools()
        lost = await agent.refused("knowledge_get", id=page)
        assert lost["code"] == "unavailable"
        assert "vault-kg recover" in lost["message"]
        away.replace(state)
        assert (await agent.ask("knowledge_get", id=page))["title"] == "Ada"

    connected(box.root, work)


def test_many_calls_at_once_are_all_answered(box: VaultBox) -> None:
    box.ws.close()

    async def work(agent: Agent) -> None:
        answers: dict[int, dict[str, Any]] = {}

        async def save(number: int) -> None:
            answers[number] = await agent.ask(
                "knowledge_save_page", requestId=f"r{number}", type="Topic", title=f"T {number}"
            )

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(save, number)
        assert {a["requestId"] for a in answers.values()} == {f"r{n}" for n in range(20)}
        assert (await agent.ask("knowledge_records", limit=100))["total"] == 20

    connected(box.root, work)
