"""A record's history: its revisions, and what the one under the cursor changed."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static

from tui import diff, keys, looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page, Reader

WIDE = 100
PER_PAGE = 20


class HistoryPart(Vertical):
    """The revisions above, the difference below."""

    BINDINGS = keys.bindings("history")
    DEFAULT_CSS = """
    HistoryPart #revisions { height: 2fr; min-height: 4; }
    HistoryPart #difference { height: 3fr; border: round $panel; padding: 0 1; }
    HistoryPart #difference:focus { border: round $primary; }
    HistoryPart #changed { text-wrap: nowrap; width: auto; min-width: 100%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sides: bool | None = None

    def compose(self) -> ComposeResult:
        """Lay out the list and the difference."""
        yield Listing(title="Revisions", empty="no revision", id="revisions")
        with VerticalScroll(id="difference") as scroll:
            scroll.border_title = "What it changed"
            scroll.border_subtitle = "d: in one or two columns"
            yield Static("", id="changed", markup=False)

    def action_toggle_sides(self) -> None:
        """Show the difference in two columns, or in one."""
        self._sides = not self._two_columns()
        self._draw(self.query_one(Listing).chosen)

    @on(OptionList.OptionHighlighted, "#revisions")
    def _changed(self) -> None:
        self._draw(self.query_one(Listing).chosen)

    @on(OptionList.OptionSelected, "#revisions")
    def _to_the_difference(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one("#difference").focus()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw(self.query_one(Listing).chosen)

    def _two_columns(self) -> bool:
        return self.size.width >= WIDE if self._sides is None else self._sides

    def _draw(self, revision: dict[str, Any] | None) -> None:
        shown = self.query_one("#changed", Static)
        if revision is None:
            shown.update("")
        elif not revision["diff"]:
            shown.update("(the bytes of this revision or of the one before are not kept)")
        elif self._two_columns():
            shown.update(diff.sides(revision["diff"], max(40, self.size.width - 8)))
        else:
            shown.update(diff.unified(revision["diff"]))


def revisions(record_id: str) -> Reader:
    """Return what reads a record's revisions, each with what it changed."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        found = desk.call(
            "knowledge_history", id=record_id, diff=True, cursor=cursor,
            limit=min(limit, PER_PAGE),
        )  # fmt: skip
        items = [
            Item(f"revision-{r['revision']}", looks.revision(r), r) for r in found["revisions"]
        ]
        return Page(items, found["total"], found["nextCursor"])

    return read
