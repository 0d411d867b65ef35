"""The embedder that the rest of the package uses: texts in, and vectors or a plain reason out."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from vault_kg.embedding.job import Job, PassageVectors
from vault_kg.embedding.lane import EmbedderUnavailable, Lane
from vault_kg.embedding.model_info import ModelInfo, StampedInfo, stamped_info
from vault_kg.embedding.models import resolve
from vault_kg.errors import VaultError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder", "EmbedderStatus", "EmbedderUnavailable", "ModelInfo", "PassageVectors"]

Done = Callable[[int, int], None]


@dataclass(frozen=True)
class EmbedderStatus:
    """Whether the embedder is of use now.

    Attributes:
        state: `running` with a worker, `idle` without, `unavailable` where vectors cannot be had.
        reason: Why it is unavailable, or what went wrong last.
        worker_pid: The worker's process, where one is running.
        threads: The thread count that is fastest so far.
    """

    state: Literal["idle", "running", "unavailable"]
    reason: str | None
    worker_pid: int | None
    threads: int


class Embedder:
    """Turns texts into vectors with a local model, in a process of its own.

    It may be used by several threads. The worker is started at the first call. Nothing but
    `EmbedderUnavailable` is raised for whatever happens to the worker, the library or the model.

    Args:
        model: The path of a GGUF embedding model, or the name of an installed or known one.
        threads: A fixed thread count; measured while working where None.
        idle_seconds: How long the worker is kept without work.
        call_timeout: The deadline of each call to the worker, which is one batch of tokens; a
            worker that misses it is replaced.
        start_timeout: The deadline of loading the model.

    Raises:
        NotFound: No model has this name.
    """

    def __init__(
        self,
        model: Path | str,
        *,
        threads: int | None = None,
        idle_seconds: float = 300.0,
        call_timeout: float = 60.0,
        start_timeout: float = 120.0,
    ) -> None:
        self._path = resolve(model)
        self._call_timeout = call_timeout
        self._lane = Lane(
            threads=threads,
            idle_seconds=idle_seconds,
            call_timeout=call_timeout,
            start_timeout=start_timeout,
        )

    @property
    def info(self) -> ModelInfo:
        """The model as its file stands now; read without starting the worker.

        Raises:
            EmbedderUnavailable: The file is missing, damaged, or no embedding model.
        """
        return self._model()[1]

    def status(self) -> EmbedderStatus:
        """Say whether vectors can be had, without trying."""
        pid, reason = self._lane.worker_pid, self._lane.problem
        try:
            self._model()
        except EmbedderUnavailable as error:
            reason = error.reason
            return EmbedderStatus("unavailable", reason, pid, self._lane.threads)
        state: Literal["idle", "running", "unavailable"] = "running" if pid else "idle"
        if reason and not pid:
            state = "unavailable"
        return EmbedderStatus(state, reason, pid, self._lane.threads)

    def embed_passages(
        self, texts: Sequence[str], *, on_progress: Done | None = None
    ) -> PassageVectors:
        """Return the vectors of passages.

        A text longer than the model's context is embedded in windows of equal length, whose
        vectors are averaged by their tokens: nothing is cut. A text at which the worker dies three
        times is reported in `failed`, and the others have their vectors.

        Args:
            texts: Texts of any length and number, empty ones included.
            on_progress: Called in this thread with the texts done and in all.

        Raises:
            EmbedderUnavailable: The worker cannot be had; nothing of this call is kept.
        """
        model = self._model()
        job = Job(model, texts, model[1].passage_prefix, urgent=False)
        return self._await(job, None, len(texts), on_progress)

    def embed_query(self, text: str, *, timeout: float | None = None) -> NDArray[np.float32]:
        """Return the vector of a query; it overtakes passages that are waiting.

        Args:
            text: The query, of any length.
            timeout: The seconds that the caller will wait; the worker goes on all the same.

        Raises:
            EmbedderUnavailable: No vector can be had, or not in that time.
        """
        model = self._model()
        job = Job(model, [text], model[1].query_prefix, urgent=True)
        found = self._await(job, timeout, 1, None)
        if found.failed:
            raise EmbedderUnavailable(f"this query cannot be embedded: {found.failed[0]}")
        vector: NDArray[np.float32] = found.vectors[0]
        return vector

    def close(self) -> None:
        """End the worker; every later call is refused."""
        self._lane.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _model(self) -> StampedInfo:
        try:
            return stamped_info(self._path)
        except VaultError as error:
            raise EmbedderUnavailable(error.message) from error

    def _await(
        self, job: Job, timeout: float | None, texts: int, on_progress: Done | None
    ) -> PassageVectors:
        self._lane.submit(job)
        until = None if timeout is None else time.monotonic() + timeout
        done = 0
        try:
            while True:
                event = job.events.get(timeout=until and max(0.0, until - time.monotonic()))
                if isinstance(event, PassageVectors):
                    return event
                if isinstance(event, Exception):
                    raise event
                done += event
                if on_progress is not None:
                    on_progress(done, texts)
        except queue.Empty:
            raise EmbedderUnavailable(
                f"no vector within {timeout:g} s: the embedding worker is starting or busy"
            ) from None
        finally:
            job.abandoned = True
