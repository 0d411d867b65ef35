"""`health_check` never waits: whatever is being done, it says so at once."""

from __future__ import annotations

import errno
import multiprocessing
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from tests.serve.served import ROOT, Client, Running, surroundings, until
from vault_kg.consolidation import delivering
from vault_kg.operations.workspace import Job, Workspace
from vault_kg.store.lane import Lane

AT_ONCE = 1.0
"""Far above what it takes, far below what it would wait for."""


def checked(client: Client) -> dict:
    began = time.monotonic()
    said = client.call("health_check")
    assert time.monotonic() - began < AT_ONCE
    return said


def hold_lane(lock: Path, held: multiprocessing.Event, go: multiprocessing.Event) -> None:
    with Lane(lock).hold():
        held.set()
        go.wait(30)


def test_a_ready_service_is_healthy(served: Running) -> None:
    with served.client() as client:
        assert until(lambda: (said := checked(client))["healthy"] and said) == {
            "ok": True, "healthy": True, "state": "healthy",
        }  # fmt: skip


def test_a_writer_of_this_process_makes_it_busy(served: Running) -> None:
    with served.client() as client, served.keeper.workspace().lane.hold():
        assert checked(client) == {
            "ok": True, "healthy": False, "state": "busy", "activity": "writing",
        }  # fmt: skip


def test_a_writer_of_another_process_makes_it_busy_and_reads_go_on(served: Running) -> None:
    context = multiprocessing.get_context("spawn")
    held, go = context.Event(), context.Event()
    lock = served.keeper.workspace().lane._lock_file
    writer = context.Process(target=hold_lane, args=(lock, held, go))
    writer.start()
    try:
        assert held.wait(30)
        with served.client() as client:
            write = client.ask("knowledge_save_page", requestId="w", type="Person", title="Waits")
            assert checked(client)["activity"] == "writing"
            assert client.call("knowledge_records")["total"] == 2
            assert checked(client)["activity"] == "writing"
            go.set()
            assert client.answer(write)["result"]["revision"] == 1
            until(lambda: checked(client)["healthy"])
    finally:
        go.set()
        writer.join(30)


def test_writes_of_a_client_make_it_busy_and_ready_again(served: Running) -> None:
    with served.client() as client, served.client() as other:
        seen = set()
        for n in range(20):
            client.ask("knowledge_save_page", requestId=f"w{n}", type="Person", title=f"Page {n}")
        for _ in range(20):
            client.read()
            seen.add(checked(other)["state"])
        assert seen <= {"busy", "healthy"}
        until(lambda: checked(other)["healthy"])


def test_a_long_job_says_how_far_it_is(served: Running) -> None:
    workspace = served.keeper.workspace()
    with served.client() as client:
        workspace.job = Job("rebuilding", 48, 120)
        assert checked(client) == {
            "ok": True, "healthy": False, "state": "busy", "activity": "rebuilding",
            "progress": {"done": 48, "total": 120},
        }  # fmt: skip
        workspace.job = None
        until(lambda: checked(client)["healthy"])


def test_during_a_rebuild_it_answers_with_progress(small: VaultBox) -> None:
    for n in range(1_500):
        text = record_file(made_id(n), title=f"Page {n}", body=f"\nText of page {n}.\n" * 5)
        small.put(f"main/pages/person/p{n}.md", text)
    running = Running(small.root)
    said = []
    with running.client() as client:
        while len(said) < 2 or not said[-1]["healthy"]:
            said.append(checked(client))
            time.sleep(0.002)
        assert client.call("knowledge_records", limit=1)["total"] == 1_502
    running.stop()
    activities = {s.get("activity") for s in said}
    assert "indexing" in activities
    progress = [s["progress"] for s in said if "progress" in s]
    assert progress
    assert all(0 <= p["done"] <= p["total"] for p in progress)
    assert [p["done"] for p in progress] == sorted(p["done"] for p in progress)


