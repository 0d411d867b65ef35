"""Listing a vault's Markdown files and source descriptors, with what tells a changed one.

`.gitignore` files are honoured, hidden tool folders are skipped, links are reported and not
followed. A folder that could not be listed is named, so that nothing in it is taken for deleted.
Nearly all of the time goes to one `lstat` a file; nothing else is done file by file unless
something changed.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import ignoring
from vault_kg.index.ignoring import Rule
from vault_kg.index.ignoring import ignored as ignored
from vault_kg.records.model import Problem
from vault_kg.store.files import Stamp

SKIPPED = frozenset(
    {".git", ".obsidian", ".trash", "node_modules", ".vault-kg", ".venv", "__pycache__"}
)
ONTOLOGY = "ontology.yaml"

_SUFFIXES = frozenset({".md", ".MD", ".Md", ".mD"})
_mode_of = attrgetter("st_mode")
_stamp_of = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")

_Stamp = tuple[int, int, int, int]
Named = Callable[[str, str], bool]


class Folder(NamedTuple):
    """The files of one folder that the index looks at; `prefix` ends with a slash, or is empty."""

    prefix: str
    names: list[str]
    stamps: list[_Stamp]


@dataclass
class Listing:
    """What a walk found."""

    folders: list[Folder] = field(default_factory=list)
    problems: dict[str, Problem] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    """Folders that could not be listed completely; what they held is left alone."""

    @cached_property
    def files(self) -> dict[str, Stamp]:
        """The stamp of each file, by path."""
        return {
            folder.prefix + name: Stamp(*stamp)
            for folder in self.folders
            for name, stamp in zip(folder.names, folder.stamps, strict=True)
        }

    @property
    def count(self) -> int:
        """How many files there are."""
        return sum(len(folder.names) for folder in self.folders)

    @property
    def newest_ns(self) -> int:
        """When the file that was saved last was saved."""
        return max((stamp[1] for folder in self.folders for stamp in folder.stamps), default=0)

    def digest(self) -> str:
        """Return what is equal for two walks that saw the same files with the same stamps."""
        found = hashlib.sha256()
        for folder in self.folders:
            found.update(marshal.dumps((folder.prefix, folder.names, folder.stamps), 2))
        return found.hexdigest()

    def complete(self, path: str) -> bool:
        """Say whether a file that is not listed is really gone."""
        return not any(
            folder in ("", path) or path.startswith(folder + "/") for folder in self.unlisted
        )


def walk(root: Path, named: Named | None = None) -> Listing:
    """List every file of a vault that the index looks at.

    Args:
        root: the folder.
        named: says of a file's name and its folder's prefix whether the file is wanted; the
            index's own choice where None.
    """
    listing = Listing()
    waiting: list[tuple[str, Sequence[Rule]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        waiting += _list_folder(f"{root}/{prefix}", prefix, rules, listing, named)
    return listing


def wanted(path: str) -> bool:
    """Say whether the index looks at a file of this name at all."""
    folder, slash, name = path.rpartition("/")
    named = _source_name if is_among_sources(folder + slash) else _note_name
    return not SKIPPED.intersection(folder.split("/")) and named(name, folder + slash)


def _list_folder(
    absolute: str, prefix: str, rules: Sequence[Rule], listing: Listing, named: Named | None
) -> list[tuple[str, Sequence[Rule]]]:
    """List the files of one folder, and return the folders in it."""
    wanted = named or (_source_name if is_among_sources(prefix) else _note_name)
    inner: list[str] = []
    chosen: list[os.DirEntry[str]] = []
    try:
        with _opened(absolute) as folder, os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
                elif wanted(entry.name, prefix):
                    chosen.append(entry)
                elif entry.name == ".gitignore":
                    rules = (*rules, *ignoring.rules(absolute, prefix))
            if rules:
                chosen = [
                    entry for entry in chosen if not ignoring.excluded(rules, prefix + entry.name)
                ]
            listing.folders.append(_stamped(prefix, chosen, listing))
    except OSError as error:
        listing.unlisted.append(prefix.rstrip("/"))
        listing.problems[prefix or "."] = Problem(
            "unreadable",
            f"the folder cannot be listed: {error.strerror}",
            hint="mend its permissions",
        )
    paths = (f"{prefix}{name}/" for name in inner if name not in SKIPPED)
    return [(path, rules) for path in paths if not (rules and ignoring.excluded(rules, path))]


@contextmanager
def _opened(absolute: str) -> Iterator[int | str]:
    """Give a folder by its descriptor, from which its files are found sooner than by their path."""
    if os.scandir not in os.supports_fd:
        yield absolute
        return
    descriptor = os.open(absolute, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _stamped(prefix: str, entries: list[os.DirEntry[str]], listing: Listing) -> Folder:
    """Stamp the files of a folder: all at once, or with care where one is not as it should be."""
    names = [entry.name for entry in entries]
    try:
        found = [entry.stat(follow_symlinks=False) for entry in entries]
    except OSError:
        found = []
    modes = {stat.S_IFMT(mode) for mode in set(map(_mode_of, found))}
    if len(found) == len(names) and modes <= {stat.S_IFREG} and _is_text("".join(names)):
        return Folder(prefix, names, list(map(_stamp_of, found)))
    folder = Folder(prefix, [], [])
    for entry in entries:
        stamp = _stamp(prefix + entry.name, entry, listing)
        if stamp is not None:
            folder.names.append(entry.name)
            folder.stamps.append(stamp)
    return folder


def _stamp(path: str, entry: os.DirEntry[str], listing: Listing) -> _Stamp | None:
    """Return a regular file's stamp; of anything else say why it is not read."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        listing.unlisted.append(path)
        reason, hint = f"the file cannot be read: {error.strerror}", None
    else:
        if not _is_text(path):
            reason, hint = "the file's name is not UTF-8", "rename it"
        elif stat.S_ISREG(found.st_mode):
            stamp: _Stamp = _stamp_of(found)
            return stamp
        elif stat.S_ISLNK(found.st_mode):
            listing.problems[path] = Problem(
                "symlink", "a symbolic link is not read", hint="replace it by the file itself"
            )
            return None
        else:
            return None
    listing.problems[_shown(path)] = Problem("unreadable", reason, hint=hint)
    return None


def is_among_sources(prefix: str) -> bool:
    """Say whether a folder, whose prefix ends with a slash, holds retained sources."""
    return "/sources/" in prefix and prefix.split("/", 2)[1] == "sources"


def _source_name(name: str, prefix: str) -> bool:
    return name == "source.yaml" and prefix.count("/") == 3


def _note_name(name: str, prefix: str) -> bool:
    return name[-3:] in _SUFFIXES or (name == ONTOLOGY and prefix.count("/") <= 1)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    """Return a path that can be stored: names that are not UTF-8 are shown with replacements."""
    return path if _is_text(path) else os.fsencode(path).decode(errors="replace")
