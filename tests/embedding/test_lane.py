from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.embedding.helpers import TEXTS, NewEmbedder, same, worker_pid
from vault_kg.embedding.client import EmbedderUnavailable


def _until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_query_overtakes_the_passages_that_wait(minilm: Path, embedder: NewEmbedder) -> None:
    real = embedder(minilm)
    real.embed_query("warm up")
    order: list[str] = []

    def passages() -> None:
        real.embed_passages(["word " * 300] * 20)
        order.append("passages")

    thread = threading.Thread(target=passages)
    thread.start()
    time.sleep(0.3)
    real.embed_query("a question")
    order.append("query")
    thread.join()
    assert order == ["query", "passages"]


def test_a_worker_that_is_killed_in_the_middle_costs_no_vector(
    tiny_gguf: Path, embedder: NewEmbedder
) -> None:
    made = embedder(tiny_gguf)
    expected = made.embed_passages(TEXTS)
    killed: list[int] = []

    def kill(done: int, _all: int) -> None:
        pid = made.status().worker_pid
        if done > 20 * (len(killed) + 1) and len(killed) < 5 and pid and pid not in killed:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    found = made.embed_passages(TEXTS, on_progress=kill)
    assert killed
    assert found.failed == {}
    assert same(found, expected)


def test_a_worker_that_hangs_is_replaced(tiny_gguf: Path, embedder: NewEmbedder) -> None:
    made = embedder(tiny_gguf, call_timeout=1.0)
    expected = made.embed_passages(TEXTS)
    stopped = worker_pid(made)
    os.kill(stopped, signal.SIGSTOP)
    found = made.embed_passages(TEXTS)
    assert same(found, expected)
    assert worker_pid(made) != stopped


def test_a_worker_that_dies_at_everything_is_not_started_forever(
    tiny_gguf: Path, embedder: NewEmbedder, poisonable: None
) -> None:
    made = embedder(tiny_gguf)
    with pytest.raises(EmbedderUnavailable, match="dies at every call"):
        made.embed_passages(["poison"] * 100)
    assert made.status().state == "unavailable"


def test_a_library_that_is_not_installed_is_a_plain_reason(
    tiny_gguf: Path, embedder: NewEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llama_cpp.py").write_text("raise ImportError('no library')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path.cwd())]))
    made = embedder(tiny_gguf)
    started = time.monotonic()
    for _ in range(20):
        with pytest.raises(EmbedderUnavailable, match="llama-cpp-python cannot be imported"):
            made.embed_query("x")
    assert time.monotonic() - started < 15


def test_a_worker_without_work_ends_and_comes_back(tiny_gguf: Path, embedder: NewEmbedder) -> None:
    made = embedder(tiny_gguf, idle_seconds=0.2)
    made.embed_query("x")
    assert _until(lambda: made.status().worker_pid is None)
    assert made.status().state == "idle"
    assert made.embed_query("x").shape == (32,)


def test_nothing_runs_before_the_first_need(tiny_gguf: Path, embedder: NewEmbedder) -> None:
    made = embedder(tiny_gguf)
    assert made.info.dimension == 32
    assert made.status().state == "idle"
    assert made.status().worker_pid is None


def test_closing_ends_a_call_that_another_thread_waits_for(
    minilm: Path, embedder: NewEmbedder
) -> None:
    made = embedder(minilm)
    made.embed_query("warm up")
    pid = worker_pid(made)
    reasons: list[str] = []

    def passages() -> None:
        try:
            made.embed_passages(["word " * 500] * 200)
        except EmbedderUnavailable as error:
            reasons.append(error.reason)

    thread = threading.Thread(target=passages)
    thread.start()
    time.sleep(0.2)
    made.close()
    thread.join(10)
    assert reasons == ["the embedder is closed"]
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        made.embed_query("x")
