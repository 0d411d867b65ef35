"""A question with a line to answer, before anything is done."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tui import keys
from tui.plain import many


class Prompt(ModalScreen[str | None]):
    """Asks for one line; None where it was cancelled.

    Args:
        title: what will be done.
        question: what is asked, or said before.
        value: what stands in the line at first.
        placeholder: what the line is for.
    """

    BINDINGS = keys.bindings("prompt")
    DEFAULT_CSS = """
    Prompt { align: center middle; }
    Prompt > Vertical { width: 90%; max-width: 90; height: auto; max-height: 90%; padding: 1 2;
                        border: round $primary; background: $surface; }
    Prompt #buttons { layout: horizontal; height: auto; margin-top: 1; }
    Prompt Button { margin-right: 2; }
    Prompt #needed { color: $text-error; height: auto; }
    """

    def __init__(
        self, title: str, question: str | Content, *, value: str = "", placeholder: str = ""
    ) -> None:
        super().__init__()
        self._heading = title
        self._question = many(question) if isinstance(question, str) else question
        self._value, self._placeholder = value, placeholder

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        with Vertical() as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = "enter: do it   esc: cancel"
            yield Static(self._question, markup=False)
            yield Input(self._value, placeholder=self._placeholder, id="answer")
            yield Static("", id="needed", markup=False)
            with Vertical(id="buttons"):
                yield Button("Do it", variant="primary", id="yes")
                yield Button("Cancel", id="no")

    @on(Input.Submitted)
    @on(Button.Pressed, "#yes")
    def _answer(self) -> None:
        said = self.query_one(Input).value.strip()
        if said:
            self.dismiss(said)
        else:
            self.query_one("#needed", Static).update("Say something here, or press esc.")

    @on(Button.Pressed, "#no")
    def action_cancel(self) -> None:
        """Change nothing."""
        self.dismiss(None)
