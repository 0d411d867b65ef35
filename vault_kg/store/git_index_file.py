"""The bytes of a Git index (gitformat-index): finding entries and replacing a few of many.

Plain indexes are edited here, because starting Git would cost more than the edit: versions 2 and 3
without split, sparse, untracked cache or file system monitor. What is not edited keeps its bytes.
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_left
from copy import copy
from typing import TYPE_CHECKING

from vault_kg.store.git_tree import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import stat_result

_HEADER = struct.Struct(">4sII")
_STAT = struct.Struct(">10I")
_FLAGS = struct.Struct(">H")
_MODE_AT = 24
_LONGEST_NAME = 0xFFF
_EXTENDED = 0x4000
_INTENT_TO_ADD = 0x20
_STAGE = 0x3000
_EXTENSION = struct.Struct(">4sI")
_CACHED_TREES = b"TREE"
_KEPT = (_CACHED_TREES, b"REUC")
_DROPPED = (b"EOIE", b"IEOT")
"""Tables of offsets, which Git makes again when it next writes a large index."""

UNMERGED = b"unmerged"
"""The mode given to a path in conflict; no entry of a tree has it."""


class IndexFile:
    """An index of the plain kind, as it was read."""

    def __init__(self, data: bytes, object_format: str, oid_size: int) -> None:
        """Read an index; without data, an empty one.

        Raises:
            ValueError: It is broken, or not of the plain kind.
        """
        if 0 < len(data) < _HEADER.size + oid_size:
            raise ValueError("the index ends too early")
        self._format = object_format
        self._oid_size = oid_size
        self._flags_at = _STAT.size + oid_size
        self._hashed = not data or any(data[-oid_size:])
        self._data = data or _HEADER.pack(b"DIRC", 2, 0) + bytes(oid_size)
        signature, self._version, count = _HEADER.unpack_from(self._data)
        if signature != b"DIRC" or self._version not in (2, 3):
            raise ValueError("not an index of version 2 or 3")
        if data and self._hashed and self._digest(data[:-oid_size]) != data[-oid_size:]:
            raise ValueError("the checksum does not fit")
        self._offsets = self._find_entries(count)
        self._extensions = list(_extensions(self._data[self._offsets[-1] : -oid_size]))

    def entry(self, path: bytes) -> Entry | None:
        """Return what the index has for a path; the intent to add a file is nothing yet."""
        position = self._position(path)
        offset = self._offsets[position]
        if not self._has(position, path) or self._is_intent(offset):
            return None
        (mode,) = struct.unpack_from(">I", self._data, offset + _MODE_AT)
        unmerged = self._flags(offset) & _STAGE
        oid = self._data[offset + _STAT.size : offset + self._flags_at].hex()
        return Entry(UNMERGED if unmerged else b"%o" % mode, oid)

    def inside(self, path: bytes) -> Iterator[bytes]:
        """Yield the files below a path."""
        for position in range(self._position(path + b"/"), self._count):
            name = self._name(position)
            if not name.startswith(path + b"/"):
                return
            yield name

    @property
    def data(self) -> bytes:
        """The bytes of the index."""
        return self._data

    @property
    def checksum(self) -> bytes | None:
        """The checksum at its end, which stands for all of it; not every index has one."""
        return self._data[-self._oid_size :] if self._hashed else None

    def replace(
        self, entries: Mapping[bytes, tuple[Entry, stat_result | None] | None]
    ) -> IndexFile:
        """Return the index with some entries set, or removed where None.

        Args:
            entries: For each path its entry, and what is known of the file if its content is that
                of the entry; no path may be in conflict.
        """
        following, start, shift = 0, _HEADER.size, 0
        pieces: list[bytes] = []
        offsets: list[int] = []
        for path, new in sorted(entries.items(), key=lambda item: item[0]):
            position = self._position(path)
            there = self._has(position, path)
            entry = self._format_entry(path, *new) if new else b""
            at, end = self._offsets[position], self._offsets[position + there]
            offsets += _shifted(self._offsets[following:position], shift)
            offsets += [at + shift] if new else []
            pieces += [self._data[start:at], entry]
            following, start, shift = position + there, end, shift + len(entry) - (end - at)
        offsets += _shifted(self._offsets[following:], shift)
        pieces.append(self._data[start : self._offsets[-1]])
        return self._remade(pieces, offsets, entries)

    def _remade(
        self, entries: Sequence[bytes], offsets: list[int], touched: Iterable[bytes]
    ) -> IndexFile:
        made = copy(self)
        made._offsets = offsets
        made._extensions = [
            (name, self._forget(content, touched) if name == _CACHED_TREES else content)
            for name, content in self._extensions
        ]
        pieces = [_HEADER.pack(b"DIRC", self._version, made._count), *entries]
        for name, content in made._extensions:
            pieces += [_EXTENSION.pack(name, len(content)), content]
        data = b"".join(pieces)
        made._data = data + (self._digest(data) if self._hashed else bytes(self._oid_size))
        return made

    def _forget(self, trees: bytes, paths: Iterable[bytes]) -> bytes:
        touched = [path.split(b"/") for path in paths]
        return _forget(trees, 0, touched, self._oid_size)[0] if trees else trees

    @property
    def _count(self) -> int:
        return len(self._offsets) - 1

    def _find_entries(self, count: int) -> list[int]:
        data, flags_at, offset = self._data, self._flags_at, _HEADER.size
        flags_of, fixed = _FLAGS.unpack_from, flags_at + _FLAGS.size + 8
        offsets = [offset]
        try:
            for _ in range(count):
                (flags,) = flags_of(data, offset + flags_at)
                length = flags & _LONGEST_NAME
                if flags & _EXTENDED or length == _LONGEST_NAME:
                    length = self._length(offset, flags)
                offset += (fixed + length) & ~7
                offsets.append(offset)
        except struct.error:
            raise ValueError("the index ends too early") from None
        if offset > len(data) - self._oid_size:
            raise ValueError("the index ends too early")
        return offsets

    def _length(self, offset: int, flags: int) -> int:
        """Return the length of an unusual entry's name, with that of the flags it has more."""
        more = 2 if flags & _EXTENDED else 0
        length = flags & _LONGEST_NAME
        if length == _LONGEST_NAME:
            name = offset + self._flags_at + _FLAGS.size + more
            length = self._data.index(b"\0", name) - name
        return length + more

    def _flags(self, offset: int) -> int:
        return int.from_bytes(self._data[offset + self._flags_at : offset + self._flags_at + 2])

    def _is_intent(self, offset: int) -> bool:
        extended = self._data[offset + self._flags_at + 2]
        return bool(self._flags(offset) & _EXTENDED and extended & _INTENT_TO_ADD)

    def _name(self, position: int) -> bytes:
        flags = self._offsets[position] + self._flags_at
        start = flags + (4 if self._data[flags] & _EXTENDED >> 8 else 2)
        return self._data[start : self._data.index(b"\0", start)]

    def _position(self, path: bytes) -> int:
        return bisect_left(range(self._count), path, key=self._name)

    def _has(self, position: int, path: bytes) -> bool:
        return position < self._count and self._name(position) == path

    def _format_entry(self, path: bytes, entry: Entry, known: stat_result | None) -> bytes:
        length = min(len(path), _LONGEST_NAME).to_bytes(2)
        content = _stat_fields(entry, known) + bytes.fromhex(entry.oid) + length + path
        return content.ljust((len(content) + 8) & ~7, b"\0")

    def _digest(self, data: bytes) -> bytes:
        return hashlib.new(self._format, data).digest()


