"""What every place is."""

from __future__ import annotations

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import OptionList

from tui.listing import Listing
from tui.opening import open_value


class PlaceView(Vertical):
    """A place: lists that open what is chosen in them."""

    is_live = False
    """Whether what it shows changes without the journal or the files changing."""

    def refresh_place(self) -> None:
        """Read again what is shown, keeping the cursor."""
        for listing in self.query(Listing):
            listing.read_again()

    def first_focus(self) -> Widget | None:
        """Return what has the focus when the place is entered."""
        return next((w for w in self.query(Listing) if w.can_be_first), None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open what was chosen."""
        event.stop()
        if isinstance(event.option_list, Listing):
            open_value(self, event.option_list.chosen)
