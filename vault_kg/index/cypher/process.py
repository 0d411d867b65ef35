"""The workers as their client holds them: started when needed, asked, and replaced when they die."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vault_kg.embedding.timed import TimedWorker, WorkerLost, WorkerRefused

START_SECONDS = 60.0
_LOOK_SECONDS = 0.05
_ENGINES_ERROR = "RuntimeError: "
_DAMAGED = "GraphDamaged: "

Stopped = Callable[[], bool]

__all__ = ["GraphDamaged", "Stopped", "WorkerLate", "WorkerLost", "WorkerRefused", "Workers"]


class WorkerLate(WorkerLost):
    """It was killed for missing its deadline."""


class GraphDamaged(WorkerLost):
    """The file that it was to open is gone, or holds no graph."""


class Workers:
    """Processes that run the engine: as many as are asked at once, one of which is kept."""

    def __init__(self) -> None:
        self._idle: list[TimedWorker] = []
        self._guard = threading.Lock()

    def ask(
        self, request: Mapping[str, Any], seconds: float, stopped: Stopped = lambda: False
    ) -> dict[str, Any]:
        """Return what a worker answers.

        Args:
            request: what it is to do.
            seconds: when it is killed.
            stopped: asked while it works; it is killed as soon as this says so.

        Raises:
            WorkerLost: it died or was killed.
            WorkerRefused: the engine refused; the message is the engine's.
        """
        worker = self._take()
        until = time.monotonic() + seconds
        try:
            with _watched(worker, stopped):
                answer, _ = worker.call(dict(request), b"", seconds)
        except WorkerLost as error:
            worker.close()
            raise (WorkerLate(f"{error}") if time.monotonic() >= until else error) from None
        except WorkerRefused as error:
            self._give_back(worker)
            raise _refusal(f"{error}") from None
        self._give_back(worker)
        return answer

    def close(self) -> None:
        """End the worker that is kept."""
        with self._guard:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def _take(self) -> TimedWorker:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return TimedWorker("vault_kg.index.cypher.worker", (), START_SECONDS)

    def _give_back(self, worker: TimedWorker) -> None:
        with self._guard:
            if not self._idle:
                self._idle.append(worker)
                return
        worker.close()


@contextmanager
def _watched(worker: TimedWorker, stopped: Stopped) -> Iterator[None]:
    """Kill the worker where nobody waits for it any more."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            if stopped():
                worker.kill()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _refusal(said: str) -> Exception:
    if said.startswith(_DAMAGED):
        return GraphDamaged(said.removeprefix(_DAMAGED))
    return WorkerRefused(said.removeprefix(_ENGINES_ERROR))
