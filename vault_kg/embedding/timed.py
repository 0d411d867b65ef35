"""A worker process as its client holds it: started, asked, timed, and ended.

Every call has a deadline. A worker that misses it is killed, because nothing else is certain to
bring a native library back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

from vault_kg.embedding.child import spawn
from vault_kg.embedding.protocol import BrokenFrame, read_frame, write_frame

_STDERR_TAIL = 2000
_CLOSE_SECONDS = 2.0


class WorkerLost(Exception):
    """The worker died or was killed for missing a deadline; the message says which."""


class WorkerRefused(Exception):
    """The worker is sound and says why it did not do what was asked."""


class TimedWorker:
    """A running worker that has sent its greeting; used by one thread at a time.

    Args:
        module: What it runs.
        arguments: Its command line.
        start_seconds: How long it may take until its greeting.

    Raises:
        WorkerLost: It died, or did not answer in time.
        WorkerRefused: It could not start; the message says why.
    """

    def __init__(self, module: str, arguments: Sequence[str], start_seconds: float) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = spawn(module, arguments, stderr=self._stderr)
        self._requests = cast(BinaryIO, self._process.stdin)
        self._answers = cast(BinaryIO, self._process.stdout)
        try:
            with self._deadline(start_seconds, "loading the model"):
                self.greeting, self.greeting_payload = self._read()
        except WorkerRefused as error:
            reason = f"{error}{self._last_words()}"
            self.close()
            raise WorkerRefused(reason) from error
        except WorkerLost:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the worker at once; a call that another thread waits for fails as `WorkerLost`."""
        self._process.kill()

    def close(self) -> None:
        """End the worker: by closing its pipe, and by force where that is not enough."""
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def call(
        self, request: dict[str, Any], payload: bytes, seconds: float
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request and wait for its answer.

        Args:
            request: JSON values; `do` says what.
            payload: Raw bytes that go with it.
            seconds: The deadline.

        Raises:
            WorkerLost: It died, was killed, or missed the deadline.
            WorkerRefused: It says why it did not do it.
        """
        with self._deadline(seconds, str(request["do"])):
            try:
                write_frame(self._requests, request, payload)
            except (OSError, ValueError) as error:
                raise WorkerLost(self._death()) from error
            return self._read()

    def _read(self) -> tuple[dict[str, Any], bytes]:
        try:
            frame = read_frame(self._answers)
        except (BrokenFrame, OSError, ValueError):
            frame = None
        if frame is None:
            raise WorkerLost(self._death())
        if "error" in frame[0]:
            raise WorkerRefused(str(frame[0]["error"]))
        return frame

    @contextlib.contextmanager
    def _deadline(self, seconds: float, doing: str) -> Iterator[None]:
        """Kill the worker where the block takes longer; it then fails as `WorkerLost`."""
        late = threading.Event()
        timer = threading.Timer(seconds, self._kill_late, (late,))
        timer.daemon = True
        timer.start()
        try:
            yield
        except WorkerLost as error:
            if late.is_set():
                raise WorkerLost(f"no answer within {seconds:g} s ({doing})") from error
            raise
        finally:
            timer.cancel()

    def _kill_late(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def _death(self) -> str:
        """Say how the process ended, with the last thing that it printed."""
        try:
            status = self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        return f"the worker {_ending(status)}{self._last_words()}"

    def _last_words(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL))
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        telling = [line for line in lines if "error" in line.lower() or "ASSERT" in line]
        return f" ({(telling or lines)[-1].strip()})" if lines else ""


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    if -status == signal.SIGILL:
        return (
            "met an instruction that this processor has not (SIGILL); "
            "build llama-cpp-python here with scripts/build_llama.py"
        )
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
