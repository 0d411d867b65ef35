"""The review UI's app: the places, what is shown over them, and the pulse that keeps it live."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, Input, Tab, Tabs, TextArea

from tui import keys, themes
from tui.asking import ask
from tui.commands import Commands, Records
from tui.desk import Desk
from tui.places import shelf
from tui.places.base import PlaceView
from tui.plain import block
from vault_kg.errors import VaultError

PULSE = 1.0
"""Seconds between two looks at the journal's position."""


class Home(Screen[None]):
    """The places, one at a time; each is made when it is first entered."""

    DEFAULT_CSS = """
    Home Tabs { height: 1; }
    Home Tabs Underline { display: none; }
    Home Tab { padding: 0 1 0 0; height: 1; }
    Home Tab.-active { text-style: reverse bold; }
    Home ContentSwitcher { height: 1fr; }
    Home PlaceView { height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        """Lay out the bar, the place and the footer."""
        yield Tabs(*(Tab(f" {p.key} {p.title}", id=p.id) for p in keys.PLACES), id="bar")
        yield ContentSwitcher(id="place")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Keep the keys for the places, not for the bar."""
        self.query_one(Tabs).can_focus = False

    def on_screen_resume(self) -> None:
        """Read again what is shown, as something may have been decided meanwhile."""
        self.refresh_place()

    @property
    def place(self) -> PlaceView | None:
        """The place that is shown."""
        current = self.query_one(ContentSwitcher).current
        return self.query_one(f"#at-{current.removeprefix('at-')}", PlaceView) if current else None

    @on(Tabs.TabActivated)
    async def _clicked(self, event: Tabs.TabActivated) -> None:
        await self.enter(str(event.tab.id))

    async def enter(self, place: str) -> None:
        """Show a place; what is typed next is the place's."""
        switcher, wanted = self.query_one(ContentSwitcher), f"at-{place}"
        if switcher.current == wanted:
            return
        if not switcher.query(f"#{wanted}"):
            await switcher.add_content(shelf.made(place, wanted), set_current=True)
        else:
            switcher.current = wanted
            self.refresh_place()
        self.query_one(Tabs).active = place
        self.focus_place()

    def focus_place(self) -> None:
        """Give the place's first part the focus."""
        first = self.place.first_focus() if self.place else None
        if first is not None:
            self.set_focus(first)  # at once, where `focus` would let keys go by

    def refresh_place(self) -> None:
        """Read again what is shown."""
        if self.place is not None:
            self.place.refresh_place()


class ReviewApp(App[None]):
    """Shows a vault to the person who keeps it honest."""

    TITLE = "vault-kg"
    BINDINGS = keys.bindings("everywhere", priority=True)
    COMMANDS: ClassVar[set[Any]] = {Commands, Records}
    ENABLE_COMMAND_PALETTE = True
    CSS = """
    Screen { background: $background; }
    Toast { max-width: 70; }
    * { border-title-color: $foreground; border-subtitle-color: $foreground 70%; }
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._position: int | None = None
        self._waiting = -1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave letters and digits to what is typed into, and questions to their answer.

        The keys of everywhere go first (they are handled before the next key is read, so that what
        is typed right after `/` is searched for); here they step back.
        """
        if action not in ("go", "help", "quit"):
            return True
        return not isinstance(self.focused, Input | TextArea) and not self.screen.is_modal

    def get_default_screen(self) -> Screen[Any]:
        """Return the places."""
        return Home()

    def on_mount(self) -> None:
        """Open the vault, and begin to look for what others write."""
        for theme in themes.OURS:
            self.register_theme(theme)
        self.theme = themes.NIGHT.name
        self.desk.start()
        self.set_interval(PULSE, self._look)
        self.call_after_refresh(self._look)

    def on_unmount(self) -> None:
        """Close the vault."""
        self.desk.stop()

    @property
    def home(self) -> Home:
        """The screen of the places."""
        return next(s for s in self.screen_stack if isinstance(s, Home))

    async def action_go(self, place: str) -> None:
        """Go to a place, closing what is open over it."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        await self.home.enter(place)
        self.home.focus_place()

    def action_help(self) -> None:
        """Show every key."""
        from tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    def action_refresh(self) -> None:
        """Read again what is shown."""
        refresh = getattr(self.screen, "refresh_place", None)
        if refresh is not None:
            refresh()

    def action_next_theme(self) -> None:
        """Use the next theme."""
        names = [theme.name for theme in themes.OURS]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]

    def _look(self) -> None:
        watched = getattr(self.screen, "watched", None)
        ask(
            self, lambda desk: _pulse(desk, watched), self._moved, group="pulse",
            otherwise=self._unavailable,
        )  # fmt: skip

    def _moved(self, seen: tuple[int, int]) -> None:
        position, waiting = seen
        if waiting != self._waiting:
            self._waiting = waiting
            label = f" 2 Review {waiting}" if waiting else " 2 Review"
            for tab in self.home.query("#review").results(Tab):
                tab.label = Content(label)
        if position != self._position:
            self._position = position
            self.action_refresh()

    def _unavailable(self, error: VaultError) -> None:
        if self._position != -1:
            self._position = -1
            self.notify(block(error.message), title=error.code, severity="error", markup=False)


def _pulse(desk: Desk, watched: str | None) -> tuple[int, int]:
    """Read how far the journal is, and how many conflicts wait.

    The record that is open is read, so that an edit of its file is taken in even where the file
    system tells nobody of it.
    """
    if watched is not None:
        with suppress(VaultError):
            desk.call("knowledge_get", id=watched, bodyLimit=1)
    activity = desk.call("knowledge_activity", limit=1)
    return activity["position"], desk.call("knowledge_conflicts")["count"]
