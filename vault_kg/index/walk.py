"""Listing a vault's Markdown files and source descriptors, with what tells a changed one.

`.gitignore` files are honoured, hidden tool folders are skipped, links are reported and not
followed. A folder that could not be listed is named, so that nothing in it is taken for deleted.
Most of the time goes to one `lstat` a file, which `stamping` makes for all at once; nothing is made
file by file but its path, unless something changed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vault_kg.index import ignoring, stamping
from vault_kg.index.ignoring import Rule
from vault_kg.index.ignoring import ignored as ignored
from vault_kg.index.stamping import Stamper
from vault_kg.records.model import Problem
from vault_kg.store.files import Stamp

SKIPPED = frozenset(
    {".git", ".obsidian", ".trash", "node_modules", ".vault-kg", ".venv", "__pycache__"}
)
ONTOLOGY = "ontology.yaml"

_SUFFIXES = frozenset({".md", ".MD", ".Md", ".mD"})
Named = Callable[[str, str], bool]


@dataclass
class Listing:
    """What a walk found."""

    folders: list[str] = field(default_factory=list)
    """The prefixes of the folders that were listed: each ends with a slash, or is empty."""
    paths: list[str] = field(default_factory=list)
    stamps: array[int] = field(default_factory=lambda: array("q"))
    """The stamps of the paths, in their order (`stamping.NUMBERS` of each)."""
    problems: dict[str, Problem] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    """Folders that could not be listed completely; what they held is left alone."""

    @cached_property
    def files(self) -> dict[str, Stamp]:
        """The stamp of each file, by path."""
        return dict(zip(self.paths, map(Stamp, *stamping.columns(self.stamps)), strict=True))

    @property
    def newest_ns(self) -> int:
        """When the file that was saved last was saved."""
        return max(stamping.columns(self.stamps)[1], default=0)

    def digest(self) -> str:
        """Return what is equal for two walks that saw the same files with the same stamps."""
        found = hashlib.sha256("\0".join(self.paths).encode())
        found.update(self.stamps)
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
    listing, stamper = Listing(), Stamper(root)
    waiting: list[tuple[str, Sequence[Rule]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        waiting += _list_folder(f"{root}/{prefix}", prefix, rules, listing, named)
        stamper.take(listing.paths)
    if not listing.paths:
        return listing
    try:
        listing.stamps = stamper.finish(listing.paths)
    except OSError as error:  # the vault itself is gone, and nothing is known of its files
        listing.paths.clear()
        _note_unlisted(listing, "", error)
    if stamping.NOTHING[0] in stamping.columns(listing.stamps)[0]:
        _look_closer(root, listing)
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
    chosen: list[str] = []
    try:
        with _opened(absolute) as folder, os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    inner.append(name)
                elif wanted(name, prefix):
                    chosen.append(prefix + name)
                elif name == ".gitignore":
                    rules = (*rules, *ignoring.rules(absolute, prefix))
            if rules:
                chosen = [path for path in chosen if not ignoring.excluded(rules, path)]
            listing.folders.append(prefix)
            listing.paths += chosen if _is_text("".join(chosen)) else _texts(chosen, listing)
    except OSError as error:
        _note_unlisted(listing, prefix, error)
    paths = (f"{prefix}{name}/" for name in inner if name not in SKIPPED)
    return [(path, rules) for path in paths if not (rules and ignoring.excluded(rules, path))]


def _note_unlisted(listing: Listing, prefix: str, error: OSError) -> None:
    listing.unlisted.append(prefix.rstrip("/"))
    listing.problems[prefix or "."] = Problem(
        "unreadable",
        f"the folder cannot be listed: {error.strerror}",
        hint="mend its permissions",
    )


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


def _texts(paths: list[str], listing: Listing) -> list[str]:
    """Return the paths that can be stored, and say of the others that they are not read."""
    for path in paths:
        if not _is_text(path):
            problem = Problem("unreadable", "the file's name is not UTF-8", hint="rename it")
            listing.problems[_shown(path)] = problem
    return [path for path in paths if _is_text(path)]


def _look_closer(root: Path, listing: Listing) -> None:
    """Leave out what is not a regular file, and say why it is not read."""
    stamps = zip(*stamping.columns(listing.stamps), strict=True)
    found = list(zip(listing.paths, stamps, strict=True))
    listing.paths, listing.stamps = [], array("q")
    for path, stamp in found:
        closer = _closer(root, path, listing) if stamp == stamping.NOTHING else stamp
        if closer is not None:
            listing.paths.append(path)
            listing.stamps.extend(closer)


def _closer(root: Path, path: str, listing: Listing) -> stamping.Numbers | None:
    """Return a regular file's stamp; of anything else say why it is not read."""
    try:
        found = (root / path).lstat()
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror}"
        listing.unlisted.append(path)
        listing.problems[path] = Problem("unreadable", reason)
        return None
    if stat.S_ISREG(found.st_mode):
        return stamping.numbers(found)
    if stat.S_ISLNK(found.st_mode):
        code, reason, hint = (
            "symlink",
            "a symbolic link is not read",
            "replace it by the file itself",
        )
    else:
        code, reason, hint = "unreadable", "a pipe, socket or device is not read", "rename it"
    listing.problems[path] = Problem(code, reason, hint=hint)
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
