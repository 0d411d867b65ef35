"""Keeping the index in step with our commits, path by path, without touching what a person staged.

A path is updated only where the index still says what the head said before our commit. The new
index is made beside the old one and put in place under Git's own lock, which is held for an
instant; where somebody else holds it, the paths stay noted as owed and are settled the next time.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from bisect import bisect_left
from typing import TYPE_CHECKING

from vault_kg.store.git_index_file import UNMERGED, IndexFile, folders_of
from vault_kg.store.git_index_swap import PreparedIndex, clear_leftovers, hold, signature
from vault_kg.store.git_objects import object_id
from vault_kg.store.git_tree import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vault_kg.store.git_layout import Layout
    from vault_kg.store.git_process import Git
    from vault_kg.store.git_trees import TreeChange

_LARGEST_READ = 16 << 20
Owed = dict[bytes, set[Entry | None]]
"""Paths whose index entry is behind, with the entries that it had before our commits."""

Targets = dict[bytes, Entry | None]
"""Paths with the entry that the head has now."""


class IndexKeeper:
    """Brings the index of one working tree up to the head.

    What the index does not know yet is noted in files, each held by the process that made it for as
    long as that can settle it itself.
    """

    def __init__(self, git: Git, layout: Layout) -> None:
        self._git = git
        self._layout = layout
        self._notes: dict[Path, int] = {}
        self._known: IndexFile | None = None
        self._made: IndexFile | None = None

    def owe(self, changes: list[TreeChange]) -> Owed:
        """Note changes that the index does not know yet, and return all that is owed.

        The note is made before the commit, so that a process killed after it leaves word.

        Raises:
            OSError: The repository may not be written to.
        """
        self.release()
        owed: Owed = {}
        for note in self._layout.own.glob("owed.*"):
            with contextlib.suppress(OSError, ValueError):
                self._notes[note] = hold(note)
                for path, before in _read_note(note.read_bytes()):
                    owed.setdefault(path, set()).add(before)
        for change in changes:
            owed.setdefault(change.path, set()).add(change.before)
        if changes:
            self._note(b"".join(_note_line(change) for change in changes))
        return owed

    def _note(self, content: bytes) -> None:
        self._layout.own.mkdir(exist_ok=True)
        token = secrets.token_hex(6)
        unnamed = self._layout.own / f"index.{token}.note"  # nobody else's before it is held
        unnamed.write_bytes(content)
        held = hold(unnamed, wait=True)
        note = self._layout.own / f"owed.{token}"
        unnamed.rename(note)
        self._notes[note] = held

    @property
    def notes(self) -> list[Path]:
        """The files in which all that is owed is noted."""
        return list(self._notes)

    def release(self) -> None:
        """Leave what is owed to whoever commits next."""
        for held in self._notes.values():
            os.close(held)
        self._notes.clear()

    def prepare(self, owed: Owed, targets: Targets) -> PreparedIndex:
        """Make the new index beside the old one.

        It holds the targets wherever the index still has an entry that was owed, and for each of
        them what Git wants to know of the file, if the file still has that content.

        Raises:
            OSError: The repository may not be written to.
        """
        clear_leftovers(self._layout)
        prepared = PreparedIndex(self._layout, self._known)
        accepted = {path: befores | {targets[path]} for path, befores in owed.items()}
        try:
            index = self._opened(prepared.seen)
        except ValueError:
            self._made = None
            self._let_git_make(prepared, accepted, targets)
            return prepared
        self._made = self._edit(index, accepted, targets)
        if self._made is not index and self._made.data != prepared.seen:
            prepared.write(self._made.data)
        return prepared

    def settle(self, owed: Owed, targets: Targets, prepared: PreparedIndex | None) -> bool:
        """Put the index in place, preparing it again where somebody changed it meanwhile.

        Args:
            owed: What `owe` returned.
            targets: What the head has for these paths.
            prepared: What `prepare` returned, if it was called already.

        Returns:
            Whether nothing is owed any more.

        Raises:
            OSError: The repository may not be written to.
        """
        outcome = None
        for _ in range(3):
            with prepared or self.prepare(owed, targets) as index:
                outcome = index.install()
            if outcome is not None:
                break
            prepared = None
        if outcome:
            self._known = self._made
            for note in self._notes:
                note.unlink(missing_ok=True)
        self.release()
        return bool(outcome)

    def _opened(self, data: bytes) -> IndexFile:
        if self._known is not None and self._known.data is data:
            return self._known
        return IndexFile(data, self._layout.object_format, self._layout.oid_size)

    def _edit(self, index: IndexFile, accepted: Owed, targets: Targets) -> IndexFile:
        chosen = _choose(index, accepted, targets)
        known = {p: (e, _known(self._layout, p, e)) if e else None for p, e in chosen.items()}
        return index.replace(known) if known else index

    def _let_git_make(self, prepared: PreparedIndex, accepted: Owed, targets: Targets) -> None:
        """Have Git change a kind of index that is not edited here."""
        prepared.write(prepared.seen)
        listed = self._git.run("ls-files", "--stage", "-z", index=prepared.scratch)
        if listed.returncode != 0:
            return prepared.git_made(False)
        chosen = _choose(_Listed(dict(_listing(listed.stdout))), accepted, targets)
        # Removals first, so that a folder can follow a file of its name.
        ordered = sorted(chosen.items(), key=lambda item: item[1] is not None)
        lines = b"".join(_index_line(p, e, self._layout.zero) for p, e in ordered)
        update = ("update-index", "-z", "--index-info")
        done = self._git.run(*update, data=lines, index=prepared.scratch)
        return prepared.git_made(done.returncode == 0)


class _Listed:
    """What Git lists of an index."""

    def __init__(self, entries: dict[bytes, Entry]) -> None:
        self._entries = entries
        self._names = sorted(entries)

    def entry(self, path: bytes) -> Entry | None:
        return self._entries.get(path)

    def inside(self, path: bytes) -> Iterator[bytes]:
        position = bisect_left(self._names, path + b"/")
        below = itertools.islice(self._names, position, None)
        return itertools.takewhile(lambda name: name.startswith(path + b"/"), below)


def _choose(index: IndexFile | _Listed, accepted: Owed, targets: Targets) -> Targets:
    """Choose the paths to update: not those that a person staged, or staged something around."""
    there = {path: index.entry(path) for path in targets}
    chosen: Targets = {
        path: target
        for path, target in targets.items()
        if there[path] in accepted[path] and (there[path] or target)
    }
    removed = {path for path, target in chosen.items() if target is None}
    new = [path for path, target in chosen.items() if target and there[path] is None]
    folders = {folder for path in new for folder in folders_of(path)}
    files = {folder for folder in folders if index.entry(folder) is not None} - removed
    blocked = {path for path in new if _is_blocked(index, path, files, removed)}
    return {path: target for path, target in chosen.items() if path not in blocked}


def _is_blocked(
    index: IndexFile | _Listed, path: bytes, files: set[bytes], removed: set[bytes]
) -> bool:
    """Say whether a file stands where a new one needs a folder, or files where it stands itself."""
    if any(folder in files for folder in folders_of(path)):
        return True
    return any(name not in removed for name in index.inside(path))


def _known(layout: Layout, path: bytes, entry: Entry) -> os.stat_result | None:
    """Return what is known of a file, if it has the content of the entry."""
    try:
        location = layout.root / os.fsdecode(path)
        with os.fdopen(os.open(location, os.O_RDONLY | _AS_IT_IS), "rb") as file:
            seen = os.fstat(file.fileno())
            if seen.st_size > _LARGEST_READ:
                return None
            content = file.read()
            if signature(os.fstat(file.fileno())) != signature(seen):
                return None
    except OSError:
        return None
    same = object_id("blob", content, layout.object_format) == entry.oid
    return seen if same else None


_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def _listing(output: bytes) -> Iterator[tuple[bytes, Entry]]:
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, oid, stage = about.split(b" ")
        yield path, Entry(mode if stage == b"0" else UNMERGED, oid.decode())


def _index_line(path: bytes, entry: Entry | None, zero: str) -> bytes:
    mode, oid = entry or (b"0", zero)
    return b"%s %s\t%s\0" % (mode, oid.encode(), path)


def _note_line(change: TreeChange) -> bytes:
    mode, oid = change.before or (b"", "")
    return b"%s %s\t%s\0" % (mode, oid.encode(), change.path)


def _read_note(note: bytes) -> Iterator[tuple[bytes, Entry | None]]:
    for line in note.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, oid = about.split(b" ")
        yield path, Entry(mode, oid.decode()) if mode else None
