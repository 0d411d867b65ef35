"""Measure the review UI at two sizes of vault: how long a person waits, and whether it grows.

    python benchmarks/ui.py [--records 1000 100000] [--rounds 5] [--json]

Each vault is indexed first. Then the UI runs on it without a terminal, at 120 by 40:

- first screen: from making the app until the feed is drawn, its modules being loaded;
- key to paint: from a key until the screen is next drawn, over a walk through every place;
- key to answer: from a key that asks the vault until what it shows is drawn, by place;
- longest pause: the longest time in which the event loop took no turn;
- longest turn: the longest that it computed in one, in processor time, which others do not add to.

The sizes alternate; the median of the rounds is compared, because a shared machine only ever adds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import vaults
from textual import events

from tui.app import ReviewApp
from tui.desk import Desk
from tui.listing import Listing
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

SIZE = (120, 40)
PATIENCE = 60.0
TURN = 0.002
"""Seconds between two turns of the task that notices pauses."""

Times = dict[str, list[float]]


class Walk:
    """The running UI with a stop-watch."""

    def __init__(self, app: ReviewApp) -> None:
        self.app = app
        self.times: Times = defaultdict(list)
        self._painted = 0.0
        display = app._display

        def noticed(*arguments: Any) -> None:
            display(*arguments)
            self._painted = time.perf_counter()

        app._display = noticed  # type: ignore[method-assign]

    async def press(self, key: str, character: str | None = None) -> float:
        """Press a key as a terminal reports it, and wait for the next paint; returns when it was."""
        pressed = time.perf_counter()
        event = events.Key(key, character or (key if len(key) == 1 else None))
        event.set_sender(self.app)
        self.app._driver.send_message(event)
        await until(lambda: self._painted > pressed)
        self.times["key to paint"].append(self._painted - pressed)
        return pressed

    async def ask(self, name: str, key: str, shown: Callable[[], Any], **more: Any) -> None:
        """Press a key, and wait until what it asks for is drawn."""
        pressed = await self.press(key, **more)
        await until(shown)
        answered = time.perf_counter()
        await until(lambda: self._painted >= answered or self._painted > pressed)
        self.times[f"answer: {name}"].append(max(self._painted, answered) - pressed)

    def filled(self, listing: str) -> Callable[[], bool]:
        """Return what says whether a list was read."""

        def is_filled() -> bool:
            found = self.app.screen.query(f"#{listing}").results(Listing)
            return any(w.border_subtitle not in (None, "", "reading…") for w in found)

        return is_filled

    def focused(self, widget: str) -> Callable[[], bool]:
        """Return what says whether keys go to a widget."""
        return lambda: self.app.focused is not None and self.app.focused.id == widget

    def still(self, listing: str) -> Callable[[], bool]:
        """Return what says whether a list was read, and nothing is read any more."""
        filled = self.filled(listing)
        return lambda: filled() and all(w.is_finished for w in self.app.workers)


async def until(holds: Callable[[], Any]) -> None:
    """Wait until something is so, looking once a turn."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("the UI never came to show it")
        await asyncio.sleep(TURN / 4)


@asynccontextmanager
async def pauses() -> AsyncIterator[list[tuple[float, float]]]:
    """Notice how long the event loop takes no turn, and how long it computes in between."""
    found: list[tuple[float, float]] = []

    async def watch() -> None:
        while True:
            begun, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TURN)
            found.append((time.perf_counter() - begun - TURN, time.thread_time() - used))

    watching = asyncio.create_task(watch())
    yield found
    watching.cancel()


async def walk(root: Path) -> Times:
    """Go through the UI once."""
    async with pauses() as noticed:
        begun = time.perf_counter()
        app = ReviewApp(Desk(root))
        run = Walk(app)
        async with app.run_test(size=SIZE):
            await until(lambda: run.filled("feed")())
            await until(lambda: run._painted > begun)
            run.times["first screen"].append(time.perf_counter() - begun)
            await visit(run)
    run.times["longest pause"].append(max(pause for pause, _ in noticed))
    run.times["longest turn"].append(max(used for _, used in noticed))
    return run.times


async def visit(run: Walk) -> None:
    """Look at every place, and at a record."""
    await run.ask("review", "2", run.filled("queue"))
    await run.ask("browse", "4", run.filled("records"))
    await run.press("f")
    await run.press("enter")
    await until(run.focused("records"))
    for _ in range(30):
        await run.press("j")
    await run.press("f")
    for letter in "ba":
        await run.ask("filter", letter, run.still("records"))
    await run.press("enter")
    await until(run.focused("records"))
    await run.ask("record", "enter", lambda: getattr(run.app.screen, "view", None))
    for part in ("cited", "claimed", "joined", "revisions"):
        await run.ask("record's parts", "right_square_bracket", run.filled(part), character="]")
    await run.press("escape")
    await run.ask("search", "slash", run.filled("hits"), character="/")
    for letter in "ban":
        await run.ask("search", letter, run.still("hits"))
    await run.press("escape")
    await run.ask("issues", "5", run.filled("findings"))
    await run.ask("sources", "6", run.filled("sources"))
    await run.ask("types", "7", run.filled("types"))
    await run.press("8")
    await run.press("1")
    await until(lambda: run.app.home.place.id == "at-recent" and run.still("feed")())


def made(folder: Path, count: int) -> Path:
    """Make a vault of so many records, and index it."""
    root = folder / f"vault-{count}"
    vaults.records(root, count)
    ws = Workspace.create(root)
    ws.scan()
    time.sleep(2.1)  # until no file was saved so recently that its stamp proves nothing
    ws.scan()
    registry.call(ws, "maintain_status", {}, Caller("benchmark"))  # its counters are made once
    ws.close()
    return root


def summed(rounds: list[Times]) -> dict[str, float]:
    """Return the median of each time over all rounds."""
    every: Times = defaultdict(list)
    for times in rounds:
        for name, values in times.items():
            every[name] += values
    found = {name: statistics.median(values) for name, values in every.items()}
    found["key to paint, 95 of 100"] = statistics.quantiles(every["key to paint"], n=20)[-1]
    return found


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs=2, default=[1_000, 100_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    rounds: dict[int, list[Times]] = {count: [] for count in asked.records}
    with tempfile.TemporaryDirectory() as folder:
        roots = {count: made(Path(folder), count) for count in asked.records}
        asyncio.run(walk(roots[asked.records[0]]))  # loads every module
        for _ in range(asked.rounds):
            for count, root in roots.items():
                rounds[count].append(asyncio.run(walk(root)))
    found = {count: summed(times) for count, times in rounds.items()}
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    small, large = (found[count] for count in asked.records)
    print(f"{'milliseconds':28} {asked.records[0]:>9,} {asked.records[1]:>9,}   ratio")
    for name in small:
        ratio = large[name] / small[name]
        print(f"{name:28} {1000 * small[name]:9.1f} {1000 * large[name]:9.1f}   {ratio:5.2f}")


if __name__ == "__main__":
    main()
