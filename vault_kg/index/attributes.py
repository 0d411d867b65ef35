"""What the `.gitattributes` files of a vault say of its Markdown files (gitattributes(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import ignoring
from vault_kg.state.database import Database

NAME = ".gitattributes"
_MACRO = "[attr]"
_UNSET = ("-filter", "!filter")


class Filtered(NamedTuple):
    """A line that names a filter, and one of the files that it is for."""

    where: str
    line: int
    name: str
    path: str


class _Rule(NamedTuple):
    where: str
    prefix: str
    line: int
    pattern: re.Pattern[str]
    name: str | None
    """None where the line says that there is no filter."""


def filters(db: Database, root: Path) -> list[Filtered]:
    """Return each line that names a filter for a Markdown file of the vault.

    Of several lines for a file the last one counts, and that of the nearest folder.
    """
    by_path: dict[str, str] = dict(
        db.rows("SELECT path, folder FROM file WHERE kind <> 'source' ORDER BY path")
    )
    macros: dict[str, str | None] = {}
    rules = [
        rule
        for folder in sorted(ignoring.with_those_above(set(by_path.values())))
        for rule in _rules(root, folder, macros)
    ]
    found: dict[_Rule, str] = {}
    for path in by_path if any(rule.name for rule in rules) else ():
        rule = next((r for r in reversed(rules) if _is_for(r, path)), None)
        if rule is not None and rule.name:
            found.setdefault(rule, path)
    return [Filtered(r.where, r.line, r.name or "", path) for r, path in found.items()]


def _rules(root: Path, folder: str, macros: dict[str, str | None]) -> Iterator[_Rule]:
    """Yield the lines of one folder's file that say something of a filter; note its macros."""
    prefix = f"{folder}/" if folder else ""
    for number, line in enumerate(ignoring.lines_of(root / folder / NAME), 1):
        pattern, *stated = line.split() or ["#"]
        said = [_filter(one, macros) for one in stated if _says(one, macros)]
        if pattern.startswith("#") or not said:
            continue
        if pattern.startswith(_MACRO):
            macros[pattern.removeprefix(_MACRO)] = said[-1]
            continue
        regex = None if pattern.endswith("/") else ignoring.matcher(pattern)
        if regex is not None:
            yield _Rule(prefix + NAME, prefix, number, regex, said[-1])


def _says(stated: str, macros: dict[str, str | None]) -> bool:
    return stated.startswith("filter=") or stated in _UNSET or stated in macros


def _filter(stated: str, macros: dict[str, str | None]) -> str | None:
    return stated.removeprefix("filter=") if stated.startswith("filter=") else macros.get(stated)


def _is_for(rule: _Rule, path: str) -> bool:
    inside = path.removeprefix(rule.prefix)
    return path.startswith(rule.prefix) and rule.pattern.fullmatch(inside) is not None
