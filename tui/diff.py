"""What changed, with signs and not by colour alone: in one column, in two, and three versions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from textual.content import Content

from tui.plain import content, line, reveal

MAX_ROWS = 5_000
_STYLES = {"+": "$text-success", "-": "$text-error", "@": "dim", "~": "$text-warning"}


class Row(NamedTuple):
    """A line of a side-by-side view; each side has a sign and a text, None where it has no line."""

    left: tuple[str, str] | None
    right: tuple[str, str] | None


class Triple(NamedTuple):
    """A line of three versions; a sign says how each differs from the original."""

    original: tuple[str, str] | None
    proposed: tuple[str, str] | None
    displaced: tuple[str, str] | None


def unified(diff: str) -> Content:
    """Return a unified diff in one column."""
    lines = [text for text in _body(diff) if text]
    return Content("\n").join(
        [content(text, "dim") if text[0] == "@" else _drawn(text[0], text[1:]) for text in lines]
    )


def sides(diff: str, width: int) -> Content:
    """Return a unified diff in two columns that together take a width."""
    room = max(10, (width - 3) // 2)
    lines = []
    for row in _paired(_body(diff)):
        lines.append(Content(" │ ").join([_cell(row.left, room), _cell(row.right, room)]))
    return Content("\n").join(lines)


def three_way(original: str, proposed: str, displaced: str) -> list[Triple]:
    """Align what a request proposed and what somebody's edit made with what both began from."""
    base = original.splitlines()
    one = _against(base, proposed.splitlines())
    other = _against(base, displaced.splitlines())
    rows: list[Triple] = []
    for n in range(len(base) + 1):
        mine, theirs = one.inserted.get(n, []), other.inserted.get(n, [])
        for k in range(max(len(mine), len(theirs))):
            rows.append(Triple(None, _added(mine, k), _added(theirs, k)))
        if n < len(base):
            rows.append(Triple((" ", base[n]), one.kept[n], other.kept[n]))
    return rows[:MAX_ROWS]


def column(rows: list[Triple], version: int) -> Content:
    """Return one version of three, line by line, so that the columns stay level."""
    cells = [row[version] for row in rows]
    return Content("\n").join([_drawn(*c) if c else Content("·").stylize("dim") for c in cells])


class _Version(NamedTuple):
    kept: list[tuple[str, str] | None]
    inserted: dict[int, list[str]]


def _against(base: list[str], lines: list[str]) -> _Version:
    kept: list[tuple[str, str] | None] = [(" ", text) for text in base]
    inserted: dict[int, list[str]] = {}
    matcher = difflib.SequenceMatcher(None, base, lines, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        for k in range(i, i_end):
            changed = j + k - i
            kept[k] = ("~", lines[changed]) if changed < j_end else ("-", base[k])
        rest = lines[min(j_end, j + i_end - i) : j_end]
        if rest:
            inserted.setdefault(i_end, []).extend(rest)
    return _Version(kept, inserted)


def _added(lines: list[str], k: int) -> tuple[str, str] | None:
    return ("+", lines[k]) if k < len(lines) else None


def _paired(lines: list[str]) -> Iterator[Row]:
    gone: list[str] = []
    came: list[str] = []
    for text in [*lines, None]:
        if text is not None and text[:1] == "-":
            gone.append(text[1:])
            continue
        if text is not None and text[:1] == "+":
            came.append(text[1:])
            continue
        for k in range(max(len(gone), len(came))):
            yield Row(
                ("-", gone[k]) if k < len(gone) else None,
                ("+", came[k]) if k < len(came) else None,
            )
        gone, came = [], []
        if text:
            side = (text[0], text[1:])
            yield Row(side, side)


def _body(diff: str) -> list[str]:
    """Return the lines of a unified diff without the two that name its sides."""
    lines = diff.split("\n")
    named = 2 if diff.startswith("--- ") else 0
    return lines[named : named + MAX_ROWS]


def _cell(side: tuple[str, str] | None, room: int) -> Content:
    if side is None:
        return Content(" " * room)
    if side[0] == "@":
        return content("".join(side), "dim").truncate(room, ellipsis=True, pad=True)
    return _drawn(*side).truncate(room, ellipsis=True, pad=True)


def _drawn(sign: str, text: str) -> Content:
    shown = reveal(text) if len(text) <= 2_000 else line(text, 2_000)
    return content(f"{sign} {shown}", _STYLES.get(sign, ""))
