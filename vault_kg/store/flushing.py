"""Getting files and folders onto the disk, many side by side."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

try:
    import fcntl

    _FULL_FLUSH = getattr(fcntl, "F_FULLFSYNC", None)
except ImportError:  # no POSIX
    _FULL_FLUSH = None

_THREADS = 4
_OPENED = os.O_RDWR if os.name == "nt" else os.O_RDONLY


class Hardening:
    """Files and folders on their way to the disk.

    They are flushed side by side, so that the file system joins them into one or two writes of its
    journal rather than one for each; meanwhile the caller can do something else.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        waiting = list(paths)
        shares = (waiting[start::_THREADS] for start in range(min(_THREADS, len(waiting))))
        self._flushes = [_flushers(os.getpid()).submit(_flush_each, share) for share in shares]

    def wait(self) -> None:
        """Return when everything is on the disk.

        Raises:
            OSError: Something could not be flushed.
        """
        for failure in [flush.exception() for flush in self._flushes]:
            if failure is not None:
                raise failure


def flush(descriptor: int) -> None:
    """Return when what was written to an open file is on the disk.

    Raises:
        OSError: The disk refuses.
    """
    if _FULL_FLUSH is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, _FULL_FLUSH)


@lru_cache(maxsize=1)
def _flushers(process: int) -> ThreadPoolExecutor:
    """Return the threads that flush for a process; after a fork the child starts its own."""
    from concurrent.futures import ThreadPoolExecutor  # not needed to read a vault

    return ThreadPoolExecutor(_THREADS, f"vault-kg-flush-{process}")


def _flush_each(paths: Iterable[Path]) -> None:
    for path in paths:
        if os.name == "nt" and path.is_dir():
            continue  # Windows has no way to flush names
        descriptor = os.open(path, _OPENED)
        try:
            flush(descriptor)
        finally:
            os.close(descriptor)
