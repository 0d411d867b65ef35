"""The block structure of a Markdown text: which lines are headings, prose, tables, code or HTML.

A line scanner with markdown-it-py's rules (CommonMark and tables). That parser builds a tree of
every word and reads 2 MB/s; links, passages and the outline need only what each line is. Tests hold
both to the same blocks. Known differences, where this one keeps to CommonMark: a line indented by
four columns after a list item or quote; tabs inside nested containers. Containers nest 100 deep
here, 20 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from vault_kg.records import block_syntax as syntax
from vault_kg.records.block_syntax import QUOTE, indent_end

if TYPE_CHECKING:
    import re

Kind = Literal["heading", "paragraph", "table", "definition", "fence", "code", "html", "rule"]

TEXT_KINDS: Final[frozenset[str]] = frozenset({"heading", "paragraph", "table"})
"""The kinds whose lines are read as inline Markdown."""

_MAX_DEPTH: Final = 100
_VERBATIM: Final = frozenset({"fence", "html", "code"})


class Block(NamedTuple):
    """A leaf block: its kind and its lines `[start, end)`, counted from 0.

    `level` is that of a heading and 0 otherwise; `depth` counts the quotes and items around it.
    """

    kind: Kind
    start: int
    end: int
    level: int
    depth: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A text's lines, without their line ends, and its leaf blocks in order."""

    lines: list[str]
    blocks: list[Block]

    def text(self, block: Block) -> str:
        """Return the source lines of a block, joined by newlines."""
        if block.end - block.start == 1:
            return self.lines[block.start]
        return "\n".join(self.lines[block.start : block.end])


def read_layout(body: str) -> Layout:
    """Read the block structure of a Markdown body (front matter already taken off).

    Args:
        body: any text; LF, CRLF and CR each end a line, as in CommonMark.

    Returns:
        its lines and leaf blocks.
    """
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    lines = body.split("\n")
    return Layout(lines, _Scanner(lines).run())


