"""Events: read with a cursor, given to commands and files, at least once and in order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.consolidation.boards import Board, paged
from tests.operations.builder import Clock
from vault_kg.consolidation import delivering
from vault_kg.errors import Busy, InvalidArgument, NotFound, ScopeDenied
from vault_kg.operations.caller import AGENT_SCOPES, Caller
from vault_kg.state import deliveries

HIDDEN = Caller("x", partitions=frozenset({"elsewhere"}))


def happened(board: Board, count: int, **more: Any) -> list[str]:
    """Commit some sessions; returns their ids."""
    sessions = []
    for n in range(count):
        session = board.begin(**more)
        board.node(session, f"Node {board.position} {n}", type="Bug")
        board.propose(session)
        board.commit(session)
        sessions.append(session)
    return sessions


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def subscribe(board: Board, name: str = "feed", **more: Any) -> dict[str, Any]:
    return board.ask("event_subscribe", name=name, **more)


def deliver(board: Board) -> dict[str, int]:
    return board.ask("deliver_events")


def script(folder: Path, text: str) -> list[str]:
    """A hook that runs some Python with the event in `event`."""
    path = folder / "hook.py"
    path.write_text(f"import json, os, sys\nevent = json.loads(sys.stdin.readline())\n{text}\n")
    return [sys.executable, str(path)]


# Reading


def test_events_are_read_in_order_from_a_cursor_on(board: Board) -> None:
    assert board.ask("outbox_read") == {
        "events": [], "count": 0, "more": False, "next_cursor": None,
    }  # fmt: skip
    sessions = happened(board, 5)
    first = board.ask("outbox_read", limit=2)
    assert first["more"] and [e["session_id"] for e in first["events"]] == sessions[:2]
    rest = board.ask("outbox_read", cursor=first["next_cursor"])
    assert not rest["more"] and [e["session_id"] for e in rest["events"]] == sessions[2:]
    assert board.ask("outbox_read", cursor=first["next_cursor"]) == rest, "and given again"
    later = happened(board, 1)
    new = board.ask("outbox_read", cursor=rest["next_cursor"])
    assert [e["session_id"] for e in new["events"]] == later
    idle = board.ask("outbox_read", cursor=new["next_cursor"])
    assert idle["events"] == [] and idle["next_cursor"] == new["next_cursor"]


def test_an_event_says_what_was_consolidated(board: Board) -> None:
    (session,) = happened(board, 1, payload_hash="sha256:8c1f")
    (event,) = board.ask("outbox_read")["events"]
    assert event["event"] == "kg.consolidated.v1" and event["event_id"] == f"evt_{board.position}"
    assert event["board_id"] == "main" and event["agent"] == "tester"
    assert event["source"] == {"type": "spec", "id": "spec_007", "version": "4"}
    assert event["content_hash"] == "sha256:8c1f" and event["session_id"] == session
    assert len(event["result"]["applied"]["added"]) == 1


def test_events_of_a_board_that_is_not_seen_do_not_exist(board: Board) -> None:
    happened(board, 3)
    assert board.ask("outbox_read", HIDDEN) == {
        "events": [], "count": 0, "more": False, "next_cursor": None,
    }  # fmt: skip


def test_a_cursor_of_something_else_is_refused(board: Board) -> None:
    happened(board, 2)
    cursor = board.ask("audit", limit=1)["next_cursor"]
    for wrong in (cursor, "nonsense"):
        assert isinstance(board.refusal("outbox_read", cursor=wrong), InvalidArgument)


# Files and commands


def test_a_file_gets_a_line_for_each_event_from_its_subscription_on(
    board: Board, tmp_path: Path
) -> None:
    happened(board, 1)
    file = tmp_path / "events.jsonl"
    subscribe(board, file=str(file))
    subscribe(board, "whole", file=str(tmp_path / "whole.jsonl"), from_start=True)
    sessions = happened(board, 3)
    assert deliver(board) == {"delivered": 7, "failed": 0, "buried": 0, "waiting": 0}
    assert [e["session_id"] for e in lines(file)] == sessions
    assert lines(tmp_path / "whole.jsonl") == board.ask("outbox_read")["events"]
    assert deliver(board)["delivered"] == 0 and len(lines(file)) == 3


def test_a_line_that_a_dead_process_left_half_written_is_ended(
    board: Board, tmp_path: Path
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"event_id": "evt_1"}\n{"event_')
    subscribe(board, file=str(file))
    happened(board, 1)
    deliver(board)
    text = file.read_text().splitlines()
    assert text[:2] == ['{"event_id": "evt_1"}', '{"event_'] and json.loads(text[2])["seq"]


def test_a_command_gets_each_event_on_its_standard_input(board: Board, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = script(tmp_path, f"open({str(out)!r}, 'a').write(event['session_id'] + '\\n')")
    subscribe(board, "hook", command=command)
    sessions = happened(board, 3)
    assert deliver(board)["delivered"] == 3
    assert out.read_text().split() == sessions


def test_a_failing_receiver_is_tried_again_later_and_later_and_keeps_the_order(
    board: Board, tmp_path: Path, clock: Clock
) -> None:
    out, broken = tmp_path / "out", tmp_path / "broken"
    broken.touch()
    command = script(
        tmp_path,
        f"if os.path.exists({str(broken)!r}): sys.exit('it is broken')\n"
        f"open({str(out)!r}, 'a').write(event['session_id'] + '\\n')",
    )
    subscribe(board, "hook", command=command)
    sessions = happened(board, 2)
    for wait in (2, 4, 8):
        assert deliver(board) == {"delivered": 0, "failed": 1, "buried": 0, "waiting": 0}
        (shown,) = board.ask("event_subscribers")["subscribers"]
        assert "it is broken" in shown["error"] and shown["behind"] == 2
        before = clock.at
        assert deliver(board)["waiting"] == 1, "not before it is due"
        clock.at = before + timedelta(seconds=wait)
    broken.unlink()
    assert deliver(board)["delivered"] == 2 and out.read_text().split() == sessions
    (shown,) = board.ask("event_subscribers")["subscribers"]
    assert shown["attempts"] == 0 and shown["error"] is None and shown["behind"] == 0


def test_after_five_attempts_an_event_is_a_dead_letter_and_the_next_one_follows(
    board: Board, tmp_path: Path, clock: Clock
) -> None:
    out, broken = tmp_path / "out", tmp_path / "broken"
    (bad,) = happened(board, 1)
    broken.touch()
    command = script(
        tmp_path,
        f"if event['session_id'] == {bad!r} and os.path.exists({str(broken)!r}): sys.exit(3)\n"
        f"open({str(out)!r}, 'a').write(event['session_id'] + '\\n')",
    )
    subscribe(board, "hook", command=command, from_start=True)
    (good,) = happened(board, 1)
    for _ in range(4):
        assert deliver(board)["failed"] == 1
        clock.at += timedelta(minutes=6)
    assert deliver(board) == {"delivered": 1, "failed": 0, "buried": 1, "waiting": 0}
    assert out.read_text().split() == [good]
    (letter,) = board.ask("dead_letters")["dead_letters"]
    assert letter["subscriber"] == "hook" and letter["attempts"] == 5 and "3" in letter["error"]
    assert board.ask("dead_letters", HIDDEN)["count"] == 0
    again = board.ask("reprocess_dead_letters")
    assert again["delivered"] == 0 and again["failed"][0]["seq"] == letter["seq"]
    broken.unlink()
    assert board.ask("reprocess_dead_letters", subscriber="hook", seqs=[letter["seq"]]) == {
        "delivered": 1, "failed": [],
    }  # fmt: skip
    assert out.read_text().split() == [good, bad]
    assert board.ask("dead_letters")["count"] == 0
    error = board.refusal("reprocess_dead_letters", seqs=[letter["seq"]])
    assert isinstance(error, InvalidArgument) and "kg_dead_letters" in error.message


def test_dead_letters_are_listed_page_by_page(board: Board, clock: Clock) -> None:
    happened(board, 3)
    for name in ("one", "two"):
        subscribe(board, name, command=["/no/such/hook"], from_start=True)
    for _ in range(15):
        deliver(board)
        clock.at += timedelta(minutes=6)
    whole = board.ask("dead_letters")
    assert (whole["count"], whole["total"], whole["next_cursor"]) == (6, 6, None)
    pages = paged(board, "dead_letters", limit=4)
    assert [page["count"] for page in pages] == [4, 2] and pages[1]["total"] == 6
    assert [one for page in pages for one in page["dead_letters"]] == whole["dead_letters"]
    assert board.ask("dead_letters", subscriber="two")["total"] == 3
    error = board.refusal("dead_letters", subscriber="two", cursor=pages[0]["next_cursor"])
    assert isinstance(error, InvalidArgument)


def test_a_process_that_dies_after_an_event_delivers_it_again(board: Board, tmp_path: Path) -> None:
    """The hook kills the one who delivers, before that can note it."""
    out = tmp_path / "out"
    (session,) = happened(board, 1)
    command = script(
        tmp_path,
        f"first = not os.path.exists({str(out)!r})\n"
        f"open({str(out)!r}, 'a').write(event['event_id'] + '\\n')\n"
        "if first: os.kill(os.getppid(), 9)",
    )
    subscribe(board, "hook", command=command, from_start=True)
    position = board.position
    board.ws.close()
    done = subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "call", "kg_deliver_events", "--vault",
         str(board.root)],
        env=os.environ | {"VAULT_KG_EMBEDDING_MODEL": "off"}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -9, done
    board.reopen()
    assert deliver(board)["delivered"] == 1
    assert out.read_text().split() == [f"evt_{position}"] * 2, "twice, under one id"
    assert session


def test_a_command_that_is_not_there_or_hangs_fails(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_kg.consolidation.delivering.COMMAND_SECONDS", 0.3)
    subscribe(board, "absent", command=[str(tmp_path / "nothing")])
    subscribe(board, "slow", command=[sys.executable, "-c", "import time; time.sleep(60)"])
    subscribe(board, "folder", file=str(tmp_path))
    happened(board, 1)
    assert deliver(board)["failed"] == 3
    shown = {s["name"]: s["error"] for s in board.ask("event_subscribers")["subscribers"]}
    assert "No such file" in shown["absent"] and "longer" in shown["slow"] and shown["folder"]


def test_one_process_at_a_time_delivers(board: Board, tmp_path: Path) -> None:
    from filelock import FileLock

    subscribe(board, file=str(tmp_path / "f"))
    happened(board, 1)
    with FileLock(board.root / ".vault-kg/events.lock"):
        assert deliver(board)["delivered"] == 0
    assert deliver(board)["delivered"] == 1


def test_only_a_person_adds_a_hook(board: Board) -> None:
    scopes = AGENT_SCOPES | {"admin", "cypher"}
    error = board.refusal("event_subscribe", Caller("agent", scopes), name="x", command=["true"])
    assert isinstance(error, ScopeDenied)


def test_subscribing_again_changes_the_target_and_keeps_the_place(
    board: Board, tmp_path: Path
) -> None:
    subscribe(board, file=str(tmp_path / "a"))
    happened(board, 1)
    subscribe(board, file=str(tmp_path / "b"))
    assert deliver(board)["delivered"] == 1 and len(lines(tmp_path / "b")) == 1
    assert board.ask("event_unsubscribe", name="feed")["count"] == 0
    assert isinstance(board.refusal("event_unsubscribe", name="feed"), NotFound)
    assert deliveries.dead_letters(board.ws.database) == []


@pytest.mark.parametrize(
    "more", [{}, {"command": ["a"], "file": "b"}, {"command": []}, {"file": ""}]
)
def test_a_receiver_is_a_command_or_a_file(board: Board, more: dict[str, Any]) -> None:
    assert isinstance(board.refusal("event_subscribe", name="x", **more), InvalidArgument)


def test_dead_letters_wait_for_who_delivers_and_say_so(
    board: Board, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "COMMAND_SECONDS", 0.2)
    subscribe(board, command=["false"], from_start=True)
    happened(board, 1)
    for _ in range(5):
        deliver(board)
        clock.at += timedelta(minutes=6)
    assert board.ask("dead_letters")["count"] == 1
    with FileLock(board.ws.vault.private / "events.lock"):
        assert isinstance(board.refusal("reprocess_dead_letters"), Busy)
