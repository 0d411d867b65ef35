"""Search: hits as you type, each with its passage and why it was found."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tui import keys, looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page, Reader
from tui.opening import ToRecord
from tui.places.base import PlaceView
from tui.plain import line, plural

TITLES = "titles:"
"""How the cursor of a list of titles begins, where there are no hits."""

PAUSE = 0.15
"""Seconds without a key before a search begins."""


def reader(query: str, lifecycle: str) -> Reader:
    """Return what reads the hits of a query."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        if not query.strip():
            return Page(note='type words, "a phrase", -without, tag:x or type:x')
        if cursor is not None and cursor.startswith(TITLES):
            return _titles(desk, query, cursor.removeprefix(TITLES), limit)
        found = desk.call(
            "knowledge_search", query=query, asTyped=True, lifecycle=lifecycle, cursor=cursor,
            limit=min(limit, 100),
        )  # fmt: skip
        items = [
            Item(f"hit-{h['id']}-{h['lines']}", looks.hit(h), ToRecord(h["id"]))
            for h in found["hits"]
        ]
        semantic = found["semantic"]
        note = plural(found["total"], "hit")
        if semantic["state"] != "ready" or not semantic["ready"]:
            note += f", by words only ({line(semantic['reason'] or semantic['state'], 60)})"
        if not items:
            return _titles(desk, query, None, limit)
        return Page(items, found["total"], found["nextCursor"], note)

    return read


def _titles(desk: Desk, query: str, cursor: str | None, limit: int) -> Page:
    """Read the records whose title or path holds what was typed, as a letter or two do."""
    found = desk.call("knowledge_browse", text=query.strip(), cursor=cursor, limit=limit)
    items = [
        Item(f"{r['id']}-{r['path']}", looks.record(r), ToRecord(r["id"])) for r in found["records"]
    ]
    note = f"no hits; {plural(found['total'], 'title')} with it" if items else "no hits"
    following = found["nextCursor"]
    return Page(items, found["total"], following and TITLES + following, note)


class Words(Input):
    """Where the query is typed."""

    BINDINGS = keys.bindings("search", priority=True)

    def action_leave(self) -> None:
        """Go to the hits."""
        self.screen.set_focus(self.screen.query_one("#hits"))

    def action_enter_hits(self) -> None:
        """Go to the hits; where there are none there is only to type on."""
        if self.screen.query_one("#hits", Listing).option_count:
            self.action_leave()

    def action_historical(self) -> None:
        """Search history too, or what is current only."""
        self.query_ancestor(Search).toggle_history()


class Search(PlaceView):
    """A query and its hits."""

    DEFAULT_CSS = "Search Words { margin: 0 1; background: $surface; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lifecycle = "current"
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the words and the hits."""
        yield Words(placeholder="search words and meaning", id="words",
                    select_on_focus=False, compact=True)  # fmt: skip
        yield Listing(reader("", "current"), title="Hits", id="hits")

    def first_focus(self) -> Widget | None:
        """Return the words."""
        return self.query_one(Words)

    def toggle_history(self) -> None:
        """Search history too, or what is current only."""
        self._lifecycle = "historical" if self._lifecycle == "current" else "current"
        listing = self.query_one(Listing)
        listing.border_title = "Hits" if self._lifecycle == "current" else "Hits, history too"
        self._search()

    @on(Input.Changed, "#words")
    def _wait_for_more(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._search)

    def _search(self) -> None:
        query = self.query_one(Words).value
        self.query_one(Listing).show(reader(query, self._lifecycle))
