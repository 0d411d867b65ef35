"""Sources: what was retained as evidence."""

from __future__ import annotations

from textual.app import ComposeResult

from tui import looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToSource
from tui.places.base import PlaceView


def read_sources(desk: Desk, cursor: str | None, limit: int) -> Page:
    """Read the sources by file name."""
    found = desk.call("knowledge_sources", cursor=cursor, limit=limit)
    items = [Item(s["id"], looks.source(s), ToSource(s["id"])) for s in found["sources"]]
    return Page(items, found["total"], found["nextCursor"])


class Sources(PlaceView):
    """The list of sources."""

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        yield Listing(read_sources, title="Sources", empty="no source is retained", id="sources")
