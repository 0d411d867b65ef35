"""Writing Git objects so that a power cut cannot take back what was acknowledged.

Objects are gathered first and written together: a few as loose objects, many as one pack.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import struct
import zlib
from typing import TYPE_CHECKING

from vault_kg.store.flushing import Hardening
from vault_kg.store.git_process import GitPending, GitUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from vault_kg.store.git_layout import Layout
    from vault_kg.store.git_process import Git, ObjectReader

_LOOSE_AT_MOST = 256
_PACK_TYPES = {"commit": 1, "tree": 2, "blob": 3}


def object_id(kind: str, data: bytes, object_format: str = "sha1") -> str:
    """Return the name that Git gives to an object."""
    digest = hashlib.new(object_format, b"%s %d\0" % (kind.encode(), len(data)))
    digest.update(data)
    return digest.hexdigest()


class StagedObjects:
    """Objects made but not yet written, readable together with those of the repository."""

    def __init__(self, layout: Layout, reader: ObjectReader) -> None:
        self._layout = layout
        self._reader = reader
        self._staged: dict[str, tuple[str, bytes]] = {}

    def add(self, kind: str, data: bytes) -> str:
        """Gather an object and return its name."""
        oid = object_id(kind, data, self._layout.object_format)
        self._staged.setdefault(oid, (kind, data))
        return oid

    def read(self, oid: str) -> bytes:
        """Return the content of an object, gathered or stored.

        Raises:
            GitUnavailable: The repository has lost it.
        """
        if oid in self._staged:
            return self._staged[oid][1]
        found = self._reader.read(oid)
        if found is None:
            message = f"the repository has lost the object {oid}: run `git fsck`"
            raise GitUnavailable(message, "git_failed")
        return found.data

    def write(self, git: Git, also: Sequence[Path] = ()) -> Hardening:
        """Write what was gathered; it is durable when the returned hardening has been waited for.

        Args:
            git: Writes the pack, where there is one.
            also: Files written elsewhere, to become durable with it.

        Raises:
            GitUnavailable: The repository may not be written to.
            GitPending: The disk is full.
        """
        staged, self._staged = self._staged, {}
        if len(staged) > _LOOSE_AT_MOST and self._write_pack(git, staged):
            written = [self._layout.objects / "pack", self._layout.objects]
        else:
            with explaining(self._layout.objects):
                written = self._write_loose(staged)
        return Hardening([*written, *also, *{path.parent for path in also}])

    def _write_loose(self, staged: dict[str, tuple[str, bytes]]) -> list[Path]:
        folder = self._layout.objects
        mode = stat.S_IMODE(folder.stat().st_mode)
        written: list[Path] = []
        made: set[Path] = set()
        for oid, (kind, data) in staged.items():
            path = folder / oid[:2] / oid[2:]
            if not path.parent.is_dir():
                path.parent.mkdir(exist_ok=True)
                path.parent.chmod(mode)
                made.add(folder)
            content = zlib.compress(b"%s %d\0%s" % (kind.encode(), len(data), data), 1)
            _replace(path, content, 0o444 & mode)
            written.append(path)
        return [*written, *{path.parent for path in written}, *made]

    def _write_pack(self, git: Git, staged: dict[str, tuple[str, bytes]]) -> bool:
        digest = hashlib.new(self._layout.object_format)
        with git.start("index-pack", "--stdin") as process:
            assert process.stdin is not None and process.stdout is not None
            try:
                for chunk in _pack(staged):
                    digest.update(chunk)
                    process.stdin.write(chunk)
                process.stdin.write(digest.digest())
                process.stdin.close()
                process.stdout.read()
            except BrokenPipeError:
                return False
        return process.returncode == 0


class explaining:  # noqa: N801 - read as a statement: `with explaining(path):`
    """Turn an error of the file system into the refusal it means for the history."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"the disk is full: make room for {self._path}"
            raise GitPending(message, "disk_full") from error
        reason = "no_permission" if isinstance(error, PermissionError) else "git_failed"
        if error.errno == errno.EROFS:
            reason = "no_permission"
        message = f"{error.filename or self._path} cannot be written: {error.strerror}"
        raise GitUnavailable(message, reason) from error


def _replace(path: Path, content: bytes, mode: int) -> None:
    # Named as Git names its own, so that `git prune` clears what a crash leaves. An object that is
    # there already is replaced by the same bytes: a power cut may have left it empty.
    temporary = path.with_name(f"tmp_obj_{secrets.token_hex(6)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _pack(objects: dict[str, tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a pack (gitformat-pack) without its closing checksum."""
    yield struct.pack(">4sII", b"PACK", 2, len(objects))
    for kind, data in objects.values():
        yield _pack_header(_PACK_TYPES[kind], len(data)) + zlib.compress(data, 1)


def _pack_header(kind: int, size: int) -> bytes:
    byte, size = kind << 4 | size & 15, size >> 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    header.append(byte)
    return bytes(header)
