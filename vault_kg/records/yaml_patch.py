"""A set of replacements in one text, applied together."""

from __future__ import annotations

from collections.abc import Iterable

from vault_kg.records.yaml_layout import TooTangled


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