def test_a_lost_state_is_told_and_its_recovery_is_noticed(
    small: VaultBox, served: Running, tmp_path: Path
) -> None:
    state = small.root / ".vault-kg/state.sqlite"
    with served.client() as client:
        client.call("knowledge_save_page", requestId="a", type="Person", title="Before")
        for part in state.parent.glob("state.sqlite*"):
            shutil.move(part, tmp_path / part.name)
        said = checked(client)
        assert (said["ok"], said["healthy"], said["state"]) == (False, False, "degraded")
        assert "recover" in said["reason"]
        assert said["code"] == "unavailable"
        for method, params in (
            ("knowledge_records", {}),
            ("knowledge_save_page", {"requestId": "b", "type": "Person", "title": "Lost"}),
        ):
            error = client.refused(method, **params)
            assert (error["code"], error["data"]["code"]) == (-32001, "unavailable")
        assert checked(client)["state"] == "degraded"

        done = subprocess.run(
            [sys.executable, "-m", "vault_kg.cli", "recover", "--vault", str(small.root)],
            cwd=ROOT, env=surroundings(), capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        until(lambda: checked(client)["healthy"])
        titles = {r["title"] for r in client.call("knowledge_records")["records"]}
        assert titles == {"Ada Lovelace", "Charles Babbage", "Before"}
        page = client.call("knowledge_save_page", requestId="c", type="Person", title="After")
        assert (small.root / page["path"]).is_file()


def test_a_service_that_starts_without_a_state_is_degraded_not_dead(small: VaultBox) -> None:
    state = small.root / ".vault-kg/state.sqlite"
    kept = state.read_bytes()
    state.unlink()
    running = Running(small.root)
    with running.client() as client:
        until(lambda: checked(client)["state"] == "degraded")
        state.write_bytes(kept)
        until(lambda: checked(client)["healthy"])
        assert client.call("knowledge_records")["total"] == 2
    running.stop()


def test_background_work_goes_on_after_a_fault_that_nobody_foresaw(
    small: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, deliver, full = small.root.parent / "feed.jsonl", delivering.deliver, threading.Event()
    full.set()

    def on_a_full_disk(ws: Workspace) -> dict[str, int]:
        if full.is_set():
            raise OSError(errno.ENOSPC, "No space left on device")
        return deliver(ws)

    monkeypatch.setattr(delivering, "deliver", on_a_full_disk)
    small.reopen()
    small.call("kg_event_subscribe", name="feed", file=str(feed))
    session = small.call("kg_begin_consolidation", source_type="t", source_id="1")["session_id"]
    small.call("kg_add_node_candidate", session_id=session, node_type="Bug", title="Leak")
    small.call("kg_propose_reconciliation", session_id=session)
    small.call("kg_commit_consolidation", session_id=session)
    small.ws.close()
    running = Running(small.root)
    try:
        with running.client() as client:
            said = until(lambda: (now := checked(client)).get("failing") and now)
            assert said["ok"] is True
            assert [one["task"] for one in said["failing"]] == ["events"]
            assert "No space left on device" in said["failing"][0]["reason"]
            assert not feed.exists()
            full.clear()
            until(lambda: feed.exists() and feed.read_text().count("\n") == 1)
            until(lambda: "failing" not in (now := checked(client)) and now["healthy"])
    finally:
        running.stop()


def test_opening_goes_on_after_a_fault_that_nobody_foresaw(
    small: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, faulty = Workspace.open, threading.Event()
    faulty.set()

    def open_vault(*given: Any) -> Workspace:
        if faulty.is_set():
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(*given)

    monkeypatch.setattr(Workspace, "open", open_vault)
    running = Running(small.root)
    try:
        with running.client() as client:
            said = until(lambda: (now := checked(client))["state"] == "degraded" and now)
            assert "Too many open files" in said["reason"]
            faulty.clear()
            until(lambda: checked(client)["healthy"])
    finally:
        running.stop()


def test_health_is_answered_while_all_threads_are_at_work(served: Running) -> None:
    done = threading.Event()

    def work() -> None:
        with served.client() as client:
            while not done.is_set():
                client.call("knowledge_search", query="Ada")

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    try:
        with served.client() as client:
            for _ in range(50):
                checked(client)
    finally:
        done.set()
        for thread in threads:
            thread.join(20)


@pytest.mark.parametrize("held", [True, False])
def test_health_costs_no_database_call(served: Running, held: bool) -> None:
    with served.client() as client:
        until(lambda: checked(client)["healthy"])
        workspace = served.keeper.workspace()
        threads_before = len(workspace.database._all)
        for _ in range(20):
            checked(client)
        assert len(workspace.database._all) == threads_before
