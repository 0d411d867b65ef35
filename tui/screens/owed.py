"""Pages of what is owed: a graph's debt with the pages behind it, and a chore with its prompt."""

from __future__ import annotations

from typing import Any

from textual.content import Content
from textual.widgets import Static

from tui.asking import ask
from tui.listing import Item, Listing
from tui.opening import ToRecord
from tui.plain import content, joined, one
from tui.screens.facts import FactsScreen, facts

MOST = 30
"""So many pages behind each factor are named."""


class DebtScreen(FactsScreen):
    """A graph's debt: what it comes from, and the pages behind it, which take a moment to find."""

    def __init__(self, graph: dict[str, Any]) -> None:
        title = joined(content(f"Debt {graph['verdict']}", "bold"), one(graph["partition"]))
        super().__init__(title, _debt(graph), [], None)
        self._partition = graph["partition"]

    def on_mount(self) -> None:
        """Read the pages behind the debt."""
        super().on_mount()
        self.query_one(Listing).border_subtitle = "reading…"
        self.refresh_place()

    def refresh_place(self) -> None:
        """Read again what is shown."""
        ask(
            self,
            lambda desk: desk.call(
                "maintain_status", partition=self._partition, targets=True, limit=MOST
            ),
            self._show,
        )

    def _show(self, found: dict[str, Any]) -> None:
        for graph in found["graphs"]:
            self._items = [
                _page(f"{factor['factor']}-{n}", page, factor["factor"])
                for factor in graph["factors"]
                for n, page in enumerate(factor["pages"])
            ]
            self.query_one("#facts", Static).update(_debt(graph))
        self.query_one(Listing).read_again()


def _debt(graph: dict[str, Any]) -> Content:
    return facts(
        [
            ("health", graph["health_line"]),
            ("debt", graph["debt_line"]),
            *((f["factor"], f"{f['total']:,}") for f in graph["factors"]),
            ("to do", "an agent does a chore, or a maintenance pass; see docs/how-to/agents.md"),
        ]
    )


def chore_screen(chore: dict[str, Any]) -> FactsScreen:
    """Return the page of a chore."""
    said = facts([("waits", chore["gate"]), ("for an agent", chore["prompt"])])
    items = [_page(f"target-{n}", page, chore["kind"]) for n, page in enumerate(chore["targets"])]
    title = joined(content(f"Chore: {chore['kind']}", "bold"), one(chore["partition"]))
    return FactsScreen(title, said, items, None)


def _page(key: str, page: dict[str, Any], why: str) -> Item:
    look = joined(one(page["id"], "bold", 120), content(why, "dim"), one(page["what"], limit=200))
    return Item(key, look, ToRecord(page["record"]))
