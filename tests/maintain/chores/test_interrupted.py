"""`chore run` as a process: what ends it ends its agent, and what the agent may call."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.maintain.chores.test_running import until_gone
from tests.maintain.conftest import Garden, Talk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")

ROOT = Path(__file__).parents[3]
AGENT = """
import os, sys, time
open(sys.argv[1] + ".new", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""


def started(garden: Garden, agent: str, *more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VAULT_KG_EMBEDDING_MODEL": "off"}
    command = [sys.executable, "-m", "vault_kg.cli", "chore", "run", "--force", "--agent", agent]
    return subprocess.Popen(
        [*command, "--vault", str(garden.box.root), *more], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def waited_for(path: Path) -> str:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, "the agent did not start"
        time.sleep(0.02)
    return path.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_agent_ends_with_who_runs_it_and_the_next_chore_may_go(
    garden: Garden, talk: Talk, tmp_path: Path, number: signal.Signals
) -> None:
    for n in range(4):
        talk.put(f"long-{n}", "A gist of very many words. " * 14)
    script, mark = tmp_path / "agent.py", tmp_path / "pid"
    script.write_text(AGENT)
    run = started(garden, f"{sys.executable} {script} {mark}")
    agent = int(waited_for(mark))
    run.send_signal(number)
    assert run.wait(30) == 128 + number, run.communicate()[0]
    assert until_gone(agent)
    made = garden.box.call("maintain_dispatches")["dispatches"]
    assert [(one["state"], one["reason"]) for one in made] == [("failed", "it was interrupted")]
    again = garden.box.call("maintain_dispatch", agent="agent", force=True)
    assert again["dispatch"]["state"] == "running"


CALLS = """
import subprocess, sys
for name in ("kg_read", "knowledge_records", "kg_delete_node"):
    asked = [sys.executable, "-m", "vault_kg.cli", "call", name, "--vault", sys.argv[1]]
    subprocess.run(asked, stderr=subprocess.DEVNULL)
"""


def test_the_agent_may_call_what_a_chore_takes(garden: Garden, talk: Talk, tmp_path: Path) -> None:
    talk.put("long-one", "A gist of very many words. " * 14)
    script = tmp_path / "agent.py"
    script.write_text(CALLS)
    run = started(garden, f"{sys.executable} {script} {garden.box.root}", "--json")
    said = json.loads(run.communicate(timeout=60)[0])
    assert said["dispatch"]["state"] == "done"
    decoder, text, answers = json.JSONDecoder(), said["said"].strip(), []
    while text:
        answer, end = decoder.raw_decode(text)
        answers.append(answer["error"]["code"])
        text = text[end:].strip()
    assert answers == ["invalid_argument", "scope_denied", "scope_denied"]
