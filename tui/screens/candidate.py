"""Two pages that may be one, side by side, with the reason for thinking so."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from tui import keys
from tui.asking import ask, tell
from tui.desk import Desk
from tui.opening import ToRecord, open_value
from tui.parts import describing
from tui.plain import content, joined, many, one, stacked
from tui.screens.base import Inner
from tui.screens.prompt import Prompt

SIDES = ("first", "second")


class CandidateScreen(Inner):
    """Both pages, and what can be done about them."""

    own_keys = "candidate"
    BINDINGS = keys.bindings(own_keys)
    DEFAULT_CSS = """
    CandidateScreen #pair { height: auto; }
    CandidateScreen .side { width: 1fr; height: auto; border: round $panel; padding: 0 1; }
    """

    def __init__(self, candidate: dict[str, Any]) -> None:
        super().__init__()
        self._candidate = candidate
        self._views: dict[str, dict[str, Any]] = {}

    def page(self) -> ComposeResult:
        """Lay out both sides."""
        with VerticalScroll(id="scroll"), Horizontal(id="pair"):
            for side in SIDES:
                with Vertical(classes="side", id=side):
                    yield Static("reading…", markup=False)

    def on_mount(self) -> None:
        """Read both pages."""
        found = self._candidate
        self.head(
            stacked(
                joined(content("May these be one thing?", "bold"), one(found["type"], "dim")),
                one(f"{found['strength']}: {found['reason']}"),
            )
        )
        self.query_one("#scroll").focus()
        self.refresh_place()

    def refresh_place(self) -> None:
        """Read both pages again."""
        ids = [self._candidate[side] for side in SIDES]
        ask(self, lambda d: [_read(d, i) for i in ids], self._show)

    def _show(self, views: list[dict[str, Any]]) -> None:
        self._views = dict(zip(SIDES, views, strict=True))
        for side, view in self._views.items():
            box = self.query_one(f"#{side}")
            box.border_title = one(view["title"], limit=60)
            box.query_one(Static).update(
                stacked(
                    describing.head(view), describing.stated(view, {}), " ",
                    many(view["body"], limit=4_000),
                )
            )  # fmt: skip

    def action_open_page(self, side: str) -> None:
        """Open one of the pages."""
        open_value(self, ToRecord(self._candidate[side]))

    def action_decline(self) -> None:
        """Ask why, and remember that they are two."""
        first, second = (self._candidate[side] for side in SIDES)

        def decline(reason: str | None) -> None:
            if reason:
                ask(
                    self,
                    lambda d: d.call(
                        "knowledge_decline_merge", first=first, second=second, reason=reason
                    ),
                    self._declined,
                    group="write",
                )

        question = "They stay two pages, and are not proposed to be merged again."
        self.app.push_screen(Prompt("Not one thing", question, placeholder="why"), decline)

    def _declined(self, _: dict[str, Any]) -> None:
        tell(self, "They are not proposed again.", "Declined")
        self.dismiss()

    def action_merge(self, survivor: str) -> None:
        """Compose a merge for an agent."""
        from tui.screens.request import RequestScreen

        if self._views:
            other = SIDES[1 - SIDES.index(survivor)]
            self.app.push_screen(RequestScreen("merge", self._views[survivor], self._views[other]))


def _read(desk: Desk, record_id: str) -> dict[str, Any]:
    return desk.call("knowledge_get", id=record_id, bodyLimit=4_000)
