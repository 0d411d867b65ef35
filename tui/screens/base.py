"""What every page that opens over a place is: a head that says where you are, and a footer."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static

from tui import keys
from tui.listing import Listing
from tui.opening import open_value


class Inner(Screen[Any]):
    """A page over a place."""

    own_keys = "pushed"
    """Which keys of the table are those of the page."""

    BINDINGS = keys.bindings("pushed")
    DEFAULT_CSS = """
    Inner #head { height: auto; max-height: 4; padding: 0 1; background: $panel; }
    """

    _seen = False

    def compose(self) -> ComposeResult:
        """Lay out the head, the page and the footer."""
        yield Static("reading…", id="head", markup=False)
        yield from self.page()
        yield Footer(show_command_palette=False, compact=True)

    def on_screen_resume(self) -> None:
        """Read again what is shown, as something may have been decided meanwhile."""
        if self._seen and self.app.screen is self:
            self.refresh_place()
        self._seen = True

    def page(self) -> ComposeResult:
        """Lay out the page between head and footer."""
        yield from ()

    def head(self, said: Content) -> None:
        """Say where this is."""
        self.query_one("#head", Static).update(said)

    def action_back(self) -> None:
        """Close the page."""
        self.dismiss()

    def refresh_place(self) -> None:
        """Read again what is shown."""
        for listing in self.query(Listing):
            listing.read_again()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open what was chosen."""
        event.stop()
        if isinstance(event.option_list, Listing):
            open_value(self, event.option_list.chosen)
