"""What the `.gitignore` files of a vault leave out, and which line of which file does so."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from vault_kg.store import files

NAME = ".gitignore"

# Of `re`, for sets like `[[a]`; nobody can write them otherwise in a pattern of Git.
warnings.filterwarnings("ignore", "Possible (nested set|set )", FutureWarning)


class Reason(NamedTuple):
    """The line of a `.gitignore` that leaves a path out."""

    path: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} (`{self.pattern}`)"


@dataclass(frozen=True)
class Rule:
    """One `.gitignore`: the folder it stands in, and its patterns, the last one first."""

    prefix: str
    patterns: Sequence[tuple[re.Pattern[str], bool]]
    """Each with whether it excludes what it matches, or takes it back in."""
    any_pattern: re.Pattern[str]
    """Matches whatever one of the patterns may match; most paths it does not."""


def ignored(root: Path, path: str) -> bool:
    """Say whether a single path is excluded by the `.gitignore` files above it."""
    found: list[Rule] = []
    folder = ""
    for part in path.split("/")[:-1]:
        found += rules(f"{root}/{folder}", folder)
        folder = f"{folder}{part}/"
        if excluded(found, folder):
            return True
    return excluded([*found, *rules(f"{root}/{folder}", folder)], path)


def reason(root: Path, path: str) -> Reason | None:
    """Return the line of a `.gitignore` that excludes a path, None where nothing does."""
    folders = ["", *(path[: n + 1] for n, c in enumerate(path) if c == "/")]
    every: list[Rule] = []
    for folder, inner in zip(folders, [*folders[1:], path], strict=True):
        every += rules(f"{root}/{folder}", folder)
        if excluded(every, inner):
            rule = next(r for r in reversed(every) if _decides(r, inner) is not None)
            return _line_of(root, rule.prefix, inner)
    return None


def with_those_above(folders: Iterable[str]) -> set[str]:
    """Return some folders and every folder above them; the vault's own is the empty text."""
    found = {""}
    for folder in folders:
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def matcher(pattern: str) -> re.Pattern[str] | None:
    """Return what matches all of the paths that a pattern means, None where it means none."""
    read = _read(pattern)
    return read[0] if read is not None else None


def meaningless(root: Path, folders: Iterable[str]) -> Iterator[Reason]:
    """Yield the lines of the `.gitignore` of some folders that are no pattern, as `[z-a]` is none."""
    for folder in folders:
        prefix = f"{folder}/" if folder else ""
        for number, line in enumerate(lines_of(root / folder / NAME), 1):
            if _read(line) is None and line.strip() and not line.startswith("#"):
                yield Reason(prefix + NAME, number, line.strip())


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file as Git reads it: nothing of a link, a pipe or what cannot be read."""
    try:
        content = files.look(path).content or b""
    except OSError:
        return []
    text = content.decode("utf-8-sig", errors="replace")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _line_of(root: Path, prefix: str, path: str) -> Reason | None:
    lines = lines_of(root / prefix / NAME)
    for number in range(len(lines), 0, -1):
        rule = _rule(prefix, lines[number - 1 : number])
        if rule is not None and _decides(rule, path):
            return Reason(prefix + NAME, number, lines[number - 1].strip())
    return None


def rules(absolute: str, prefix: str) -> list[Rule]:
    """Return what the `.gitignore` of one folder says, if there is one.

    Args:
        absolute: the folder.
        prefix: the same below the vault's folder; ends with a slash, or is empty.
    """
    rule = _rule(prefix, lines_of(Path(absolute, NAME)))
    return [rule] if rule is not None else []


def _rule(prefix: str, lines: Sequence[str]) -> Rule | None:
    patterns = [read for line in reversed(lines) if (read := _read(line)) is not None]
    if not patterns:
        return None
    unnamed = (regex.pattern.replace("(?P<ps_d>", "(?:") for regex, _ in patterns)
    return Rule(prefix, patterns, re.compile("|".join(unnamed)))


def _read(line: str) -> tuple[re.Pattern[str], bool] | None:
    """Return what a line matches, and whether it excludes that; None where it is no pattern.

    To match is to match all of a path: of `a/**` everything in the folder, and not the folder.
    """
    try:
        read = GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):  # a lone `!`, `[z-a]`: it means nothing to Git either
        return None
    regex = read[0].regex if read else None
    if regex is None:
        return None
    start = "" if regex.pattern.startswith("^") else ".*"
    end = ".+" if regex.pattern.endswith("/") else ""
    whole = re.compile(f"{start}{regex.pattern}{end}") if start or end else regex
    return whole, bool(read[0].include)


def excluded(every: Sequence[Rule], path: str) -> bool:
    """Apply the nearest `.gitignore` that says anything of a path; a folder's ends with a slash.

    What lies in a folder that is excluded is never asked for, so that a pattern has to match all of
    the path, and not only a folder above.
    """
    for rule in reversed(every):
        said = _decides(rule, path)
        if said is not None:
            return said
    return False


def _decides(rule: Rule, path: str) -> bool | None:
    """Return what one `.gitignore` says of a path, None where it says nothing."""
    inside = path[len(rule.prefix) :]
    if rule.any_pattern.match(inside):
        for regex, excludes in rule.patterns:
            if regex.fullmatch(inside):
                return excludes
    return None
