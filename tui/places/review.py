"""Review: the queue of what only a person decides."""

from __future__ import annotations

from textual.app import ComposeResult

from tui import keys, looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToConflict, ToFinding, ToPair
from tui.places.base import PlaceView
from tui.places.upkeep import read_upkeep
from tui.readers import in_turn

GUARDED = ("guard_contradicted", "lifecycle_edited")

MOST_PAIRS = 1_000
"""So many pages that may be one are shown; the rest follow as these are decided."""


def _conflicts(desk: Desk, cursor: str | None, limit: int) -> Page:
    found = desk.call("knowledge_conflicts", limit=limit, cursor=cursor)
    waiting = found["conflicts"]
    items = [Item(f"conflict-{c['id']}", looks.conflict(c), ToConflict(c["id"])) for c in waiting]
    return Page(items, found["total"], found["nextCursor"])


def _contradictions(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    files = desk.call("knowledge_diagnostics", section="files", limit=1000)
    items = [
        Item(f"guard-{f['path']}-{f['line']}-{n}", looks.finding(f), ToFinding(f))
        for n, f in enumerate(files["findings"])
        if f["code"] in GUARDED
    ]
    return Page(items)


def _pairs(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    merges = desk.call("knowledge_diagnostics", section="merges")
    names: dict[str, str] = {}
    items = []
    for found in merges["mergeCandidates"][:MOST_PAIRS]:
        pair = found | {"titles": [_title(desk, names, found[k]) for k in ("first", "second")]}
        key = f"pair-{found['first']}-{found['second']}"
        items.append(Item(key, looks.candidate(pair), ToPair(pair)))
    return Page(items)


read_queue = in_turn(_conflicts, _contradictions, _pairs)
"""Reads everything that waits for a person: conflicts, contradicted guards, merge candidates."""


def _title(desk: Desk, names: dict[str, str], record_id: str) -> str:
    if record_id not in names:
        view = desk.tried("knowledge_get", id=record_id, bodyLimit=1)
        names[record_id] = view["title"] if view else record_id
    return names[record_id]


class Review(PlaceView):
    """The whole queue, and below it what is left to repair and to maintain."""

    BINDINGS = keys.bindings("lists")
    DEFAULT_CSS = "Review #queue { height: 3fr; } Review #upkeep { height: 2fr; }"

    def compose(self) -> ComposeResult:
        """Lay out both lists."""
        yield Listing(read_queue, title="Waits for you", empty="nothing waits for you", id="queue")
        yield Listing(
            read_upkeep, title="Left to repair", empty="nothing is left to repair", id="upkeep"
        )
