"""Putting a new index in the place of the current one under Git's own lock.

The lock is held for the instant of the exchange, and only if nobody changed the index meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vault_kg.store.git_index_file import IndexFile
    from vault_kg.store.git_layout import Layout

try:
    import fcntl
except ImportError:  # no POSIX: what a killed process leaves is not cleared
    fcntl = None  # type: ignore[assignment]


_LOCK_WAIT = 0.2
_LOCK_STEP = 0.01
_STILL_MAKING = 60.0


class PreparedIndex:
    """An index made beside the current one, to be put in its place or thrown away."""

    def __init__(self, layout: Layout, known: IndexFile | None = None) -> None:
        """Read the current index; `seen` is empty where there is none.

        Args:
            layout: Where it is.
            known: The index as it was left; where it is still there, it is not read again.
        """
        self._layout = layout
        self._held: int | None = None
        self._made = self._failed = False
        self._mode = 0o666 & layout.git_dir.stat().st_mode
        self._time = time.time_ns()
        self._signature: tuple[int, ...] | None = None
        self.scratch = layout.own / f"index.{secrets.token_hex(6)}"
        self.seen = b""
        with contextlib.suppress(FileNotFoundError), layout.index.open("rb") as file:
            self._remember(os.fstat(file.fileno()))
            self.seen = known.data if known and _is_in(file, known) else file.read()

    def __enter__(self) -> PreparedIndex:
        return self

    def __exit__(self, *error: object) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
        self.scratch.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Write the new index.

        It keeps the time of the old one, by which Git tells (racy-git) whether a file may have
        changed unseen in the instant in which the index was written.

        Raises:
            OSError: The repository may not be written to.
        """
        self._layout.own.mkdir(exist_ok=True)
        self.scratch.write_bytes(data)
        self.scratch.chmod(self._mode)
        os.utime(self.scratch, ns=(self._time, self._time))
        self._hold()

    def git_made(self, succeeded: bool) -> None:
        """Take what Git made of it in its place."""
        self._failed = not succeeded
        if succeeded and self._held is not None:
            os.close(self._held)
            self.scratch.chmod(self._mode)
            self._hold()

    def install(self) -> bool | None:
        """Put the index in place.

        Returns:
            True when done; False when somebody else holds the lock, or Git could not make the
            index; None when the index has changed since it was read.
        """
        if self._failed or not self._made:
            return not self._failed
        if not wait_for_index(self._layout, self._take_lock):
            return False
        lock = self._layout.index_lock
        try:
            if unchanged := self._is_unchanged():
                lock.replace(self._layout.index)
        except BaseException:
            lock.unlink(missing_ok=True)
            raise
        if unchanged:
            return True
        lock.unlink()
        return None

    def _remember(self, seen: os.stat_result) -> None:
        self._mode, self._time, self._signature = seen.st_mode, seen.st_mtime_ns, signature(seen)

    def _hold(self) -> None:
        self._held = hold(self.scratch, wait=True)
        self._made = True

    def _take_lock(self) -> bool:
        try:
            _link(self.scratch, self._layout.index_lock)
        except FileExistsError:
            return False
        return True

    def _is_unchanged(self) -> bool:
        try:
            return signature(self._layout.index.stat()) == self._signature
        except FileNotFoundError:
            return self._signature is None


def wait_for_index(layout: Layout, attempt: Callable[[], bool]) -> bool:
    """Attempt something that wants the index unlocked, for a moment at most."""
    deadline = time.monotonic() + _LOCK_WAIT
    while not attempt():
        clear_leftovers(layout)
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOCK_STEP)
    return True


def hold(path: Path, *, wait: bool = False) -> int:
    """Open a file of ours as this process's own; it is let go when the process ends.

    Args:
        path: The file.
        wait: Wait for a process that only looks whether anybody holds it.

    Raises:
        OSError: It is gone, or another process holds it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def clear_leftovers(layout: Layout) -> None:
    """Remove what a process of ours that was killed left behind, its index lock included.

    A lock is removed only if it is that process's own file, which nobody holds any more.
    """
    for scratch in layout.own.glob("index.*") if fcntl is not None else ():
        with contextlib.suppress(OSError), os.fdopen(hold(scratch)) as file:
            left = os.fstat(file.fileno())
            if left.st_nlink > 1 and layout.index_lock.samefile(scratch):
                layout.index_lock.unlink()
            elif time.time() - left.st_ctime < _STILL_MAKING:
                continue
            scratch.unlink()


def _is_in(file: BinaryIO, known: IndexFile) -> bool:
    """Tell whether a file is an index that we know, by its size and the checksum at its end."""
    checksum = known.checksum
    if checksum is None or file.seek(0, os.SEEK_END) != len(known.data):
        file.seek(0)
        return False
    file.seek(-len(checksum), os.SEEK_END)
    same = file.read() == checksum
    file.seek(0)
    return same


def signature(seen: os.stat_result) -> tuple[int, ...]:
    """Return what differs between a file as seen twice, if it was changed in between."""
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        seen = source.stat()
        with target.open("xb") as file:
            file.write(source.read_bytes())
        os.utime(target, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
