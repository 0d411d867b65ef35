"""Text from records as it is: never markup, never an escape sequence, nothing invisible.

What a terminal would obey, hide or reorder is shown instead: `␛` for an escape, `⟦U+202E⟧` for a
bidirectional override. Whatever is cut says so.
"""

from __future__ import annotations

import re
from typing import Any

from textual.content import Content, Span
from textual.style import Style

from vault_kg.cli.revealing import reveal as revealed

MAX_LINE = 2_000
MAX_TEXT = 200_000

_SHOWN = re.compile("⟦U\\+[0-9A-F]{4,6}⟧|[\u2400-\u2421]")
_WHITE = re.compile(r"[ \t\n]+")


def reveal(text: Any) -> str:
    """Return a text with everything shown that a terminal would not show as it is."""
    return revealed(text).replace("\t", "    ")


def block(text: Any, limit: int = MAX_TEXT) -> str:
    """Return text of several lines, revealed; what is too long is cut and says by how much."""
    shown = str(text)
    rest = len(shown) - limit
    if rest > 0:
        shown = shown[:limit] + f"\n… {rest:,} characters more; press e to see the whole file"
    return "\n".join(_short(line) for line in reveal(shown).split("\n"))


def line(text: Any, limit: int = 400) -> str:
    """Return a text on one line, revealed and of bounded length."""
    shown = str(text)
    cut = shown[: limit * 4]
    one = _WHITE.sub(" ", reveal(cut)).strip()
    return one if len(one) <= limit and len(cut) == len(shown) else one[:limit].rstrip() + "…"


def content(text: str, style: str = "") -> Content:
    """Return revealed text as it will be drawn; stand-ins for what is hidden are reversed."""
    made = Content.styled(text, style) if style else Content(text)
    marks = [Span(m.start(), m.end(), Style(reverse=True)) for m in _SHOWN.finditer(text)]
    return made.add_spans(marks) if marks else made


def one(text: Any, style: str = "", limit: int = 400) -> Content:
    """Return one line of text, ready to be drawn."""
    return content(line(text, limit), style)


def many(text: Any, style: str = "", limit: int = MAX_TEXT) -> Content:
    """Return text of several lines, ready to be drawn."""
    return content(block(text, limit), style)


def joined(*parts: Content | str, by: str = "  ") -> Content:
    """Return the parts that say something, with a gap between them."""
    kept = [p if isinstance(p, Content) else Content(p) for p in parts]
    return Content(by).join([p for p in kept if p.plain])


def stacked(*lines: Content | str) -> Content:
    """Return lines one below the other; empty ones are left out."""
    return joined(*lines, by="\n")


def when(instant: str | None) -> str:
    """Return a time as lists show it: to the minute, in UTC as the vault writes it."""
    return (instant or "")[:16].replace("T", " ")


def plural(number: int, noun: str) -> str:
    """Return a count with its noun: `1 page`, `3 pages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _short(text: str) -> str:
    rest = len(text) - MAX_LINE
    return text if rest <= 0 else f"{text[:MAX_LINE]}… ({rest:,} characters more in this line)"
