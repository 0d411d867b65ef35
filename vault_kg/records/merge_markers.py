"""The lines that Git puts into a file where two versions of it could not be merged.

A conflict is a line that begins with seven `<`, a later one of seven `=`, and a later one that begins
with seven `>` (`git help merge`, "How conflicts are presented"). One of them alone is text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from vault_kg.records.blocks import read_layout

_OURS, _BETWEEN, _THEIRS = "<<<<<<<", "=======", ">>>>>>>"
_ORDER = (
    re.compile(rf"{_OURS}(?: |\Z)"),
    re.compile(rf"{_BETWEEN}\Z"),
    re.compile(rf"{_THEIRS}(?: |\Z)"),
)
_LINE_BREAK = re.compile(r"\r\n|\n|\r")

REASON = "this is a Git conflict: from `<<<<<<<` to `>>>>>>>` both versions stand here"
HINT = "choose what holds, remove the three marker lines, and end the merge in Git"


def line_in_body(body: str, begins: int = 1) -> int | None:
    """Return the line on which the first conflict of a Markdown body begins, outside fenced code.

    Args:
        body: the text.
        begins: the line of the file, from 1, on which it begins.
    """
    if not _may_be_in(body):
        return None
    layout = read_layout(body)
    fences = (range(b.start, b.end) for b in layout.blocks if b.kind == "fence")
    found = _first(layout.lines, {number for fence in fences for number in fence})
    return None if found is None else begins + found


def line_in(text: str) -> int | None:
    """Return the line, from 1, on which the first conflict of any text begins."""
    found = _first(_LINE_BREAK.split(text)) if _may_be_in(text) else None
    return None if found is None else found + 1


def _may_be_in(text: str) -> bool:
    return _OURS in text and _THEIRS in text


def _first(lines: Sequence[str], skipped: Container[int] = ()) -> int | None:
    begin, wanted = 0, 0
    for number, line in enumerate(lines):
        if line[:1] not in ("<", "=", ">") or number in skipped:
            continue
        if _ORDER[0].match(line):
            begin, wanted = number, 1
        elif wanted and _ORDER[wanted].match(line):
            wanted += 1
            if wanted == len(_ORDER):
                return begin
    return None
