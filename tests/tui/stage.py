"""A person in front of the UI: presses keys and reads the screen. Everything below it is real."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual.command import CommandList
from textual.pilot import Pilot

from tests.operations.builder import VaultBox
from tui.app import ReviewApp
from tui.desk import Desk
from vault_kg.errors import VaultError
from vault_kg.store import failpoints

PATIENCE = 10.0


class Stage:
    """The running UI, and what a person does with it."""

    def __init__(self, app: ReviewApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if c == " " else c for c in text))

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def see(self, *expected: str) -> str:
        """Wait until all of it is on the screen."""
        deadline = time.monotonic() + PATIENCE
        while not all(part in self.text for part in expected):
            missing = [part for part in expected if part not in self.text]
            assert time.monotonic() < deadline, f"{missing} is not on the screen:\n{self.text}"
            await self.pilot.pause(0.02)
        return self.text

    async def settle(self) -> None:
        """Wait until nothing is read any more, and all is drawn."""
        while True:
            await self.pilot.pause(0.01)
            reading = [w for w in self.app.workers if w.group != "pulse" and not w.is_finished]
            if not reading:
                break
            await self.app.workers.wait_for_complete(reading)

    async def until(self, holds: Callable[[], Any]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"it never came to be:\n{self.text}"
            await self.pilot.pause(0.02)

    async def choose(self, command: str) -> None:
        """Take the first command of the palette, once what it found for the last letter is shown.

        While it searches, the palette keeps showing what the letters before had found, and Enter
        takes the first of those.
        """
        await self.see(command)
        await self.settle()
        found = self.app.screen.query_one(CommandList)
        assert found.highlighted is not None
        first = found.get_option_at_index(found.highlighted)
        assert command in str(first.prompt), first.prompt
        await self.press("enter")


Flow = Callable[[Stage], Awaitable[None]]


def play(
    root: Path, flow: Flow, size: tuple[int, int] = (80, 24), desk: Desk | None = None
) -> None:
    """Run the UI on a vault, without a terminal, through a flow."""

    async def run() -> None:
        app = ReviewApp(desk or Desk(root))
        async with app.run_test(size=size, notifications=True) as pilot:
            await flow(Stage(app, pilot))

    asyncio.run(run())


def meet(
    box: VaultBox, record_id: str, old: str, new: str, monkeypatch: Any, **change: Any
) -> None:
    """Make a conflict: a person edits the file of a record while an agent's change is accepted."""
    gate = box.root.parent / f"gate-{record_id}"
    failpoints._reached.clear()
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"accept.after=pause:{gate}")

    def agent() -> None:
        with suppress(VaultError):
            box.change(record_id, **change)

    thread = threading.Thread(target=agent)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not Path(f"{gate}.reached").exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    box.edit(record_id, old, new)
    gate.touch()
    thread.join(PATIENCE)
    monkeypatch.delenv(failpoints.ENVIRONMENT)
