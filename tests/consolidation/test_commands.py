"""`vault-kg sessions` and `vault-kg events`: what a person sees and does."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.consolidation.boards import Board
from vault_kg.cli.application import run
from vault_kg.operations.caller import Caller

Command = Callable[..., str]


@pytest.fixture
def board(folder: Path) -> Iterator[Board]:
    """A board of the present, as the commands see it, closed."""
    box = Board(folder / "vault", lambda: datetime.now(UTC))
    box.ws.close()
    yield box
    box.ws.close()


@pytest.fixture
def vault_kg(board: Board, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(*arguments: str, code: int = 0) -> str:
        found = run(["--vault", str(board.root), "--actor", "tester", *arguments])
        shown = capsys.readouterr()
        assert found == code, (shown.out, shown.err)
        return shown.out

    return command


def committed(board: Board) -> str:
    board.reopen()
    session = board.begin()
    board.edge(session, board.node(session, "Retries"), "depends_on", board.node(session, "Queue"))
    board.propose(session)
    board.commit(session, agent_overrides=[
        {"candidate_id": "cand_002", "hint": "ADD", "rationale": "it is another queue"}
    ])  # fmt: skip
    board.ws.close()
    return session


def test_sessions_are_listed_audited_and_taken_back(board: Board, vault_kg: Command) -> None:
    assert "No session is open" in vault_kg("sessions")
    assert "Nothing was consolidated" in vault_kg("sessions", "audit")
    board.reopen()
    session = board.begin(board_id="main")
    board.node(session, "A")
    board.ws.close()
    shown = vault_kg("sessions")
    assert session in shown and "1 nodes, 0 edges" in shown and "spec spec_007" in shown
    done = committed(board)
    shown = vault_kg("sessions", "audit")
    assert done in shown and "2 added" in shown and "1 edges" in shown
    whole = vault_kg("sessions", "audit", done)
    assert "cand_001 → cand_002" in whole and "ADD: no free node" in whole
    assert "it is another queue" in whole
    told = vault_kg("sessions", "undo", done, "--reason", "a mistake", "--yes")
    assert "3 withdrawn" in told
    assert "undone by tester: a mistake" in vault_kg("sessions", "audit")
    rows = json.loads(vault_kg("sessions", "audit", "--json"))["rows"]
    assert rows[0]["undone"]["reason"] == "a mistake"


def test_undoing_asks_first(
    board: Board, vault_kg: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    done = committed(board)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    vault_kg("sessions", "undo", done, "--reason", "x", code=1)
    assert "undone" not in vault_kg("sessions", "audit")


def test_events_are_subscribed_to_delivered_and_retried(
    board: Board, vault_kg: Command, tmp_path: Path
) -> None:
    assert "Nobody is told" in vault_kg("events")
    file = tmp_path / "events.jsonl"
    vault_kg("events", "subscribe", "feed", "--file", str(file))
    vault_kg("events", "subscribe", "hook", "--", sys.executable, "-c", "raise SystemExit(3)")
    session = committed(board)
    assert "1 behind" in vault_kg("events")
    assert "1 delivered, 1 failed" in vault_kg("events", "deliver")
    assert json.loads(file.read_text())["session_id"] == session
    listed = vault_kg("events", "list")
    assert "up to date" in listed and "attempt 1 failed" in listed
    assert json.loads(vault_kg("events", "read").splitlines()[0])["session_id"] == session
    assert json.loads(vault_kg("events", "read", "--json"))["count"] == 1
    assert "no dead letters" in vault_kg("events", "dead")
    assert "0 delivered, 0 failed" in vault_kg("events", "dead", "--retry")
    assert "hook" not in vault_kg("events", "unsubscribe", "hook")
    vault_kg("events", "unsubscribe", "hook", code=1)


def test_options_stand_before_and_after(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--vault", str(board.root), "sessions", "audit", "--json"]) == 0
    assert run(["sessions", "audit", "--json", "--vault", str(board.root)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert run(["events", "subscribe", "x", "--vault", str(board.root)]) == 1


def test_a_long_proposal_shows_a_bar_on_a_terminal(meaning: None, board: Board) -> None:
    """The answer stays one JSON document, and without a terminal nothing else is told."""
    board.reopen()
    session = board.begin(Caller("tester"))
    for n in range(60):
        arguments = {"session_id": session, "node_type": "Decision", "title": f"Retry {n}"}
        board.ask("add_node_candidate", Caller("tester"), body=f"Words of {n}. " * 20, **arguments)
    board.ws.close()
    command = [
        sys.executable, "-m", "vault_kg.cli", "--vault", str(board.root), "--actor", "tester",
        "call", "kg_propose_reconciliation", "--json", json.dumps({"session_id": session}),
    ]  # fmt: skip
    parent, child = pty.openpty()
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child)
    os.close(child)
    said = b""
    with contextlib.suppress(OSError):  # how a terminal ends
        while part := os.read(parent, 65_536):
            said += part
    os.close(parent)
    assert len(json.loads(done.communicate(timeout=60)[0])["proposals"]) == 60
    assert re.search(rb"comparing Decision candidates \[#* *\] \d+ of 60", said)
    quiet = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert json.loads(quiet.stdout)["proposals"] and not quiet.stderr
