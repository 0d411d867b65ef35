"""Measure the review UI at two sizes of vault: how long a person waits, and whether it grows.

    python benchmarks/ui.py [--records 1000 100000] [--rounds 5] [--keep FOLDER] [--json]

Each vault is indexed first, and some pages are edited one by one. Then the UI runs on it without a
terminal, at 120 by 40:

- first screen: from making the app until the feed is drawn, its modules being loaded;
- key to paint: from a key until the screen is next drawn, over a walk through every place;
- answer: from a key that asks the vault until what it shows is drawn, by place;
- longest pause: the longest time in which the event loop took no turn;
- longest turn: the longest that it computed in one, in processor time, which others do not add to.

Of the first screen and the answers the processor time is told too: that of the whole process until
then, with what it does in the background. Every walk is a process of its own, which has gone through
a small vault before. The sizes alternate; the median of the rounds is compared, because a shared
machine only ever adds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
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

UNCHANGED = 0.1
"""Seconds after which a list that was read and is not drawn again was as it is."""

EDITS = 60
"""Pages that were edited lately: more than are seen at once."""

SMALL = 20
"""Records of the vault that loads every module."""

Times = dict[str, list[float]]


class Walk:
    """The running UI with a stop-watch."""

    def __init__(self, app: ReviewApp) -> None:
        self.app = app
        self.times: Times = defaultdict(list)
        self._painted = 0.0
        self._read: dict[str | None, float] = defaultdict(float)
        """When each list was read last."""
        display, note = app._display, Listing._note

        def noticed(*arguments: Any) -> None:
            display(*arguments)
            self._painted = time.perf_counter()

        def read(listing: Listing, *arguments: Any) -> None:
            note(listing, *arguments)
            self._read[listing.id] = time.perf_counter()

        app._display = noticed  # type: ignore[method-assign]
        Listing._note = read  # type: ignore[method-assign]

    async def press(self, key: str, character: str | None = None) -> float:
        """Press a key as a terminal reports it, and wait for the next paint; returns when it was."""
        pressed = time.perf_counter()
        event = events.Key(key, character or (key if len(key) == 1 else None))
        event.set_sender(self.app)
        self.app._driver.send_message(event)
        await until(lambda: self._painted > pressed)
        self.times["key to paint"].append(self._painted - pressed)
        return pressed

    async def ask(self, name: str, key: str, listing: str, **more: Any) -> None:
        """Press a key, and wait until the list that it asks for is drawn."""
        used = time.process_time()
        pressed = await self.press(key, **more)
        await self.drawn(listing, pressed)
        shown = max(self._painted, self._read[listing])
        self.times[f"answer: {name}"].append(shown - pressed)
        self.times[f"answer: {name}, processor"].append(time.process_time() - used)

    async def drawn(self, listing: str, since: float) -> None:
        """Wait until a list was read and drawn since a time."""
        await until(lambda: self._read[listing] > since)
        read = self._read[listing]
        await until(lambda: self._painted > read or time.perf_counter() > read + UNCHANGED)

    def focused(self, widget: str) -> Callable[[], bool]:
        """Return what says whether keys go to a widget."""
        return lambda: self.app.focused is not None and self.app.focused.id == widget


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
        begun, used = time.perf_counter(), time.process_time()
        app = ReviewApp(Desk(root))
        run = Walk(app)
        async with app.run_test(size=SIZE):
            await run.drawn("feed", begun)
            run.times["first screen"].append(time.perf_counter() - begun)
            run.times["first screen, processor"].append(time.process_time() - used)
            await visit(run)
    run.times["longest pause"].append(max(pause for pause, _ in noticed))
    run.times["longest turn"].append(max(used for _, used in noticed))
    return run.times


async def visit(run: Walk) -> None:
    """Look at every place, and at a record."""
    await run.ask("review", "2", "queue")
    await run.ask("browse", "4", "records")
    await run.press("f")
    await run.press("enter")
    await until(run.focused("records"))
    for _ in range(30):
        await run.press("j")
    await run.press("f")
    for letter in "ba":
        await run.ask("filter", letter, "records")
    await run.press("enter")
    await until(run.focused("records"))
    pressed = await run.press("enter")
    await run.drawn("cited", pressed)
    for part in ("claimed", "joined", "revisions"):
        if part == "claimed":
            await run.press("right_square_bracket", character="]")
        await run.ask("record's parts", "right_square_bracket", part, character="]")
    await run.press("escape")
    await run.ask("search", "slash", "hits", character="/")
    for letter in "ban":
        await run.ask("search", letter, "hits")
    await run.press("escape")
    await run.ask("issues", "5", "findings")
    await run.ask("sources", "6", "sources")
    await run.ask("types", "7", "types")
    await run.press("8")
    await run.ask("recent", "1", "feed")


def made(folder: Path, count: int) -> Path:
    """Return a vault of so many records that is indexed; one that was made before is taken."""
    root = folder / f"vault-{count}"
    if (root / ".vault-kg" / "indexed").exists():
        return root
    vaults.records(root, count)
    ws = Workspace.create(root)
    ws.scan()
    time.sleep(2.1)  # until no file was saved so recently that its stamp proves nothing
    ws.scan()
    registry.call(ws, "maintain_status", {}, Caller("benchmark"))  # its counters are made once
    edit(ws)
    ws.close()
    (root / ".vault-kg" / "indexed").touch()
    return root


def edit(ws: Workspace) -> None:
    """Edit some pages one after the other, so that the feed is as long in every vault."""
    pages = [path for (path,) in ws.database.rows(
        "SELECT path FROM record WHERE kind = 'page' ORDER BY path LIMIT ?", (EDITS,)
    )]  # fmt: skip
    for path in pages:
        with (ws.vault.root / path).open("a", encoding="utf-8") as file:
            file.write("\nOne more line.\n")
        ws.look_at([path])


def walked(small: Path, root: Path) -> Times:
    """Go through the UI in a process of its own."""
    command = [sys.executable, __file__, "--walk", str(small), str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    times: Times = json.loads(done.stdout)
    return times


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
    parser.add_argument("--keep", type=Path, help="where vaults are made, or were made before")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--walk", type=Path, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    if asked.walk:
        small, root = asked.walk
        asyncio.run(walk(small))
        print(json.dumps(asyncio.run(walk(root))))
        return
    rounds: dict[int, list[Times]] = {count: [] for count in asked.records}
    with tempfile.TemporaryDirectory() as scratch:
        small, *roots = (made(asked.keep or Path(scratch), n) for n in (SMALL, *asked.records))
        for _ in range(asked.rounds):
            for count, root in zip(asked.records, roots, strict=True):
                rounds[count].append(walked(small, root))
    report({count: summed(times) for count, times in rounds.items()}, as_json=asked.json)


def report(found: dict[int, dict[str, float]], *, as_json: bool) -> None:
    """Print the times at both sizes, in milliseconds, with their ratio."""
    if as_json:
        print(json.dumps(found, indent=2))
        return
    (fewer, small), (more, large) = found.items()
    print(f"{'milliseconds':32} {fewer:>9,} {more:>9,}   ratio")
    for name in small:
        ratio = large[name] / small[name]
        print(f"{name:32} {1000 * small[name]:9.1f} {1000 * large[name]:9.1f}   {ratio:5.2f}")


if __name__ == "__main__":
    main()
