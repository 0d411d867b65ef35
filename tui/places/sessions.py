"""Sessions: consolidations that are open, and below them those that were committed."""

from __future__ import annotations

from textual.app import ComposeResult

from tui import keys, work
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToSession
from tui.places.base import PlaceView


def read_open(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    """Read the sessions that can still be committed, the latest first."""
    found = desk.call("kg_sessions", limit=1_000)["sessions"]
    items = [Item(s["session_id"], work.open_session(s), ToSession(s["session_id"])) for s in found]
    return Page(items, len(items))


def read_committed(desk: Desk, cursor: str | None, limit: int) -> Page:
    """Read the sessions that were committed, newest first."""
    found = desk.call("kg_audit", cursor=cursor, limit=limit)
    items = [
        Item(f"commit-{row['audit_row_id']}", work.committed_session(row),
             ToSession(row["session_id"]) if row["session_id"] else None)
        for row in found["rows"]
    ]  # fmt: skip
    return Page(items, found["total"], found["next_cursor"])


class Sessions(PlaceView):
    """The open ones above, the committed ones below."""

    BINDINGS = keys.bindings("lists")
    is_live = True
    DEFAULT_CSS = """
    Sessions #open { height: auto; min-height: 4; max-height: 50%; }
    """

    def compose(self) -> ComposeResult:
        """Lay out both lists."""
        yield Listing(read_open, title="Open sessions", empty="no session is open", id="open")
        yield Listing(
            read_committed, title="Committed", empty="nothing was consolidated yet", id="committed"
        )
