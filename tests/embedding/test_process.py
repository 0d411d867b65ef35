from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vault_kg.embedding.process import WorkerLost, WorkerProcess, WorkerRefused


@pytest.fixture
def worker(llama: None, tiny_gguf: Path) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(tiny_gguf, window_tokens=64, start_seconds=30)
    yield worker
    worker.close()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def _ends_within(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not _is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_a_batch_larger_than_the_context_is_refused_and_the_worker_lives(
    worker: WorkerProcess,
) -> None:
    huge = np.full(5000, 5, np.int32)
    with pytest.raises(WorkerRefused, match="too large"):
        worker.embed([huge], threads=1, seconds=10)
    vectors, _ = worker.embed([huge[:10]], threads=1, seconds=10)
    assert vectors.shape == (1, 32)


def test_tokens_that_the_model_has_not_are_refused_and_the_worker_lives(
    worker: WorkerProcess,
) -> None:
    with pytest.raises(WorkerRefused):
        worker.embed([np.array([2_000_000], np.int32)], threads=1, seconds=10)
    assert len(worker.tokenize(["the word"], seconds=10)[0]) == 2


def test_a_stopped_worker_is_killed_at_the_deadline(worker: WorkerProcess) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(WorkerLost, match=r"no answer within 0\.5 s \(tokenize\)"):
        worker.tokenize(["x"], seconds=0.5)
    assert time.monotonic() - started < 3


def test_a_request_larger_than_the_pipe_to_a_stopped_worker_has_a_deadline_too(
    worker: WorkerProcess,
) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerLost, match="no answer within"):
        worker.tokenize(["x" * 1_000_000], seconds=0.5)


def test_a_killed_worker_is_told_with_its_signal(worker: WorkerProcess) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerLost, match="ended by SIGKILL"):
        worker.tokenize(["x"], seconds=10)


def test_an_interrupt_at_the_terminal_does_not_reach_the_worker(worker: WorkerProcess) -> None:
    os.kill(worker.pid, signal.SIGINT)
    assert len(worker.tokenize(["word"], seconds=10)[0]) == 1


def test_what_the_library_prints_is_not_on_our_output(tiny_gguf: Path) -> None:
    code = (
        "from pathlib import Path; from vault_kg.embedding.process import WorkerProcess;"
        f"w = WorkerProcess(Path({str(tiny_gguf)!r}), window_tokens=64, start_seconds=30);"
        "w.tokenize(['x'], seconds=10); w.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_module_in_the_current_folder_is_not_imported(
    llama: None, tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('a vault must not run code')")
    monkeypatch.chdir(tmp_path)
    WorkerProcess(tiny_gguf, window_tokens=64, start_seconds=30).close()


def test_a_file_that_is_no_model_is_refused_with_the_reason(llama: None, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(WorkerRefused, match=r"x\.gguf"):
        WorkerProcess(path, window_tokens=64, start_seconds=30)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_does_not_outlive_its_parent(
    llama: None, tiny_gguf: Path, how: signal.Signals
) -> None:
    code = (
        "import time; from pathlib import Path;"
        "from vault_kg.embedding.process import WorkerProcess;"
        f"w = WorkerProcess(Path({str(tiny_gguf)!r}), window_tokens=64, start_seconds=30);"
        "print(w.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert _is_alive(pid)
    parent.send_signal(how)
    parent.wait()
    parent.stdout.close()
    assert _ends_within(pid, 5)


def test_a_worker_does_not_outlive_its_parent_although_a_fork_holds_the_pipes(
    llama: None, tiny_gguf: Path
) -> None:
    code = (
        "import os, time; from pathlib import Path;"
        "from vault_kg.embedding.process import WorkerProcess;"
        f"w = WorkerProcess(Path({str(tiny_gguf)!r}), window_tokens=64, start_seconds=30);"
        "fork = os.fork();"
        "fork and print(w.pid, fork, flush=True);"
        "time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, fork = map(int, parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        assert _ends_within(pid, 5)
    finally:
        os.kill(fork, signal.SIGKILL)
