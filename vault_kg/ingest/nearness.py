"""Names that resemble one another: told to a person as candidates, never taken for one entity."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from vault_kg.ingest import veto
from vault_kg.records.names import lookup_key, title_key

_WORD = re.compile(r"\w+")
_STEM = 5
"""Letters that two spellings of one name begin with."""

_ALIKE = 0.85
_LENGTHS_APART = 3
_COMMON = 50
"""Names that share a part: where more do, it says nothing of any two of them."""


class Named(NamedTuple):
    """A page, or one that is about to be made (its id is None), under one of its names."""

    id: str | None
    name: str


class Near(NamedTuple):
    """Two names that resemble one another, and what tells them apart, if anything does."""

    name: str
    other: Named
    reason: str
    vetoed: str | None


class Names:
    """The names of a partition, by what similar ones have in common."""

    def __init__(self, known: Iterable[Named] = ()) -> None:
        self._by_part: defaultdict[str, list[Named]] = defaultdict(list)
        for each in known:
            self.add(each)

    def add(self, named: Named) -> None:
        """Take a name in."""
        for part in _parts(named.name):
            self._by_part[part].append(named)

    def near(self, name: str) -> Iterator[Near]:
        """Yield the names that resemble one, and are not it."""
        seen = {lookup_key(name)}
        for part in sorted(_parts(name)):
            sharing = self._by_part.get(part, ())
            for other in sharing if len(sharing) <= _COMMON else ():
                key = lookup_key(other.name)
                if key in seen:
                    continue
                seen.add(key)
                if reason := resemblance(name, other.name):
                    yield Near(name, other, reason, veto.differs(name, other.name))


def resemblance(first: str, second: str) -> str | None:
    """Say in what way two names resemble one another, or None."""
    ours, theirs = title_key(first), title_key(second)
    if ours == theirs:
        return "the same but for punctuation"
    short, long = sorted((ours.replace(" ", ""), theirs.replace(" ", "")), key=len)
    if short == long:
        return "the same but for spaces"
    if len(short) >= _STEM and long.startswith(short):
        return "one begins with the other"
    words = [set(_WORD.findall(key)) for key in (ours, theirs)]
    common = words[0] & words[1]
    if common in words and any(len(word) > 2 for word in common):
        return "one holds every word of the other"
    apart = len(long) - len(short)
    if apart <= _LENGTHS_APART and SequenceMatcher(None, ours, theirs).ratio() >= _ALIKE:
        return "the letters are almost the same"
    return None


def _parts(name: str) -> set[str]:
    """Return what a name is found by: its words, and how it begins."""
    key = title_key(name)
    compact = key.replace(" ", "")
    return {word for word in _WORD.findall(key) if len(word) > 2} | {
        f"^{compact[:_STEM]}", f"^{compact[: _STEM - 2]}",
    }  # fmt: skip
