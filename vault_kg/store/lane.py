"""The write lane: one writer of a vault at a time, across threads and processes.

Reads never take it. No remote and no model is called while it is held.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from vault_kg.errors import Busy, WriteFailed
from vault_kg.store.failpoints import reach

LOCK = "lane.lock"
WAIT_SECONDS = 60.0


class Lane:
    """An operating-system lock on a file of the state folder; a dead process lets go of it."""

    def __init__(self, lock_file: Path) -> None:
        self._lock_file = lock_file
        self._thread = threading.RLock()
        self._lock = FileLock(lock_file, thread_local=False)
        self._depth = 0

    @contextmanager
    def hold(self, wait: float = WAIT_SECONDS) -> Iterator[None]:
        """Hold the lane for the block; a thread that holds it may enter again.

        Args:
            wait: seconds to wait for another writer.

        Raises:
            Busy: the lane was not free in time.
            WriteFailed: the state folder cannot be written.
        """
        if not self._thread.acquire(timeout=wait if wait > 0 else 0.0):
            raise Busy("another thread is writing to this vault; try again")
        try:
            with self._across_processes(wait):
                yield
        finally:
            self._thread.release()

    def is_held(self) -> bool:
        """Say whether anybody writes to this vault now; never waits."""
        if self._depth:
            return True
        probe = FileLock(self._lock_file)
        try:
            probe.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False
        probe.release()
        return False

    @contextmanager
    def _across_processes(self, wait: float) -> Iterator[None]:
        if self._depth == 0:
            self._acquire(wait)
            reach("lane.held")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._lock.release()

    def _acquire(self, wait: float) -> None:
        try:
            self._lock.acquire(timeout=wait, poll_interval=0.005)
        except Timeout as error:
            raise Busy(
                f"another process has been writing to this vault for {wait:g} s; try again"
            ) from error
        except OSError as error:
            raise WriteFailed(
                f"the vault's state folder cannot be written: {error.strerror}. Mend its "
                "permissions, then repeat the request",
                path=str(self._lock_file),
            ) from error
