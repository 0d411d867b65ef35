"""The review UI's app: the places, what is shown over them, and the pulse that keeps it live."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, Input, Tab, Tabs, TextArea

from tui import keys, themes
from tui.asking import READS, ask
from tui.commands import Commands, Records
from tui.desk import Desk
from tui.places import shelf
from tui.places.base import PlaceView
from tui.plain import block, content, joined
from vault_kg.errors import VaultError

ROOMY = 100
"""From how many columns on the bar is drawn with gaps."""

PULSE = 1.0
"""Seconds between two looks at the journal's position, at least."""

REST = 4.0
"""The pause after a look, and what it had read again, is so many times as long as that took."""

LONGEST_REST = 15.0
"""Seconds after which a look is due, however long the last one took."""


class Home(Screen[None]):
    """The places, one at a time; each is made when it is first entered."""

    _waiting = 0

    DEFAULT_CSS = """
    Home Tabs { height: 1; }
    Home Tabs Underline { display: none; }
    Home Tab { padding: 0; height: 1; }
    Home Tab.-active { text-style: reverse bold; }
    Home ContentSwitcher { height: 1fr; }
    Home PlaceView { height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        """Lay out the bar, the place and the footer."""
        yield Tabs(*(Tab(p.title, id=p.id) for p in keys.PLACES), id="bar")
        yield ContentSwitcher(id="place")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Keep the keys for the places, not for the bar."""
        self.query_one(Tabs).can_focus = False

    def on_screen_resume(self) -> None:
        """Read again what is shown, as something may have been decided meanwhile."""
        self.refresh_place()

    def on_resize(self) -> None:
        """Draw the bar for the new width."""
        self.draw_bar(self._waiting)

    def draw_bar(self, waiting: int) -> None:
        """Name the places and their keys, close together where there is little room."""
        self._waiting = waiting
        gap = " " if self.size.width >= ROOMY else ""
        for place, tab in zip(keys.PLACES, self.query("#bar Tab").results(Tab), strict=True):
            count = f" {waiting}" if waiting and place.id == "review" else ""
            key = content(place.key, "bold $footer-key-foreground")
            tab.label = joined(key, content(f"{place.title}{count}{gap} "), by=gap)

    @property
    def own_keys(self) -> str:
        """Which keys of the table are those of the place."""
        return str(self.query_one(ContentSwitcher).current).removeprefix("at-")

    @property
    def is_live(self) -> bool:
        """Whether the place is read again at each pulse."""
        return self.place is not None and self.place.is_live

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
    ModalScreen { background: $background 60%; }
    JumpScreen { background: transparent; }
    Toast { max-width: 70; }
    * { border-title-color: $foreground; border-subtitle-color: $foreground 70%; }
    """

    def __init__(self, desk: Desk, notice: str = "") -> None:
        """Make the app.

        Args:
            desk: the vault.
            notice: what is to be told at the start.
        """
        super().__init__()
        self.desk = desk
        self._notice = notice
        self._seen: Pulse | None = None
        self._is_away = False
        self._looked_at = 0.0
        self._looks = 0

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave letters and digits to what is typed into, and questions to their answer.

        The keys of everywhere go first (they are handled before the next key is read, so that what
        is typed right after `/` is searched for); here they step back.
        """
        if action == "jump":
            return not self.screen.is_modal
        if action not in ("go", "help", "quit"):
            return True
        return not isinstance(self.focused, Input | TextArea) and not self.screen.is_modal

    def get_default_screen(self) -> Screen[Any]:
        """Return the places."""
        return Home()

    def on_mount(self) -> None:
        """Begin to look for what others write."""
        for theme in themes.OURS:
            self.register_theme(theme)
        self.theme = themes.NIGHT.name
        if self._notice:
            self.notify(block(self._notice), markup=False, timeout=8)
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
            self.push_screen(HelpScreen(getattr(self.screen, "own_keys", "")))

    def action_jump(self) -> None:
        """Show a letter over every part of the screen, and go to the one that is pressed."""
        from tui.screens import jump

        screen = self.screen
        self.push_screen(jump.JumpScreen(jump.spots(screen)), lambda part: jump.go_to(screen, part))

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
        if not self.screen_stack:
            return  # it is being closed
        self._looked_at = time.monotonic()
        watched = getattr(self.screen, "watched", None)
        ask(self, lambda desk: _pulse(desk, watched), self._felt, group="pulse",
            otherwise=self._unavailable)  # fmt: skip

    def _felt(self, pulse: Pulse) -> None:
        before, self._seen, self._is_away = self._seen, pulse, False
        self._looks += 1
        if before is None or before.waiting != pulse.waiting:
            self.home.draw_bar(pulse.waiting)
        is_live = getattr(self.screen, "is_live", False)
        if self._looks == 1:
            pass  # all is being read for the first time; what it missed shows at the second look
        elif self._looks == 2 or before is None or before.moved(pulse) or is_live:
            self.action_refresh()
        self._rest()

    def _rest(self) -> None:
        """Look again after a pause, which begins when nothing is read any more."""
        cost = time.monotonic() - self._looked_at
        reading = any(w.group in READS and not w.is_finished for w in self.workers)
        if reading and cost < LONGEST_REST:
            self.set_timer(PULSE / 10, self._rest)
            return
        self.desk.start()  # now that what is shown first was read
        self.set_timer(min(max(PULSE, REST * cost), LONGEST_REST), self._look)

    def _unavailable(self, error: VaultError) -> None:
        if not self._is_away:
            self._is_away, self._seen = True, None
            self.notify(block(error.message), title=error.code, severity="error", markup=False)
        self._rest()


class Pulse(NamedTuple):
    """What is looked at to know whether anything changed."""

    position: int
    indexed: int
    waiting: int

    def moved(self, later: Pulse) -> bool:
        """Say whether what is shown may have changed."""
        return (self.position, self.indexed) != (later.position, later.indexed)


def _pulse(desk: Desk, watched: str | None) -> Pulse:
    """Read how far the journal and the index are, and how many conflicts wait.

    The record or note that is open is read, so that an edit of its file is taken in even where the
    file system tells nobody of it.
    """
    if watched is not None:
        with suppress(VaultError):
            desk.call("knowledge_get", id=watched, bodyLimit=1)
    activity = desk.call("knowledge_activity", limit=1)
    waiting = desk.call("knowledge_conflicts", limit=1)["total"]
    return Pulse(activity["position"], activity["indexed"], waiting)
