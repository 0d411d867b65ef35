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
from array import array
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from vault_kg.extract.backends.values import Stored
from vault_kg.extract.roots import Root
from vault_kg.extract.wanted import Wanted
from vault_kg.index import stamping, walk
from vault_kg.store.files import RACY_NS

VERSION = 3
"""What a stored listing is made by: raised with its shape, and with the rules of which files a walk
and a root hold. One of another version tells nothing."""

Stamp = stamping.Numbers

_times_of = attrgetter("st_dev", "st_mtime_ns", "st_ctime_ns", "st_ino")


class _Listed(NamedTuple):
    """A listing as it is stored."""

    version: int
    marks: dict[str, str]
    """Who read the names of the files."""
    place: list[object]
    folders: list[str]
    """Their prefixes."""
    paths: list[str]
    """Of the files."""
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
    try:
        if _digest(_times(root, listed.folders, listed.ignores)) != listed.shape:
            return None
        stamps = stamping.stamps(root.folder, listed.paths)
    except OSError:
        return None
    if stamping.NOTHING[0] in stamping.columns(stamps)[0]:
        return None
    digest = hashlib.sha256(stamps).hexdigest()
    if digest == before.stamps:
        return Tree({}, known=len(listed.paths), stored=before)
    stored = Stored(before.listing, digest if _are_old(stamps, since) else "")
    return Tree(_files(listed.paths, stamps), stored=stored)


def _list(root: Root, wanted: Wanted, since: int) -> Tree:
    listing = walk.walk(root.folder, wanted)
    files = _files(listing.paths, listing.stamps)
    if listing.unlisted:
        return Tree(files, listing.unlisted)
    return Tree(files, stored=_stored(root, wanted, listing, since))


def _files(paths: Sequence[str], stamps: array[int]) -> dict[str, Stamp]:
    return dict(zip(paths, zip(*stamping.columns(stamps), strict=True), strict=True))


def _stored(root: Root, wanted: Wanted, listing: walk.Listing, since: int) -> Stored | None:
    folders = listing.folders
    ignores = [prefix for prefix in folders if (root.folder / prefix / ".gitignore").is_file()]
    try:
        times = _times(root, folders, ignores)
    except OSError:
        return None
    if max(max(mtime, ctime) for _, mtime, ctime, _ in times) >= since - RACY_NS:
        return None
    said = _Listed(
        VERSION, wanted.marks(), _place(root), folders, listing.paths, ignores, _digest(times)
    )
    old = _are_old(listing.stamps, since)
    return Stored(json.dumps(said), hashlib.sha256(listing.stamps).hexdigest() if old else "")


def _read(text: str) -> _Listed | None:
    """Read a stored listing; None for what is none of this version."""
    try:
        said = json.loads(text)
    except ValueError:
        return None
    of_now = isinstance(said, list) and said[:1] == [VERSION] and len(said) == len(_Listed._fields)
    return _Listed(*said) if of_now else None


def _times(root: Root, folders: Sequence[str], ignores: Sequence[str]) -> list[Stamp]:
    base = f"{root.folder}/"
    found = [os.lstat(base + prefix) for prefix in folders]
    found += [os.stat(f"{base}{prefix}.gitignore") for prefix in ignores]  # noqa: PTH116
    return list(map(_times_of, found))


def _are_old(stamps: array[int], since: int) -> bool:
    """Say whether nothing that was saved after the look began can have the same times."""
    _, mtimes, ctimes, _ = stamping.columns(stamps)
    return max(max(mtimes, default=0), max(ctimes, default=0)) < since - RACY_NS


def _place(root: Root) -> list[object]:
    """Return what else decides which files a root holds."""
    return [str(root.folder), list(root.inner), root.in_vault, root.name, sorted(walk.SKIPPED)]


def _digest(stamps: list[Stamp]) -> str:
    return hashlib.sha256(marshal.dumps(stamps, 2)).hexdigest()
