"""Issues: what to mend with file and line, and below it the journal with its state in Git."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult

from tui import editor, keys, looks
from tui.asking import ask, tell
from tui.desk import Desk
from tui.listing import Item, Listing, Page, Reader
from tui.opening import ToFinding
from tui.places.base import PlaceView
from tui.places.recent import read_feed
from tui.plain import plural
from tui.readers import in_turn

SECTIONS = ("vocabulary", "conflicts", "files", "duplicates", "missing", "chains", "links")
"""What may be amiss, in the order in which it is shown; the last take longest to find."""


def _section(section: str) -> Reader:
    """Return what reads the findings of a section."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        found = desk.call("knowledge_diagnostics", section=section, cursor=cursor, limit=limit)
        start = f"{cursor or ''}"[-12:]
        items = [
            Item(f"{f['code']}-{f['path']}-{f['line']}-{start}{n}", looks.finding(f), ToFinding(f))
            for n, f in enumerate(found["findings"])
        ]
        return Page(items, found["total"], found["nextCursor"])

    return read


read_findings = in_turn(*(_section(section) for section in SECTIONS))
"""Reads everything that somebody should look at."""


class Issues(PlaceView):
    """What to mend, and what was done."""

    BINDINGS = keys.bindings("issues")
    DEFAULT_CSS = "Issues #findings { height: 3fr; } Issues #journal { height: 2fr; }"

    def compose(self) -> ComposeResult:
        """Lay out both lists."""
        yield Listing(read_findings, title="Issues", empty="nothing to mend", id="findings")
        yield Listing(read_feed, title="Journal", id="journal")

    def action_edit(self) -> None:
        """Open the file of the issue under the cursor."""
        finding = self._finding()
        if finding is not None and finding["path"]:
            editor.edit(self, finding["path"], finding["line"], self.refresh_place)

    def action_restore(self) -> None:
        """Bring the file of a missing record back."""
        finding = self._finding()
        if finding is None or finding["code"] != "missing":
            self.notify("Only a record whose file is missing can be restored.", severity="warning")
            return
        ask(
            self,
            lambda desk: desk.change("knowledge_restore", id=finding["record"]),
            lambda receipt: self._done(f"{receipt['path']} is back"),
            group="write",
        )

    def action_retry(self) -> None:
        """Try again to commit what waits for Git."""
        ask(self, _retry, self._done, group="write")

    def _finding(self) -> dict[str, Any] | None:
        chosen = self.query_one("#findings", Listing).chosen
        return chosen.finding if isinstance(chosen, ToFinding) else None

    def _done(self, said: str) -> None:
        tell(self, said)
        self.refresh_place()


def _retry(desk: Desk) -> str:
    """Resume the newest entry that waits: the whole queue goes to Git with it."""
    if not desk.call("knowledge_status")["git"]["pending"]:
        return "Nothing waits for Git."
    waiting = _waiting(desk)
    if waiting is not None:
        desk.call("knowledge_resume", requestId=waiting["requestId"])
    git = desk.call("knowledge_status")["git"]
    if git["pending"]:
        waits = "waits" if git["pending"] == 1 else "wait"
        return f"{plural(git['pending'], 'change')} still {waits}: {git['reason']}"
    return "Everything is in Git."


def _waiting(desk: Desk) -> dict[str, Any] | None:
    found = desk.call("knowledge_activity", limit=200)["entries"]
    return next((e for e in found if e["git"]["state"] != "committed"), None)
