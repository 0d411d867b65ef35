"""A source: its original text with line numbers, and whether its bytes are those retained."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from tui.asking import ask
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.plain import content, joined, many, one, stacked
from tui.screens.base import Inner


class SourceScreen(Inner):
    """The lines of a source."""

    def __init__(self, source_id: str, lines: str | None = None) -> None:
        super().__init__()
        self._source = source_id
        first, _, last = (lines or "").partition("-")
        self._first = int(first) if first.isdigit() else 0
        self._last = int(last) if last.isdigit() else self._first

    def page(self) -> ComposeResult:
        """Lay out the lines."""
        yield Listing(self._read, title="Text", empty="no text", id="lines",
                      start_at=f"line-{self._first}")  # fmt: skip

    def on_mount(self) -> None:
        """Read what it is."""
        ask(self, lambda d: d.call("knowledge_source", id=self._source, maxChars=1), self._describe)
        self.query_one(Listing).focus()

    def _describe(self, source: dict[str, Any]) -> None:
        sound = "✓ bytes verified" if source["verified"] else "! bytes are not those retained"
        self.head(
            stacked(
                joined(one(source["filename"], "bold"), content(sound), one(source["id"], "dim")),
                joined(
                    one(source["mediaType"], "dim"),
                    content(f"{source['size']:,} bytes, {source['totalLines']:,} lines", "dim"),
                    one(source["attribution"] or ""),
                ),
            )
        )

    def _read(self, desk: Desk, cursor: str | None, limit: int) -> Page:
        start = int(cursor or 1)
        total = desk.call("knowledge_source", id=self._source, maxChars=1)["totalLines"]
        if not total:
            return Page()
        end = min(total, max(start + limit, self._last if cursor is None else 0))
        found = desk.call(
            "knowledge_source", id=self._source, lines=f"{start}-{end}", maxChars=1_000_000
        )
        texts = found["text"].split("\n")
        items = [Item(f"line-{start + n}", self._look(start + n, t)) for n, t in enumerate(texts)]
        following = start + len(texts)
        return Page(items, total, str(following) if following <= total else None)

    def _look(self, number: int, text: str) -> Content:
        cited = self._first <= number <= self._last
        mark = "▶" if cited else " "
        return joined(
            content(f"{mark}{number:>6}", "bold" if cited else "dim"),
            many(text, "bold" if cited else ""),
        )
