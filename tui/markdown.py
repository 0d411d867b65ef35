"""Markdown of records, drawn: links lead to records, HTML and hidden characters are text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from textual.widgets import Markdown

from tui.plain import block, reveal

SCHEME = "vault:"
MAX_BODY = 30_000


class _Parser(MarkdownIt):
    """Reveals what the text of a token hides, entities among it, before anything is drawn."""

    def parse(self, src: str, env: Any = None) -> list[Token]:
        """Return the tokens of a text."""
        tokens = super().parse(src, env)
        _reveal(tokens)
        return tokens


def parser() -> MarkdownIt:
    """Return the parser: tables and strikethrough, no HTML, wikilinks as links to records."""
    made = _Parser("gfm-like", {"html": False, "linkify": False})
    made.inline.ruler.before("link", "wikilink", _wikilink)
    return made


class RecordMarkdown(Markdown):
    """A record's body; a link says where it leads and opens nothing outside."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, parser_factory=parser, open_links=False)

    def show(self, body: str) -> None:
        """Show a body; what is too long is cut and says so."""
        self.update(block(body, MAX_BODY))


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Make `[[Target|words]]` a link to a record."""
    if not state.src.startswith("[[", state.pos):
        return False
    end = state.src.find("]]", state.pos + 2, state.posMax)
    inner = state.src[state.pos + 2 : end]
    if end < 0 or not inner.strip() or "\n" in inner or "[" in inner:
        return False
    if not silent:
        target, _, words = inner.partition("|")
        opened = state.push("link_open", "a", 1)
        opened.attrs = {"href": SCHEME + target.partition("#")[0].strip()}
        state.push("text", "", 0).content = words.strip() or target.strip()
        state.push("link_close", "a", -1)
    state.pos = end + 2
    return True


def _reveal(tokens: Sequence[Token]) -> None:
    for token in tokens:
        token.content = reveal(token.content)
        if token.children:
            _reveal(token.children)
