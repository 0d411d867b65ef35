"""The outline of a Markdown text: its headings, as a reader sees them.

Only headings of the text itself count; one inside a quote or a list item divides nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from markdown_it import MarkdownIt

from vault_kg.records.blocks import Layout, read_layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

    from vault_kg.records.blocks import Block

_MARKUP: Final = re.compile(r"[*_`\[\]<>\\&!~]")
_CLOSING_MARKS: Final = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")


class Heading(NamedTuple):
    """A heading: level 1 to 6, its text without markup, and its first line, counted from 1."""

    level: int
    text: str
    line: int


def outline(body: str, first_line: int = 1, *, layout: Layout | None = None) -> list[Heading]:
    """Return the headings of a Markdown body in order.

    Args:
        body: the text, front matter taken off.
        first_line: the line of the file on which the body begins.
        layout: the body's layout, where the caller has read it already.

    Returns:
        every heading outside quotes and lists, ATX and setext.
    """
    layout = layout or read_layout(body)
    return [
        Heading(block.level, heading_text(layout, block), first_line + block.start)
        for block in layout.blocks
        if block.level and block.depth == 0
    ]


def heading_text(layout: Layout, block: Block) -> str:
    """Return the text of a heading block without its marks and inline markup."""
    source = layout.text(block).strip(" \t")
    if block.end - block.start == 1:
        source = _CLOSING_MARKS.sub("", source[block.level :])
    else:
        source = source[: source.rindex("\n")]
    return plain_text(source)


def plain_text(source: str) -> str:
    """Return inline Markdown as plain text on one line: marks gone, names of links kept."""
    if _MARKUP.search(source):
        shown = _WIKILINK.sub(lambda link: link.group(2) or link.group(1), source)
        source = "".join(_texts(_parser().parseInline(shown)))
    return " ".join(source.split())


def _texts(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.children:
            yield from _texts(token.children)
        elif token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type in {"text", "code_inline"}:
            yield token.content


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")
