"""Whether a document says what a model says that it says.

A quote has to occur in the text word for word; what is kept is the text's own spelling. A statement
has to be made of words and numbers that the text has, so that nothing gets in from anywhere else.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from vault_kg.index.validate import text_lines
from vault_kg.records.words import SPACELESS_RUN, fold

MIN_SHARE = 0.5
"""Share of a statement's words that the text has to have."""

_STEM = 5
_SHORT = 4
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_ALIKE = {
    "'": "['’‘`]", '"': "[\"“”„«»]", "-": "[-‐‑‒–—]", "…": r"(?:…|\.\.\.)",
}  # fmt: skip
_ALIKE |= {"’": _ALIKE["'"], "‘": _ALIKE["'"], "“": _ALIKE['"'], "”": _ALIKE['"']}
_ALIKE |= dict.fromkeys("–—", _ALIKE["-"])
_EDGES = " \t\r\n\"'“”‘’«»"


class Place(NamedTuple):
    """Where a text says something: its lines, counted from 1, and its own words."""

    first: int
    last: int
    quote: str

    @property
    def lines(self) -> str:
        """The lines as a citation has them."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


class Text:
    """A document in which quotes and names are looked for."""

    def __init__(self, text: str) -> None:
        self._lines = text_lines(text)
        self.text = "\n".join(self._lines)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def quote(self, quote: str, first: int = 1, last: int | None = None) -> Place | None:
        """Find a quote; white space, typographic quotes and dashes may differ.

        Args:
            quote: what a model copied.
            first: the first line to look in.
            last: the last one; the text's last where None.
        """
        bare = quote.strip(_EDGES)
        if not any(character.isalnum() for character in bare):
            return None
        for words in (bare.split(), bare.rstrip(".… ").split()):
            pattern = r"\s+".join(_pattern(word) for word in words)
            if found := next(self._every(pattern, first, last, 0), None):
                return found
        return None

    def mention(self, name: str, first: int = 1, last: int | None = None) -> Place | None:
        """Find a name as a word of its own, in upper or lower case."""
        return next(self.mentions(name, first, last), None)

    def mentions(self, name: str, first: int = 1, last: int | None = None) -> Iterator[Place]:
        """Find every place that has a name as a word of its own."""
        words = name.split()
        if not words:
            return
        before = "" if SPACELESS_RUN.match(name[0]) else r"(?<!\w)"
        after = "" if SPACELESS_RUN.match(name[-1]) else r"(?!\w)"
        named = r"\s+".join(_pattern(word) for word in words)
        yield from self._every(f"{before}{named}{after}", first, last, re.IGNORECASE)

    def unsupported(self, statement: str) -> str | None:
        """Say why a statement cannot come from the text, or None where it can."""
        strange = [n for n in _NUMBER.findall(statement) if n not in self._numbers]
        if strange:
            return f"the text has no {strange[0]}"
        words = _stems_of(statement)
        if not words:
            return None
        share = len(words & self._stems) / len(words)
        return None if share >= MIN_SHARE else f"the text has {share:.0%} of its words"

    @cached_property
    def _numbers(self) -> set[str]:
        return set(_NUMBER.findall(self.text))

    @cached_property
    def _stems(self) -> set[str]:
        return _stems_of(self.text)

    def _every(self, pattern: str, first: int, last: int | None, flags: int) -> Iterator[Place]:
        last = min(last or len(self._lines), len(self._lines))
        start, end = self._starts[first - 1], self._starts[last] if last >= first else 0
        for found in re.compile(pattern, flags).finditer(self.text, start, end):
            yield Place(self._line_of(found.start()), self._line_of(found.end() - 1), found[0])

    def _line_of(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)


def _stems_of(text: str) -> set[str]:
    """Return how the longer words of a text begin; characters, for scripts without spaces."""
    folded = fold(text)
    stems = {word[:_STEM] for word in _WORD.findall(folded) if len(word) >= _SHORT}
    return stems | {character for run in SPACELESS_RUN.findall(folded) for character in run}


def _pattern(word: str) -> str:
    return "".join(_ALIKE.get(character) or re.escape(character) for character in word)
