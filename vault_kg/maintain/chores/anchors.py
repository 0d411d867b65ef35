"""Where a file went that a page touches: told by Git, else by its name, else not known.

An agent that does a chore cannot see the files, so the answer is found beforehand, off every lane.
What Git says outranks what a name suggests: a deleted file and another of its name are two files.
Rules and numbers are of the knowledge-graph plugin (core/anchors.py).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from vault_kg.store.git_process import Git, GitUnavailable

Verdict = Literal["moved", "gone", "ambiguous", "unknown"]

HOPS: Final = 3
MAX_ENTRIES: Final = 50_000
"""A tree of more files and folders is not walked to its end, and then nothing follows from it."""

GIT_SECONDS: Final = 5.0
_SKIPPED: Final = frozenset({".git", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True)
class Anchor:
    """What became of a touched path."""

    touch: str
    verdict: Verdict
    replacement: str | None = None
    """The touch to write instead, where it moved."""
    why: str = ""


def resolve(touch: str, root: str | None) -> Anchor:
    """Say where the file of a touch (`path[:suffix]`) went.

    Args:
        touch: as the page has it; it leads nowhere.
        root: the project's root; a path outside it is not known.
    """
    inside = _inside(touch, root)
    if root is None or inside is None:
        return Anchor(touch, "unknown", why="it is not within the project")
    path, suffix = inside
    told = _by_git(Path(root), path)
    if told is not None:
        found = Anchor(touch, told[0], told[1], told[2])
    else:
        found = _by_name(touch, Path(root), path)
    if found.replacement is None:
        return found
    return Anchor(touch, found.verdict, f"{found.replacement}{suffix}", found.why)


def _inside(touch: str, root: str | None) -> tuple[str, str] | None:
    """Return the path of a touch relative to the root, and the suffix behind it."""
    path, colon, suffix = touch.strip().partition(":")
    place = PurePosixPath(path)
    if place.is_absolute() and root is not None and place.is_relative_to(root):
        place = place.relative_to(root)
    if place.is_absolute() or path.startswith("~") or not path or ".." in place.parts:
        return None
    return place.as_posix(), f"{colon}{suffix}"


def _by_git(root: Path, path: str) -> tuple[Verdict, str | None, str] | None:
    """Return what the history says, or None where it says nothing."""
    current = path
    for _ in range(HOPS):
        commit = _git(
            root, "log", "-1", "--diff-filter=D", "--no-renames", "--format=%H", "--", current
        )
        if not commit:
            return None
        renamed = _renamed_in(root, commit.strip(), current)
        said = f"commit {commit.strip()[:10]}"
        if renamed is None:
            return "gone", None, f"deleted in {said}"
        if (root / renamed).exists():
            return "moved", renamed, f"renamed in {said}"
        current = renamed
    return "unknown", None, f"renamed more than {HOPS} times"


def _renamed_in(root: Path, commit: str, path: str) -> str | None:
    changes = _git(root, "show", "-M", "--name-status", "--format=", "-z", commit) or ""
    fields = iter(changes.split("\0"))
    for status in fields:
        if status.startswith(("R", "C")):
            old, new = next(fields, ""), next(fields, "")
            if status[0] == "R" and old == path:
                return new
        elif status:
            next(fields, None)
    return None


def _by_name(touch: str, root: Path, path: str) -> Anchor:
    """Look for the one file of the same name."""
    name = PurePosixPath(path).name
    found: list[str] = []
    entries = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED)
        entries += len(folders) + len(files)
        if entries > MAX_ENTRIES:
            return Anchor(
                touch, "unknown", why=f"the project has more than {MAX_ENTRIES:,} entries"
            )
        if name in files or name in folders:
            found.append(Path(folder, name).relative_to(root).as_posix())
    if len(found) == 1:
        return Anchor(touch, "moved", found[0], "the only file of that name")
    if found:
        shown = ", ".join(found[:5])
        return Anchor(touch, "ambiguous", why=f"{len(found)} files have that name: {shown}")
    return Anchor(touch, "unknown", why="no file has that name, and Git does not say")


def _git(root: Path, *arguments: str) -> str | None:
    """Run one command of Git, or return None where it is not there, refuses, or takes too long."""
    try:
        process = Git(root).start(*arguments)
    except GitUnavailable:
        return None
    try:
        said, _ = process.communicate(timeout=GIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return said.decode("utf-8", "surrogateescape") if process.returncode == 0 else None
