"""Links and tags in Markdown: `[[wikilinks]]`, `![[embeds]]`, `[Markdown](links.md)` and `#tags`.

Code, HTML and comments never hold one. A Markdown link counts when it leads to a file or heading of
the vault; one with a scheme (`https:`, `mailto:`) leads elsewhere.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import unquote

from markdown_it.common.html_re import HTML_TAG_RE

from vault_kg.records.blocks import TEXT_KINDS, Layout, read_layout

if TYPE_CHECKING:
    from collections.abc import Iterator


class Link(NamedTuple):
    """A link as written: what it names, where in the target, how it is shown, and its line.

    `target` is a path, title or alias with its escapes decoded, "" for the text itself; `heading`
    and `block` are what follows `#` and `#^`. An embed is a link that begins with `!`.
    """

    kind: Literal["wikilink", "embed", "markdown"]
    target: str
    heading: str | None
    block: str | None
    alias: str | None
    line: int


class Tag(NamedTuple):
    """An inline tag, without its `#`, and its line."""

    name: str
    line: int


class References(NamedTuple):
    """Everything in a text that points elsewhere, in reading order."""

    links: list[Link]
    tags: list[Tag]


def extract_links(body: str, first_line: int = 1, *, layout: Layout | None = None) -> list[Link]:
    """Return the links of a Markdown body.

    Args:
        body: the text, front matter taken off.
        first_line: the line of the file on which the body begins.
        layout: the body's layout, where the caller has read it already.

    Returns:
        links that lead into the vault, in reading order; reference definitions among them.
    """
    return extract_references(body, first_line, layout=layout).links


def extract_references(
    body: str, first_line: int = 1, *, layout: Layout | None = None
) -> References:
    """Return the links and the tags of a Markdown body, read in one pass.

    Args:
        body: the text, front matter taken off.
        first_line: the line of the file on which the body begins.
        layout: the body's layout, where the caller has read it already.

    Returns:
        both, each in reading order.
    """
    found = References([], [])
    if "[" not in body and "#" not in body:
        return found
    layout = layout or read_layout(body)
    defined = _defined_labels(layout)
    for block in layout.blocks:
        if block.kind in TEXT_KINDS:
            text = layout.text(block)
            if "](" in text or "[[" in text or "#" in text:
                _Inline(text, first_line + block.start, defined, found).read()
        elif block.kind == "definition":
            _read_definition(layout.text(block), first_line + block.start, found)
    return found


_MARK: Final = re.compile(r"[\\`<\[\]#]")
_CODE_RUN: Final = re.compile(r"`+")
_AUTOLINK: Final = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>")
_WIKILINK: Final = re.compile(r"\[\[((?:[^\[\]\n]|\[(?!\[)|\](?!\]))+)\]\]")
_TAG: Final = re.compile(
    "#([^\\s!-,.:-@\\[-^`{-\x7f\u00a1-\u00bf\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u3004"
    "\u3008-\u3020\u3030\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+)"
)
_TAG_BEFORE: Final = re.compile(r"""[\s(\[{"'*_~|>,;“‘«（［｛「『【《〈，。、；：！？]""")
_NUMBER: Final = re.compile(r"[\d/\-]*")
_BRACKETED: Final = re.compile(r"<((?:[^<>\n\\]|\\.)*+)>")
_SIMPLE_DESTINATION: Final = re.compile(r"([^\s()\\<]++)\)")
_CLOSE: Final = re.compile(
    r"""(?:\s++(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))?+)?+\s*+\)""",
    re.DOTALL,
)
"""What may follow a destination: a title, and the parenthesis that ends the link."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEFINITION: Final = re.compile(
    r"[ >*+\-\d.)\t]*\[((?:[^\[\]\\]|\\.)+)\]:\s*(?:<((?:[^<>\n\\]|\\.)*)>|(\S+))", re.DOTALL
)


class _Opener(NamedTuple):
    """A bracket that is open, and how many tags were found before it."""

    pos: int
    embed: bool
    tags: int


class _Inline:
    """One block of inline text, read from left to right.

    Brackets are matched as CommonMark does: a link may hold an image but no other link, and code
    binds tighter than both.
    """

    def __init__(self, text: str, line: int, defined: frozenset[str], found: References) -> None:
        self.text = text
        self.defined = defined
        self.found = found
        self.openers: list[_Opener] = []
        self.code_runs: dict[int, list[int]] | None = None
        self.comments_end = True
        self.counted = 0
        self.line = line

    def read(self) -> None:
        """Add the block's links and tags to what was found."""
        text = self.text
        pos = 0
        while mark := _MARK.search(text, pos):
            start = mark.start()
            match text[start]:
                case "\\":
                    pos = start + 2
                case "`":
                    pos = self._after_code(start)
                case "<":
                    pos = self._after_html(start)
                case "[":
                    pos = self._open(start)
                case "]":
                    pos = self._close(start)
                case _:
                    pos = self._after_tag(start)

    def _line(self, pos: int) -> int:
        if pos >= self.counted:
            self.line += self.text.count("\n", self.counted, pos)
        else:
            self.line -= self.text.count("\n", pos, self.counted)
        self.counted = pos
        return self.line

    def _after_code(self, start: int) -> int:
        """Return the end of the code span at `start`, or of the backticks that open none."""
        if self.code_runs is None:
            self.code_runs = {}
            for run in _CODE_RUN.finditer(self.text):
                self.code_runs.setdefault(run.end() - run.start(), []).append(run.start())
        length = start
        while self.text.startswith("`", length):
            length += 1
        length -= start
        same = self.code_runs.get(length, [])
        index = bisect_right(same, start)
        return (same[index] if index < len(same) else start) + length

    def _after_html(self, start: int) -> int:
        if self.text.startswith("<!--", start):
            end = self.text.find("-->", start + 2) if self.comments_end else -1
            self.comments_end = end >= 0
            return end + 3 if end >= 0 else start + 4
        tag = _AUTOLINK.match(self.text, start) or HTML_TAG_RE.match(self.text, start)
        return tag.end() if tag else start + 1

    def _open(self, start: int) -> int:
        before = self.text[max(start - 2, 0) : start]
        embed = before.endswith("!") and before != "\\!"
        wikilink = _WIKILINK.match(self.text, start) if self.text.startswith("[[", start) else None
        if wikilink is None or self._is_bracketed_text(wikilink):
            self.openers.append(_Opener(start, embed, len(self.found.tags)))
            return start + 1
        self._add_wikilink(wikilink.group(1), embed=embed, pos=start)
        return wikilink.end()

    def _is_bracketed_text(self, wikilink: re.Match[str]) -> bool:
        """Whether `[[1]](url)` or `[[1]]` with a definition of `[1]` is a Markdown link's text."""
        end = wikilink.end()
        if self.text.startswith("(", end) and self._destination(end + 1):
            return True
        return _label(wikilink.group(1)) in self.defined

    def _add_wikilink(self, inner: str, *, embed: bool, pos: int) -> None:
        name, _, alias = inner.replace("\\|", "|").partition("|")
        target, _, fragment = name.partition("#")
        target = target.strip()
        heading, block = _split_fragment(fragment)
        if target or heading or block:
            kind: Literal["embed", "wikilink"] = "embed" if embed else "wikilink"
            link = Link(kind, target, heading, block, alias.strip() or None, self._line(pos))
            self.found.links.append(link)

    def _close(self, start: int) -> int:
        """Pair the bracket at `start`; with a destination after it, the pair is a link."""
        if not self.openers:
            return start + 1
        opener = self.openers.pop()
        found = self._destination(start + 2) if self.text.startswith("(", start + 1) else None
        if found is None:
            return start + 1
        destination, end = found
        alias = " ".join(self.text[opener.pos + 1 : start].split())
        line = self._line(opener.pos)
        _add_markdown(destination, alias, line, self.found.links, embed=opener.embed)
        del self.found.tags[opener.tags :]
        if not opener.embed:
            self.openers = [outer for outer in self.openers if outer.embed]
        return end

    def _destination(self, start: int) -> tuple[str, int] | None:
        """Return the destination that begins at `start`, and the end of its link."""
        pos = start
        while self.text.startswith((" ", "\t", "\n"), pos):
            pos += 1
        if bracketed := _BRACKETED.match(self.text, pos):
            destination, pos = bracketed.group(1), bracketed.end()
        elif simple := _SIMPLE_DESTINATION.match(self.text, pos):
            return simple.group(1), simple.end()
        else:
            begin, pos = pos, _balanced_end(self.text, pos)
            destination = self.text[begin:pos]
        close = _CLOSE.match(self.text, pos)
        return (destination, close.end()) if close else None

    def _after_tag(self, start: int) -> int:
        tag = _TAG.match(self.text, start)
        if tag is None:
            return start + 1
        if start == 0 or _TAG_BEFORE.match(self.text, start - 1):
            name = tag.group(1).rstrip("/")
            if not _NUMBER.fullmatch(name):
                self.found.tags.append(Tag(name, self._line(start)))
        return tag.end()


def _balanced_end(text: str, pos: int) -> int:
    """Return the end of a bare destination, whose parentheses pair to at most 8 levels."""
    depth = 0
    while pos < len(text) and text[pos] > " " and depth <= 8:
        if text[pos] == "\\":
            pos += 1
        elif text[pos] == "(":
            depth += 1
        elif text[pos] == ")":
            if depth == 0:
                break
            depth -= 1
        pos += 1
    return min(pos, len(text))


def _add_markdown(
    destination: str, alias: str, line: int, links: list[Link], *, embed: bool
) -> None:
    destination = html.unescape(_ESCAPE.sub(r"\1", destination))
    if _SCHEME.match(destination):
        return
    path, _, fragment = destination.partition("#")
    heading, block = _split_fragment(_decode(fragment))
    target = _decode(path).strip()
    if target or heading or block:
        kind: Literal["embed", "markdown"] = "embed" if embed else "markdown"
        links.append(Link(kind, target, heading, block, alias or None, line))


def _split_fragment(fragment: str) -> tuple[str | None, str | None]:
    """Return the heading and the block that the part after `#` names."""
    fragment = fragment.strip()
    if fragment.startswith("^"):
        return None, fragment[1:].strip() or None
    return fragment or None, None


def _decode(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _definitions(layout: Layout) -> Iterator[re.Match[str]]:
    for block in layout.blocks:
        if block.kind == "definition" and (match := _DEFINITION.match(layout.text(block))):
            yield match


def _defined_labels(layout: Layout) -> frozenset[str]:
    return frozenset(_label(match.group(1)) for match in _definitions(layout))


def _read_definition(text: str, line: int, found: References) -> None:
    match = _DEFINITION.match(text)
    if match and not match.group(1).startswith("^"):
        label, bracketed, bare = match.groups()
        _add_markdown(bracketed if bare is None else bare, label, line, found.links, embed=False)
