"""Text from records is text: no markup, no escape reaches the terminal, nothing is hidden."""

from __future__ import annotations

import unicodedata

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from tests.tui.stage import Stage, play
from tui import plain
from tui.desk import Desk
from tui.opening import ToRecord, open_value

ESCAPES = "\x1b]52;c;aGFja2Vk\x07\x1b[2J\x9b31m"


def file_with(vault: VaultBox, body: str, title: str = "Hostile") -> str:
    vault.put("main/pages/person/h.md", record_file(made_id(1), body=body, title=f'"{title}"'))
    vault.scan()
    return made_id(1)


def no_control_reaches_the_terminal(stage: Stage) -> None:
    bad = [c for c in stage.text if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]
    assert not bad, bad


def test_markup_is_text_in_lists_heads_titles_and_notices(vault: VaultBox) -> None:
    evil = "[bold red]x[/] [@click=app.quit]go[/]"
    vault.page(evil, summary="[/] [link=x]", body=f"{evil}\n")
    vault.page("Other", aliases=["wikidata:q1"])
    vault.page(f"{evil} two", aliases=["wikidata:q1"])

    async def flow(stage: Stage) -> None:
        await stage.see("[bold red]x[/] [@click=app.quit]go[/]")
        await stage.press("tab", "enter")
        await stage.press("2")
        await stage.see("[bold red]x[/]")
        await stage.press("enter")
        await stage.see("╭─ [bold red]x[/]")
        await stage.press("4")
        await stage.see("[bold red]x[/] [@click=app.qui")
        await stage.press("3")
        await stage.type("quit")
        await stage.see("[bold red]x[/]")
        await stage.press("ctrl+p")
        await stage.type("bold")
        await stage.see("[bold red]x[/] [@click=app.quit]go[/]")

    play(vault.root, flow)


def test_escapes_bidi_and_zero_width_are_revealed_everywhere(vault: VaultBox) -> None:
    hidden = "a\u202eb\u200bc\ufeffd\u2066e"
    page = file_with(
        vault, f"\nBody {ESCAPES} {hidden} &#x202e; &#27;[2J <b>tag</b>\n", "T\\u202eitle"
    )

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(page))
        await stage.see("T⟦U+202E⟧itle", "␛]52;c;aGFja2Vk␇␛[2J⟦U+009B⟧31m", "a⟦U+202E⟧b⟦U+200B⟧c")
        await stage.see("⟦U+202E⟧ �[2J", "<b>tag</b>")
        no_control_reaches_the_terminal(stage)
        await stage.press("[")
        await stage.see("a⟦U+202E⟧b⟦U+200B⟧c⟦U+FEFF⟧d")
        no_control_reaches_the_terminal(stage)
        await stage.press("[")
        await stage.see("What it changed")
        no_control_reaches_the_terminal(stage)
        await stage.press("4")
        await stage.see("T⟦U+202E⟧itle")
        no_control_reaches_the_terminal(stage)
        await stage.press("3")
        await stage.type("body")
        await stage.see("T⟦U+202E⟧itle", "1 hit")
        no_control_reaches_the_terminal(stage)

    play(vault.root, flow, size=(120, 40))


def test_a_line_of_a_megabyte_is_cut_and_says_so(vault: VaultBox) -> None:
    page = file_with(vault, "\n" + "x" * 1_000_000 + "\n")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(page))
        await stage.see("Hostile", "xxxx")
        await stage.press("end")
        await stage.see("characters more")
        await stage.press("[")
        await stage.see("format: knowledge-record-v1")
        await stage.press("end")
        await stage.see("characters more in this line")
        await stage.press("[")
        await stage.see("What it changed")
        await stage.press("q")

    play(vault.root, flow)


@pytest.mark.parametrize("block", range(0, 0x30000, 0x1000))
def test_no_character_is_left_that_hides_or_reorders(block: int) -> None:
    text = "".join(chr(c) for c in range(block, block + 0x1000))
    left = {
        f"U+{ord(c):04X}" for c in plain.reveal(text)
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n"
    }  # fmt: skip
    visible = {"U+0600", "U+0601", "U+0602", "U+0603", "U+0604", "U+0605", "U+06DD", "U+070F",
               "U+0890", "U+0891", "U+08E2", "U+110BD", "U+110CD"}  # fmt: skip
    hieroglyphs = {f"U+{c:04X}" for c in range(0x13430, 0x13440)}
    shorthand = {f"U+{c:04X}" for c in range(0x1BCA0, 0x1BCA4)}
    assert left <= visible | hieroglyphs | shorthand


def test_a_record_that_stands_in_two_files_is_listed_twice_and_told_of(vault: VaultBox) -> None:
    text = record_file(made_id(1), title="Twice")
    vault.put("main/pages/person/one.md", text)
    vault.put("main/pages/person/two.md", text)
    vault.scan()

    async def flow(stage: Stage) -> None:
        await stage.press("4", "z", "z", "z", "z", "z")
        await stage.see("Records, all", "one.md", "two.md")
        await stage.press("5")
        await stage.see("duplicate_id")
        open_value(stage.app, ToRecord(made_id(1)))
        await stage.see("two.md")

    play(vault.root, flow, size=(120, 30))


def test_a_file_that_cannot_be_read_is_told_and_closes_nothing(vault: VaultBox) -> None:
    page = vault.page("Ada")

    class Failing(Desk):
        def raw(self, path: str) -> str:
            raise OSError("the disk is gone")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(page))
        await stage.see("revision 1")
        await stage.press("[")
        await stage.see("cannot be read", "the disk is gone")
        await stage.press("escape")
        await stage.see("saved page")

    play(vault.root, flow, desk=Failing(vault.root))
