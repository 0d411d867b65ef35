"""The places: each shows what it is for, by keyboard and by mouse, at two sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui import keys
from tui.app import ROOMY

SIZES = [(80, 24), (120, 40)]


@pytest.mark.parametrize("size", SIZES)
def test_every_place_shows_itself_and_its_keys(small: VaultBox, size: tuple[int, int]) -> None:
    shown = {
        "recent": ("recorded claim", "saved page  Ada Lovelace", "✓ in Git"),
        "review": ("nothing waits for you",),
        "search": ("type words",),
        "browse": ("main 4", "Person 1", "Records", "f Filter"),
        "issues": ("unresolved_link", "Journal", "r Retry Git"),
        "sources": ("notes.txt", "text/plain"),
        "types": ("1 record", "Bug"),
        "status": ("2 pages, 1 claim", "up to date"),
        "sessions": ("no session is open", "nothing was consolidated yet"),
    }

    gap = " " if size[0] >= ROOMY else ""

    async def flow(stage: Stage) -> None:
        for place in keys.PLACES:
            await stage.press("escape")
            await stage.app.action_go(place.id)
            await stage.see(f"{place.key}{gap}{place.title}", *shown[place.id])
            if place.id != "search":
                await stage.see("? Help", "q Quit")

    play(small.root, flow, size=size)


def test_places_are_entered_with_number_keys_and_with_the_mouse(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("6")
        await stage.see("notes.txt")
        await stage.pilot.click("#status")
        await stage.see("up to date")
        column = stage.text.split("\n")[-1].index("? Help")
        await stage.pilot.click(offset=(column, 23))
        await stage.see("type to filter")

    play(small.root, flow)


def test_search_finds_while_typing_and_says_why(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("slash")
        await stage.type("not")
        await stage.type("es")
        await stage.see("Ada wrote the notes.", "words: notes", "hits")
        await stage.press("enter", "enter")
        await stage.see("revision 1")
        await stage.press("escape")
        await stage.see("hits")

    play(small.root, flow)


def test_a_half_typed_word_finds_by_its_passage(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("slash")
        await stage.type("mil")
        await stage.see("Analytical Engine", "words: mil", "A mill and a store.", "1 hit")

    play(small.root, flow)


def test_a_letter_or_two_list_the_titles_that_hold_them_page_by_page(vault: VaultBox) -> None:
    for n in range(130):
        vault.put(f"notes/weft {n:03}.md", "Of looms.\n")
    vault.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("slash")
        await stage.type("we")
        await stage.see("no hits; 130 titles with it")
        await stage.press("escape")
        hits = stage.app.screen.query_one("#hits")
        for count in (40, 130):
            await stage.until(lambda c=count: hits.option_count >= c)
            await stage.press("G")
        await stage.see("weft 129")

    play(vault.root, flow)


def test_enter_goes_to_the_hits_only_where_there_are_any(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("slash")
        await stage.type("qqqq")
        await stage.see("no hits")
        await stage.press("enter", *["backspace"] * 4)
        await stage.type("mill")
        await stage.see("1 hit")
        await stage.press("enter", "enter")
        await stage.see("A mill and a store.", "revision 1")

    play(small.root, flow)


def test_the_filter_is_left_downwards_and_taken_away_by_escape(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Analytical Engine")
        await stage.press("f")
        await stage.see("To the list", "esc No filter")
        await stage.type("lovel")
        await stage.until(lambda: "Analytical Engine" not in stage.text)
        await stage.press("down")
        await stage.until(lambda: stage.app.focused.id == "records")
        await stage.press("f", "escape")
        await stage.see("Analytical Engine")
        await stage.press("2")
        await stage.see("nothing waits for you")

    play(small.root, flow)


def test_search_can_look_into_history(small: VaultBox) -> None:
    claim = small.claim(small.page("Charles"), "Charles was born in 1792.")
    small.correct(claim, small.claim_values(small.lookup("Charles"), "Charles was born in 1791."))

    async def flow(stage: Stage) -> None:
        await stage.press("3")
        await stage.type("born 1792")
        await stage.see("1791")
        await stage.press("ctrl+r")
        await stage.see("history too", "1792", "→ superseded")

    play(small.root, flow)


def test_browse_narrows_by_shelf_and_filters_as_you_type(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Person 1", "Ada Lovelace", "Analytical Engine")
        await stage.press("f")
        await stage.type("lovel")
        await stage.until(lambda: "Analytical Engine" not in stage.text)
        await stage.see("Ada Lovelace")
        await stage.press("enter", "enter")
        await stage.see("Wrote the notes.", "revision 1")

    play(small.root, flow)


def test_browse_follows_the_tree_and_the_lifecycle(small: VaultBox) -> None:
    small.withdraw(small.lookup("Analytical Engine"))

    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Person 1")
        assert "Analytical Engine" not in stage.text
        await stage.press("z", "z", "z")
        await stage.see("Records, withdrawn", "Analytical Engine", "✗ withdrawn")

    play(small.root, flow)


def test_an_issue_opens_the_editor_at_its_line(
    small: VaultBox, editor: Callable[[str], Path]
) -> None:
    said = editor("s = s.replace('[[Nowhere]]', '[[Ada Lovelace]]')")
    engine = small.path(small.lookup("Analytical Engine"))
    line = engine.read_text().split("\n").index("A mill and a store. See [[Nowhere]].") + 1

    async def flow(stage: Stage) -> None:
        await stage.press("5")
        await stage.see("unresolved_link", f"engine.md:{line}")
        await stage.press("e")
        await stage.see("nothing to mend")

    play(small.root, flow)
    assert said.read_text().split()[0] == f"+{line}"


def test_git_is_retried(small: VaultBox) -> None:
    lock = small.root / ".git" / "refs" / "heads" / f"{small.git('branch', '--show-current')}.lock"
    lock.touch()
    small.page("While Git was busy")
    assert small.call("knowledge_status")["git"]["pending"] == 1

    async def flow(stage: Stage) -> None:
        await stage.press("5")
        await stage.see("… waits for Git")
        await stage.press("r")
        await stage.see("1 change still waits:")
        lock.unlink()
        await stage.press("r")
        await stage.see("Everything is in Git.", "✓ in Git")

    play(small.root, flow)


def test_a_missing_file_is_restored(small: VaultBox) -> None:
    path = small.path(small.lookup("Ada Lovelace"))
    path.unlink()
    small.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("5")
        await stage.see("missing")
        await stage.press("g")
        listing = stage.app.screen.query_one("#findings")
        while listing.chosen.finding["code"] != "missing":
            await stage.press("j")
        await stage.press("s")
        await stage.see("is back")

    play(small.root, flow)
    assert path.is_file()
