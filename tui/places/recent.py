"""Recent: what was accepted lately, and above it what waits for a person."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from tui import keys, looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToEntry
from tui.places.base import PlaceView
from tui.places.review import read_queue


def read_feed(desk: Desk, cursor: str | None, limit: int) -> Page:
    """Read the journal, newest first."""
    found = desk.call("knowledge_activity", cursor=cursor, limit=limit)
    items = [Item(f"entry-{e['seq']}", looks.entry(e), ToEntry(e)) for e in found["entries"]]
    return Page(items, None, found["nextCursor"])


class Recent(PlaceView):
    """The feed, with the queue above it while something waits."""

    BINDINGS = keys.bindings("lists")
    DEFAULT_CSS = """
    Recent #waiting { height: auto; min-height: 3; max-height: 45%; }
    """

    def compose(self) -> ComposeResult:
        """Lay out the queue and the feed."""
        yield Listing(
            title="Waits for you", empty="nothing waits for you", id="waiting", auto_focus=False
        )
        yield Listing(read_feed, title="Recent", empty="nothing was written yet", id="feed")

    @on(Listing.Read, "#feed")
    def _read_queue(self) -> None:
        """Read the queue when the feed is there: to find what may be one takes a moment."""
        waiting = self.query_one("#waiting", Listing)
        if waiting.reader is None:
            waiting.show(read_queue)
