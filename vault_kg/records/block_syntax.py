"""What a single line can open in Markdown: containers, fences, HTML, tables, definitions.

The patterns of CommonMark 0.31 and of GitHub's tables, for a line whose tabs are expanded; which of
them apply is the business of `blocks`, which knows what is open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.common.html_re import HTML_OPEN_CLOSE_TAG_STR

QUOTE: Final = -1
"""The width of a quote; that of a list item is the column where its content begins."""

PLAIN_START: Final = re.compile(r"[^\s#>`~<*+_=\-|:\[0-9]")
"""The beginning of a line that can only be prose, outside containers and verbatim blocks."""

ATX: Final = re.compile(r"(#{1,6})(?= |$)")
SETEXT: Final = re.compile(r"(?:=+|-+) *$")
FENCE: Final = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
HTML: Final[tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...]] = (
    (
        re.compile(r"<(?a:script|pre|style|textarea)(?=[ >]|$)", re.IGNORECASE),
        re.compile(r"</(?a:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?a:{'|'.join(block_names)})(?=\s|/?>|$)", re.IGNORECASE), None),
)
"""Openers of HTML blocks that may end a paragraph; one without a closer ends at a blank line."""

HTML_LONE_TAG: Final = re.compile(HTML_OPEN_CLOSE_TAG_STR.removeprefix("^") + r"\s*$")
TITLE_START: Final = re.compile(r""" *["'(]""")
SIMPLE_DEFINITION: Final = re.compile(
    r"\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.)+\]: *(?!(?:javascript|vbscript|file|data):)"
    r'[^\s<()\\&]+( +"[^"\\]*")? *$',
    re.IGNORECASE,
)
"""A link reference definition on one line; group 1 is its title."""

NO_DEFINITION: Final = re.compile(
    r"""\[(?:[^\[\]\\]|\\.)*\](?!:)|\[(?:[^\[\]\\]|\\.)*\]: *[^\s<]\S* +[^\s"'(]"""
)
"""Text that only begins like a definition: no colon, or more words behind its destination."""

DELIMITER: Final = re.compile(r"(?=[-:|][-:|]|[:|] )[-:| ]+$")
_ITEM: Final = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_DELIMITER_CELL: Final = re.compile(r" *:?-+:? *")
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)


def indent_end(text: str, pos: int) -> int:
    """Return the index of the first character from `pos` on that is not a space."""
    if not text.startswith(" ", pos):
        return pos
    return len(text) - len(text[pos:].lstrip(" "))


def after_quote_mark(text: str, start: int) -> int:
    """Return where a quote's content begins, its mark being at `start`."""
    return start + 2 if text.startswith(" ", start + 1) else start + 1


def is_rule(text: str, start: int) -> bool:
    """Whether the line is a thematic break, `start` being its first mark."""
    rest = text[start:]
    mark = rest[0]
    return mark in "-*_" and rest.count(mark) >= 3 and not rest.replace(mark, "").strip(" ")


def container(text: str, pos: int, start: int, restricted: bool) -> tuple[int, int] | None:
    """Return the width of the container that opens at `start` and where its content begins.

    `restricted`: the line would interrupt a paragraph, which an empty item and a list that does not
    begin at 1 may not.
    """
    if text[start] == ">":
        return QUOTE, after_quote_mark(text, start)
    item = _ITEM.match(text, start)
    if item is None or is_rule(text, start):
        return None
    content = indent_end(text, item.end())
    empty = content == len(text)
    if restricted and (empty or item.group(1) not in (None, "1")):
        return None
    gap = content - item.end()
    width = item.end() - pos + (1 if empty or gap > 4 else gap)
    return width, min(pos + width, len(text))


def header_columns(header: str) -> int:
    """Return the number of cells of a table's header line, 0 where it has no pipe."""
    if "|" not in header:
        return 0
    cells = _ESCAPED.sub("", header.strip(" ")).split("|")
    return len(cells) - (not cells[0]) - (len(cells) > 1 and not cells[-1])


def delimiter_columns(row: str) -> int:
    """Return the number of columns that a table's delimiter row declares, 0 if it is malformed."""
    cells = row.strip(" ").removeprefix("|").removesuffix("|").split("|")
    return len(cells) if all(_DELIMITER_CELL.fullmatch(cell) for cell in cells) else 0


def leading_definitions(chunk: str) -> int:
    """Return how many lines the link reference definitions take that `chunk` begins with."""
    if "]:" not in chunk:
        return 0
    env: dict[str, Any] = {}
    _parser().parse(chunk, env)
    found = [*env.get("references", {}).values(), *env.get("duplicate_refs", [])]
    end = 0
    for start, stop in sorted(entry["map"] for entry in found):
        if start != end:
            break
        end = stop
    return end


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("inline")
