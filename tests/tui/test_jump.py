"""Jump mode: a letter over every part that keys can go to, and the way there by it."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui.opening import ToRecord, open_value


def letter_of(stage: Stage, id: str) -> str:
    """Return the letter that stands over a part."""
    return next(key for key, (part, _) in stage.app.screen._spots.items() if part.id == id)


def test_a_letter_leads_to_a_part_of_the_place(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Ada Lovelace")
        for part in ("records", "filter", "shelves"):
            await stage.press("ctrl+o")
            await stage.press(letter_of(stage, part))
            await stage.until(lambda p=part: stage.app.focused and stage.app.focused.id == p)

    play(small.root, flow)


def test_the_letters_stand_over_what_is_there(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Ada Lovelace")
        await stage.press("ctrl+o")
        letter = letter_of(stage, "records")
        text = await stage.see(f" {letter} ")
        records = stage.app.screen_stack[0].query_one("#records").region
        assert text.split("\n")[records.y][records.x :].startswith(f" {letter} ")
        assert stage.app.screen.styles.background.a == 0, "what is under the letters is seen"
        await stage.press("escape")
        await stage.until(lambda: not stage.app.screen.is_modal)
        assert stage.app.focused is not None and stage.app.focused.id == "shelves"

    play(small.root, flow)


def test_a_letter_that_stands_nowhere_and_a_click_leave_everything(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("5")
        await stage.see("unresolved_link")
        before = stage.app.focused
        await stage.press("ctrl+o", "q")
        await stage.until(lambda: not stage.app.screen.is_modal)
        await stage.press("ctrl+o")
        await stage.pilot.click(offset=(40, 10))
        await stage.until(lambda: not stage.app.screen.is_modal)
        assert stage.app.focused is before and stage.app.is_running

    play(small.root, flow)


def test_a_letter_opens_a_part_of_a_record(small: VaultBox) -> None:
    ada = small.lookup("Ada Lovelace")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Wrote the notes.")
        await stage.press("ctrl+o")
        tabs = [part for part, _ in stage.app.screen._spots.values() if "claims" in str(part.id)]
        await stage.press(letter_of(stage, str(tabs[0].id)))
        await stage.see("┃")
        await stage.until(lambda: stage.app.focused and stage.app.focused.id == "claimed")

    play(small.root, flow)


def test_it_waits_while_a_question_is_asked(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("?")
        await stage.see("type to filter")
        await stage.press("ctrl+o")
        await stage.settle()
        assert type(stage.app.screen).__name__ == "HelpScreen"

    play(small.root, flow)
