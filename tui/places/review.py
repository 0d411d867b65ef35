"""Review: the queue of what only a person decides."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult

from tui import looks
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToConflict, ToFinding, ToPair
from tui.places.base import PlaceView
from vault_kg.errors import VaultError

GUARDED = ("guard_contradicted", "lifecycle_edited")


def read_queue(desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG001 - a reader
    """Read everything that waits for a person: conflicts, contradicted guards, merge candidates."""
    waiting = desk.call("knowledge_conflicts")["conflicts"]
    files = desk.call("knowledge_diagnostics", section="files", limit=1000)
    merges = desk.call("knowledge_diagnostics", section="merges")
    items = [
        Item(f"conflict-{c['id']}", looks.conflict(c), ToConflict(c["id"])) for c in waiting
    ] + [
        Item(f"guard-{f['path']}-{f['line']}-{n}", looks.finding(f), ToFinding(f))
        for n, f in enumerate(files["findings"])
        if f["code"] in GUARDED
    ]
    names: dict[str, str] = {}
    for found in merges["mergeCandidates"][:limit]:
        pair = found | {"titles": [_title(desk, names, found[k]) for k in ("first", "second")]}
        key = f"pair-{found['first']}-{found['second']}"
        items.append(Item(key, looks.candidate(pair), ToPair(pair)))
    return Page(items, len(items))


def _title(desk: Desk, names: dict[str, str], record_id: str) -> str:
    if record_id not in names:
        try:
            view: dict[str, Any] = desk.call("knowledge_get", id=record_id, bodyLimit=1)
        except VaultError:
            view = {"title": record_id}
        names[record_id] = view["title"]
    return names[record_id]


class Review(PlaceView):
    """The whole queue."""

    def compose(self) -> ComposeResult:
        """Lay out the queue."""
        yield Listing(read_queue, title="Waits for you", empty="nothing waits for you", id="queue")
