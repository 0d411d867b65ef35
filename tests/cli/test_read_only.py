"""A vault or folder that cannot be written: read with a state elsewhere, refused in plain words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Outcome, SmallVault
from tui import engines
from vault_kg.errors import WriteFailed
from vault_kg.operations.caller import Caller

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")

BOUND = ("setpriv", "--bounding-set=-dac_override,-dac_read_search",
         "--inh-caps=-dac_override,-dac_read_search")  # fmt: skip
"""Binds the superuser by permissions, as everybody else is."""

UNAVAILABLE = 3
"""The exit code."""

Run = Callable[..., Outcome]


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Run `vault-kg` as somebody to whom permissions apply."""
    before: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which(BOUND[0]) is None:
            pytest.skip("permissions do not bind this account, and nothing is there to bind it")
        before = BOUND

    def call(*arguments: str | Path, cwd: Path | None = None, input: str = "") -> Outcome:
        done = subprocess.run(
            [*before, sys.executable, "-m", "vault_kg.cli", *map(str, arguments)],
            cwd=cwd, input=input.encode(), env=environment, capture_output=True, timeout=60,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


def close(root: Path) -> None:
    """Take the right to write from everything, as `chmod -R a-w` does."""
    for path in (root, *root.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)


def reopen(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        path.chmod(path.stat().st_mode | 0o700)


def everything(root: Path) -> dict[str, bytes]:
    """Return all that is in a folder, with what is private and what is Git's."""
    return {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


@pytest.fixture
def closed(vault: SmallVault) -> Iterator[SmallVault]:
    close(vault.root)
    yield vault
    reopen(vault.root)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Path]:
    """A folder of notes that is no vault and cannot be written."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "idea.md").write_text("# An idea\n\nOn looms and cards.\n")
    close(folder)
    yield folder
    reopen(folder)


def ask(run: Run, root: Path, state: Path | None, name: str, **arguments: Any) -> Outcome:
    where = ["--state", state] if state else []
    return run("call", name, "--vault", root, *where, "--json", json.dumps(arguments))


def test_without_a_state_elsewhere_it_is_said_what_to_do(closed: SmallVault, run: Run) -> None:
    for command in (["status"], ["search", "looms"], ["show", closed["ada"]]):
        said = run(*command, "--vault", closed.root, "--json")
        error = json.loads(said.err or said.out)["error"]
        assert said.code == UNAVAILABLE and error["code"] == "unavailable"
        assert error["data"]["path"] == str(closed.root / ".vault-kg/state.sqlite")
        assert "cannot be written" in error["message"] and "--state FOLDER" in error["message"]


def test_with_a_state_elsewhere_everything_is_read(
    closed: SmallVault, run: Run, tmp_path: Path
) -> None:
    before, state = everything(closed.root), tmp_path / "mine"
    status = run("status", "--vault", closed.root, "--state", state, "--json")
    assert status.code == 0 and status.json["records"]["page"] == 4, status
    assert "reading only" in status.json["git"]["reason"]
    found = run("search", "looms", "--vault", closed.root, "--state", state, "--json")
    assert [hit["path"] for hit in found.json["hits"]] == ["notes/idea.md"]
    shown = run("show", "Ada Lovelace", "--vault", closed.root, "--state", state, "--json")
    assert shown.json["id"] == closed["ada"]
    listed = ask(run, closed.root, state, "knowledge_records").json
    assert listed["total"] == 6
    history = ask(run, closed.root, state, "knowledge_history", id=closed["claim"]).json
    assert history["revisions"][0]["revision"] == 1
    for name in ("knowledge_diagnostics", "knowledge_activity", "knowledge_ontology"):
        assert ask(run, closed.root, state, name).code == 0
    for command in (["events"], ["events", "dead"], ["sessions"], ["maintain", "status"]):
        assert run(*command, "--vault", closed.root, "--state", state).code == 0, command
    assert everything(closed.root) == before and (state / "state.sqlite").is_file()


def test_a_write_is_refused_in_plain_words_and_nothing_is_written(
    closed: SmallVault, run: Run, tmp_path: Path
) -> None:
    before = everything(closed.root)
    page = {"requestId": "n", "type": "Person", "title": "Somebody"}
    for state in (None, tmp_path / "mine"):
        said = ask(run, closed.root, state, "knowledge_save_page", **page)
        error = json.loads(said.err or said.out)["error"]
        assert error["code"] == ("write_failed" if state else "unavailable")
        assert str(closed.root) in error["message"]
        assert "reading only" in error["message"] or "cannot be written" in error["message"]
    assert everything(closed.root) == before
    mine = ask(run, closed.root, tmp_path / "mine", "knowledge_status").json
    assert mine["records"]["page"] == 4


def test_a_state_for_reading_writes_nothing_when_the_vault_can_be_written_again(
    closed: SmallVault, run: Run, tmp_path: Path
) -> None:
    state = tmp_path / "mine"
    run("status", "--vault", closed.root, "--state", state)
    reopen(closed.root)
    before = everything(closed.root)
    page = {"requestId": "n", "type": "Person", "title": "Somebody"}
    assert ask(run, closed.root, state, "knowledge_save_page", **page).code == 1
    (closed.root / "notes/idea.md").write_text("# An idea\n\nOn spindles.\n")
    found = run("search", "spindles", "--vault", closed.root, "--state", state, "--json")
    assert found.json["total"] == 1
    assert {p: b for p, b in everything(closed.root).items() if "idea.md" not in p} == {
        p: b for p, b in before.items() if "idea.md" not in p
    }
    assert ask(run, closed.root, None, "knowledge_save_page", **page).code == 0


def test_what_is_withdrawn_meanwhile_is_withdrawn_there_too(
    closed: SmallVault, run: Run, tmp_path: Path
) -> None:
    state = tmp_path / "mine"
    seen = ask(run, closed.root, state, "knowledge_get", id=closed["claim"]).json
    reopen(closed.root)
    fence = {"expectedRevision": seen["revision"], "expectedHash": seen["hash"]}
    done = ask(run, closed.root, None, "knowledge_withdraw", requestId="w", id=closed["claim"],
               reason="not so", **fence)  # fmt: skip
    assert done.code == 0, done
    close(closed.root)
    now = ask(run, closed.root, state, "knowledge_get", id=closed["claim"]).json
    assert now["lifecycle"] == "withdrawn" and not now["eligible"]


def test_a_folder_of_notes_is_searched(plain: Path, run: Run, tmp_path: Path) -> None:
    refused = run("search", "looms", "--vault", plain)
    assert refused.code == 1 and "--state FOLDER" in refused.err
    state = tmp_path / "mine"
    for _ in range(2):
        found = run("search", "looms", "--vault", plain, "--state", state, "--json")
        assert [hit["path"] for hit in found.json["hits"]] == ["idea.md"], found
    assert run("status", "--state", state, "--json", cwd=plain).json["records"]["note"] == 1
    assert [p.name for p in plain.rglob("*")] == ["idea.md"]


def test_the_graph_of_a_folder_of_notes_lies_with_the_state(
    plain: Path, run: Run, tmp_path: Path
) -> None:
    before, state = everything(plain), tmp_path / "elsewhere"
    for command in (["graph", "index"], ["graph", "doctor"], ["graph", "resolve", "note"]):
        done = run(*command, "--vault", plain, "--state", state)
        assert "unexpected" not in done.err and done.code in (0, 1), (command, done.err)
    assert (state / "graph.sqlite").is_file() and everything(plain) == before


def test_a_state_for_reading_is_of_one_folder(
    closed: SmallVault, plain: Path, run: Run, tmp_path: Path
) -> None:
    state = tmp_path / "mine"
    run("status", "--vault", closed.root, "--state", state)
    said = run("status", "--vault", plain, "--state", state)
    assert said.code == UNAVAILABLE and f"is for reading {closed.root}" in said.err
    (plain.parent / "x").mkdir()
    spelled = os.path.relpath(closed.root, plain.parent / "x")
    assert ".." in spelled
    again = run("status", "--vault", spelled, "--state", state, cwd=plain.parent / "x")
    assert again.code == 0, again


def test_a_private_folder_that_cannot_be_read_is_no_empty_vault(
    closed: SmallVault, run: Run, tmp_path: Path
) -> None:
    (closed.root / ".vault-kg").chmod(0)
    try:
        for where in ([], ["--state", tmp_path / "mine"]):
            said = run("search", "looms", "--vault", closed.root, *where)
            assert said.code == UNAVAILABLE and "Ask the owner" in said.err, said
    finally:
        (closed.root / ".vault-kg").chmod(0o700)


def test_a_service_says_that_its_socket_cannot_be_made(closed: SmallVault, run: Run) -> None:
    said = run("serve", "--vault", closed.root)
    assert (
        said.code == UNAVAILABLE and "cannot be written" in said.err and "vault-kg mcp" in said.err
    )


def test_a_mounted_vault_is_read(vault: SmallVault, run: Run, tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    for options in (["--bind", vault.root, place], ["-o", "remount,ro,bind", place]):
        if subprocess.run(["mount", *map(str, options)], capture_output=True).returncode:
            pytest.skip("this account may not mount a file system")
    try:
        refused = run("search", "looms", "--vault", place)
        assert refused.code == UNAVAILABLE and "--state FOLDER" in refused.err
        found = run("search", "looms", "--vault", place, "--state", tmp_path / "mine", "--json")
        assert found.json["total"] == 1
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_an_agent_reads_it_over_mcp(closed: SmallVault, run: Run, tmp_path: Path) -> None:
    search = {"name": "knowledge_search", "arguments": {"query": "looms"}}
    save = {
        "name": "knowledge_save_page",
        "arguments": {"requestId": "n", "type": "Person", "title": "Somebody"},
    }
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }  # fmt: skip
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": search},
        {"id": 3, "method": "tools/call", "params": save},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in asked]
    state = tmp_path / "mine"
    run("status", "--vault", closed.root, "--state", state)
    said = run("mcp", "--vault", closed.root, "--state", state, input="\n".join(lines) + "\n")
    answers = {a["id"]: a["result"] for a in map(json.loads, said.out.splitlines()) if "id" in a}
    assert answers[2]["structuredContent"]["total"] == 1, said
    assert answers[3]["isError"] and "reading only" in str(answers[3]["content"])


def test_the_review_ui_reads_it(closed: SmallVault, run: Run, tmp_path: Path) -> None:
    """It keeps the vault open, and works in the background."""
    state = tmp_path / "mine"
    run("status", "--vault", closed.root, "--state", state)
    before = everything(closed.root)
    engine = engines.opened(closed.root, state)
    engine.start()
    try:
        person = Caller("reviewer", scopes=frozenset({"read", "write", "review"}))
        listed = engine.call("knowledge_records", {}, person)
        adopted = {"requestId": "a", "path": "notes/idea.md", "type": "Topic"}
        with pytest.raises(WriteFailed, match="reading only"):
            engine.call("knowledge_adopt", adopted, person)
    finally:
        engine.stop()
    assert listed["total"] == 6 and everything(closed.root) == before
