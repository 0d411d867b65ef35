"""Whether a program has a file open for writing: what it writes next must not be lost.

After an exchange of names such a program goes on writing to the file that was replaced. Linux tells
of it: a read lease is refused while anybody may write. Where there are no leases (other systems,
most network file systems, files of another account) it cannot be known.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from vault_kg.errors import Busy

try:
    import fcntl

    _LEASES = hasattr(fcntl, "F_SETLEASE")
except ImportError:  # no POSIX
    _LEASES = False

WAIT_SECONDS = 2.0
"""So long a request waits for a program that has its file open for writing."""

SAVE_SECONDS = 0.5
"""So long a look at files that were saved just now waits for a save to be whole."""

_STEP = 0.02

T = TypeVar("T")


class OpenElsewhere(Busy):
    """A file of a request is open for writing in another program."""

    def __init__(self, path: str, file: Path) -> None:
        super().__init__(
            f"{path} is open for writing in another program; nothing was changed. Close it there, "
            "or try again",
            path=path,
        )
        self.path = path
        self.file = file


def is_open_for_writing(file: Path) -> bool:
    """Say whether any program has a file open for writing; False where that cannot be known.

    Whoever opens it for writing in the very moment of the question waits until it is answered.
    """
    if not _LEASES:
        return False
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # Whoever waits for the lease has us sent a signal: one that is ignored by default, as
            # SIGIO would end the process.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        finally:
            os.close(descriptor)
    except BlockingIOError:
        return True
    except OSError:
        return False  # there is no such file, or nobody can tell
    return False


def patiently(action: Callable[[], T]) -> T:
    """Run an action; where it meets a file that is open elsewhere, wait a little and run it again.

    Raises:
        OpenElsewhere: the file is still open.
    """
    try:
        return action()
    except OpenElsewhere as met:
        if not _is_closed_within(met.file, WAIT_SECONDS):
            raise
    return action()


def let_saves_end(files: Sequence[Path], recent_ns: int) -> None:
    """Wait a little for programs that are in the middle of saving one of these files.

    A file that is only kept open is not waited for, and none is for longer than `SAVE_SECONDS`, all
    together.

    Args:
        files: the files.
        recent_ns: a file that was last written to longer ago than this is not being saved.
    """
    newest = time.time_ns() - recent_ns
    until = time.monotonic() + SAVE_SECONDS
    for file in files:
        if _modified_ns(file) > newest:
            _is_closed_within(file, until - time.monotonic())


def _is_closed_within(file: Path, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_open_for_writing(file):
        if time.monotonic() >= until:
            return False
        time.sleep(_STEP)
    return True


def _modified_ns(file: Path) -> int:
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0
