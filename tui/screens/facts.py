"""A page of plain facts with what they lead to: a journal entry, a finding, a type."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import editor, keys, looks
from tui.listing import Item, Listing, Page
from tui.opening import ToRecord
from tui.plain import content, joined, line, many, one, stacked, when
from tui.screens.base import Inner


class FactsScreen(Inner):
    """Facts above, and a list of the records that they are about."""

    DEFAULT_CSS = """
    FactsScreen VerticalScroll { height: auto; max-height: 60%; padding: 1; }
    """
    own_keys = "facts"
    BINDINGS = keys.bindings(own_keys)

    def __init__(
        self, title: Content, facts: Content, items: list[Item], at: tuple[str, int | None] | None
    ) -> None:
        super().__init__()
        self._heading, self._facts, self._items, self._at = title, facts, items, at

    def page(self) -> ComposeResult:
        """Lay out the facts and the list."""
        with VerticalScroll():
            yield Static(self._facts, id="facts", markup=False)
        yield Listing(lambda *_: Page(self._items, len(self._items)), title="Records", id="about")

    def on_mount(self) -> None:
        """Say where this is."""
        self.head(self._heading)
        self.query_one(Listing).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Offer the editor only where there is a file."""
        return self._at is not None if action == "edit" else True

    def action_edit(self) -> None:
        """Open the file."""
        if self._at is not None:
            editor.edit(self, self._at[0], self._at[1], self.refresh_place)


def facts(rows: list[tuple[str, Any]]) -> Content:
    """Return lines of name and value; values that are missing are left out."""
    width = max((len(name) for name, _ in rows), default=0) + 2
    return stacked(
        *(
            joined(content(f"{name:<{width}}", "bold"), many(value, limit=4_000), by="")
            for name, value in rows
            if value not in (None, "", [], {})
        )
    )


def entry_screen(entry: dict[str, Any]) -> FactsScreen:
    """Return the page of a journal entry."""
    git = entry["git"]
    said = facts(
        [
            ("entry", entry["seq"]),
            ("request", entry["requestId"]),
            ("operation", entry["operation"]),
            ("by", entry["actor"]),
            ("reason", entry["reason"]),
            ("state", entry["state"]),
            ("accepted", when(entry["acceptedAt"])),
            ("published", when(entry["publishedAt"])),
            ("Git", " ".join(v for v in (git["state"], git["commit"], git["reason"]) if v)),
            ("records", entry["touchedTotal"]),
        ]
    )
    items = [
        Item(
            f"{n}-{t['id']}",
            stacked(
                joined(one(t["path"], "bold"), content(f"revision {t['revision']}")),
                joined(content(f"  {t['kind']}", "dim"), one(t["id"], "dim")),
            ),
            ToRecord(t["id"]),
        )
        for n, t in enumerate(entry["touched"])
    ]
    title = joined(content(looks.done(entry["operation"]), "bold"), one(entry["label"] or ""))
    return FactsScreen(title, said, items, None)


def finding_screen(finding: dict[str, Any]) -> FactsScreen:
    """Return the page of something to mend."""
    said = facts(
        [
            ("what", finding["message"]),
            ("where", finding["path"]),
            ("line", finding["line"]),
            ("code", f"{finding['code']} ({finding['severity']})"),
            ("to do", finding["hint"]),
        ]
    )
    record = finding["record"]
    items = [Item(record, one(record, "bold"), ToRecord(record))] if record else []
    at = (finding["path"], finding["line"]) if finding["path"] else None
    title = joined(content(finding["code"], "bold"), one(finding["path"] or ""))
    return FactsScreen(title, said, items, at)


def type_screen(definition: dict[str, Any]) -> FactsScreen:
    """Return the page of a type, with examples of it."""
    hidden = ("examples", "recordsTruncated")
    said = facts([(k, _told(v)) for k, v in definition.items() if k not in hidden])
    items = [
        Item(e["id"], one(e["title"], "bold"), ToRecord(e["id"]))
        for e in definition.get("examples", ())
    ]
    title = joined(one(definition["name"], "bold"), content(definition["kind"], "dim"))
    return FactsScreen(title, said, items, None)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return "\n" + "\n".join(f"    {line(k)}: {_told(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(_told(v) for v in value)
    return line(value)
