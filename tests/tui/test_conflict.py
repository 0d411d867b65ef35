"""The conflict page: three versions, and a person's choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, meet, play


@pytest.fixture
def ada(vault: VaultBox, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page whose body an agent was changing while a person edited it."""
    page = vault.page("Ada", body="Friend of Charles.\n")
    meet(vault, page, "Friend of", "A person's words on", monkeypatch, body="An agent's words.")
    return page


def test_the_three_versions_stand_side_by_side_with_signs(vault: VaultBox, ada: str) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("! conflict", "ada.md")
        await stage.press("2", "enter")
        await stage.see("Original", "Proposed", "On disk, edited")
        await stage.see("~ An agent's words.", "~ A person's words on Charles.", "Friend of")

    play(vault.root, flow, size=(120, 40))


def test_in_a_narrow_terminal_the_versions_are_shown_in_turn(vault: VaultBox, ada: str) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! conflict")
        await stage.press("enter")
        assert "Original" not in await stage.see("Proposed", "On disk, edited")
        await stage.press("[")
        assert "On disk, edited" not in await stage.see("Original", "Proposed")

    play(vault.root, flow)


@pytest.mark.parametrize(
    ("key", "kept"), [("d", "A person's words on Charles."), ("p", "An agent's words.")]
)
def test_a_choice_asks_why_and_resolves(vault: VaultBox, ada: str, key: str, kept: str) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! conflict")
        await stage.press("enter")
        await stage.see("waits for your choice")
        await stage.press(key, "enter")
        await stage.see("Say something here")
        await stage.type("ok")
        await stage.press("enter")
        await stage.see("nothing waits for you")

    play(vault.root, flow)
    assert kept in vault.path(ada).read_text()
    assert not vault.call("knowledge_conflicts")["conflicts"]
    assert vault.call("knowledge_activity", limit=5)["entries"][0]["actor"] == "reviewer"


def test_cancelling_changes_nothing(vault: VaultBox, ada: str) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! conflict")
        await stage.press("enter")
        await stage.see("waits for your choice")
        await stage.press("p", *"why", "escape")
        await stage.see("waits for your choice")

    play(vault.root, flow)
    assert vault.call("knowledge_conflicts")["count"] == 1


def test_the_merged_file_is_written_in_the_editor(
    vault: VaultBox, ada: str, editor: Callable[[str], Path]
) -> None:
    editor(r"s = re.sub(r'<<<<<<<.*?>>>>>>> on disk\n', 'Both.\n', s, flags=re.S)")

    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! conflict")
        await stage.press("enter")
        await stage.see("waits for your choice")
        await stage.press("m")
        await stage.see("Write the file that you made")
        await stage.type("ok")
        await stage.press("enter")
        await stage.see("nothing waits for you")

    play(vault.root, flow)
    assert "Both." in vault.path(ada).read_text()


def test_opening_a_record_in_conflict_leads_to_the_conflict(vault: VaultBox, ada: str) -> None:
    async def flow(stage: Stage) -> None:
        from tui.opening import ToRecord, open_value

        open_value(stage.app, ToRecord(ada))
        await stage.see("waits for your choice")

    play(vault.root, flow)
