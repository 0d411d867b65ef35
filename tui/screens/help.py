"""Help: every key, found by typing."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from tui import keys
from tui.plain import content, joined


class HelpScreen(ModalScreen[None]):
    """The key table, filtered by what is typed."""

    BINDINGS = keys.bindings("prompt")
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > Vertical { width: 1fr; max-width: 100; height: 90%; border: round $primary;
                            background: $surface; }
    HelpScreen OptionList { height: 1fr; border: none; text-wrap: nowrap; text-overflow: ellipsis; }
    HelpScreen Input { margin: 0 1; background: $panel; }
    """

    def __init__(self, first: str = "") -> None:
        """Make the help; the keys of `first`, a place or page, come first."""
        super().__init__()
        self._order = sorted(keys.KEYS, key=lambda place: place != first)

    def compose(self) -> ComposeResult:
        """Lay out the filter and the keys."""
        with Vertical() as box:
            box.border_title = "Keys"
            box.border_subtitle = "type to filter   esc: close"
            yield Input(placeholder="type to filter", id="filter", compact=True)
            yield OptionList(markup=False, id="keys")

    def on_mount(self) -> None:
        """Show every key."""
        self._list("")

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._list(event.value.casefold())

    def _list(self, wanted: str) -> None:
        rows = []
        for place in self._order:
            table = keys.KEYS[place]
            fitting = [
                k for k in table if wanted in f"{keys.shown(k.key)} {k.label} {k.help}".casefold()
            ]
            if fitting:
                rows.append(content(keys.TITLES[place], "bold underline"))
            rows += [
                joined(content(f"{keys.shown(k.key):>9}", "bold"), content(k.help)) for k in fitting
            ]
        self.query_one(OptionList).set_options(rows)

    def on_key(self, event: events.Key) -> None:
        """Scroll the list from the filter."""
        listing = self.query_one(OptionList)
        if event.key == "down":
            listing.action_cursor_down()
        elif event.key == "up":
            listing.action_cursor_up()

    def action_cancel(self) -> None:
        """Close the help."""
        self.dismiss(None)
