"""A list that holds only what was looked at: pages are fetched as the cursor comes near the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui import keys
from tui.asking import ask
from tui.desk import Desk

PAGE = 100
MOST = 1_000
NEAR = 20


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
        ask(self, lambda desk: reader(desk, None, PAGE), self._start_over)

    def read_again(self) -> None:
        """Read what is shown again; the cursor stays on its item, and the view where it is."""
        reader = self.reader
        if reader is None:
            return
        wanted = min(MOST, max(PAGE, self.option_count))
        ask(self, lambda desk: reader(desk, None, wanted), self._replace)

    @property
    def chosen(self) -> Any:
        """What the item under the cursor stands for; None where there is none."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self.values.get(option.id)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.scroll_to_highlight()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Fetch the next page in time."""
        if self._cursor and event.option_index >= self.option_count - NEAR:
            self._read_more()

    def _read_more(self) -> None:
        reader, cursor = self.reader, self._cursor
        if self._loading_more or reader is None or cursor is None:
            return
        self._loading_more = True
        ask(self, lambda desk: reader(desk, cursor, PAGE), self._add, group="more")

    def _start_over(self, page: Page) -> None:
        self._fill(page)
        if page.items:
            self.highlighted = 0

    def _replace(self, page: Page) -> None:
        option = self.highlighted_option
        kept = option.id if option else self._start_at
        index, offset = self.highlighted or 0, self._row_of_cursor()
        if self._unchanged(page):
            self._note(page)
            return
        self._fill(page)
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
        self.border_subtitle = page.note or (count if have else self.empty)

    def _row_of_cursor(self) -> int | None:
        if self.highlighted is None:
            return None
        line = self._index_to_line.get(self.highlighted)
        return None if line is None else line - round(self.scroll_y)

    def _put_cursor_at(self, offset: int) -> None:
        line = self._index_to_line.get(self.highlighted or 0)
        if line is not None:
            self.scroll_to(y=max(0, line - offset), animate=False, force=True, immediate=True)
