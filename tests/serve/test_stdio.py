"""The wire: every line of standard output is JSON-RPC, whatever comes in or is printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from tests.operations.builder import VaultBox

ROOT = Path(__file__).parents[2]
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}  # fmt: skip
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def environment(root: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(root.parent),
        "VAULT_KG_EMBEDDING_MODEL": "off",
    }  # fmt: skip


def said(root: Path, *lines: bytes | dict[str, Any], prefix: str = "") -> list[dict[str, Any]]:
    """Send lines to a new server, close its input, and return the messages that it wrote."""
    sent = b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )
    code = f"{prefix}\nimport sys\nfrom vault_kg.cli import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp", "--vault", str(root)],
        input=sent, capture_output=True, env=environment(root), timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    messages = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return messages


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    box = VaultBox(tmp_path / "vault")
    box.page("Ada")
    box.ws.close()
    return box.root


def test_malformed_lines_are_answered_and_end_nothing(root: Path) -> None:
    bad = (
        b"not json", b"{", b"[]", b'"text"', b'{"jsonrpc": "1.0", "id": 9, "method": "ping"}',
        b"\xff\xfe\x00", b"[" * 100_000,
    )  # fmt: skip
    messages = said(root, INITIALIZE, b"", INITIALIZED, b"  ", *bad, call(2, "knowledge_status"))
    errors = [m for m in messages if m.get("id") is None]
    assert [e["error"]["code"] for e in errors] == [-32700] * len(bad)
    (answer,) = [m for m in messages if m.get("id") == 2]
    assert answer["result"]["structuredContent"]["records"]["page"] == 1


def test_what_was_asked_before_the_end_of_input_is_answered(root: Path) -> None:
    asked = [
        call(n, "knowledge_save_page", requestId=f"r{n}", type="Topic", title=f"T{n}")
        for n in range(2, 12)
    ]
    messages = said(root, INITIALIZE, INITIALIZED, *asked)
    answers = {m["id"]: m["result"] for m in messages if m["id"] != 1}
    assert set(answers) == set(range(2, 12))
    assert all(not answer["isError"] for answer in answers.values())


def test_what_prints_to_standard_output_does_not_reach_the_protocol(root: Path) -> None:
    prefix = """
import os
from vault_kg.operations import registry
ordinary = registry.call
def noisy(*arguments):
    os.write(1, b"native noise\\n")
    print("python noise", flush=True)
    os.system("echo child noise")
    return ordinary(*arguments)
registry.call = noisy
"""
    messages = said(root, INITIALIZE, INITIALIZED, call(2, "knowledge_status"), prefix=prefix)
    assert [m["id"] for m in messages] == [1, 2]


def test_a_fault_in_an_operation_costs_that_call_only(root: Path) -> None:
    prefix = """
from vault_kg.operations import registry
ordinary = registry.call
def broken(workspace, name, arguments, caller):
    if name == "knowledge_status":
        raise ZeroDivisionError("by nothing")
    return ordinary(workspace, name, arguments, caller)
registry.call = broken
"""
    asked = (call(2, "knowledge_status"), call(3, "knowledge_records"))
    messages = said(root, INITIALIZE, INITIALIZED, *asked, prefix=prefix)
    answers = {m["id"]: m["result"] for m in messages}
    assert answers[2]["isError"]
    assert answers[2]["structuredContent"]["error"]["code"] == "error"
    assert not answers[3]["isError"]


def test_huge_and_odd_arguments_are_refused_in_the_result(root: Path) -> None:
    asked = (
        call(2, "knowledge_lookup", text="x" * 3_000_000),
        call(3, "knowledge_get", id={"a": {"b": ["c"] * 1000}}),
        call(4, "knowledge_save_page", requestId="r", type="Topic", title="\u0000"),
        call(5, "knowledge_search", query='"' * 10_000),
    )
    messages = said(root, INITIALIZE, INITIALIZED, *asked)
    answers = {m["id"]: m["result"] for m in messages}
    assert [answers[n]["isError"] for n in (2, 3, 4, 5)] == [True, True, True, False]


def lines_of(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)


def test_initialize_and_tools_list_are_answered_while_the_vault_is_being_written(
    root: Path,
) -> None:
    from filelock import FileLock

    for number in range(500):
        (root / f"note-{number}.md").write_text(f"# {number}\n")
    with FileLock(root / ".vault-kg" / "lane.lock"):
        server = subprocess.Popen(
            [sys.executable, "-m", "vault_kg.cli", "mcp", "--vault", str(root)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(root),
        )  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        asked = (
            INITIALIZE, INITIALIZED, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            call(3, "knowledge_lookup", text="Ada"),
        )  # fmt: skip
        server.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in asked))
        server.stdin.flush()
        answers = lines_of(server.stdout)
        assert {next(answers)["id"], next(answers)["id"], next(answers)["id"]} == {1, 2, 3}
    server.stdin.close()
    began = time.monotonic()
    assert server.wait(30) == 0
    assert time.monotonic() - began < 10


def test_the_process_ends_when_standard_input_closes(root: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "mcp", "--vault", str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(root),
    )  # fmt: skip
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()
    time.sleep(0.5)
    server.stdin.close()
    began = time.monotonic()
    assert server.wait(30) == 0
    assert time.monotonic() - began < 5


def test_a_client_that_goes_away_ends_the_server_quietly(root: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "mcp", "--vault", str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(root),
    )  # fmt: skip
    assert server.stdin and server.stdout and server.stderr
    server.stdout.close()
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.close()
    told = server.stderr.read().decode()
    server.wait(30)
    assert "Traceback" not in told
