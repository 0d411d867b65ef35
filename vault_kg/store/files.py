"""Reading vault files, and the steps of installing one so that nobody's bytes are lost.

A file is installed from a flushed, complete one by giving the two each other's names. Where the
platform can do that in one step (Linux, macOS), even a save in the last microsecond is seen and
kept; elsewhere the old file is moved aside first, and there is an instant without a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.store import paths
from vault_kg.store.failpoints import reach
from vault_kg.store.flushing import Hardening

MAX_RECORD_BYTES = 10_000_000

_LARGEST_NUMBER = 2**63 - 1  # of SQLite; some file systems make an inode's number of a hash

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

RACY_NS = 2_000_000_000
"""A file saved this shortly before it was read may be saved again with the same stamp: the coarsest
times of a file system that a vault may be on."""


@dataclass(frozen=True)
class Stamp:
    """What tells a changed file from an unchanged one without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """Return the stamp in a stat result."""
        return cls(
            found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino & _LARGEST_NUMBER
        )


@dataclass(frozen=True)
class Found:
    """What has a name: a file's bytes, nothing, or (`special`) a folder, link or pipe."""

    content: bytes | None = None
    special: bool = False

    def holds(self, content: bytes | None) -> bool:
        """Say whether it is just these bytes, or nothing where `content` is None."""
        return not self.special and self.content == content


class Displaced(Exception):
    """The file on disk was not what the request saw. `found` is what was there; None if no file."""

    def __init__(self, path: str, found: bytes | None) -> None:
        super().__init__(path)
        self.path = path
        self.found = found


def content_hash(content: bytes) -> str:
    """Return `sha256:<hex>` of exact bytes."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def read(root: Path, relative: str, limit: int = MAX_RECORD_BYTES) -> bytes | None:
    """Return a vault file's bytes, or None where there is none.

    Raises:
        UnsafePath: it is a link, not a regular file, or larger than `limit` bytes.
        OSError: the disk refuses.
    """
    found = read_stamped(root, relative, limit)
    return found[0] if found is not None else None


def read_stamped(
    root: Path, relative: str, limit: int = MAX_RECORD_BYTES
) -> tuple[bytes, Stamp] | None:
    """Return a vault file's bytes with the stamp that it had before they were read.

    Returns:
        Both, or None where there is no such file.

    Raises:
        UnsafePath: it is a link, not a regular file, or larger than `limit` bytes.
        OSError: the disk refuses.
    """
    target, there = paths.look(root, relative)
    if there is None:
        return None
    try:
        descriptor = os.open(target, _AS_IT_IS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise UnsafePath(f"{relative} is not a regular file", path=relative)
    with os.fdopen(descriptor, "rb") as handle:
        if found.st_size > limit:
            raise UnsafePath(
                f"{relative} has {found.st_size:,} bytes; a record has at most {limit:,}",
                path=relative,
            )
        return handle.read(), Stamp.of(found)


def look(path: Path) -> Found:
    """Return what has a name now, whatever it is and however large; links are not followed.

    Raises:
        OSError: the disk refuses.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return Found(special=True)
        descriptor = os.open(path, _AS_IT_IS)
    except (FileNotFoundError, NotADirectoryError):
        return Found()
    except OSError as error:
        if error.errno == errno.ELOOP:  # made a link between the two looks
            return Found(special=True)
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return Found(special=True)
    with os.fdopen(descriptor, "rb") as handle:
        return Found(handle.read())


def stamp(root: Path, relative: str) -> Stamp | None:
    """Return a file's stamp, or None where the vault has no regular file of that name."""
    try:
        _, found = paths.look(root, relative)
    except UnsafePath:
        return None
    return Stamp.of(found) if found is not None and stat.S_ISREG(found.st_mode) else None


def write_complete(path: Path, content: bytes, like: Path) -> None:
    """Make a flushed file that is whole as soon as it has its name.

    Args:
        path: its name; what has it already is replaced.
        content: its bytes.
        like: the file whose mode and owner it gets, if there is one.

    Raises:
        OSError: the disk refuses; nothing is left behind.
    """
    part = write_part(path, content, like)
    try:
        Hardening([part]).wait()
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def write_part(path: Path, content: bytes, like: Path) -> Path:
    """Write a file under the name that it has until it is flushed, and return that name.

    Args:
        path: the name that it is to get.
        content: its bytes.
        like: the file whose mode and owner it gets, if there is one.

    Raises:
        OSError: the disk refuses; nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(path)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            _resemble(handle.fileno(), like)
            handle.write(content)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return part


def part_of(path: Path) -> Path:
    """Return the name that a file has until it is flushed."""
    return path.with_name(path.name + ".part")


def swap(prepared: Path, target: Path) -> None:
    """Give two files each other's names.

    Raises:
        FileNotFoundError: one of them is gone; the other is as it was.
        FileExistsError: a file appeared at the target meanwhile and stays; what was there before
            has the prepared name.
    """
    exchange = _exchanger()
    if exchange is not None and exchange(prepared, target):
        return
    aside = aside_of(prepared)
    target.rename(aside)
    reach("install.moved-aside")
    try:
        place(prepared, target)
    except FileExistsError:
        take_aside_back(prepared)
        raise
    except OSError:
        place(aside, target)
        aside.unlink(missing_ok=True)
        raise
    take_aside_back(prepared)


def take_aside_back(prepared: Path) -> None:
    """Give what was moved aside the prepared name, in place of the file that had it."""
    prepared.unlink(missing_ok=True)
    aside_of(prepared).rename(prepared)


def aside_of(prepared: Path) -> Path:
    """Return the name under which a file is moved aside where names cannot be exchanged."""
    return prepared.with_name(prepared.name + ".aside")


def place(source: Path, target: Path) -> None:
    """Give a file a free name; it may keep the one that it has.

    Raises:
        FileExistsError: the name is taken.
    """
    try:
        os.link(source, target)  # fails where a file has appeared, unlike a rename
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)  # a file system without hard links


def make_folder(folder: Path, root: Path) -> list[Path]:
    """Make a folder, flush the parents that gained a name, and return the folders made."""
    missing = []
    while folder != root and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(exist_ok=True)
        sync_folder(made.parent)
    return missing


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to disk, where the platform can."""
    Hardening([folder]).wait()


def blob_id(content: bytes) -> str:
    """Return Git's object id (SHA-1) of exact bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _resemble(descriptor: int, like: Path) -> None:
    """Give an open file the mode of another and, where we may, its owner."""
    try:
        found = os.lstat(like)
    except OSError:
        return
    if os.name == "nt" or not stat.S_ISREG(found.st_mode):
        return
    with contextlib.suppress(OSError):
        os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


@cache
def _exchanger() -> Callable[[Path, Path], bool] | None:
    """Return the platform's atomic exchange of two names, or None; it says whether it could."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            native = library.renamex_np
            return lambda a, b: _done(native(os.fsencode(a), os.fsencode(b), 2), a, b)
        native = library.renameat2
    except (AttributeError, OSError, TypeError):
        return None
    return lambda a, b: _done(
        native(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE), a, b
    )


def _done(result: int, first: Path, second: Path) -> bool:
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(first), None, str(second))


_BINARY = getattr(os, "O_BINARY", 0)
# Links are not followed, and a pipe in place of a record does not hang the reader.
_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY
