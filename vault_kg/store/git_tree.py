"""One tree of Git: the names in a folder, found and replaced without decoding the others.

A tree is kept in the pieces that its bytes are made of, so that a change of one name in a folder of
thousands costs little more than joining them again.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TREE = b"40000"
SUBMODULE = b"160000"
PLAIN = b"100644"
EXECUTABLE = b"100755"

_KEPT_ENTRIES = 200_000


class Entry(NamedTuple):
    """What a name in a tree stands for: a mode as Git writes it, and an object id."""

    mode: bytes
    oid: str

    @property
    def is_folder(self) -> bool:
        """Tell whether this is a tree; some old writers put a zero before its mode."""
        return self.mode in (TREE, b"040000")


class Tree:
    """The entries of one folder, in the order of Git: a folder sorts as if it ended with a slash."""

    __slots__ = ("_keys", "_pieces")

    def __init__(self, keys: list[bytes], pieces: list[bytes]) -> None:
        """Stand for entries.

        Args:
            keys: What each is sorted by, in order.
            pieces: The bytes that each has in the tree object.
        """
        self._keys = keys
        self._pieces = pieces

    @classmethod
    def parse(cls, data: bytes, oid_size: int) -> Tree:
        """Read the bytes of a tree object.

        Raises:
            ValueError: They are none.
        """
        found = [
            (name + b"/" if folder else name, piece)
            for piece, folder, name in _entries(oid_size).findall(data)
        ]
        keys, pieces = [key for key, _ in found], [piece for _, piece in found]
        if sum(map(len, pieces)) != len(data):
            raise ValueError("not the bytes of a tree")
        if any(later <= earlier for earlier, later in itertools.pairwise(keys)):
            ordered = dict(sorted(found, key=lambda one: one[0]))
            keys, pieces = list(ordered), list(ordered.values())
        return cls(keys, pieces)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[bytes, Entry]]:
        for key, piece in zip(self._keys, self._pieces, strict=True):
            entry = _entry(piece)
            yield key[:-1] if entry.is_folder else key, entry

    def get(self, name: bytes) -> Entry | None:
        """Return what a name stands for, or None."""
        position = self._position(name)
        return None if position is None else _entry(self._pieces[position])

    def replace(self, entries: Mapping[bytes, Entry | None]) -> Tree:
        """Return the tree with some names set, or removed where None."""
        keys, pieces = self._keys.copy(), self._pieces.copy()
        made = Tree(keys, pieces)
        for name, entry in entries.items():
            there = made._position(name)
            if there is not None:
                del keys[there], pieces[there]
            if entry is not None:
                key = name + b"/" if entry.is_folder else name
                position = bisect_left(keys, key)
                keys.insert(position, key)
                pieces.insert(position, _piece(name, entry))
        return made

    def to_bytes(self) -> bytes:
        """Return the bytes of the tree object."""
        return b"".join(self._pieces)

    def _position(self, name: bytes) -> int | None:
        for key in (name, name + b"/"):
            position = bisect_left(self._keys, key)
            if position < len(self._keys) and self._keys[position] == key:
                return position
        return None


class Trees:
    """The trees that one repository's commits lead through, each parsed once; as many as fit."""

    def __init__(self, oid_size: int) -> None:
        self._oid_size = oid_size
        self._kept: dict[str, Tree] = {}
        self._entries = 0

    def get(self, oid: str, read: Callable[[str], bytes]) -> Tree:
        """Return a tree, read where it is not known."""
        tree = self._kept.get(oid)
        if tree is None:
            tree = Tree.parse(read(oid), self._oid_size)
            self.keep(oid, tree)
        return tree

    def keep(self, oid: str, tree: Tree) -> None:
        """Remember a tree that was made."""
        if oid in self._kept:
            return
        if self._entries + len(tree) > _KEPT_ENTRIES:
            self._kept.clear()
            self._entries = 0
        self._kept[oid] = tree
        self._entries += len(tree)


@cache
def _entries(oid_size: int) -> re.Pattern[bytes]:
    """Match an entry: its bytes, the mode if it is a folder's, and its name."""
    return re.compile(rb"((?:(0?40000)|[0-7]+) ([^\0]+)\0.{%d})" % oid_size, re.DOTALL)


def _entry(piece: bytes) -> Entry:
    mode, _, rest = piece.partition(b" ")
    return Entry(mode, rest[rest.index(b"\0") + 1 :].hex())


def _piece(name: bytes, entry: Entry) -> bytes:
    return b"%s %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid))
