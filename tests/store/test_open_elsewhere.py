"""A program has a file open for writing while a request changes it: no byte of it is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.store import trials
from tests.store.trials import Call
from vault_kg.store import writers

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells who has a file open for writing"
)

LATE = b"\nA line that came late.\n"
NUDGE = 0.2
_PROGRAM = """
import sys
path, mode = sys.argv[1:]
file = open(path, mode, buffering=0)
print("open", flush=True)
while said := eval(sys.stdin.readline()):
    file.write(said)
    print("written", flush=True)
"""


class Program:
    """Another process that has a file open."""

    def __init__(self, path: Path, mode: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(path), mode],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self._hear("open")

    def write(self, content: bytes) -> None:
        self._say(content)
        self._hear("written")

    def close(self) -> None:
        """End it; its input does not, as long as a forked child holds it as well."""
        self._say(b"")
        self._process.communicate()

    def _say(self, content: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{content!r}\n")
        self._process.stdin.flush()

    def _hear(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == word


@contextmanager
def opened(path: Path, mode: str = "ab") -> Iterator[Program]:
    program = Program(path, mode)
    try:
        yield program
    finally:
        program.close()


class Meeting:
    """Two pages, and what changes one of them or merges both."""

    def __init__(self, folder: Path) -> None:
        box = VaultBox(folder / "vault")
        self.root = box.root
        self.ada, self.augusta = box.page("Ada", body="Some text."), box.page("Augusta")
        self.path, self.other = box.path(self.ada), box.path(self.augusta)
        self.original = self.path.read_bytes()
        fence = box.fence(self.ada)
        self.change = Call(
            "knowledge_save_page", {"requestId": "change", **fence, "summary": "Proposed."}
        )
        self.merge = Call(
            "knowledge_merge", {"requestId": "merge", **box.merging(self.ada, self.augusta)}
        )
        box.ws.close()

    def check(self) -> None:
        """What the program wrote is on disk, in the history and in Git, and nothing is left over."""
        with trials.looking_at(self.root) as box:
            box.scan()
            trials.check_whole(box)
            trials.check_git(box)
            assert LATE.strip().decode() in box.get(self.ada)["body"]

    def write_again(self, summary: str) -> dict[str, Any]:
        with trials.looking_at(self.root) as box:
            return box.change(self.ada, summary=summary)


@pytest.fixture
def meeting(tmp_path: Path) -> Meeting:
    return Meeting(tmp_path)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


# Asking


@pytest.mark.parametrize(("mode", "writes"), [("rb", False), ("ab", True), ("r+b", True)])
def test_it_is_known_whether_a_file_is_open_for_writing(
    tmp_path: Path, mode: str, writes: bool
) -> None:
    path = tmp_path / "file.md"
    path.write_bytes(b"text")
    assert not writers.is_open_for_writing(path)
    with opened(path, mode):
        assert writers.is_open_for_writing(path) is writes
    assert not writers.is_open_for_writing(path)


def test_what_is_no_file_is_not_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link", "missing", "."):
        assert not writers.is_open_for_writing(tmp_path / name)


def test_a_program_that_opens_the_file_while_it_is_asked_ends_nobody(tmp_path: Path) -> None:
    """Its opening breaks the lease, and the one who asked is sent a signal."""
    path = tmp_path / "file.md"
    path.write_bytes(b"text")

    def ask() -> str:
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        until_ns = time.monotonic_ns() + 1_000_000_000
        while time.monotonic_ns() < until_ns:
            writers.is_open_for_writing(path)
        return "alive"

    child = trials.fork(ask)
    while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        path.open("ab").close()
    assert child.wait() == 0, child.said()
    assert child.result() == "alive"


# Before a request is accepted


def test_a_request_waits_for_a_program_that_closes_soon(meeting: Meeting) -> None:
    with opened(meeting.path) as program:
        child = trials.start(meeting.root, meeting.change)
        time.sleep(NUDGE)
        program.write(LATE)
    answer = child.wait() or child.result()
    assert answer["error"]["code"] == "stale_revision", answer
    assert meeting.path.read_bytes() == meeting.original + LATE
    assert meeting.write_again("Now.")["revision"] == 3
    meeting.check()


def test_a_program_that_changes_nothing_only_delays_a_request(meeting: Meeting) -> None:
    with opened(meeting.path):
        child = trials.start(meeting.root, meeting.change)
        time.sleep(NUDGE)
    answer = child.wait() or child.result()
    assert answer["revision"] == 2, answer
    assert b"Proposed." in meeting.path.read_bytes()


@pytest.mark.parametrize("name", ["change", "merge"])
def test_a_request_is_refused_while_its_file_stays_open(meeting: Meeting, name: str) -> None:
    path = meeting.path if name == "change" else meeting.other
    call = getattr(meeting, name)
    with opened(path) as program, trials.looking_at(meeting.root) as box:
        error = trials.perform(box.ws, call)["error"]
        assert error["code"] == "busy"
        assert error["data"]["path"] == box.relative(path)
        assert "open for writing in another program; nothing was changed" in error["message"]
        assert "error" not in box.page("Another") and box.get(meeting.ada)["revision"] == 1
        program.write(LATE)
    assert path.read_bytes().endswith(LATE)
    with trials.looking_at(meeting.root) as box:
        assert trials.perform(box.ws, call)["error"]["code"] == "stale_revision"
        box.scan()
        trials.check_whole(box)
        trials.check_git(box)


def test_what_is_only_half_saved_is_not_built_on(meeting: Meeting) -> None:
    """A program that empties the file and writes it anew, with a pause in the middle."""
    whole = meeting.original + LATE
    with opened(meeting.path, "wb") as program:
        program.write(whole[: len(whole) // 2])
        child = trials.start(meeting.root, meeting.change)
        time.sleep(NUDGE)
        program.write(whole[len(whole) // 2 :])
    answer = child.wait() or child.result()
    assert answer["error"]["code"] == "stale_revision", answer
    assert meeting.path.read_bytes() == whole
    with trials.looking_at(meeting.root) as box:
        assert len(box.history(meeting.ada)) == 2, "the half is no revision"
    meeting.check()


def test_a_file_that_stays_open_is_taken_in_nevertheless(meeting: Meeting) -> None:
    with opened(meeting.path) as program:
        program.write(LATE)
        with trials.looking_at(meeting.root) as box:
            started = time.monotonic()
            box.scan()
            assert time.monotonic() - started < 10 * writers.SAVE_SECONDS
            assert box.get(meeting.ada)["revision"] == 2
        program.write(LATE)
    meeting.check()


# Once it is accepted


def test_what_is_written_to_the_replaced_file_meets_the_request(meeting: Meeting) -> None:
    child = trials.start(meeting.root, meeting.change, "install.all-done=pause")
    child.wait_for_pause()
    (replaced,) = (meeting.root / ".vault-kg/tmp").iterdir()
    with opened(replaced) as program:  # as if it had been opened in the moment of the exchange
        program.write(LATE)
        assert child.go_on()["error"]["code"] == "conflict_blocked"
    assert meeting.path.read_bytes() == meeting.original + LATE


@pytest.mark.parametrize("name", ["change", "merge"])
def test_a_file_that_was_opened_in_the_last_moment_goes_back_to_its_place(
    meeting: Meeting, name: str
) -> None:
    """The exchange is undone, so that what is written afterwards is written to the file itself."""
    child = trials.start(meeting.root, getattr(meeting, name), "install.temp-written:1=pause")
    child.wait_for_pause()
    with opened(meeting.path) as program:
        answer = child.go_on()
        assert answer["error"]["code"] == "busy", answer
        program.write(LATE)
    assert meeting.path.read_bytes() == meeting.original + LATE
    assert meeting.write_again("Now.")["revision"] == 3
    meeting.check()


def test_a_program_that_saves_and_closes_soon_after_the_exchange_is_waited_for(
    meeting: Meeting,
) -> None:
    child = trials.start(meeting.root, meeting.change, "install.temp-written:1=pause")
    child.wait_for_pause()
    with opened(meeting.path) as program:
        child.pause.touch()
        time.sleep(NUDGE)
        program.write(LATE)
    answer = child.wait() or child.result()
    assert answer["error"]["code"] == "stale_revision", answer
    meeting.check()


def test_a_late_save_of_one_file_survives_that_the_other_is_open(meeting: Meeting) -> None:
    """The first file's replaced bytes are open, the second one's were written to."""
    child = trials.start(meeting.root, meeting.merge, "install.all-done=pause")
    child.wait_for_pause()
    first, second = sorted((meeting.root / ".vault-kg/tmp").iterdir())
    both = {meeting.path: meeting.path.stat().st_ino, meeting.other: meeting.other.stat().st_ino}
    second.write_bytes(second.read_bytes() + LATE)
    late, held = second.read_bytes(), first.read_bytes()
    with opened(first) as program:
        assert child.go_on()["error"]["code"] == "busy"
        program.write(LATE)
    assert {p.read_bytes() for p in both} == {late, held + LATE}


def test_what_is_open_is_not_removed_and_what_was_written_is_moved_beside(
    meeting: Meeting,
) -> None:
    """A process died with the file replaced and published; a program goes on writing to it."""
    trials.crash(meeting.root, meeting.change, "publish.after")
    (replaced,) = (meeting.root / ".vault-kg/tmp").iterdir()
    with opened(replaced) as program:
        meeting.write_again("Next.")
        assert replaced.read_bytes() == meeting.original
        program.write(LATE)
    meeting.write_again("Once more.")
    kept = meeting.path.with_name("ada.md.kept-1")
    assert kept.read_bytes() == meeting.original + LATE
    assert list(replaced.parent.iterdir()) == []


@pytest.mark.parametrize("point", ["accept.after", "install.file-done:1"])
def test_what_a_dead_process_accepted_and_a_program_has_open_is_a_conflict(
    meeting: Meeting, point: str
) -> None:
    trials.crash(meeting.root, meeting.change, point)
    replaced = next((meeting.root / ".vault-kg/tmp").glob("*"), meeting.path)
    with opened(replaced) as program:
        with trials.looking_at(meeting.root) as box:
            error = trials.perform(box.ws, meeting.change)["error"]
            assert error["code"] == "conflict_blocked", error
            assert meeting.path.read_bytes() == meeting.original
            assert "error" not in box.page("Another")
        program.write(LATE)
    assert meeting.path.read_bytes() == meeting.original + LATE
    with trials.looking_at(meeting.root) as box:
        choice = {"conflictId": error["data"]["conflict_id"], "choice": "keep_disk"}
        box.write("knowledge_review", **choice, reason="mine")
    meeting.check()
