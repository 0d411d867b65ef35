"""MCP standalone and attached, as an agent meets them.

What concerns the process is tried with `vault-kg mcp` itself; the rest with the same server in this
process, so that it is quick.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation

from tests.operations.builder import VaultBox
from tests.serve.long_operations import ENDED
from tests.serve.served import ROOT, Running, ServiceProcess, surroundings
from vault_kg.operations.caller import Caller
from vault_kg.serve.attached import Attached
from vault_kg.serve.engine import Engine, Standalone
from vault_kg.serve.keeper import Keeper
from vault_kg.serve.mcp import Offer, Tools, make_server
from vault_kg.serve.schemas import compact

Work = Callable[[Client], Awaitable[None]]
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
ADMIN = Offer(frozenset({"read", "admin"}))
OFFER = Offer(toolsets=frozenset({"records", "testing"}))


def with_agent(work: Work, *options: str | Path) -> None:
    """Start `vault-kg mcp` and let an agent work with it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_kg.cli", "mcp", *map(str, options)],
        env=surroundings(),
        cwd=ROOT,
    )
    _work(work, server, "auto")


def with_engine(work: Work, engine: Engine, offer: Offer = OFFER, mode: str = "auto") -> None:
    """Let an agent work with a server in this process."""
    try:
        _work(work, make_server(Tools(engine, offer)), mode)
    finally:
        engine.stop()


def _work(work: Work, server: Any, mode: str) -> None:
    async def run() -> None:
        with anyio.fail_after(60):
            info = Implementation(name="Test Agent", version="1")
            async with Client(server, mode=mode, client_info=info) as client:
                await work(client)

    anyio.run(run)


@pytest.fixture(params=["standalone", "attached"])
def engine(request: pytest.FixtureRequest, served: Running) -> Engine:
    """Both ways to run the calls."""
    if request.param == "standalone":
        return Standalone(Keeper(served.keeper._root, watch=False))
    return attached(served)


def attached(served: Running, **more: Any) -> Attached:
    return Attached(lambda: served.address, **more)


def result(answer: CallToolResult) -> dict[str, Any]:
    assert not answer.is_error, answer.structured_content
    told: dict[str, Any] = answer.structured_content
    return told


def error(answer: CallToolResult) -> dict[str, Any]:
    assert answer.is_error
    told: dict[str, Any] = answer.structured_content["error"]
    return told


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


# Without the service


def test_the_tools_are_listed_without_the_service_and_calls_say_what_to_do(
    small: VaultBox,
) -> None:
    async def work(client: Client) -> None:
        listed = (await client.list_tools()).tools
        sent = {"tools": [t.model_dump(by_alias=True, exclude_none=True) for t in listed]}
        assert len(compact(sent)) < 15_000
        told = error(await client.call_tool("knowledge_records"))
        assert told["code"] == "unavailable"
        assert str(small.root / ".vault-kg/service.sock") in told["message"]
        assert "vault-kg serve" in told["message"]
        service = ServiceProcess(small.root).wait_until_ready()
        assert result(await client.call_tool("knowledge_records"))["total"] == 2
        service.kill()
        assert error(await client.call_tool("knowledge_records"))["code"] == "unavailable"
        again = ServiceProcess(small.root).wait_until_ready()
        assert result(await client.call_tool("knowledge_records"))["total"] == 2
        assert again.stop() == 0

    with_agent(work, "--vault", small.root, "--connect")


