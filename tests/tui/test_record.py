"""The record page: text, evidence, claims, connections, history, file; editing and adopting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui.opening import ToRecord, open_value


def test_a_page_shows_its_text_fields_claims_links_history_and_file(vault: VaultBox) -> None:
    charles = vault.page("Charles Babbage")
    ada = vault.page("Ada", summary="Wrote notes.", body="# Life\n\nKnew [[Charles Babbage]].\n")
    vault.claim(ada, "Ada wrote the notes.")
    vault.relationship(ada, charles, fact="They met in 1833.")
    vault.change(ada, body="# Life\n\nKnew [[Charles Babbage]] well.\n")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Ada", "page  Person  revision 2", "Wrote notes.", "Life", "well.")
        await stage.press("]", "]")
        await stage.see("Ada wrote the notes.", "notes.txt", "lines 1-2", "✓ source verified",
                        "┃ Babbage built the engine.")  # fmt: skip
        await stage.press("]")
        await stage.see("─ knows →  Charles Babbage", "They met in 1833.", "─ wikilink →")
        await stage.press("]")
        await stage.see("revision 2", "revision 1", "- Knew [[Charles Babbage]].",
                        "+ Knew [[Charles Babbage]] well.")  # fmt: skip
        await stage.press("]")
        await stage.see("format: knowledge-record-v1", f"id: {ada}")

    play(vault.root, flow, size=(80, 40))


def test_the_difference_stands_side_by_side_where_there_is_room(vault: VaultBox) -> None:
    ada = vault.page("Ada", body="One.\n")
    vault.change(ada, body="Two.\n")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada, "history"))
        await stage.see("- One.", "│ + Two.")
        await stage.press("d")

    play(vault.root, flow, size=(140, 40))


def test_the_evidence_of_a_claim_opens_at_its_lines(vault: VaultBox) -> None:
    lines = "\n".join(f"Line {n} of many." for n in range(1, 500))
    source = vault.source(lines, "long.txt")
    claim = vault.claim(
        vault.page("Ada"), evidence=[{"source": source, "lines": "321-322", "attribution": "Me"}]
    )

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(claim, "evidence"))
        await stage.see("long.txt", "lines 321-322", "— Me", "┃ Line 321 of many.")
        await stage.press("enter")
        await stage.see("✓ bytes verified", "▶   321  Line 321 of many.", "▶   322")

    play(vault.root, flow)


def test_why_a_record_is_not_eligible_stands_at_its_head(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    claim = vault.claim(ada)
    vault.withdraw(ada)

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(claim))
        await stage.see("✗ not eligible")

    play(vault.root, flow)


def test_why_a_record_is_eligible_stands_among_its_facts(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    other = vault.claim(ada, validUntil="2199-01-01T00:00:00Z")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(other))
        await stage.see("yes: active and valid")
        await stage.see("what it stands on is eligible (1", "until 2199-01-01")
        vault.withdraw(ada)
        await stage.see("✗ not eligible")
        await stage.until(lambda: "yes: active" not in stage.text)

    play(vault.root, flow, size=(140, 40))


def test_a_link_in_the_text_opens_the_record(vault: VaultBox) -> None:
    vault.page("Charles Babbage", body="The engineer.")
    ada = vault.page("Ada", body="Knew [[Charles Babbage|him]].")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Knew him.")
        row = next(n for n, text in enumerate(stage.text.split("\n")) if "Knew him." in text)
        column = stage.text.split("\n")[row].index("him")
        await stage.pilot.click(offset=(column + 1, row))
        await stage.see("The engineer.")

    play(vault.root, flow)


def test_a_link_out_of_the_vault_is_copied_and_never_opened(vault: VaultBox) -> None:
    ada = vault.page("Ada", body="See [this](https://example.org/x).")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("See this")
        row = next(n for n, text in enumerate(stage.text.split("\n")) if "See this" in text)
        await stage.pilot.click(offset=(stage.text.split("\n")[row].index("this") + 1, row))
        await stage.see("https://example.org/x", "not opened")
        assert stage.app.clipboard == "https://example.org/x"

    play(vault.root, flow)


def test_the_editor_opens_at_the_line_and_the_edit_is_observed_and_shown(
    vault: VaultBox, editor: Callable[[str], Path]
) -> None:
    ada = vault.page("Ada", body="Old words.\n")
    said = editor("s = s.replace('Old words', 'New words')")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Old words.")
        await stage.press("e")
        await stage.see("New words.", "is now revision 2")

    play(vault.root, flow)
    text = vault.path(ada).read_text().split("\n")
    plus, path = said.read_text().split()
    assert text[int(plus[1:]) - 1] == "New words."
    assert path == str(vault.path(ada))
    assert vault.history(ada)[0]["actor"] == "editor"


def test_an_edit_that_breaks_the_file_is_told_with_its_line(
    vault: VaultBox, editor: Callable[[str], Path]
) -> None:
    ada = vault.page("Ada", body="Words.\n")
    editor("s = s.replace('title: Ada', 'title: [Ada')")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Words.")
        await stage.press("e")
        await stage.see("line ")

    play(vault.root, flow)


def test_a_note_is_adopted(vault: VaultBox) -> None:
    vault.put("notes/idea.md", "# An idea\n\nOf looms.\n")
    vault.scan()

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord("doc:file:notes/idea.md"))
        await stage.see("An idea", "a Adopt")
        await stage.press("a")
        await stage.see("Which type")
        await stage.press("enter")
        await stage.see("page  Document  revision 1", "Of looms.")

    play(vault.root, flow)
    text = (vault.root / "notes/idea.md").read_text()
    assert text.endswith("# An idea\n\nOf looms.\n")
    assert "type: Document" in text


def test_an_editor_that_is_not_there_is_told_and_the_terminal_comes_back(
    small: VaultBox, editor: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor("")
    monkeypatch.setenv("EDITOR", "no-such-editor")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(small.lookup("Ada Lovelace")))
        await stage.see("revision 1")
        await stage.press("e")
        await stage.see("cannot be started", "no-such-editor")
        await stage.press("escape")
        await stage.see("saved page")

    play(small.root, flow)


def test_keys_that_come_at_once_all_count(small: VaultBox) -> None:
    """Focus that follows a part late brings no part back."""

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(small.lookup("Ada Lovelace")))
        await stage.see("revision 1")
        for _ in range(4):
            event = events.Key("right_square_bracket", "]")
            event.set_sender(stage.app)
            stage.app._driver.send_message(event)
        await stage.see("What it changed")
        await stage.settle()
        assert stage.app.screen.query_one("#parts").active == "history"

    play(small.root, flow)
