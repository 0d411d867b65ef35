"""Notes: the bullets of a body. Everything else in the body is kept as it is.

A note is a top-level item (`-`, `*` or `+`) outside fenced code, with the lines indented under it.
Replacing the notes puts the new ones where the first old one stood and leaves every other byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_BULLET = re.compile(r"[-*+](?:[ \t]+|(?=[\r\n]|\Z))")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_RULE = re.compile(r"([-*+])[ \t]*(?:\1[ \t]*){2,}\Z")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
INDENT = "  "


@dataclass
class _Part:
    """A run of lines: one note, or what is none."""

    is_note: bool
    lines: list[str]
    is_open: bool = False
    """It begins fenced code that is never closed: nothing can stand behind it."""


def read(body: str) -> list[str]:
    """Return the notes in a body."""
    return [_text(part.lines) for part in _parts(body) if part.is_note]


def replaced(body: str, notes: Sequence[str], newline: str = "\n") -> str:
    """Return a body with other notes; where they are the same, the very same body.

    Args:
        body: as it stands.
        notes: the new notes, as `cleaned` returned them.
        newline: the line break of the file.
    """
    if list(notes) == read(body):
        return body
    parts = list(_parts(body))
    made = [_bullet(note, newline) for note in notes]
    place = next((n for n, part in enumerate(parts) if part.is_note), _end(parts))
    before = "".join(line for part in parts[:place] for line in part.lines)
    after = "".join(line for part in parts[place:] if not part.is_note for line in part.lines)
    if made and before.strip():
        is_between = place < len(parts) and parts[place].is_note
        before = _ended(before, newline) if is_between else _apart(before, newline)
    elif made:
        before = _ended(before, newline)
    return before + "".join(made) + after


def cleaned(notes: Iterable[str]) -> list[str]:
    """Return notes in the form in which a body gives them back; empty ones are left out."""
    found = (_clean(note) for note in notes)
    return [note for note in found if note]


def _clean(note: str) -> str:
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", note.strip())]
    first = lines[0]
    while match := _BULLET.match(first):
        first = first[match.end() :].lstrip()  # sent with its own bullet
    text = "\n".join([first, *lines[1:]]).strip()
    return text if not _BULLET.match(text) else _clean(text)


def _parts(body: str) -> Iterator[_Part]:
    """Yield the runs of a body in order; together their lines are the body."""
    current, fence, blank = _Part(False, []), "", []
    for line in _LINES.findall(body):
        bare = line.rstrip("\r\n")
        if fence:
            current.lines.append(line)
            if bare.startswith(fence) and not bare.strip("`~ \t"):
                fence, current.is_open = "", False
            continue
        if not bare.strip():
            blank.append(line)
            continue
        if current.is_note and bare.startswith((" ", "\t")):
            current.lines += [*blank, line]
            blank = []
            continue
        if _BULLET.match(bare) and not _RULE.match(bare):
            if current.lines:
                yield current
            if blank:
                yield _Part(False, blank)
            current, blank = _Part(True, [line]), []
            continue
        opened = _FENCE.match(bare)
        if current.lines and (current.is_note or opened):
            yield current
            current = _Part(False, [])
        current.lines += [*blank, line]
        blank = []
        fence, current.is_open = (opened[1] if opened else ""), opened is not None
    if current.lines:
        yield current
    if blank:
        yield _Part(False, blank)


def _end(parts: Sequence[_Part]) -> int:
    """Return where notes go that are the first ones: at the end, before code that has none."""
    return len(parts) - bool(parts and parts[-1].is_open)


def _text(lines: Sequence[str]) -> str:
    """Return a note's text, without its bullet and the indentation under it."""
    bare = [line.rstrip("\r\n").rstrip() for line in lines]
    match = _BULLET.match(bare[0])
    first = bare[0][match.end() if match else 0 :].strip()
    under = [line[len(_indent(line)) :] for line in bare[1:]]
    return "\n".join([first, *under]).strip()


def _indent(line: str) -> str:
    return "\t" if line.startswith("\t") else line[: min(2, len(line) - len(line.lstrip(" ")))]


def _bullet(note: str, newline: str) -> str:
    first, *under = note.split("\n")
    lines = [f"- {first}", *(f"{INDENT}{line}" if line else "" for line in under)]
    return "".join(f"{line}{newline}" for line in lines)


def _ended(text: str, newline: str) -> str:
    return text if text.endswith(("\n", "\r")) else text + newline


def _apart(text: str, newline: str) -> str:
    """Return a text that ends with a blank line."""
    return _ended(text, newline) + (newline if text.strip() else "")
