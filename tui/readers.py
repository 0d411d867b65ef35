"""Readers of lists that are made of several: what is quick to read is shown before what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.desk import Desk
    from tui.listing import Page, Reader


def in_turn(*readers: Reader) -> Reader:
    """Return what reads several lists as one, each when the one before is at its end.

    Where a list ends its page ends too, however short: the next one may take long.
    """

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        number, _, inner = (cursor or "0:").partition(":")
        at = int(number)
        page = readers[at](desk, inner or None, limit)
        if page.cursor is not None:
            return replace(page, total=None, cursor=f"{at}:{page.cursor}")
        if at + 1 < len(readers):
            return replace(page, total=None, cursor=f"{at + 1}:")
        return replace(page, total=None)

    return read


def whole(reader: Reader, desk: Desk, wanted: int) -> Page:
    """Read so many items from the start, page by page where a page is shorter."""
    page = reader(desk, None, wanted)
    while page.cursor is not None and len(page.items) < wanted:
        more = reader(desk, page.cursor, wanted - len(page.items))
        page = replace(more, items=[*page.items, *more.items])
    return page
