"""An agent's command: told by standard input, ended with everything it started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from vault_kg.errors import InvalidArgument
from vault_kg.maintain.chores import running

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_it_is_told_the_prompt_and_what_it_says_is_kept(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), sys.stdin.read())"
    ended = running.run(python(code), "the prompt: Ærø", 30, str(tmp_path))
    assert (ended.state, ended.reason) == ("done", "")
    assert ended.said.split() == [str(tmp_path.resolve()), "the", "prompt:", "Ærø"]


def test_a_failure_says_its_status_and_its_last_words() -> None:
    ended = running.run(python("import sys; print('x' * 9000 + 'end'); sys.exit(3)"), "", 30)
    assert (ended.state, ended.reason) == ("failed", "it ended with status 3")
    assert len(ended.said) <= running.MAX_SAID and ended.said.rstrip().endswith("end")


def test_a_command_that_is_not_there() -> None:
    assert "cannot be started" in running.run(["/no/such/agent"], "", 30).reason


STUBBORN = """
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
open(sys.argv[1], "w").write(str(child.pid)) if len(sys.argv) > 1 else None
{deaf}
time.sleep(600)
"""


@pytest.mark.parametrize("deaf", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_after_its_time_the_whole_group_is_ended(
    tmp_path: Path, deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "GRACE_SECONDS", 0.5)
    mark = tmp_path / "child"
    began = time.monotonic()
    ended = running.run([*python(STUBBORN.format(deaf=deaf)), str(mark)], "", 1.5)
    assert ended.state == "timed_out" and time.monotonic() - began < 10
    assert until_gone(int(mark.read_text()))


def test_what_a_command_leaves_running_is_ended_too() -> None:
    code = """
import subprocess, sys
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **quiet).pid)
"""
    ended = running.run(python(code), "", 30)
    assert ended.state == "done" and until_gone(int(ended.said))


def test_one_that_is_stopped_is_ended_with_its_group(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    command = [*python(STUBBORN.format(deaf="")), str(mark)]
    ended = running.run(command, "", 600, stopped=lambda: mark.exists() and bool(mark.read_text()))
    assert (ended.state, ended.reason) == ("failed", running.INTERRUPTED)
    assert until_gone(int(mark.read_text()))
    assert running.run(["/no/such/agent"], "", 30, stopped=lambda: True).reason == ended.reason


def test_a_prompt_longer_than_a_pipe_reaches_one_that_reads_late() -> None:
    code = "import sys, time; time.sleep(0.5); print(len(sys.stdin.buffer.read()))"
    assert running.run(python(code), "x" * 300_000, 30).said.strip() == "300000"


def test_it_is_told_by_its_environment_too() -> None:
    code = "import os; print(os.environ['SAID'], 'PATH' in os.environ)"
    assert running.run(python(code), "", 30, environment={"SAID": "a"}).said.split() == [
        "a",
        "True",
    ]


def test_a_command_is_split_as_a_shell_would() -> None:
    assert running.command_of("agent -p 'two words'") == ["agent", "-p", "two words"]
    for text in ("", "  ", "agent 'open"):
        with pytest.raises(InvalidArgument):
            running.command_of(text)
