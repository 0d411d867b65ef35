"""Seeing at a glance whether a tree is as it was: its folders and files are looked at, not listed.

A folder that has the times that it had when it was listed holds the same names, as Python's imports
and Git's untracked cache take it too; so that only the files in it that are read are looked at, and
no `.gitignore` is applied. As with files, times that were young when they were seen tell nothing: a
tree with such a folder is listed again.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import time
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from vault_kg.extract.backends.values import Stored
from vault_kg.extract.reading import RACY_NS
from vault_kg.extract.roots import Root
from vault_kg.extract.wanted import Wanted
from vault_kg.index import walk

VERSION = 2
"""What a stored listing is made by: raised with its shape, and with the rules of which files a walk
and a root hold. One of another version tells nothing."""

Stamp = tuple[int, int, int, int]
"""Size, mtime and ctime in nanoseconds, inode."""

_stamp_of = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")
_times_of = attrgetter("st_dev", "st_mtime_ns", "st_ctime_ns", "st_ino")


class _Listed(NamedTuple):
    """A listing as it is stored."""

    version: int
    marks: dict[str, str]
    """Who read the names of the files."""
    place: list[object]
    folders: Sequence[tuple[str, list[str]]]
    """The prefix of each, and the names of its files."""
    ignores: list[str]
    """The prefixes of folders with a `.gitignore`."""
    shape: str
    """A digest of the times of the folders and ignore files."""


class Tree(NamedTuple):
    """The files of a root that are wanted, with their stamps."""

    files: dict[str, Stamp]
    unlisted: Sequence[str] = ()
    """Folders and files that could not be looked at."""
    known: int = 0
    """How many there are, where all were fresh when they had these stamps; `files` is empty then."""
    stored: Stored | None = None
    """What tells next time that it is the same tree; None where nothing can."""

    def complete(self, path: str) -> bool:
        """Say whether a file that is not among them is really gone."""
        return not any(
            folder in ("", path) or path.startswith(folder + "/") for folder in self.unlisted
        )


def tree(root: Root, wanted: Wanted, before: Stored) -> Tree:
    """Return the files of a root: at a glance where that tells, else by listing it.

    Args:
        root: the root.
        wanted: which of its files are wanted.
        before: what was stored of the tree when all of its files were fresh.
    """
    since = time.time_ns()
    return _glance(root, wanted, before, since) or _list(root, wanted, since)


def _glance(root: Root, wanted: Wanted, before: Stored, since: int) -> Tree | None:
    listed = _read(before.listing)
    if listed is None or listed.place != _place(root) or not wanted.hold(listed.marks):
        return None
    folders = listed.folders
    base = f"{root.folder}/"
    paths = [prefix + name for prefix, names in folders for name in names]
    try:
        if _digest(_times(base, [prefix for prefix, _ in folders], listed.ignores)) != listed.shape:
            return None
        stamps = list(map(_stamp_of, map(os.lstat, [base + path for path in paths])))
    except OSError:
        return None
    digest = _digest(stamps)
    if digest == before.stamps:
        return Tree({}, known=len(paths), stored=before)
    stored = Stored(before.listing, digest if _are_old(stamps, since) else "")
    return Tree(dict(zip(paths, stamps, strict=True)), stored=stored)


def _list(root: Root, wanted: Wanted, since: int) -> Tree:
    listing = walk.walk(root.folder, wanted)
    files = {
        folder.prefix + name: stamp
        for folder in listing.folders
        for name, stamp in zip(folder.names, folder.stamps, strict=True)
    }
    if listing.unlisted:
        return Tree(files, listing.unlisted)
    return Tree(files, stored=_stored(root, wanted, listing, since))


def _stored(root: Root, wanted: Wanted, listing: walk.Listing, since: int) -> Stored | None:
    base = f"{root.folder}/"
    prefixes = [folder.prefix for folder in listing.folders]
    ignores = [prefix for prefix in prefixes if Path(f"{base}{prefix}.gitignore").is_file()]
    stamps = [stamp for folder in listing.folders for stamp in folder.stamps]
    try:
        times = _times(base, prefixes, ignores)
    except OSError:
        return None
    if not _are_old(times, since):
        return None
    folders = [(folder.prefix, folder.names) for folder in listing.folders]
    said = _Listed(VERSION, wanted.marks(), _place(root), folders, ignores, _digest(times))
    return Stored(json.dumps(said), _digest(stamps) if _are_old(stamps, since) else "")


def _read(text: str) -> _Listed | None:
    """Read a stored listing; None for what is none of this version."""
    try:
        said = json.loads(text)
    except ValueError:
        return None
    of_now = isinstance(said, list) and said[:1] == [VERSION] and len(said) == len(_Listed._fields)
    return _Listed(*said) if of_now else None


def _times(base: str, prefixes: Sequence[str], ignores: Sequence[str]) -> list[Stamp]:
    found = [os.lstat(base + prefix) for prefix in prefixes]
    found += [os.stat(f"{base}{prefix}.gitignore") for prefix in ignores]  # noqa: PTH116
    return list(map(_times_of, found))


def _are_old(stamps: Sequence[Sequence[int]], since: int) -> bool:
    """Say whether nothing that was saved after the look began can have the same times."""
    return max([max(stamp[1], stamp[2]) for stamp in stamps], default=0) < since - RACY_NS


def _place(root: Root) -> list[object]:
    """Return what else decides which files a root holds."""
    return [str(root.folder), list(root.inner), root.in_vault, root.name, sorted(walk.SKIPPED)]


def _digest(stamps: list[Stamp]) -> str:
    return hashlib.sha256(marshal.dumps(stamps, 2)).hexdigest()
