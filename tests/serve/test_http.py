"""MCP over HTTP as a client meets it: the SDK's own with the token, and those that must not get in."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.operations.builder import VaultBox
from tests.serve.test_mcp import AGENT, ROOT, Agent
from vault_kg.errors import InvalidArgument, Unavailable
from vault_kg.serve import http

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}  # fmt: skip
ACCEPT = {"accept": "application/json, text/event-stream"}


@contextmanager
def serving(root: Path, *options: str, **environment: str) -> Iterator[tuple[str, str]]:
    """Start a server on a vault; yields its URL and where it says that the token is."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "mcp", "--vault", str(root), "--http", *options],
        env={
            **os.environ, "PYTHONPATH": str(ROOT), "VAULT_KG_EMBEDDING_MODEL": "off", **environment,
        },
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = re.fullmatch(r"serving (\S+); the token is in (.+)\n", process.stderr.readline())
        assert said is not None
        yield said[1], said[2]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        process.stderr.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_agent_with_the_token_works_as_over_stdio(small: VaultBox, mode: str) -> None:
    async def work(url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as over,
            Client(
                streamable_http_client(url, http_client=over), mode=mode, client_info=AGENT
            ) as client,
        ):
            agent = Agent(client)
            assert (await agent.ask("knowledge_lookup", text="ada lovelace"))["record"]
            receipt = await agent.ask(
                "knowledge_save_page", requestId="r", type="Topic", title="Looms"
            )
            assert receipt["actor"] == "Test Agent"
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(agent.ask, "knowledge_records")
            denied = await agent.refused("knowledge_build_indices")
            assert denied["code"] == "scope_denied"

    with serving(small.root) as (url, file):
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
        anyio.run(work, url, Path(file).read_text().strip())
    small.reopen()
    assert small.get(small.lookup("Looms"))["title"] == "Looms"


def test_who_is_not_this_machine_s_or_has_no_token_is_refused(small: VaultBox) -> None:
    token = "t" * 20
    with serving(small.root, VAULT_KG_HTTP_TOKEN=token) as (url, where):
        assert where == "VAULT_KG_HTTP_TOKEN"
        port = httpx2.URL(url).port
        good = {**ACCEPT, "authorization": f"Bearer {token}"}

        def status(path: str = "/mcp", **headers: Any) -> int:
            sent = {**good, **headers}
            kept = {name: value for name, value in sent.items() if value is not None}
            place = f"http://127.0.0.1:{port}{path}"
            return httpx2.post(place, json=HELLO, headers=kept).status_code

        assert status() == 200
        assert status(origin=f"http://localhost:{port}") == 200
        assert status(authorization=f"bearer  {token}") == 200
        for wrong in (None, "", token, f"Basic {token}", "Bearer", f"Bearer {token}x", "Bearer t"):
            assert status(authorization=wrong) == 401
        for host in (
            "evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}",
            f"127.0.0.1:{port}.evil.example", f"127.0.0.1.evil.example:{port}", f"0.0.0.0:{port}",
        ):  # fmt: skip
            assert status(host=host) == 421
        for origin in (
            "null", "https://evil.example", f"https://127.0.0.1:{port}", "http://127.0.0.1",
            f"http://127.0.0.1:{port}.evil.example", f"http://127.0.0.1:{port + 1}", "file://",
        ):  # fmt: skip
            assert status(origin=origin) == 403
        assert status("/") == 404
        assert status("/", authorization=None) == 401, "nobody learns what is here"
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"http://127.0.0.2:{port}/mcp")


def test_a_taken_port_is_told(small: VaultBox) -> None:
    with serving(small.root) as (url, _):
        port = str(httpx2.URL(url).port)
        command = ["-m", "vault_kg.cli", "mcp", "--vault", str(small.root), "--http", port]
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 3
        assert port in done.stderr and "give another one" in done.stderr


def test_the_token_is_made_once_and_is_the_owner_s_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(http.TOKEN_VARIABLE, raising=False)
    token, where = http.token_for(tmp_path)
    assert len(token) >= 40 and http.token_for(tmp_path) == (token, where)
    Path(where).chmod(0o644)
    with pytest.raises(Unavailable, match="read by others"):
        http.token_for(tmp_path)
    with pytest.raises(InvalidArgument, match=http.TOKEN_VARIABLE):
        http.token_for(None)
    with pytest.raises(Unavailable, match=http.TOKEN_FILE):
        http.token_for(tmp_path / "nowhere")
    monkeypatch.setenv(http.TOKEN_VARIABLE, "short")
    with pytest.raises(InvalidArgument, match="16"):
        http.token_for(tmp_path)
