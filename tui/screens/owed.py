"""Pages of what is owed: a graph's debt with the pages behind it, and a chore with its prompt."""

from __future__ import annotations

from typing import Any

from tui.listing import Item
from tui.opening import ToRecord
from tui.plain import content, joined, one
from tui.screens.facts import FactsScreen, facts


def debt_screen(graph: dict[str, Any]) -> FactsScreen:
    """Return the page of a graph's debt."""
    said = facts(
        [
            ("health", graph["health_line"]),
            ("debt", graph["debt_line"]),
            *((f["factor"], f"{f['total']:,}") for f in graph["factors"]),
            ("to do", "an agent does a chore, or a maintenance pass; see docs/how-to/agents.md"),
        ]
    )
    items = [
        _page(f"{factor['factor']}-{n}", page, factor["factor"])
        for factor in graph["factors"]
        for n, page in enumerate(factor["pages"])
    ]
    title = joined(content(f"Debt {graph['verdict']}", "bold"), one(graph["partition"]))
    return FactsScreen(title, said, items, None)


def chore_screen(chore: dict[str, Any]) -> FactsScreen:
    """Return the page of a chore."""
    said = facts([("waits", chore["gate"]), ("for an agent", chore["prompt"])])
    items = [_page(f"target-{n}", page, chore["kind"]) for n, page in enumerate(chore["targets"])]
    title = joined(content(f"Chore: {chore['kind']}", "bold"), one(chore["partition"]))
    return FactsScreen(title, said, items, None)


def _page(key: str, page: dict[str, Any], why: str) -> Item:
    look = joined(one(page["id"], "bold", 120), content(why, "dim"), one(page["what"], limit=200))
    return Item(key, look, ToRecord(page["record"]))
