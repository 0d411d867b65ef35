"""Types: the vocabulary, with how often each is used and examples."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToType
from tui.places.base import PlaceView
from tui.plain import content, joined, line, one, plural, stacked


def read_types(desk: Desk, cursor: str | None, limit: int) -> Page:
    """Read the vocabulary; a cursor is an offset."""
    found = desk.call(
        "knowledge_ontology", view="definitions", includeRecords=True, limit=min(100, limit),
        offset=int(cursor or 0),
    )  # fmt: skip
    items = [Item(f"{t['kind']}-{t['name']}", _look(t), ToType(t)) for t in found["items"]]
    following = found["nextOffset"]
    return Page(items, found["total"], str(following) if following is not None else None)


def _look(value: dict[str, Any]) -> Content:
    first = joined(
        one(value["name"], "bold", 100),
        content(value["kind"], "dim"),
        content(plural(value.get("records", 0), "record")),
    )
    examples = ", ".join(line(e["title"], 40) for e in value.get("examples", ())[:4])
    return stacked(first, joined(Content(" "), content(examples, "dim")) if examples else "")


class Types(PlaceView):
    """The list of types."""

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        yield Listing(read_types, title="Types", id="types")