def test_attached_the_vault_is_never_opened(small: VaultBox, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere.sock"

    async def work(client: Client) -> None:
        told = error(await client.call_tool("knowledge_records"))
        assert str(place) in told["message"]

    (small.root / ".vault-kg/state.sqlite").unlink()
    before = sorted(path.name for path in (small.root / ".vault-kg").iterdir())
    with_agent(work, "--vault", small.root, "--connect", place)
    assert sorted(path.name for path in (small.root / ".vault-kg").iterdir()) == before


def test_eager_fails_at_once_without_the_service(small: VaultBox) -> None:
    command = [sys.executable, "-m", "vault_kg.cli", "mcp", "--connect-eager"]
    done = subprocess.run(
        [*command, "--connect", "--vault", str(small.root)],
        env=surroundings(), stdin=subprocess.PIPE, capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert str(small.root / ".vault-kg/service.sock") in done.stderr
    alone = subprocess.run(
        [*command, "--vault", str(small.root)],
        env=surroundings(), capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert alone.returncode == 2


def test_eager_serves_where_the_service_is_there_from_any_folder(served: Running) -> None:
    async def work(client: Client) -> None:
        assert result(await client.call_tool("knowledge_records"))["total"] == 2

    with_agent(work, "--connect", served.keeper._root, "--connect-eager")


# What comes through


def test_the_name_scopes_and_partitions_of_the_agent_go_with_its_calls(served: Running) -> None:
    page = {"requestId": "a", "type": "Topic", "title": "T"}

    async def write(client: Client) -> None:
        assert result(await client.call_tool("knowledge_save_page", page))["actor"] == "Test Agent"

    async def read(client: Client) -> None:
        assert "knowledge_save_page" not in await names(client)
        denied = error(await client.call_tool("knowledge_save_page", page))
        assert denied["code"] == "scope_denied"
        assert result(await client.call_tool("knowledge_records"))["total"] == 0
        odd = error(await client.call_tool("knowledge_records", {"limt": 1}))
        assert odd["data"]["problems"] == [{"field": "limt", "problem": "unknown key"}]

    with_engine(write, attached(served))
    narrow = Offer(frozenset({"read"}), partitions=frozenset({"private"}))
    with_engine(read, attached(served), narrow)


def test_the_service_s_own_scope_holds(served: Running) -> None:
    served.service.caller = Caller("socket", frozenset({"read"}))

    async def work(client: Client) -> None:
        page = {"requestId": "a", "type": "Topic", "title": "T"}
        denied = error(await client.call_tool("knowledge_save_page", page))
        assert (denied["code"], denied["data"]) == ("scope_denied", {"scope": "write"})

    with_engine(work, attached(served))


# Progress and cancelling


@MODES
def test_progress_is_told_to_who_asks_for_it(engine: Engine, mode: str) -> None:
    async def work(client: Client) -> None:
        told: list[tuple[float, float | None, str | None]] = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            told.append((done, total, message))

        steps = {"steps": 20, "pause": 0.05}
        answer = await client.call_tool("stepwise", steps, progress_callback=note)
        assert result(answer)["said"] == "20 steps"
        await anyio.sleep(0.1)
        assert len(told) > 2
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert told[-1] == (20, 20, "done")
        assert told[0][2] == f"step {told[0][0]:g}"
        assert result(await client.call_tool("stepwise", {"steps": 2}))["said"] == "2 steps"

    with_engine(work, engine, mode=mode)


def test_attached_a_long_call_that_reports_outlasts_the_idle_time(served: Running) -> None:
    async def work(client: Client) -> None:
        long = {"steps": 40, "pause": 0.05}
        assert result(await client.call_tool("stepwise", long))["said"] == "40 steps"
        silent = error(await client.call_tool("stepwise", {**long, "silent": True}))
        assert "said nothing for 1 s" in silent["message"]
        assert result(await client.call_tool("knowledge_records"))["total"] == 2

    with_engine(work, attached(served, idle_seconds=1))


@MODES
def test_a_cancelled_call_ends_between_steps_and_others_go_on(engine: Engine, mode: str) -> None:
    """The SDK's client sends `notifications/cancelled` for a call that it gives up."""

    async def work(client: Client) -> None:
        begun = anyio.Event()

        async def note(*_: object) -> None:
            begun.set()

        async def call() -> None:
            steps = {"name": "cancelled", "steps": 10_000, "pause": 0.02}
            await client.call_tool("stepwise", steps, progress_callback=note)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await begun.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(10):
            while "cancelled" not in ENDED:
                await anyio.sleep(0.02)
        assert ENDED["cancelled"] < 10_000
        assert result(await client.call_tool("knowledge_records"))["total"] == 2

    with_engine(work, engine, mode=mode)


# Closing


@pytest.mark.parametrize("allowed", [False, True])
def test_an_agent_stops_the_service_only_where_it_was_allowed(
    small: VaultBox, long: None, allowed: bool
) -> None:
    running = Running(small.root)

    async def work(client: Client) -> None:
        assert ("knowledge_close" in await names(client)) is allowed
        answer = await client.call_tool("knowledge_close")
        if not allowed:
            assert error(answer)["code"] == "not_found"
            assert result(await client.call_tool("knowledge_records"))["total"] == 2
            return
        assert result(answer) == {"status": "closed"}
        await anyio.to_thread.run_sync(running.thread.join, 10)
        assert error(await client.call_tool("knowledge_records"))["code"] == "unavailable"

    with_engine(work, attached(running, allow_close=allowed), ADMIN)
    assert running.thread.is_alive() is not allowed
    running.stop()


def test_standalone_closing_ends_this_server_s_use_of_the_vault_only(served: Running) -> None:
    async def work(client: Client) -> None:
        assert "knowledge_close" in await names(client)
        assert result(await client.call_tool("knowledge_close")) == {"status": "closed"}
        told = error(await client.call_tool("knowledge_records"))
        assert (told["code"], "start it anew" in told["message"]) == ("unavailable", True)

    async def deny(client: Client) -> None:
        assert "knowledge_close" not in await names(client)
        assert error(await client.call_tool("knowledge_close"))["code"] == "scope_denied"

    for task, offer in ((work, ADMIN), (deny, OFFER)):
        with_engine(task, Standalone(Keeper(served.keeper._root)), offer)
    with served.client() as client:
        assert client.call("health_check")["ok"]
