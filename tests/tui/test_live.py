"""What others write appears by itself, the cursor stays; slow reads block no key."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui.desk import Desk
from tui.listing import Listing


def test_what_others_write_appears_and_the_cursor_stays_on_its_item(vault: VaultBox) -> None:
    for n in range(30):
        vault.page(f"Page {n}")

    async def flow(stage: Stage) -> None:
        await stage.see("Page 29")
        await stage.press(*["j"] * 5)
        feed = stage.app.screen.query_one("#feed", Listing)
        before, row = feed.chosen.entry["label"], feed._row_of_cursor()
        vault.page("Written by somebody else")
        vault.page("And one more")
        await stage.until(lambda: feed.option_count == 32)
        assert feed.chosen.entry["label"] == before
        assert feed._row_of_cursor() == row
        await stage.press("g")
        await stage.see("And one more")

    play(vault.root, flow)


def test_an_edit_in_any_editor_appears_while_the_record_is_open(vault: VaultBox) -> None:
    ada = vault.page("Ada", body="Old words.\n")

    async def flow(stage: Stage) -> None:
        from tui.opening import ToRecord, open_value

        open_value(stage.app, ToRecord(ada))
        await stage.see("Old words.")
        vault.edit(ada, "Old words", "New words")
        await stage.see("New words.", "revision 2")

    play(vault.root, flow)


def test_an_edited_note_appears_while_it_is_open_and_in_lists(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        from tui.opening import ToRecord, open_value

        await stage.press("/")
        await stage.type("punched")
        await stage.see("no hits")
        open_value(stage.app, ToRecord("doc:file:notes/idea.md"))
        await stage.see("Of looms.")
        small.put("notes/idea.md", "# An idea\n\nOf punched cards.\n")
        await stage.see("Of punched cards.")
        await stage.press("escape")
        await stage.see("1 hit")
        small.put("notes/second.md", "# A note\n\nOf punched tape.\n")
        await stage.see("2 hits")

    play(small.root, flow)


def test_pages_closed_while_they_are_read_take_no_answer(vault: VaultBox) -> None:
    ids = [vault.page(f"Page {n}") for n in range(3)]

    async def flow(stage: Stage) -> None:
        from tui.opening import ToRecord, open_value

        for _ in range(2):
            for record_id in ids:
                open_value(stage.app, ToRecord(record_id))
                await stage.press("]")
            await stage.press("2")
        await stage.see("nothing waits for you")

    play(vault.root, flow)


class TardyDesk(Desk):
    """A vault of which a look takes longer than the pause between two looks."""

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        if name in ("knowledge_conflicts", "knowledge_activity"):
            time.sleep(0.7)
        return super().call(name, **arguments)


def test_looks_that_take_long_are_not_overtaken_by_the_next_one(vault: VaultBox) -> None:
    vault.page("Ada")

    async def flow(stage: Stage) -> None:
        await stage.see("saved page  Ada")
        vault.page("Written by somebody else")
        await stage.see("Written by somebody else")

    play(vault.root, flow, desk=TardyDesk(vault.root))


class CountingDesk(Desk):
    """Counts the looks at a vault, each of which takes a moment."""

    looks = 0

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        if name == "knowledge_activity" and arguments.get("limit") == 1:
            time.sleep(0.5)
            self.looks += 1
        return super().call(name, **arguments)


def test_looks_rest_the_longer_the_longer_they_take(vault: VaultBox) -> None:
    desk = CountingDesk(vault.root)

    async def flow(stage: Stage) -> None:
        await stage.press("7")
        await stage.see("Bug")
        before = desk.looks
        await asyncio.sleep(5)
        assert desk.looks - before <= 3

    play(vault.root, flow, desk=desk)


class SlowDesk(Desk):
    """A vault of which every read takes two seconds."""

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        time.sleep(2)
        return super().call(name, **arguments)


def test_slow_reads_block_no_key(vault: VaultBox) -> None:
    vault.page("Ada")

    async def flow(stage: Stage) -> None:
        gaps = []

        async def watch() -> None:
            while True:
                begun = time.perf_counter()
                await asyncio.sleep(0.01)
                gaps.append(time.perf_counter() - begun)

        watching = asyncio.create_task(watch())
        await stage.press("2", "3", *"ada", "escape", "4", "5", "6", "7", "8", "1", "?", "escape")
        await stage.see("saved page  Ada")
        watching.cancel()
        # a loaded machine may stop everything once; a loop that waits for reads stops at each
        assert sum(gap >= 1 for gap in gaps) < 3, "the event loop waited for reads"

    play(vault.root, flow, desk=SlowDesk(vault.root))


def test_a_long_list_is_fetched_as_the_cursor_comes_near_its_end(vault: VaultBox) -> None:
    for n in range(130):
        vault.put(f"notes/n{n:03}.md", f"# Note {n:03}\n")
    vault.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("40 of 130")
        listing = stage.app.screen.query_one("#records", Listing)
        listing.focus()
        await stage.press("G")
        await stage.until(lambda: listing.option_count == 130)
        await stage.press("G")
        await stage.see("n129")

    play(vault.root, flow)


def test_the_mouse_wheel_fetches_more_too(vault: VaultBox) -> None:
    for n in range(130):
        vault.put(f"notes/n{n:03}.md", f"# Note {n:03}\n")
    vault.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("40 of 130")
        listing = stage.app.screen.query_one("#records", Listing)
        while listing.option_count < 130:
            listing.scroll_down(animate=False)
            await stage.pilot.pause(0.001)
        assert listing.highlighted in (None, 0)

    play(vault.root, flow)


def test_a_list_that_is_read_again_keeps_all_its_pages(vault: VaultBox) -> None:
    ada = vault.page("Ada", body="Words 0.\n")
    for n in range(1, 25):
        vault.change(ada, body=f"Words {n}.\n")

    async def flow(stage: Stage) -> None:
        from tui.opening import ToRecord, open_value

        open_value(stage.app, ToRecord(ada, "history"))
        await stage.see("revision 25")
        revisions = stage.app.screen.query_one("#revisions", Listing)
        await stage.until(lambda: stage.app.focused is revisions)
        await stage.press("G")
        await stage.until(lambda: revisions.option_count == 25)
        await stage.press("G")
        vault.change(ada, body="Words of somebody else.\n")
        await stage.until(lambda: revisions.option_count == 26)
        assert revisions.chosen["revision"] == 1

    play(vault.root, flow)


def test_far_down_a_long_list_the_cursor_stays_too(vault: VaultBox) -> None:
    for n in range(1_100):
        vault.put(f"notes/n{n:04}.md", f"Note {n}.\n")
    vault.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("of 1,100")
        listing = stage.app.screen.query_one("#records", Listing)
        listing.focus()
        while listing.option_count < 1_100:
            await stage.press("G")
        await stage.press("G")
        await stage.see("n1099")
        listing.read_again()
        await stage.settle()
        assert listing.chosen.id == "doc:file:notes/n1099.md"

    play(vault.root, flow)
