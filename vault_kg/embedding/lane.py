"""The one thread that talks to the worker: queries first, then the passages of all callers in turn.

It starts the worker at the first need and ends it when nothing was asked for a while.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from vault_kg.embedding.job import Job
from vault_kg.embedding.model_info import Stamp, stamp
from vault_kg.embedding.process import WorkerLost, WorkerProcess, WorkerRefused
from vault_kg.embedding.threads import ThreadChooser
from vault_kg.errors import Unavailable, VaultError

_STARTS_TRIED = 3
_DEATHS_IN_A_ROW = 20
"""More than one bad text can cause: twelve halvings of a call and three tries."""

_BACKOFF_FIRST, _BACKOFF_MOST = 0.02, 0.25
_CLOSED = "the embedder is closed"
_JOIN_SECONDS = 5.0


class EmbedderUnavailable(Unavailable):
    """No vectors can be had now; `reason` says why, and what would help."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, reason=reason)
        self.reason = reason


class Lane:
    """Runs the jobs of one model, one call at a time.

    Args:
        threads: A fixed thread count; measured where None.
        idle_seconds: How long the worker is kept without work.
        call_timeout: The deadline of each call to the worker.
        start_timeout: The deadline of loading the model.
    """

    def __init__(
        self,
        *,
        threads: int | None,
        idle_seconds: float,
        call_timeout: float,
        start_timeout: float,
    ) -> None:
        self._idle_seconds = idle_seconds
        self._call_timeout, self._start_timeout = call_timeout, start_timeout
        self._chooser = ThreadChooser(threads)
        self._changed = threading.Condition()
        self._urgent: deque[Job] = deque()
        self._patient: deque[Job] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._worker: WorkerProcess | None = None
        self._loaded: Stamp | None = None
        self._deaths = 0
        self._breaker = _Breaker()
        self.problem: str | None = None

    @property
    def worker_pid(self) -> int | None:
        """The process id of the worker, where one is running."""
        worker = self._worker
        return worker.pid if worker else None

    @property
    def threads(self) -> int:
        """The thread count that is fastest so far."""
        return self._chooser.best

    def submit(self, job: Job) -> None:
        """Take a job in; its events tell how it goes.

        Raises:
            EmbedderUnavailable: The lane is closed.
        """
        with self._changed:
            if self._closed:
                raise EmbedderUnavailable(_CLOSED)
            self._queue(job).append(job)
            if self._thread is None or not self._thread.is_alive():
                self._worker = None  # after a fork it is the parent's
                self._thread = threading.Thread(target=self._run, name="embedder", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """End the worker and refuse what was not finished."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            worker, thread = self._worker, self._thread
        if worker is not None:
            worker.kill()
        if thread is not None:
            thread.join(_JOIN_SECONDS)

    def _queue(self, job: Job) -> deque[Job]:
        return self._urgent if job.urgent else self._patient

    def _run(self) -> None:
        while (job := self._next()) is not None:
            if not job.abandoned and not self._step(job):
                self._queue(job).append(job)
        self._stop_worker()
        for job in (*self._urgent, *self._patient):
            job.events.put(EmbedderUnavailable(_CLOSED))

    def _next(self) -> Job | None:
        """Wait for the job whose turn it is, without the worker after a while; None at the end."""
        with self._changed:
            while not self._wanted(self._idle_seconds if self._worker else None):
                self._stop_worker()
            return None if self._closed else (self._urgent or self._patient).popleft()

    def _wanted(self, seconds: float | None) -> bool:
        return self._changed.wait_for(
            lambda: bool(self._closed or self._urgent or self._patient), seconds
        )

    def _step(self, job: Job) -> bool:
        """Make one call for a job; say whether the job is over, well or badly."""
        try:
            return self._advance(job)
        except VaultError as error:
            self.problem = error.message
            job.events.put(EmbedderUnavailable(error.message))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not leave a caller waiting
            self._stop_worker()
            job.events.put(error)
        return True

    def _advance(self, job: Job) -> bool:
        worker = self._worker_for(job)
        try:
            done = job.advance(worker, self._chooser, self._call_timeout)
        except WorkerLost as error:
            self._after_death(job, str(error))
            return False
        self._deaths = 0
        self.problem = None
        return done

    def _worker_for(self, job: Job) -> WorkerProcess:
        """Return a worker that holds the model in the state that the job was made for."""
        try:
            now = stamp(job.info.path)
        except VaultError:
            self._stop_worker()
            raise
        if now != self._loaded:
            self._stop_worker()
        if now != job.stamp:
            raise EmbedderUnavailable(f"the embedding model {job.info.path} was just replaced")
        return self._worker or self._start(job)

    def _start(self, job: Job) -> WorkerProcess:
        self._breaker.check(job.stamp)
        reason = ""
        for _ in range(_STARTS_TRIED):
            try:
                self._worker = WorkerProcess(
                    job.info.path,
                    window_tokens=job.info.context_tokens,
                    start_seconds=self._start_timeout,
                )
            except WorkerRefused as error:
                raise self._breaker.opened(job.stamp, str(error)) from error
            except WorkerLost as error:
                reason = str(error)
            else:
                self._loaded = job.stamp
                self._breaker.close()
                return self._worker
        raise self._breaker.opened(job.stamp, f"the embedding worker does not start: {reason}")

    def _after_death(self, job: Job, reason: str) -> None:
        self._stop_worker()
        if self._closed:
            raise EmbedderUnavailable(_CLOSED)
        self._deaths += 1
        if self._deaths >= _DEATHS_IN_A_ROW:
            self._deaths = 0
            raise self._breaker.opened(
                job.stamp, f"the embedding worker dies at every call: {reason}"
            )
        time.sleep(min(_BACKOFF_FIRST * 2**self._deaths, _BACKOFF_MOST))

    def _stop_worker(self) -> None:
        worker, self._worker, self._loaded = self._worker, None, None
        if worker is not None:
            worker.close()


class _Breaker:
    """Refuses to start the worker again and again where it just failed with the same model file."""

    def __init__(self) -> None:
        self._stamp: Stamp | None = None
        self._until = 0.0
        self._failures = 0
        self._reason = ""

    def check(self, model: Stamp) -> None:
        if model != self._stamp:
            self.close()
        elif time.monotonic() < self._until:
            raise EmbedderUnavailable(self._reason)

    def opened(self, model: Stamp, reason: str) -> EmbedderUnavailable:
        self._failures += 1
        self._stamp, self._reason = model, reason
        self._until = time.monotonic() + min(2.0 ** (self._failures - 1), 60.0)
        return EmbedderUnavailable(reason)

    def close(self) -> None:
        self._stamp, self._failures = None, 0
