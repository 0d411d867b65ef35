"""Eight processes write to one vault at once, and some are killed: no write is lost or doubled.

`VAULT_KG_TRIAL_WRITES` sets how many writes are made in total (400 where it is not set).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.store import trials
from tests.store.trials import Call
from vault_kg.operations.workspace import Workspace

WRITES = int(os.environ.get("VAULT_KG_TRIAL_WRITES", "400"))
PROCESSES = 8
SHARED = 3
EXPECTED_REFUSALS = {"stale_revision", "stale_hash"}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = trials.fast_folder()
    yield made
    shutil.rmtree(made)


class Worker:
    """One process: it writes down what it asks before it asks, and what it was told."""

    def __init__(self, root: Path, log: Path, number: int, wanted: int, shared: list[str]) -> None:
        self.root, self.log, self.number, self.wanted = root, log, number, wanted
        self.shared = shared
        self.random = random.Random(os.getpid())
        self.told = read_log(log)
        self.made = [t["answer"]["targetId"] for t in self.told if made_page(t)]

    def run(self) -> None:
        self.ws = Workspace.open(self.root, clock=lambda: datetime.now(UTC))
        with self.log.open("a") as self.out:
            self._repeat_the_unanswered()
            while sum("targetId" in t["answer"] for t in self.told) < self.wanted:
                self._ask(*self._something())
        self.ws.close()

    def _repeat_the_unanswered(self) -> None:
        asked = [json.loads(line) for line in self.log.read_text().splitlines()]
        if asked and "answer" not in asked[-1]:
            self._ask(asked[-1]["operation"], asked[-1]["arguments"])

    def _ask(self, operation: str, arguments: dict[str, Any]) -> None:
        asked = {"operation": operation, "arguments": arguments}
        print(json.dumps(asked), file=self.out, flush=True)
        answer = trials.perform(self.ws, Call(operation, arguments))
        told = {**asked, "answer": answer}
        print(json.dumps(told), file=self.out, flush=True)
        self.told.append(told)
        if made_page(told):
            self.made.append(answer["targetId"])

    def _something(self) -> tuple[str, dict[str, Any]]:
        token = f"w{self.number}-{os.getpid()}-{len(self.told)}"
        request = {"requestId": token}
        chosen = self.random.random()
        if chosen < 0.5 or not self.made:
            page = self.random.choice(self.shared)
            view = self._look(page)
            return "knowledge_save_page", {
                **request, **fence_of(view), "tags": [*view["tags"], token.lower()],
            }  # fmt: skip
        if chosen < 0.7:
            return "knowledge_save_page", {**request, "type": "Person", "title": token}
        if chosen < 0.8:
            text = f"Written by {token}.\n".encode()
            outside = self.root.parent / f"{token}.txt"
            outside.write_bytes(text)
            sha256 = hashlib.sha256(text).hexdigest()
            return "knowledge_attach_file", {
                **request, "filePath": str(outside), "sha256": sha256,
            }  # fmt: skip
        mine = self._look(self.made[-1])
        if chosen < 0.9 and mine["lifecycle"] == "active":
            return "knowledge_withdraw", {**request, **fence_of(mine), "reason": "not needed"}
        survivor = self._look(self.random.choice(self.shared))
        recent = self.made[-4:]
        other = next((m for m in recent if self._look(m)["lifecycle"] == "active"), None)
        if other is None:
            return "knowledge_save_page", {**request, "type": "Person", "title": token}
        fences = {"survivor": fence_of(survivor), "absorbed": fence_of(self._look(other))}
        return "knowledge_merge", {**request, **fences, "reason": "they are one"}

    def _look(self, record_id: str) -> dict[str, Any]:
        answer = trials.perform(
            self.ws, Call("knowledge_get", {"id": record_id, "followMerges": False})
        )
        assert "error" not in answer, answer
        return answer


def fence_of(view: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": view["id"], "expectedRevision": view["revision"], "expectedHash": view["hash"],
    }  # fmt: skip


def made_page(told: dict[str, Any]) -> bool:
    """Whether a told answer is that of a page that was created."""
    return "type" in told["arguments"] and "targetId" in told["answer"]


def read_log(log: Path) -> list[dict[str, Any]]:
    if not log.exists():
        return []
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if "answer" in line]


class Crowd:
    """The processes, each started again when it was killed."""

    def __init__(self, root: Path, shared: list[str]) -> None:
        self.logs = [root.parent / f"log-{n}.jsonl" for n in range(PROCESSES)]
        self.running: dict[int, trials.Child] = {}
        self._start = lambda n: trials.fork(
            Worker(root, self.logs[n], n, WRITES // PROCESSES, shared).run
        )
        self.killed = 0

    def run(self, kills: int, kill_every: float) -> None:
        chance = random.Random(7)
        self.running = {n: self._start(n) for n in range(PROCESSES)}
        due = time.monotonic() + kill_every
        while self.running:
            for number, child in list(self.running.items()):
                done, status = os.waitpid(child.pid, os.WNOHANG)
                if done:
                    self._ended(number, os.waitstatus_to_exitcode(status))
            if time.monotonic() > due and self.running and self.killed < kills:
                due = time.monotonic() + kill_every
                victim = self.running[chance.choice(list(self.running))]
                os.kill(victim.pid, signal.SIGKILL)
            time.sleep(0.002)

    def _ended(self, number: int, code: int) -> None:
        child = self.running.pop(number)
        if code == -signal.SIGKILL:
            self.killed += 1
            self._cut_the_half_line(number)
            self.running[number] = self._start(number)
        else:
            assert code == 0, child.said()

    def _cut_the_half_line(self, number: int) -> None:
        log = self.logs[number]
        text = log.read_text() if log.exists() else ""
        log.write_text(text[: text.rfind("\n") + 1])

    def told(self) -> list[dict[str, Any]]:
        return [told for log in self.logs for told in read_log(log)]


def test_eight_processes_lose_nothing(folder: Path) -> None:
    box = VaultBox(folder / "vault")
    shared = [box.page(f"Shared {n}") for n in range(SHARED)]
    box.ws.close()
    crowd = Crowd(box.root, shared)
    crowd.run(kills=WRITES // 20, kill_every=0.2)
    with trials.looking_at(box.root) as box:
        told = crowd.told()
        assert crowd.killed > 0
        accepted = [t for t in told if "error" not in t["answer"]]
        refused = [t for t in told if "error" in t["answer"]]
        assert len(accepted) >= WRITES - PROCESSES
        _check_accepted(box, accepted)
        _check_refused(box, refused)
        _check_shared(box, shared, accepted)
        trials.check_whole(box)
        box.ws.outbox.drain()
        trials.check_git(box)
        assert box.ws.database.rows("SELECT id FROM conflict") == []


def _check_accepted(box: VaultBox, accepted: list[dict[str, Any]]) -> None:
    """Every acknowledged request stands, once, as its receipt says."""
    standing = dict(
        box.ws.database.rows("SELECT request_id, state FROM journal WHERE state <> 'abandoned'")
    )
    made: Counter[tuple[str, int]] = Counter()
    for told in accepted:
        answer = told["answer"]
        assert standing[told["arguments"]["requestId"]] == "published"
        if answer["revision"] is None:
            continue
        made[answer["targetId"], answer["revision"]] += 1
        row = box.ws.database.row(
            "SELECT hash FROM revision WHERE record_id = ? AND revision = ?",
            (answer["targetId"], answer["revision"]),
        )
        assert row == (answer["hash"],)
    requests = {t["arguments"]["requestId"] for t in accepted if t["answer"]["revision"]}
    assert len(made) == len(requests), "each accepted request has a revision of its own"
    numbers: dict[str, list[int]] = defaultdict(list)
    for record_id, revision in box.ws.database.rows("SELECT record_id, revision FROM revision"):
        numbers[record_id].append(revision)
    assert all(sorted(n) == list(range(1, len(n) + 1)) for n in numbers.values())


def _check_refused(box: VaultBox, refused: list[dict[str, Any]]) -> None:
    """Who was refused was stale, was told what stands, and nothing of the request stands."""
    standing = {i for (i,) in box.ws.database.rows("SELECT request_id FROM journal")}
    for told in refused:
        error = told["answer"]["error"]
        assert error["code"] in EXPECTED_REFUSALS, error
        fence = told["arguments"].get("survivor") or told["arguments"]
        assert error["data"]["current"]["revision"] >= fence["expectedRevision"]
        assert told["arguments"]["requestId"] not in standing


def _check_shared(box: VaultBox, shared: list[str], accepted: list[dict[str, Any]]) -> None:
    """Every writer's tag is in the page that it changed: no update was lost."""
    for page in shared:
        tags = set(box.get(page)["tags"])
        wanted = {
            told["arguments"]["tags"][-1]
            for told in accepted
            if told["arguments"].get("id") == page and told["arguments"].get("tags")
        }
        assert wanted <= tags
        assert wanted, "the page was written to"


def test_threads_of_one_process_take_turns(folder: Path) -> None:
    box = VaultBox(folder / "threads")
    failures: list[str] = []

    def write(number: int) -> None:
        for turn in range(6):
            call = Call(
                "knowledge_save_page",
                {"requestId": f"{number}-{turn}", "type": "Person", "title": f"P {number} {turn}"},
            )
            answer = trials.perform(box.ws, call)
            if "error" in answer:
                failures.append(str(answer))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(box.listed()) == 36
    box.ws.outbox.drain()
    trials.check_whole(box)
    trials.check_git(box)
    box.ws.close()
