"""Every key that a screen offers can be read at 80 columns, whatever is in focus."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Footer

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from tests.tui import gallery, picture
from tests.tui.stage import Stage, play
from tests.tui.test_pictures import STEPS, Step, go
from tui import keys

pytestmark = pytest.mark.timeout(900)  # all screens are gone through in one go

MORE = {
    "claim-history": Step("Ada wrote the notes of 1843.", "] ] ] ]", ("revision 1",)),
    "relationship-history": Step("They met in 1833.", "] ] ] ]", ("revision 1",)),
    "note-history": Step("notes/idea.md", "] ] ] ]", ("History",)),
    "claim": Step("Ada wrote the notes of 1843.", "", ("claim",)),
}
LONGEST = 58
"""Characters of a line of the help, beside its key, at 80 columns."""

EVERY = STEPS | MORE


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, str]]]:
    """For each screen, by what is in focus: how far the footer's keys go beyond its width."""
    found: dict[str, dict[str, str]] = {}
    with fast_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = gallery.vault(Path(folder) / "vault", patch)
        play(box.root, partial(visit, box=box, found=found), (80, 24))
        box.ws.close()
    yield found


async def visit(stage: Stage, box: VaultBox, found: dict[str, dict[str, str]]) -> None:
    stage.app.animation_level = "none"
    await stage.see("saved page")
    for name, step in EVERY.items():
        await go(stage, box, step)
        found[name] = {}
        for number, widget in enumerate(stage.app.screen.focus_chain):
            widget.focus()
            await stage.settle()
            for footer in stage.app.screen.query(Footer):
                found[name][f"{number} {type(widget).__name__}"] = shown(footer)
        if name == "help":
            words = picture.words(stage.app).split("\n")
            found["help lines"] = {line: "cut" for line in words if "…" in line[:-3]}
        while stage.app.screen.is_modal:
            await stage.press("escape")


def shown(footer: Footer) -> str:
    """Return how wide a footer's keys are where that is too much; nothing where it is not."""
    keys = [key for key in footer.children if key.display]
    over = max((key.virtual_region_with_margin.right for key in keys), default=0)
    over = max(over, footer.virtual_size.width)
    return f"{over} of {footer.size.width}" if over > footer.size.width else ""


def test_the_help_shows_whole_lines(rows: dict[str, dict[str, str]]) -> None:
    assert rows["help lines"] == {}
    said = [key.help for table in keys.KEYS.values() for key in table]
    assert max(map(len, said)) <= LONGEST


@pytest.mark.parametrize("name", EVERY)
def test_the_footer_shows_all_its_keys(rows: dict[str, dict[str, str]], name: str) -> None:
    assert {focus: cut for focus, cut in rows[name].items() if cut} == {}
