"""Stamping many files at once: the `lstat` of each file that a look at a vault consists of.

Half of the time of such a call is Python's object for what it returns. So `stamps.c` makes the calls
where it could be built, in threads beside the interpreter, which finds more files meanwhile; elsewhere
the same is done here, more slowly. Mercurial has `osutil.statfiles` for the same reason, and the
calls of `git status` are spread over threads too.
"""

from __future__ import annotations

import ctypes
import os
import stat
from array import array
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from vault_kg.store.files import Stamp

Numbers = tuple[int, int, int, int]
"""Those of a stamp, in the order of `Stamp`: size, mtime and ctime in nanoseconds, inode."""
NOTHING: Numbers = (-1, 0, 0, 0)
"""The stamp of what is not a regular file, or cannot be looked at."""

_NUMBERS = 4
_PART = 1_000
"""Files that are worth a thread."""
_MOST_THREADS = 8


class Stamper:
    """Stamps files of a folder, of those that are many while more of them are being found."""

    def __init__(self, folder: Path) -> None:
        """Stamp below a folder; nothing is opened yet."""
        self._folder = folder
        self._native = _native()
        self._pool: ThreadPoolExecutor | None = None
        self._parts: list[Future[array[int]]] = []

    def take(self, paths: Sequence[str]) -> None:
        """Begin with what is new among paths that were found so far, where it is much."""
        while self._native is not None and len(paths) - self._taken >= _PART:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS))
            part = paths[self._taken : self._taken + _PART]
            self._parts.append(self._pool.submit(self._stamp, part))

    def finish(self, paths: Sequence[str]) -> array[int]:
        """Return the numbers of the stamps of all paths, four of each, in their order.

        Raises:
            OSError: the folder cannot be opened.
        """
        self.take(paths)
        try:
            rest = self._stamp(paths[self._taken :])
            found = array("q")
            for part in self._parts:
                found.extend(part.result())
        finally:
            if self._pool is not None:
                self._pool.shutdown()
        found.extend(rest)
        return found

    @property
    def _taken(self) -> int:
        return len(self._parts) * _PART

    def _stamp(self, paths: Sequence[str]) -> array[int]:
        if self._native is None:
            return _by_one(self._folder, paths)
        return _by_native(self._native, self._folder, paths)


def stamps(folder: Path, paths: Sequence[str]) -> array[int]:
    """Return the numbers of the stamps of files, four of each, in the order of the paths.

    Args:
        folder: where the paths begin.
        paths: relative paths; a link at the end of one is not followed, and is `NOTHING`.

    Raises:
        OSError: the folder cannot be opened.
    """
    return Stamper(folder).finish(paths)


def columns(found: array[int]) -> list[array[int]]:
    """Return the sizes, the two times and the inodes of stamps, each in an array of their own."""
    return [found[column::_NUMBERS] for column in range(_NUMBERS)]


def numbers(found: os.stat_result) -> Numbers:
    """Return the numbers of the stamp in a stat result."""
    stamp = Stamp.of(found)
    return stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode


def _by_one(folder: Path, paths: Sequence[str]) -> array[int]:
    """Stamp file by file."""
    found = array("q")
    for path in paths:
        found.extend(_stamp(f"{folder}/{path}"))
    return found


def _stamp(path: str) -> Numbers:
    try:
        found = os.lstat(path)
    except OSError:
        return NOTHING
    return numbers(found) if stat.S_ISREG(found.st_mode) else NOTHING


def _by_native(native: Any, folder: Path, paths: Sequence[str]) -> array[int]:
    """Stamp all of them without the interpreter."""
    found = array("q", bytes(8 * _NUMBERS * len(paths)))
    address, _ = found.buffer_info()
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        native(descriptor, os.fsencode("\0".join(paths)), len(paths), address)
    finally:
        os.close(descriptor)
    return found


@cache
def _native() -> Any | None:
    """Return the function of `stamps.c`; None where it was not built."""
    for suffix in EXTENSION_SUFFIXES:
        library = Path(__file__).with_name(f"_stamps{suffix}")
        if library.is_file():
            try:
                function = ctypes.CDLL(os.fspath(library)).vault_kg_stamps
            except (OSError, AttributeError):  # of another machine or another version
                return None
            function.restype = None
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
            return function
    return None
