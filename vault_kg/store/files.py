"""Reading and installing vault files so that nobody's bytes are lost.

A file is installed from a flushed temporary. Where the platform can exchange two names in one step
(Linux, macOS), the replaced bytes come back in the temporary and are compared *after* the exchange,
so that even a save in the last microsecond is seen and kept.
"""

from __future__ import annotations

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

MAX_RECORD_BYTES = 10_000_000

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


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
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


class Displaced(Exception):  # noqa: N818 - it carries content, it is not a fault of ours
    """The file on disk was not what the request saw. `found` is what was there; it still is."""

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
    target = paths.resolve(root, relative)
    try:
        descriptor = os.open(target, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb") as handle:
        found = os.fstat(handle.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{relative} is not a regular file", path=relative)
        if found.st_size > limit:
            raise UnsafePath(
                f"{relative} has {found.st_size:,} bytes; a record has at most {limit:,}",
                path=relative,
            )
        return handle.read()


def stamp(root: Path, relative: str) -> Stamp | None:
    """Return a file's stamp, or None where there is no regular file of that name."""
    try:
        found = os.lstat(root / relative)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Stamp.of(found) if stat.S_ISREG(found.st_mode) else None


def install(
    root: Path, relative: str, before: bytes | None, after: bytes | None, temporary: Path
) -> None:
    """Make a file's content `after`, if and only if it is `before` now.

    Args:
        root: the vault's folder.
        relative: the file's vault-relative path.
        before: the bytes that the request saw; None where it saw no file.
        after: the bytes to install; None to remove the file.
        temporary: a free name in the vault's private folder, on the same file system.

    Raises:
        Displaced: the file is something else; it is left (or put back) as it was.
        OSError: the disk refuses; the file is as it was.
    """
    target = paths.resolve(root, relative)
    found = read(root, relative)
    if found != before:
        raise Displaced(relative, found)
    if after is None:
        _remove(target, relative, before, temporary)
        return
    _make_folder(target.parent, root)
    _write_temporary(temporary, after, target)
    reach("install.temp-written")
    try:
        _put(temporary, target, relative, before)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to disk, where the platform can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put(temporary: Path, target: Path, relative: str, before: bytes | None) -> None:
    if before is None:
        try:
            os.link(temporary, target)  # fails where a file has appeared, unlike a rename
        except FileExistsError:
            raise Displaced(relative, target.read_bytes()) from None
        except OSError:
            if target.exists():
                raise Displaced(relative, target.read_bytes()) from None
            temporary.replace(target)
        return
    exchange = _exchanger()
    if exchange is None or not exchange(temporary, target):
        temporary.replace(target)
        return
    reach("install.exchanged")
    displaced = temporary.read_bytes()
    if displaced != before:
        exchange(temporary, target)
        raise Displaced(relative, displaced)


def _remove(target: Path, relative: str, before: bytes | None, temporary: Path) -> None:
    if before is None:
        return
    temporary.parent.mkdir(parents=True, exist_ok=True)
    target.rename(temporary)
    displaced = temporary.read_bytes()
    if displaced != before:
        os.link(temporary, target)
        temporary.unlink()
        raise Displaced(relative, displaced)
    sync_folder(target.parent)
    temporary.unlink()


def _write_temporary(temporary: Path, content: bytes, target: Path) -> None:
    temporary.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _make_folder(folder: Path, root: Path) -> None:
    """Make a folder and flush the parents that gained a name."""
    missing = []
    while folder != root and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(exist_ok=True)
        sync_folder(made.parent)


@cache
def _exchanger() -> Callable[[Path, Path], bool] | None:
    """Return the platform's atomic exchange of two names, or None; the exchange says if it could."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            native = library.renamex_np
            return lambda a, b: _done(native(os.fsencode(a), os.fsencode(b), 2))
        native = library.renameat2
    except (AttributeError, OSError, TypeError):
        return None
    return lambda a, b: _done(
        native(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE)
    )


def _done(result: int) -> bool:
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EXDEV):
        return False
    raise OSError(code, os.strerror(code))


_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a fifo in place of a record must not hang the reader


def blob_id(content: bytes) -> str:
    """Return Git's object id (SHA-1) of exact bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
