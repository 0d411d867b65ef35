"""What is left to do beside the queue: records left unresolved, graphs in debt, the next chore."""

from __future__ import annotations

from typing import Any

from tui import work
from tui.desk import Desk
from tui.listing import Item, Page
from tui.opening import ToChore, ToDebt, ToRecord
from tui.plain import content
from tui.readers import in_turn

MOST = 30
"""So many unresolved records are looked into; the count is of all."""

REPAIRABLE = ("reference_missing", "reference_ineligible", "merge_chain")
"""Reasons that somebody's change left behind; what is over by its own date needs no repair."""


def _unresolved(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    found = desk.call("knowledge_browse", lifecycle="unresolved", limit=MOST)
    whys = [_why(desk, record) for record in found["records"]]
    items = [
        Item(f"unresolved-{record['id']}", work.unresolved(record, why), ToRecord(record["id"]))
        for record, why in zip(found["records"], whys, strict=True)
        if why is not None
    ]
    rest = found["total"] - len(found["records"])
    if rest:
        more = content(f"… {rest:,} more; `z` in Browse lists them", "dim")
        items.append(Item("unresolved-more", more))
    return Page(items)


def _why(desk: Desk, record: dict[str, Any]) -> str | None:
    """Return why a record is unresolved, where that can be repaired; titles stand for ids."""
    view = desk.tried("knowledge_get", id=record["id"], followMerges=False, bodyLimit=1)
    for reason in view["reasons"] if view else ():
        if reason["code"] in REPAIRABLE:
            gone = desk.tried("knowledge_get", id=reason["record"], followMerges=False, bodyLimit=1)
            said: str = reason["message"]
            return said.replace(reason["record"], f"“{gone['title']}”") if gone else said
    return None


def _owed(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    """Read the graphs in debt, and the next chore where it could be done now or something is owed."""
    found = desk.tried("maintain_status")
    items = [
        Item(f"debt-{graph['partition']}", work.debt(graph), ToDebt(graph))
        for graph in (found["graphs"] if found else ())
        if graph["verdict"] != "LOW"
    ]
    chore = desk.tried("maintain_chore")
    if chore and chore["kind"] is not None and (items or not chore["gate"]):
        items.append(Item("chore", work.chore(chore), ToChore(chore)))
    return Page(items)


read_upkeep = in_turn(_unresolved, _owed)
"""Reads what stands on something gone, what is owed, and what an agent could do next."""