def _shifted(offsets: list[int], by: int) -> list[int]:
    return [offset + by for offset in offsets] if by else offsets


def folders_of(path: bytes) -> Iterator[bytes]:
    """Yield the folders that a path is in, outermost first."""
    position = path.find(b"/")
    while position >= 0:
        yield path[:position]
        position = path.find(b"/", position + 1)


def _forget(
    trees: bytes, start: int, touched: Sequence[Sequence[bytes]], oid_size: int
) -> tuple[bytes, int]:
    """Take from the trees cached in an index those that hold a touched path.

    Args:
        trees: The content of the extension.
        start: Where the tree begins; those inside it follow.
        touched: Paths inside this tree, in parts.
        oid_size: How many bytes an object id has.

    Returns:
        What stays of the tree and of those inside it, and where they ended.
    """
    line = trees.index(b"\0", start) + 1
    end = trees.index(b"\n", line) + 1
    count, inside = map(int, trees[line:end].split())
    end += oid_size if count >= 0 else 0
    head = trees[start:end]
    kept: list[bytes] = []
    for _ in range(inside):
        name = trees[end : trees.index(b"\0", end)] if touched else b""
        deeper = [rest for first, *rest in touched if first == name]
        content, end = _forget(trees, end, [rest for rest in deeper if rest], oid_size)
        if [] not in deeper:
            kept.append(content)
    if touched:
        head = trees[start:line] + b"-1 %d\n" % len(kept)
    return b"".join([head, *kept]), end


def _stat_fields(entry: Entry, known: stat_result | None) -> bytes:
    mode = int(entry.mode, 8)
    if known is None:
        return _STAT.pack(0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    times = (*divmod(known.st_ctime_ns, 10**9), *divmod(known.st_mtime_ns, 10**9))
    place = (known.st_dev, known.st_ino, mode, known.st_uid, known.st_gid, known.st_size)
    return _STAT.pack(*(number & 0xFFFFFFFF for number in (*times, *place)))


def _extensions(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = 0
    while start < len(data):
        name, size = data[start : start + 4], int.from_bytes(data[start + 4 : start + 8])
        start += _EXTENSION.size
        if name not in (*_KEPT, *_DROPPED) or start + size > len(data):
            raise ValueError(f"the index has the extension {name!r}")
        if name in _KEPT:
            yield name, data[start : start + size]
        start += size
