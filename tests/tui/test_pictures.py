"""Stored pictures of every screen, at two sizes and in two themes.

`UPDATE_PICTURES=1 pytest tests/tui/test_pictures.py` stores what is seen; look at the difference in
Git before you keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import Input, TextArea

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from tests.tui import gallery, picture
from tests.tui.stage import Stage, play
from tui import keys, themes
from tui.opening import ToRecord, open_value

pytestmark = pytest.mark.timeout(900)  # all pictures are taken in one go

SIZES = ((80, 24), (140, 40))
THEMES = (themes.NIGHT.name, themes.PAPER.name)
PLACES = {place.id for place in keys.PLACES}


class Step(NamedTuple):
    """A screen: where the way to it begins (a place, or a record's name), the keys, what is seen."""

    start: str
    keys: str
    seen: tuple[str, ...]


STEPS = {
    "recent": Step("recent", "", ("Waits for you", "saved page", "! conflict")),
    "review": Step("review", "", ("may be one", "guard_contradicted", "left unresolved")),
    "conflict": Step("review", "g enter", ("waits for your choice", "An agent wrote")),
    "resolve": Step("review", "g enter d", ("Keep the file as it is on disk",)),
    "guard": Step("review", "g j enter", ("guard_contradicted", "Records")),
    "candidate": Step("review", "G enter", ("May these be one thing?", "Countess.")),
    "decline": Step("review", "G enter d", ("They stay two pages",)),
    "merge": Step("review", "G enter l", ("Ask an agent to merge:", "Copy and keep")),
    "search": Step("search", "n o t e s", ("words: notes",)),
    "browse": Step("browse", "", ("main", "Person", "Ada Lovelace")),
    "issues": Step("issues", "", ("unresolved_link", "Journal")),
    "finding": Step("issues", "enter", ("Records",)),
    "sources": Step("sources", "", ("notes.txt",)),
    "source": Step("sources", "G enter", ("bytes verified", "Babbage built")),
    "types": Step("types", "", ("1 record",)),
    "type": Step("types", "enter", ("Records",)),
    "status": Step("status", "", ("up to date", "vocabulary")),
    "record": Step("Ada Lovelace", "", ("Daughter of",)),
    "record-evidence": Step("They met in 1833.", "]", ("source verified",)),
    "record-claims": Step("Ada Lovelace", "] ]", ("Ada wrote the notes of 1843.",)),
    "record-links": Step("Ada Lovelace", "] ] ]", ("wikilink",)),
    "record-history": Step("Ada Lovelace", "] ] ] ]", ("revision 2", "What it changed")),
    "record-file": Step("Ada Lovelace", "[", ("format: knowledge-record-v1",)),
    "note": Step("notes/idea.md", "", ("Of looms.", "Adopt")),
    "adopt": Step("notes/idea.md", "a", ("Which type of page",)),
    "withdraw": Step("Ada Lovelace", "w", ("Ask an agent to withdraw:", "directly")),
    "correct": Step("They met in 1833.", "c", ("The statement that replaces it",)),
    "sessions": Step("sessions", "", ("spec_008", "1 added")),
    "session": Step("sessions", "enter", ("UPDATE", "Back it up daily")),
    "committed": Step("sessions", "tab enter", ("✓ committed", "ADD")),
    "help": Step("recent", "?", ("type to filter", "Everywhere")),
    "jump": Step("browse", "ctrl+o", (" a ", " s ", " d ")),
    "palette": Step("recent", "ctrl+p", ("Recent: what was accepted lately",)),
}


def titled(step: str, size: tuple[int, int]) -> str:
    return f"{step}-{size[0]}x{size[1]}"


@pytest.fixture(scope="module")
def differences(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What differs from each stored picture, and where it was drawn as it is now."""
    drawn = tmp_path_factory.mktemp("pictures")
    found: dict[str, str] = {}
    with fast_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = gallery.vault(Path(folder) / "vault", patch)
        for size in SIZES:
            play(box.root, partial(visit, box=box, size=size, drawn=drawn, found=found), size)
        box.ws.close()
    yield found


async def visit(
    stage: Stage, box: VaultBox, size: tuple[int, int], drawn: Path, found: dict[str, str]
) -> None:
    """Go to every screen and compare it."""
    stage.app.animation_level = "none"
    await stage.see("saved page")
    for name, step in STEPS.items():
        await go(stage, box, step)
        found[titled(name, size)] = await compare(stage, titled(name, size), drawn)
        while stage.app.screen.is_modal:
            await stage.press("escape")


async def go(stage: Stage, box: VaultBox, step: Step) -> None:
    await stage.app.action_go(step.start if step.start in PLACES else "recent")
    if step.start not in PLACES:
        open_value(stage.app, ToRecord(box.lookup(step.start)))
    await stage.settle()
    for key in step.keys.split():
        await stage.press(key)
        await stage.settle()
    await stage.see(*step.seen)
    await stage.settle()
    for typed in stage.app.screen.query("Input, TextArea").results(Input | TextArea):
        typed.cursor_blink = False


async def compare(stage: Stage, name: str, drawn: Path) -> str:
    """Compare a screen in every theme; what differs is drawn for eyes too."""
    seen, parts = [], []
    for theme in THEMES:
        stage.app.theme = theme
        await stage.settle()
        seen.append(picture.words(stage.app))
        parts.append(f"── {theme} ──\n{picture.styles(stage.app)}")
    if seen[0] != seen[1]:
        return f"the words depend on the theme:\n{seen[0]}\n{seen[1]}"
    differs = picture.difference(name, "\n".join([seen[0], *parts, ""]))
    if differs:
        stage.app.save_screenshot(f"{name}.svg", str(drawn))
        differs += f"\nas it is now: {drawn / name}.svg"
    return differs


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("step", STEPS)
def test_a_screen_is_as_it_was_stored(
    differences: dict[str, str], step: str, size: tuple[int, int]
) -> None:
    differs = differences[titled(step, size)]
    assert not differs, differs


def test_every_stored_picture_is_of_a_screen_and_small() -> None:
    stored = {path.stem: path.stat().st_size for path in picture.FOLDER.glob("*.txt")}
    assert set(stored) == {titled(step, size) for step in STEPS for size in SIZES}
    assert max(stored.values()) < 20_000
