"""A local model: a GGUF file, run by llama.cpp in a process of its own, held to the answer's form."""

from __future__ import annotations

import threading
from typing import Any

from vault_kg.embedding.models import resolve
from vault_kg.embedding.threads import available_cores
from vault_kg.embedding.timed import TimedWorker, WorkerLost, WorkerRefused
from vault_kg.errors import NotFound, Unavailable
from vault_kg.ingest.asking import Answer, Question, Stopped
from vault_kg.operations import steps

CONTEXT_TOKENS = 8_192
START_SECONDS = 300.0
IDLE_SECONDS = 300.0
_TRIES = 2
_LOOK_SECONDS = 0.1
_MOST_THREADS = 8


class LocalModel:
    """A chat model in a worker process; started at the first question, ended when idle.

    Args:
        model: The path of a GGUF file, or the name of an installed model.
        call_seconds: The deadline of one answer.

    Raises:
        Unavailable: There is no such model.
    """

    def __init__(self, model: str, *, call_seconds: float) -> None:
        try:
            self._path = resolve(model)
        except NotFound as error:
            raise unavailable(error.message) from error
        if not self._path.exists():
            raise unavailable(
                f"the model {model} is not installed; `vault-kg models fetch {model}`"
            )
        self._call_seconds = call_seconds
        self._lock = threading.Lock()
        self._worker: TimedWorker | None = None
        self._idle: threading.Timer | None = None

    @property
    def name(self) -> str:
        """The model's name: that of its file."""
        return self._path.stem

    @property
    def context_tokens(self) -> int:
        """The tokens that its context has room for; starts the worker."""
        with self._lock:
            worker = self._running()
            self._rest()
            return int(worker.greeting["context_tokens"])

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:
        """Answer a question; a worker that dies is replaced once.

        Raises:
            Unavailable: No answer came in time, or the worker cannot be had.
            Cancelled: It was stopped; the worker is ended with it.
        """
        request = {
            "do": "answer", "system": question.system, "user": question.user,
            "schema": question.schema, "max_tokens": max_tokens,
        }  # fmt: skip
        with self._lock:
            for left in reversed(range(_TRIES)):
                try:
                    return Answer(**self._answered(request, stopped))
                except WorkerLost as error:
                    self._end()
                    if not left:
                        raise unavailable(
                            f"the model {self.name} gave no answer: {error}"
                        ) from None
                except WorkerRefused as error:
                    raise unavailable(f"the model {self.name} gave no answer: {error}") from None
        raise AssertionError("every try answers or raises")

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._end()

    def _answered(self, request: dict[str, Any], stopped: Stopped) -> dict[str, Any]:
        """Make a call in a thread, so that a caller who goes away can end it."""
        worker = self._running()
        call = _Call(worker, request, self._call_seconds)
        call.start()
        try:
            while call.is_alive():
                call.join(_LOOK_SECONDS)
                if stopped():
                    raise steps.cancelled()
        finally:
            if call.is_alive():
                worker.kill()
                call.join()
                self._end()
        self._rest()
        return call.result()

    def _running(self) -> TimedWorker:
        if self._idle is not None:
            self._idle.cancel()
        if self._worker is None:
            threads = min(available_cores(), _MOST_THREADS)
            arguments = [str(self._path), str(CONTEXT_TOKENS), str(threads)]
            try:
                self._worker = TimedWorker("vault_kg.ingest.worker", arguments, START_SECONDS)
            except (WorkerLost, WorkerRefused) as error:
                raise unavailable(f"the model {self.name} does not start: {error}") from None
        return self._worker

    def _rest(self) -> None:
        """End the worker later, if nobody asks it anything until then."""
        self._idle = threading.Timer(IDLE_SECONDS, self.close)
        self._idle.daemon = True
        self._idle.start()

    def _end(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        worker, self._worker, self._idle = self._worker, None, None
        if worker is not None:
            worker.close()


class _Call(threading.Thread):
    def __init__(self, worker: TimedWorker, request: dict[str, Any], seconds: float) -> None:
        super().__init__(name="extractor", daemon=True)
        self._worker, self._request, self._seconds = worker, request, seconds
        self._answer: dict[str, Any] = {}
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._answer, _ = self._worker.call(self._request, b"", self._seconds)
        except (WorkerLost, WorkerRefused) as error:
            self._error = error

    def result(self) -> dict[str, Any]:
        if self._error is not None:
            raise self._error
        return self._answer


def unavailable(why: str) -> Unavailable:
    """Return the error of a model that cannot be had; the vault itself is available."""
    return Unavailable(f"{why}; nothing was changed", missing="extraction_model", rpc_code=-32000)
