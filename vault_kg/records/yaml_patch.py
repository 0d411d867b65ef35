"""A set of replacements in one text, applied together; and what differs between two lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

from vault_kg.records.yaml_layout import TooTangled
from vault_kg.records.yaml_scalars import Value, identity

_MAX_COMPARED: Final = 250_000  # pairs of items; beyond it a list is compared by position


class Patch:
    """Replacements by position in the text as it was; those that touch are applied in order."""

    def __init__(self, text: str, newline: str) -> None:
        self._text = text
        self._newline = newline
        self._replacements: list[tuple[int, int, str]] = []

    def __len__(self) -> int:
        return len(self._replacements)

    def forget(self, count: int) -> None:
        """Take back all replacements but the first `count`."""
        del self._replacements[count:]

    def put(self, start: int, end: int, new: str) -> None:
        """Replace `text[start:end]`."""
        self._replacements.append((start, end, new))

    def put_lines(self, start: int, end: int, lines: Iterable[str]) -> None:
        """Replace whole lines, which begin at `start` and end at `end`, by others."""
        written = "".join(line + self._newline for line in lines)
        if start == end and not written:
            return
        if written and start == len(self._text) and self._text[-1:] not in ("", "\n", "\r"):
            written = self._newline + written
        self.put(start, end, written)

    def applied(self) -> str:
        """Return the text with every replacement made.

        Raises:
            TooTangled: Two replacements overlap.
        """
        parts: list[str] = []
        position = 0
        for start, end, new in sorted(self._replacements, key=lambda item: item[:2]):
            if start < position:
                raise TooTangled
            parts += (self._text[position:start], new)
            position = end
        return "".join([*parts, self._text[position:]])


def differences(old: list[Value], new: list[Value]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of two lists that differ, in order: `old[a:b]` becomes `new[c:d]`."""
    left, right = [identity(value) for value in old], [identity(value) for value in new]
    shorter = min(len(left), len(right))
    head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(left) * len(right) > _MAX_COMPARED:
        yield head, head + len(left), head, head + len(right)
        return
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield head + a, head + b, head + c, head + d
