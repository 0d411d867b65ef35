"""Listing a vault's Markdown files and source descriptors, with what tells a changed one.

`.gitignore` files are honoured, hidden tool folders are skipped, links are reported and not followed.
A folder that could not be listed is named, so that nothing in it is taken for deleted.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from vault_kg.records.model import Problem
from vault_kg.store.files import Stamp

SKIPPED = frozenset(
    {".git", ".obsidian", ".trash", "node_modules", ".vault-kg", ".venv", "__pycache__"}
)
ONTOLOGY = "ontology.yaml"


@dataclass
class Listing:
    """What a walk found."""

    files: dict[str, Stamp] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    """Folders that could not be listed completely; what they held is left alone."""

    def complete(self, path: str) -> bool:
        """Say whether a file that is not listed is really gone."""
        return not any(folder == "" or path.startswith(folder + "/") for folder in self.unlisted)


@dataclass(frozen=True)
class _Rule:
    prefix: str
    spec: GitIgnoreSpec


def walk(root: Path) -> Listing:
    """List every file of a vault that the index looks at."""
    listing = Listing()
    _walk_folder(os.fspath(root), "", (), listing)
    return listing


def wanted(path: str) -> bool:
    """Say whether the index looks at a file of this name at all."""
    parts = path.split("/")
    if any(part in SKIPPED for part in parts[:-1]):
        return False
    name = parts[-1]
    if len(parts) > 2 and parts[1] == "sources":
        return len(parts) == 4 and name == "source.yaml"
    return name.lower().endswith(".md") or (name == ONTOLOGY and len(parts) <= 2)


def ignored(root: Path, path: str) -> bool:
    """Say whether a single path is excluded by the `.gitignore` files above it."""
    rules: list[_Rule] = []
    folder = ""
    for part in path.split("/")[:-1]:
        rules += _rules(os.path.join(root, folder), folder)
        folder = f"{folder}{part}/"
        if _excluded(rules, folder):
            return True
    return _excluded([*rules, *_rules(os.path.join(root, folder), folder)], path)


def _walk_folder(absolute: str, prefix: str, rules: tuple[_Rule, ...], listing: Listing) -> None:
    try:
        with os.scandir(absolute) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        listing.unlisted.append(prefix.rstrip("/"))
        listing.problems[prefix or "."] = Problem(
            "unreadable",
            f"the folder cannot be listed: {error.strerror}",
            hint="mend its permissions",
        )
        return
    if any(entry.name == ".gitignore" for entry in entries):
        rules = (*rules, *_rules(absolute, prefix))
    for entry in entries:
        _visit(entry, prefix, rules, listing)


def _visit(
    entry: os.DirEntry[str], prefix: str, rules: tuple[_Rule, ...], listing: Listing
) -> None:
    name = entry.name
    path = prefix + name
    if entry.is_dir(follow_symlinks=False):
        if name not in SKIPPED and not (rules and _excluded(rules, path + "/")):
            _walk_folder(entry.path, path + "/", rules, listing)
        return
    if not _is_wanted(name, path, prefix) or (rules and _excluded(rules, path)):
        return
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        listing.unlisted.append(path)
        listing.problems[path] = Problem("unreadable", f"the file cannot be read: {error.strerror}")
        return
    if stat.S_ISREG(found.st_mode):
        listing.files[_text(path)] = Stamp.of(found)
    elif stat.S_ISLNK(found.st_mode):
        listing.problems[_text(path)] = Problem(
            "symlink", "a symbolic link is not read", hint="replace it by the file itself"
        )


def _is_wanted(name: str, path: str, prefix: str) -> bool:
    if "/sources/" in prefix and prefix.split("/")[1] == "sources":
        return wanted(path)
    return name[-3:].lower() == ".md" or (name == ONTOLOGY and prefix.count("/") <= 1)


def _text(path: str) -> str:
    """Return a path that can be stored: names that are not UTF-8 are shown with replacements."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path).decode(errors="replace")
    return path


def _rules(absolute: str, prefix: str) -> list[_Rule]:
    try:
        text = Path(absolute, ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [_Rule(prefix, GitIgnoreSpec.from_lines(text.splitlines()))]


def _excluded(rules: tuple[_Rule, ...] | list[_Rule], path: str) -> bool:
    """Apply the nearest `.gitignore` that says anything of a path."""
    for rule in reversed(rules):
        outcome = rule.spec.check_file(path[len(rule.prefix) :]).include
        if outcome is not None:
            return outcome
    return False
