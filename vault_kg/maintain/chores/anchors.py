"""Where a file went that a page touches: told by Git, else by its name, else not known.

An agent that does a chore cannot see the files, so the answer is found beforehand, off every lane.
What Git says outranks what a name suggests: a deleted file and another of its name are two files.
Of all touches together Git is asked once for each step of a renaming, and the tree is walked once.
Rules and numbers are of the knowledge-graph plugin (core/anchors.py).
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from vault_kg.errors import Cancelled
from vault_kg.store.git_process import Git, GitUnavailable

Verdict = Literal["moved", "gone", "ambiguous", "unknown"]

HOPS: Final = 3
MAX_ENTRIES: Final = 50_000
"""A tree of more files and folders is not walked to its end, and then nothing follows from it."""

GIT_SECONDS: Final = 5.0
"""For all that is asked of Git at a time; what it has not found by then it does not know."""

_SKIPPED: Final = frozenset({".git", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True)
class Anchor:
    """What became of a touched path."""

    touch: str
    verdict: Verdict
    replacement: str | None = None
    """The touch to write instead, where it moved."""
    why: str = ""


def resolve(
    touches: Sequence[str], root: str | None, cancelled: Callable[[], bool] = lambda: False
) -> list[Anchor]:
    """Say where the files of touches (`path[:suffix]`) went, in their order.

    Args:
        touches: as the pages have them; they lead nowhere.
        root: the project's root; a path outside it is not known.
        cancelled: asked between the steps.

    Raises:
        Cancelled: the caller took it back.
    """
    inside = {touch: found for touch in touches if (found := _inside(touch, root)) is not None}
    paths = {path for path, _ in inside.values()}
    told: dict[str, _Said] = {}
    if root is not None and paths:
        told = _by_git(_History(Path(root), cancelled), paths)
        told |= _by_name(Path(root), paths - told.keys())
    return [_anchor(touch, inside.get(touch), told) for touch in touches]


@dataclass(frozen=True)
class _Said:
    """What is known of a path."""

    verdict: Verdict
    replacement: str | None = None
    why: str = ""


def _anchor(touch: str, inside: tuple[str, str] | None, told: Mapping[str, _Said]) -> Anchor:
    if inside is None or inside[0] not in told:
        return Anchor(touch, "unknown", why="it is not within the project")
    path, suffix = inside
    said = told[path]
    replacement = said.replacement and f"{said.replacement}{suffix}"
    return Anchor(touch, said.verdict, replacement, said.why)


def _inside(touch: str, root: str | None) -> tuple[str, str] | None:
    """Return the path of a touch relative to the root, and the suffix behind it."""
    path, colon, suffix = touch.strip().partition(":")
    place = PurePosixPath(path)
    if place.is_absolute() and root is not None and place.is_relative_to(root):
        place = place.relative_to(root)
    if place.is_absolute() or path.startswith("~") or not path or ".." in place.parts:
        return None
    return place.as_posix(), f"{colon}{suffix}"


class _History:
    """The history of a project, asked within one time limit."""

    def __init__(self, root: Path, cancelled: Callable[[], bool]) -> None:
        self.root = root
        self._cancelled = cancelled
        self._deadline = time.monotonic() + GIT_SECONDS
        self._renames: dict[str, Mapping[str, str] | None] = {}

    def deletions(self, paths: Collection[str]) -> dict[str, str]:
        """Return the commit that last deleted each path, or something in it, where Git says so."""
        found: dict[str, str] = {}
        commit = ""
        arguments = ("--diff-filter=D", "--no-renames", "--name-only", "--format=%x01%H", "-z")
        with self._fields("log", *arguments, "--", *sorted(paths)) as fields:
            for field in fields:
                if field.startswith("\x01"):
                    commit = field[1:]
                    continue
                path = PurePosixPath(field.removeprefix("\n"))
                for wanted in (path, *path.parents):
                    if str(wanted) in paths:
                        found.setdefault(str(wanted), commit)
                if len(found) == len(paths):
                    break
        return found

    def renames(self, commit: str) -> Mapping[str, str] | None:
        """Return the new paths of what a commit renamed, or None where Git does not answer."""
        if commit not in self._renames:
            self._renames[commit] = self._read_renames(commit)
        return self._renames[commit]

    def _read_renames(self, commit: str) -> Mapping[str, str] | None:
        found: dict[str, str] = {}
        with self._fields("show", "-M", "--name-status", "--format=", "-z", commit) as fields:
            for status in fields:
                if status.startswith(("R", "C")):
                    old, new = next(fields, ""), next(fields, "")
                    if status[0] == "R":
                        found[old] = new
                elif status:
                    next(fields, None)
        return None if time.monotonic() > self._deadline else found

    @contextmanager
    def _fields(self, *arguments: str) -> Iterator[Iterator[str]]:
        """Run one command of Git; gives what it says between NULs, until its time is up."""
        if self._cancelled():
            raise Cancelled("the call was taken back; nothing was changed")
        left = self._deadline - time.monotonic()
        try:
            process = Git(self.root).start(*arguments, stdin=subprocess.DEVNULL)
        except GitUnavailable:
            yield iter(())
            return
        ending = threading.Timer(max(0.0, left), process.kill)
        ending.start()
        try:
            yield _between_nuls(process)
        finally:
            ending.cancel()
            process.kill()
            process.communicate()


def _between_nuls(process: subprocess.Popen[bytes]) -> Iterator[str]:
    assert process.stdout is not None
    rest = b""
    while chunk := os.read(process.stdout.fileno(), 1 << 16):
        *whole, rest = (rest + chunk).split(b"\0")
        for field in whole:
            yield field.decode("utf-8", "surrogateescape")


def _by_git(history: _History, paths: Collection[str]) -> dict[str, _Said]:
    """Return what the history says of paths; those that it does not know are left out."""
    told: dict[str, _Said] = {}
    current = {path: path for path in paths}
    for _ in range(HOPS):
        deleted = history.deletions(set(current.values())) if current else {}
        following: dict[str, str] = {}
        for path, called in current.items():
            commit = deleted.get(called)
            if commit is None:
                continue
            said = f"commit {commit[:10]}"
            renames = history.renames(commit)
            renamed = (renames or {}).get(called)
            if renames is None:
                told[path] = _Said("unknown", why=f"Git takes too long over {said}")
            elif renamed is None:
                told[path] = _Said("gone", why=f"deleted in {said}")
            elif (history.root / renamed).exists():
                told[path] = _Said("moved", renamed, f"renamed in {said}")
            else:
                following[path] = renamed
        current = following
    return told | {
        path: _Said("unknown", why=f"renamed more than {HOPS} times") for path in current
    }


def _by_name(root: Path, paths: Collection[str]) -> dict[str, _Said]:
    """Look for the one file of the same name, of each path."""
    if not paths:
        return {}
    found: dict[str, list[str]] = {PurePosixPath(path).name: [] for path in paths}
    entries = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED)
        entries += len(folders) + len(files)
        if entries > MAX_ENTRIES:
            why = f"the project has more than {MAX_ENTRIES:,} entries"
            return {path: _Said("unknown", why=why) for path in paths}
        for name in found.keys() & {*folders, *files}:
            found[name].append(Path(folder, name).relative_to(root).as_posix())
    return {path: _named(found[PurePosixPath(path).name]) for path in paths}


def _named(found: Sequence[str]) -> _Said:
    if len(found) == 1:
        return _Said("moved", found[0], "the only file of that name")
    if found:
        shown = ", ".join(found[:5])
        return _Said("ambiguous", why=f"{len(found)} files have that name: {shown}")
    return _Said("unknown", why="no file has that name, and Git does not say")
