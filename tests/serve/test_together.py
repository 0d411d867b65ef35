"""One agent over MCP, one editor and a client of the socket use one vault at the same time.

Each is a real process; a second agent goes through the service. What each of them was told, or saw
on the disk, is there in the end, whoever else wrote meanwhile.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from tests.operations.builder import VaultBox, made_id, record_file
from tests.serve.served import ROOT, ServiceProcess, surroundings, until
from tests.store.trials import opened

LINES = 8
STALE = {"stale_revision", "stale_hash"}

EDITOR = """
import os, sys, time
from pathlib import Path
root, template, lines = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for number in range(lines):
    for name in ("main/pages/person/edited.md", "notes/edited.md"):
        path = root / name
        text = path.read_text() + f"\\nEditor line {number} of warping.\\n"
        saved = path.with_name(f".{path.name}.save")
        saved.write_text(text)
        os.replace(saved, path)
    new = root / f"main/pages/person/new-{number}.md"
    new.write_text(template.read_text().replace("NUMBER", f"{number:06d}"))
    time.sleep(0.2)
"""


def agent(root: Path, *options: str) -> AbstractContextManager[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_kg.cli", "mcp", "--vault", str(root), *options],
        env=surroundings(),
        cwd=ROOT,
    )
    return Client(server, client_info=Implementation(name=f"Agent{''.join(options)}", version="1"))


async def add_line(client: Client, page: str, text: str) -> int:
    """Add a line to the shared page as an agent should; returns how often it had to look again."""
    for again in range(200):
        view = (await client.call_tool("knowledge_get", {"id": page})).structured_content
        change = {
            "id": page, "requestId": f"{text}/{again}", "expectedRevision": view["revision"],
            "expectedHash": view["hash"], "body": f"{view['body']}\n{text}\n",
        }  # fmt: skip
        answer = await client.call_tool("knowledge_save_page", change)
        if not answer.is_error:
            return again
        assert answer.structured_content["error"]["code"] in STALE, answer.structured_content
    raise AssertionError("never had its turn")


def test_an_agent_an_editor_and_a_client_lose_nothing(small: VaultBox, tmp_path: Path) -> None:
    root = small.root
    small.put("main/pages/person/edited.md", record_file(made_id(1), title="Edited by hand"))
    small.put("notes/edited.md", "# A note\n")
    template = tmp_path / "template.md"
    template.write_text(record_file("pg_01kh0000000000000001NUMBER", title="By editor NUMBER"))
    service = ServiceProcess(root).wait_until_ready()
    socket = service.client()
    shared = socket.call(
        "knowledge_save_page", requestId="shared", type="Topic", title="Shared", body="Start\n"
    )["targetId"]
    made: dict[str, str] = {}

    async def use(client: Client, name: str) -> None:
        for number in range(LINES):
            await add_line(client, shared, f"{name} line {number}")
            title = f"{name} page {number}"
            page = {"requestId": title, "type": "Topic", "title": title}
            answer = await client.call_tool("knowledge_save_page", page)
            assert not answer.is_error, answer.structured_content
            made[answer.structured_content["targetId"]] = title

    def use_socket() -> None:
        for number in range(LINES):
            _add_line_over(socket, shared, f"socket line {number}")
            title = f"socket page {number}"
            page = {"requestId": title, "type": "Topic", "title": title}
            made[socket.call("knowledge_save_page", **page)["targetId"]] = title

    async def all_at_once() -> None:
        async with agent(root) as alone, agent(root, "--connect") as through:
            with anyio.fail_after(120):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(use, alone, "alone")
                    tasks.start_soon(use, through, "through")
                    tasks.start_soon(anyio.to_thread.run_sync, use_socket)
                    command = [sys.executable, "-c", EDITOR, str(root), str(template), str(LINES)]
                    await anyio.run_process(command)
            for client in (alone, through):
                await _sees(client, f"By editor {LINES - 1:06d}")

    anyio.run(all_at_once)
    last = f"Editor line {LINES - 1}"
    until(lambda: last in socket.call("knowledge_get", id=made_id(1))["body"])
    assert socket.call("knowledge_search", query="warping")["hits"]
    until(lambda: socket.call("health_check")["healthy"])
    assert service.stop() == 0

    box = opened(root)
    before = box.position
    box.scan()
    assert box.position == before, "every edit was taken in already"
    lines = box.get(shared)["body"].splitlines()
    for name in ("alone", "through", "socket"):
        for number in range(LINES):
            assert lines.count(f"{name} line {number}") == 1
    for record, title in made.items():
        assert box.get(record)["title"] == title
    for number in range(LINES):
        assert box.lookup(f"By editor {number:06d}")
        for path in ("main/pages/person/edited.md", "notes/edited.md"):
            assert (root / path).read_text().count(f"Editor line {number} ") == 1
    revisions = [r["revision"] for r in box.history(shared, limit=1000)]
    assert revisions == list(range(1 + 3 * LINES, 0, -1)), "each change is one revision"
    assert not box.git("status", "--porcelain", "--untracked-files=no")
    assert not box.findings("duplicate_id")
    box.ws.close()


async def _sees(client: Client, title: str) -> None:
    with anyio.fail_after(20):
        while (await client.call_tool("knowledge_lookup", {"text": title})).is_error:
            await anyio.sleep(0.05)


def _add_line_over(socket: Any, page: str, text: str) -> None:
    for again in range(200):
        view = socket.call("knowledge_get", id=page)
        change = {
            "id": page, "requestId": f"{text}/{again}", "expectedRevision": view["revision"],
            "expectedHash": view["hash"], "body": f"{view['body']}\n{text}\n",
        }  # fmt: skip
        answer = socket.answer(socket.ask("knowledge_save_page", **change))
        if "result" in answer:
            return
        assert answer["error"]["data"]["code"] in STALE, answer
    raise AssertionError("never had its turn")
