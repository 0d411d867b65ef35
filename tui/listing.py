"""A list that holds only what was looked at: pages are fetched as the cursor comes near the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui import keys
from tui.asking import ask
from tui.desk import Desk
from tui.readers import whole

FIRST = 40
"""Items that are read before anything is drawn: more than most windows show."""

PAGE = 100
MOST = 1_000
"""So many items are read again at most; those after them are fetched as they are come to."""

NEAR = 20
"""So many items before the last one the next page is fetched."""


@dataclass(frozen=True)
class Item:
    """One thing in a list: what it is called, how it looks, and what it stands for."""

    key: str
    look: Content
    value: Any = None


@dataclass(frozen=True)
class Page:
    """Some items of a list, and where it goes on."""

    items: list[Item] = field(default_factory=list)
    total: int | None = None
    cursor: str | None = None
    note: str = ""


Reader = Callable[[Desk, str | None, int], Page]
"""Reads a page: from a cursor, so many items."""


class Listing(OptionList):
    """A list of items, read page by page; reading again keeps the cursor on its item."""

    class Read(Message):
        """A list was read, and shows it."""

        def __init__(self, listing: Listing) -> None:
            super().__init__()
            self.listing = listing

        @property
        def control(self) -> Listing:
            """The list."""
            return self.listing

    BINDINGS = keys.bindings("list")
    DEFAULT_CSS = """
    Listing { height: 1fr; border: round $panel; text-wrap: nowrap; text-overflow: ellipsis;
              scrollbar-size-horizontal: 0; }
    Listing:focus { border: round $primary; }
    """

    def __init__(
        self, reader: Reader | None = None, *, title: str = "", empty: str = "nothing here",
        id: str | None = None, auto_focus: bool = True, start_at: str | None = None, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(id=id, markup=False, **more)
        self.reader = reader
        self.border_title = title
        self.can_be_first = auto_focus
        self.empty = empty
        self._start_at = start_at
        self.values: dict[str, Any] = {}
        self._cursor: str | None = None
        self._loading_more = False

    def on_mount(self) -> None:
        """Read the first page."""
        if self.reader is not None:
            self.border_subtitle = "reading…"
            self.read_again()

    def show(self, reader: Reader) -> None:
        """Show another list, from its start."""
        self.reader = reader
        self.border_subtitle = "reading…"
        ask(self, lambda desk: reader(desk, None, FIRST), self._start_over)

    def read_again(self) -> None:
        """Read what is shown again; the cursor stays on its item, and the view where it is."""
        reader = self.reader
        if reader is None or (self.highlighted or 0) >= MOST:
            return  # so far down the cursor would lose its item
        wanted = min(MOST, max(FIRST, self.option_count))
        ask(self, lambda desk: whole(reader, desk, wanted), self._replace)

    @property
    def chosen(self) -> Any:
        """What the item under the cursor stands for; None where there is none."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self.values.get(option.id)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.scroll_to_highlight()
        self._fetch_in_time()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Fetch the next page in time, as the mouse moves what is shown without the cursor."""
        super().watch_scroll_y(old_value, new_value)
        self._fetch_in_time()

    def on_option_list_option_highlighted(self) -> None:
        """Fetch the next page in time."""
        self._fetch_in_time()

    def _fetch_in_time(self) -> None:
        if self._cursor is None or not self.is_on_screen:
            return
        lines = self.virtual_size.height / max(1, self.option_count)
        last_shown = (self.scroll_y + self.size.height) / max(1.0, lines)
        if max(last_shown, self.highlighted or 0) >= self.option_count - NEAR:
            self._read_more()

    def _read_more(self) -> None:
        reader, cursor = self.reader, self._cursor
        if self._loading_more or reader is None or cursor is None:
            return
        self._loading_more = True
        ask(self, lambda desk: reader(desk, cursor, PAGE), self._add, group="more")

    def _start_over(self, page: Page) -> None:
        self._fill(page)
        self.call_after_refresh(self._fetch_in_time)
        if page.items:
            self.highlighted = 0

    def _replace(self, page: Page) -> None:
        option = self.highlighted_option
        kept = option.id if option else self._start_at
        index, offset = self.highlighted or 0, self._row_of_cursor()
        if self._unchanged(page):
            self._note(page)
            self._fetch_in_time()
            return
        self._fill(page)
        self.call_after_refresh(self._fetch_in_time)
        if not page.items:
            return
        if kept is not None and kept in self.values:
            self.highlighted = self.get_option_index(kept)
        else:
            self.highlighted = min(index, self.option_count - 1)
        if offset is None and kept is not None:
            offset = self.size.height // 3
        if offset is not None:
            self._put_cursor_at(offset)
            self.call_after_refresh(self._put_cursor_at, offset)

    def _unchanged(self, page: Page) -> bool:
        if [i.key for i in page.items] != [o.id for o in self.options]:
            return False
        return all(i.look == o.prompt for i, o in zip(page.items, self.options, strict=True))

    def _fill(self, page: Page) -> None:
        self.values = {}
        self.clear_options()
        self._append(page)

    def _add(self, page: Page) -> None:
        self._append(page)
        self.call_after_refresh(self._fetch_in_time)

    def _append(self, page: Page) -> None:
        """Add items; a key that is there already, as of a record in two files, gets a number."""
        options = []
        for item in page.items:
            key, number = item.key, 1
            while key in self.values:
                number += 1
                key = f"{item.key} #{number}"
            self.values[key] = item.value
            options.append(Option(item.look, id=key))
        self.add_options(options)
        self._note(page)

    def _note(self, page: Page) -> None:
        self._cursor = page.cursor
        self._loading_more = False
        have, total = self.option_count, page.total
        count = f"{have:,} of {total:,}" if total is not None and total > have else f"{have:,}"
        if page.cursor and total is None:
            count += "+"
        nothing = "reading…" if page.cursor else self.empty
        self.border_subtitle = page.note or (count if have else nothing)
        self.post_message(self.Read(self))

    def _row_of_cursor(self) -> int | None:
        if self.highlighted is None:
            return None
        line = self._index_to_line.get(self.highlighted)
        return None if line is None else line - round(self.scroll_y)

    def _put_cursor_at(self, offset: int) -> None:
        line = self._index_to_line.get(self.highlighted or 0)
        if line is not None:
            self.scroll_to(y=max(0, line - offset), animate=False, force=True, immediate=True)
