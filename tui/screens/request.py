"""Handing a change over to an agent: its impact first, then the exact request to copy and keep."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Static, TextArea

from tui import keys, requests
from tui.asking import ask, tell
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToRecord
from tui.plain import content, joined, line, many, one, plural, stacked
from tui.screens.base import Inner

DOES = {
    "correct": "It is replaced by what you write; the original stays in history, superseded.",
    "withdraw": "It leaves every default read for good, and so does what stands on it.",
    "merge": "The absorbed page stays on disk; every reference to it then means the survivor.",
}


class RequestScreen(Inner):
    """A request about a record: what it does, what stands on the record, and why it is asked.

    Args:
        operation: `correct`, `withdraw` or `merge`.
        view: the record as it was looked at; the survivor of a merge.
        other: the page that a merge absorbs; asked for where left out.
    """

    own_keys = "request"
    BINDINGS = keys.bindings(own_keys)
    DEFAULT_CSS = """
    RequestScreen #impact { height: auto; min-height: 3; max-height: 8; }
    RequestScreen #form { height: 1fr; padding: 0 1; }
    RequestScreen TextArea { height: 5; }
    RequestScreen #form Static { height: auto; margin-top: 1; }
    RequestScreen Button { margin-top: 1; }
    """

    def __init__(
        self, operation: str, view: dict[str, Any], other: dict[str, Any] | None = None
    ) -> None:
        super().__init__()
        self._operation, self._view, self._other = operation, view, other

    def page(self) -> ComposeResult:
        """Lay out the impact and the form."""
        yield Listing(self._impact, title="Would be left unresolved", id="impact",
                      empty="nothing stands on it")  # fmt: skip
        with VerticalScroll(id="form", can_focus=False):
            yield Input(placeholder="why, for the history", id="reason")
            if self._operation == "correct":
                yield Static("The statement that replaces it:", markup=False)
                yield TextArea(self._view["body"], id="statement", soft_wrap=True)
            if self._operation == "merge" and self._other is None:
                yield Input(placeholder="the page it absorbs: its id or exact title", id="other")
            yield Button("Copy and keep (ctrl+s)", variant="primary", id="hand")
            yield Static("Nothing is sent from here.", id="made", markup=False)

    def on_mount(self) -> None:
        """Say what this is."""
        name = requests.OPERATIONS[self._operation]
        absorbed = f" ⇐ {line(self._other['title'])}" if self._other else ""
        self.head(
            stacked(
                joined(content(f"Ask an agent to {self._operation}:", "bold"),
                       one(self._view["title"] + absorbed)),
                content(f"{DOES[self._operation]}  ({name})", "dim"),
            )
        )  # fmt: skip
        for area in self.query(TextArea):
            area.move_cursor(area.document.end)
        self.query_one("#reason").focus()

    def _impact(self, desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG002 - a reader
        subject = self._other or self._view
        found = desk.call("knowledge_impact", id=subject["id"], operation=self._operation)
        items = [
            Item(
                f"{n}-{i['id']}",
                joined(one(i["title"], "bold", 200), content(i["kind"], "dim"),
                       one(f"through {i['via']}", "dim"),
                       content("directly" if i["depth"] == 1 else f"at {i['depth']} steps", "dim")),
                ToRecord(i["id"]),
            )
            for n, i in enumerate(found["items"])
        ]  # fmt: skip
        return Page(items, found["total"], None, plural(found["total"], "record") if items else "")

    @on(Input.Submitted)
    def _go_on(self) -> None:
        """Go to what is still to be said, or hand over where nothing is."""
        rest = list(self.query("#statement, #other"))
        if rest and self.focused is not rest[-1]:
            self.screen.set_focus(rest[-1])
        else:
            self.action_hand_over()

    @on(Button.Pressed, "#hand")
    def action_hand_over(self) -> None:
        """Compose the request, copy it, and keep it as a file."""
        reason = self.query_one("#reason", Input).value.strip()
        other = self.query("#other")
        named = other.first(Input).value.strip() if other else ""
        if not reason or (other and not named):
            self.notify("Say why, and name the other page." if other else "Say why.",
                        severity="warning")  # fmt: skip
            return
        statement = self.query("#statement")
        said = statement.first(TextArea).text if statement else ""
        ask(self, lambda d: self._made(d, reason, said, named), self._kept, group="compose")

    def _made(self, desk: Desk, reason: str, said: str, named: str) -> tuple[str, str]:
        """Compose from what was looked at; returns the JSON and where it was kept."""
        status = desk.call("knowledge_status")
        if self._operation == "withdraw":
            made = requests.withdraw(self._view, reason, status)
        elif self._operation == "correct":
            partition = self._view["partition"]
            fingerprint = desk.call("knowledge_ontology", partition=partition, limit=1)[
                "fingerprint"
            ]
            made = requests.correct(self._view, reason, status, said, fingerprint)
        else:
            absorbed = self._other or desk.named(named)
            made = requests.merge(self._view, absorbed, reason, status)
        text = requests.as_text(made)
        kept = desk.keep_request(requests.file_name(self._operation), text)
        return text, str(kept.relative_to(desk.root))

    def _kept(self, made: tuple[str, str]) -> None:
        text, path = made
        self.app.copy_to_clipboard(text)
        name = requests.OPERATIONS[self._operation]
        self.query_one("#made", Static).update(
            stacked(
                content(f"✓ In the clipboard, and kept in {path}", "bold"),
                content(f"Whoever carries it out runs: vault-kg call {name} --json - < {path}"),
                many(text),
            )
        )
        tell(self, f"copied, and kept in {path}; nothing was sent", "Handed over")
