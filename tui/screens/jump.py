"""Jumping: a letter over every part of the screen that keys or a click can go to."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Label, Tab, Tabs

from tui import keys
from tui.plain import content

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class JumpScreen(ModalScreen[Widget | None]):
    """Shows the letters over what is there, and gives back what one stands for.

    Args:
        spots: the parts, and where each is.
    """

    own_keys = "jump"
    BINDINGS = keys.bindings(own_keys)
    DEFAULT_CSS = """
    JumpScreen Label { position: absolute; width: 3; text-style: bold reverse; }
    JumpScreen .tab { width: 1; }
    """

    def __init__(self, spots: list[tuple[Widget, Offset]]) -> None:
        super().__init__()
        self._spots = dict(zip(LETTERS, spots, strict=False))

    def compose(self) -> ComposeResult:
        """Lay out the letters."""
        for letter, (part, at) in self._spots.items():
            is_tab = isinstance(part, Tab)  # whose name stays readable
            shown = content(letter if is_tab else f" {letter} ")
            label = Label(shown, markup=False, classes="tab" if is_tab else "")
            label.styles.offset = at
            yield label

    def on_key(self, event: events.Key) -> None:
        """Go to what a letter stands for; any other key of it leaves everything as it was."""
        if event.is_printable and event.character is not None:
            event.stop()
            found = self._spots.get(event.character)
            self.dismiss(found[0] if found else None)

    def on_click(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)

    def action_cancel(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)


def spots(screen: Screen[object]) -> list[tuple[Widget, Offset]]:
    """Return the parts of a screen that are seen and can be gone to, from top to bottom."""
    parts = [widget for widget in screen.focus_chain if not isinstance(widget, Tabs)]
    parts += screen.query("TabbedContent Tab").results(Tab)
    seen = [(part, screen.find_widget(part).visible_region) for part in parts]
    found = [(part, region.offset) for part, region in seen if region.area]
    return sorted(found, key=lambda spot: (spot[1].y, spot[1].x))


def go_to(screen: Screen[object], part: Widget | None) -> None:
    """Let keys go to a part, or open the one whose tab it is."""
    if isinstance(part, Tab):
        part.post_message(Tab.Clicked(part))
    elif part is not None:
        screen.set_focus(part)