class _Scanner:
    """One pass over the lines, keeping the open containers and the open leaf block."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.containers: list[int] = []
        self.leaf: Kind | None = None
        self.start = 0
        self.code_end = 0
        self.fence = ""
        self.html_end: re.Pattern[str] | None = None
        self.empty_item = -1
        self.skip_to = 0

    def run(self) -> list[Block]:
        """Scan every line and return the leaf blocks."""
        plain = syntax.PLAIN_START.match
        for number, line in enumerate(self.lines):
            if number < self.skip_to:
                continue
            if not self.containers:
                if self.leaf == "fence":
                    if self.fence not in line:
                        continue
                elif self.leaf is None or self.leaf == "paragraph":
                    if not line:
                        self._close(number)
                        continue
                    if plain(line) and "|" not in line:
                        if self.leaf is None:
                            self._open("paragraph", number)
                        continue
            self._scan(number, line.expandtabs(4) if "\t" in line else line)
        self._close(len(self.lines))
        return self.blocks

    def _open(self, kind: Kind, number: int) -> None:
        self.leaf = kind
        self.start = number

    def _close(self, end: int, level: int = 0) -> None:
        if self.leaf is None:
            return
        if self.leaf == "code":
            end = self.code_end
        kind: Kind = "heading" if level else self.leaf
        self.blocks.append(Block(kind, self.start, end, level, len(self.containers)))
        self.leaf = None

    def _leave(self, number: int, keep: int) -> None:
        """Close the leaf, and the containers after the first `keep`."""
        self._close(number)
        del self.containers[keep:]

    def _emit(self, kind: Kind, start: int, end: int, level: int = 0) -> None:
        self.blocks.append(Block(kind, start, end, level, len(self.containers)))

    def _scan(self, number: int, text: str) -> None:
        pos, matched = self._match(self.containers, number, text)
        if matched < len(self.containers):
            if self.leaf != "paragraph":
                self._leave(number, matched)
        elif self.leaf in _VERBATIM:
            if self._continues(number, text, pos):
                return
            self._close(number)
        self._open_blocks(number, text, pos, matched)

    def _match(self, containers: list[int], number: int, text: str) -> tuple[int, int]:
        """Return where the content begins, and how many of the containers the line belongs to."""
        pos = 0
        last = len(containers) - 1
        for index, width in enumerate(containers):
            start = indent_end(text, pos)
            if start == len(text):
                if width == QUOTE or (index == last and self.empty_item == number - 1):
                    return pos, index
            elif width == QUOTE:
                if start - pos > 3 or text[start] != ">":
                    return pos, index
                pos = syntax.after_quote_mark(text, start)
            elif start - pos < width:
                return pos, index
            else:
                pos += width
        return pos, len(containers)

    def _continues(self, number: int, text: str, pos: int) -> bool:
        """Whether the line belongs to the open verbatim block, which it may end."""
        start = indent_end(text, pos)
        if self.leaf == "fence":
            tail = text[start:].rstrip(" ")
            if start - pos < 4 and tail.startswith(self.fence) and not tail.strip(self.fence[0]):
                self._close(number + 1)
            return True
        blank = start == len(text)
        if self.leaf == "code":
            inside = start - pos >= 4
            if inside and not blank:
                self.code_end = number + 1
            return inside or blank
        if self.html_end is None:
            return not blank
        if self.html_end.search(text, pos):
            self._close(number + 1)
        return True

    def _open_blocks(self, number: int, text: str, pos: int, matched: int) -> None:
        """Open the containers and the leaf that the rest of the line begins, or continue one."""
        while True:
            start = indent_end(text, pos)
            if start == len(text):
                self._leave(number, matched)
                return
            lazy = matched < len(self.containers)
            in_paragraph = self.leaf == "paragraph"
            if start - pos >= 4:
                if not in_paragraph:
                    self._leave(number, matched)
                    self._open("code", number)
                    self.code_end = number + 1
                return
            if syntax.PLAIN_START.match(text, start) and "|" not in text:
                if self.leaf is None:
                    self._leave(number, matched)
                    self._open("paragraph", number)
                return
            setext = in_paragraph and not lazy and syntax.SETEXT.match(text, start) is not None
            if "|" in text and self._table_begins(number, text, start, matched, lazy):
                self._leave(number, matched)
                self._open("table", number)
                self.skip_to = number + 2
                return
            opened = None
            if not setext and matched < _MAX_DEPTH:
                opened = syntax.container(text, pos, start, in_paragraph and not lazy)
            if opened is None:
                self._open_leaf(number, text, start, matched, setext)
                return
            width, pos = opened
            self._leave(number, matched)
            self.containers.append(width)
            matched += 1
            if width != QUOTE and indent_end(text, pos) == len(text):
                self.empty_item = number

    def _open_leaf(self, number: int, text: str, start: int, matched: int, setext: bool) -> None:
        first = text[start]
        if setext:
            self._close(number + 1, 1 if first == "=" else 2)
        elif first == "#" and (atx := syntax.ATX.match(text, start)):
            self._leave(number, matched)
            self._emit("heading", number, number + 1, len(atx.group()))
        elif first in "`~" and (fence := syntax.FENCE.match(text, start)):
            self._leave(number, matched)
            self._open("fence", number)
            self.fence = fence.group()
        elif first == "<" and self._html_begins(text, start):
            self._leave(number, matched)
            self._open("html", number)
            if self.html_end and self.html_end.search(text, start):
                self._close(number + 1)
        elif syntax.is_rule(text, start):
            self._leave(number, matched)
            self._emit("rule", number, number + 1)
        elif self.leaf is None:
            self._leave(number, matched)
            if first == "[" and (count := self._definition_lines(number, text, start)):
                self._emit("definition", number, number + count)
                self.skip_to = number + count
            else:
                self._open("paragraph", number)

    def _html_begins(self, text: str, start: int) -> bool:
        for opener, closer in syntax.HTML:
            if opener.match(text, start):
                self.html_end = closer
                return True
        self.html_end = None
        return self.leaf is None and syntax.HTML_LONE_TAG.match(text, start) is not None

    def _table_begins(self, number: int, text: str, start: int, matched: int, lazy: bool) -> bool:
        if self.leaf == "table" or (lazy and self.leaf == "paragraph"):
            return False
        if number + 1 >= len(self.lines):
            return False
        below = self.lines[number + 1].expandtabs(4)
        pos, depth = self._match(self.containers[:matched], number + 1, below)
        row = indent_end(below, pos)
        if depth < matched or row - pos >= 4 or not syntax.DELIMITER.match(below, row):
            return False
        return 0 < syntax.header_columns(text[start:]) == syntax.delimiter_columns(below[row:])

    def _definition_lines(self, number: int, text: str, start: int) -> int:
        """Return how many lines link reference definitions take from here; 0 if there is none."""
        following = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        simple = syntax.SIMPLE_DEFINITION.match(text, start)
        if simple and (simple.group(1) or not syntax.TITLE_START.search(following)):
            return 1
        if syntax.NO_DEFINITION.match(text, start):
            return 0
        chunk = [text[start:]]
        for ahead in range(number + 1, min(number + 8, len(self.lines))):
            line = self.lines[ahead].expandtabs(4)
            pos, _ = self._match(self.containers, ahead, line)
            if indent_end(line, pos) == len(line):
                break
            chunk.append(line[pos:])
        return syntax.leading_definitions("\n".join(chunk))
