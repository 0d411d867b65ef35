"""Changing files in a Git tree by rewriting only the trees along their paths.

Every other entry keeps its exact mode and object: symbolic links, submodules, executable files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.store.git_tree import EXECUTABLE, PLAIN, SUBMODULE, TREE, Entry, Tree, Trees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vault_kg.store.git_objects import StagedObjects

_FILES = (PLAIN, EXECUTABLE, b"100664")


@dataclass(frozen=True)
class TreeChange:
    """A path whose entry a commit changed; None where there is no entry."""

    path: bytes
    before: Entry | None
    after: Entry | None


_ITSELF = b""
"""Among the edits of a folder: remove it, where it is a file."""

_Edits = dict[bytes, "_Edits | str | None"]


def split_path(path: str) -> list[bytes]:
    """Split a path of the vault into names that Git can hold.

    Raises:
        UnsafePath: A part is empty, `.`, `..` or passes for `.git` on some file system.
    """
    parts = path.split("/")
    for part in parts:
        if part in ("", ".", "..") or "\0" in part or _is_dot_git(part):
            raise UnsafePath(f"{path!r} cannot be in a Git tree: rename it", path=path)
    return [os.fsencode(part) for part in parts]


def find_entry(read: Callable[[str], Tree], tree: str | None, path: bytes) -> Entry | None:
    """Return what a path stands for in a tree, or None.

    Args:
        read: Returns the tree of a name.
        tree: The tree to look in.
        path: The path; an empty one is the tree itself.
    """
    found: Entry | None = Entry(TREE, tree) if tree else None
    for name in path.split(b"/") if path else ():
        if found is None or not found.is_folder:
            return None
        found = read(found.oid).get(name)
    return found


class TreeEditor:
    """Applies changes of files to trees, one commit's after another's."""

    def __init__(
        self, objects: StagedObjects, trees: Trees, new_mode: Callable[[bytes], bytes]
    ) -> None:
        self._objects = objects
        self._trees = trees
        self._new_mode = new_mode

    def apply(
        self, tree: str | None, files: Sequence[tuple[str, str | None]]
    ) -> tuple[str, list[TreeChange]]:
        """Return the tree with some files set, or removed where the blob is None.

        Args:
            tree: The tree to start from; None stands for an empty one.
            files: Paths and blobs. Of two entries for one path the later counts.

        Raises:
            InvalidArgument: One path is at once a file and a folder.
            UnsafePath: A path is none that Git can hold.
        """
        changes: list[TreeChange] = []
        changed = self._edit(tree, _nest(files), b"", changes)
        return changed or self._objects.add("tree", b""), changes

    def entry(self, tree: str | None, path: bytes) -> Entry | None:
        """Return what a path stands for in a tree, or None."""
        return find_entry(self._read, tree, path)

    def _read(self, tree: str) -> Tree:
        return self._trees.get(tree, self._objects.read)

    def _edit(
        self, tree: str | None, edits: _Edits, prefix: bytes, changes: list[TreeChange]
    ) -> str | None:
        there = self._read(tree) if tree else Tree([], [])
        edited: dict[bytes, Entry | None] = {}
        seen = len(changes)
        for name, edit in edits.items():
            if name == _ITSELF:
                continue
            before = there.get(name)
            if isinstance(edit, dict):
                edited[name] = self._edit_folder(before, edit, prefix + name, changes)
            else:
                edited[name] = self._edit_file(before, edit, prefix + name, changes)
        if len(changes) == seen:
            return tree
        made = there.replace(edited)
        return self._add(made) if len(made) else None

    def _add(self, tree: Tree) -> str:
        oid = self._objects.add("tree", tree.to_bytes())
        self._trees.keep(oid, tree)
        return oid

    def _edit_folder(
        self, before: Entry | None, edits: _Edits, path: bytes, changes: list[TreeChange]
    ) -> Entry | None:
        if before is not None and before.mode == SUBMODULE:
            return before  # its files are in the history of the submodule
        folder = before.oid if before is not None and before.is_folder else None
        if folder is None and not _sets_something(edits):
            removed = _ITSELF in edits
            return self._edit_file(before, None, path, changes) if removed else before
        after = self._edit(folder, edits, path + b"/", changes)
        if before is not None and folder is None:
            changes.append(TreeChange(path, before, None))
        return Entry(TREE, after) if after is not None else None

    def _edit_file(
        self, before: Entry | None, blob: str | None, path: bytes, changes: list[TreeChange]
    ) -> Entry | None:
        if blob is None and (before is None or before.is_folder or before.mode == SUBMODULE):
            return before
        if before is not None and before.is_folder:
            changes.extend(self._removals(before.oid, path + b"/"))
            before = None
        keeps = before is not None and before.mode in _FILES
        mode = before.mode if before is not None and keeps else self._new_mode(path)
        after = Entry(mode, blob) if blob is not None else None
        if after != before:
            changes.append(TreeChange(path, before, after))
        return after

    def _removals(self, tree: str, prefix: bytes) -> Iterator[TreeChange]:
        for name, entry in self._read(tree):
            if entry.is_folder:
                yield from self._removals(entry.oid, prefix + name + b"/")
            else:
                yield TreeChange(prefix + name, entry, None)


def _nest(files: Sequence[tuple[str, str | None]]) -> _Edits:
    """Arrange changes by folder; what is set outweighs a removal that stands in its way."""
    edits: _Edits = {}
    for path, blob in dict(files).items():
        *folders, name = split_path(path)
        level: _Edits | None = edits
        for folder in folders:
            level = _enter(level, folder, path, blob) if level is not None else None
        if level is None:
            continue
        there = level.get(name)
        if isinstance(there, dict):
            if blob is None:
                there[_ITSELF] = None
                continue
            _refuse_both(path, _sets_something(there))
        level[name] = blob
    return edits


def _enter(level: _Edits, folder: bytes, path: str, blob: str | None) -> _Edits | None:
    there = level.get(folder, {})
    if not isinstance(there, dict):
        if blob is None and there is not None:
            return None
        _refuse_both(path, there is not None)
        there = {_ITSELF: None}
    level[folder] = there
    return there


def _refuse_both(path: str, both: bool) -> None:
    if both:
        raise InvalidArgument(f"{path} is given both as a file and as a folder", path=path)


def _sets_something(edits: _Edits) -> bool:
    return any(_sets_something(e) if isinstance(e, dict) else e is not None for e in edits.values())


def _is_dot_git(part: str) -> bool:
    if part.isascii() and "git" not in part.lower():
        return False
    # As `git fsck` judges: HFS+ passes over some characters, NTFS over what follows a stream's
    # colon, trailing dots and spaces, and reads a backslash as a slash.
    folded = "".join(c for c in part if c not in _IGNORED_BY_HFS).lower()
    return any(
        piece.partition(":")[0].rstrip(". ") in (".git", "git~1") for piece in folded.split("\\")
    )


_IGNORED_BY_HFS = frozenset(
    map(chr, [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
)
