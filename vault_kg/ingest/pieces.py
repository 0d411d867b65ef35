"""A document as the pieces that a model is asked about, each with its lines.

A text that fits is one piece. A longer one is divided at its headings, then between blocks, and a
block that alone is too long at a sentence; neighbours are put together while they fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vault_kg.index.validate import text_lines
from vault_kg.records.passages import Passage, split_passages

MAX_CHARS = 8_000
"""Characters of one piece: of longer ones models leave most facts out."""


class Piece(NamedTuple):
    """A part of a document: its text, and its first and last line, counted from 1."""

    text: str
    first: int
    last: int


def divide(text: str, most: int = MAX_CHARS) -> list[Piece]:
    """Divide a document.

    Args:
        text: the whole document.
        most: characters of one piece; a passage of about 400 tokens is never divided again.

    Returns:
        The pieces in order; none for a blank text.
    """
    if not text.strip():
        return []
    if len(text) <= most:
        return [Piece(text, 1, len(text_lines(text)))]
    passages = split_passages("\n".join(text_lines(text)))
    return [_joined(group) for group in _packed(passages, most)]


def _packed(passages: Iterable[Passage], most: int) -> Iterator[list[Passage]]:
    group: list[Passage] = []
    size = 0
    for passage in passages:
        if group and size + len(passage.text) > most:
            yield group
            group, size = [], 0
        group.append(passage)
        size += len(passage.text) + 2
    if group:
        yield group


def _joined(group: list[Passage]) -> Piece:
    """Return passages as one piece, under the headings that stand above the first of them."""
    above = " > ".join(group[0].heading_path)
    texts = [passage.text for passage in group]
    if above and not texts[0].lstrip().startswith("#"):
        texts.insert(0, f"[{above}]")
    return Piece("\n\n".join(texts), group[0].start_line, group[-1].end_line)
