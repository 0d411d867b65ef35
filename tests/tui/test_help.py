"""Keys, help and the command palette: one table, found by typing."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui import keys


def test_help_lists_every_key_and_is_filtered_by_typing(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("question_mark")
        await stage.see("Everywhere", "Leave")
        await stage.type("clipboard")
        await stage.see("Copy the record's id")
        assert "Leave" not in stage.text
        await stage.press("escape")
        await stage.see("Recent")

    play(small.root, flow)


def test_the_keys_of_where_one_is_come_first(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Ada Lovelace")
        await stage.press("question_mark")
        shown = await stage.see("Filter by title as you type", "Everywhere")
        assert shown.index("Browsing") < shown.index("Everywhere")

    play(small.root, flow)


def test_the_palette_runs_commands_and_opens_records(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("Recent")
        await stage.press("ctrl+p")
        await stage.type("analyti")
        await stage.choose("Analytical Engine  (page Project)")
        await stage.see("A mill and a store.")
        await stage.press("ctrl+p")
        await stage.type("next theme")
        await stage.choose("Use the next theme")
        await stage.until(lambda: stage.app.theme == "vault-paper")

    play(small.root, flow)


def test_the_palette_goes_to_places_by_name_and_offers_what_the_place_can(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("4")
        await stage.see("Ada Lovelace")
        await stage.press("ctrl+p")
        await stage.see("Filter by title as you type")
        await stage.type("sources")
        await stage.choose("Sources: what was retained as evidence")
        await stage.see("notes.txt")

    play(small.root, flow)


def test_q_leaves(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("Recent")
        await stage.press("q")
        assert not stage.app.is_running or stage.app._exit

    play(small.root, flow)


def test_every_key_is_explained_and_none_means_two_things_in_one_place() -> None:
    for place, table in keys.KEYS.items():
        assert all(key.help and key.label for key in table)
        every = [k for key in table for k in key.key.split(",")]
        if place not in ("search",):
            assert len(every) == len(set(every)), place


def test_what_is_typed_right_after_a_slash_is_searched_for(small: VaultBox) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("saved page")
        for key in ("/", *"quoted looms"):
            await stage.app._press_keys([key])
        await stage.see("quoted looms")

    play(small.root, flow)
