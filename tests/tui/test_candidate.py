"""Two pages that may be one: side by side, declined here or handed over."""

from __future__ import annotations

import json

import pytest

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play


@pytest.fixture
def pair(vault: VaultBox) -> tuple[str, str]:
    return (
        vault.page("Ada Lovelace", aliases=["wikidata:q7259"], summary="Wrote notes."),
        vault.page("Countess of Lovelace", aliases=["wikidata:q7259"], body="A noble."),
    )


def test_both_pages_are_shown_with_the_reason(vault: VaultBox, pair: tuple[str, str]) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("may be one", "Ada Lovelace", "Countess of Lovelace")
        await stage.press("enter")
        await stage.see("May these be one thing?", "wikidata:q7259", "Wrote notes.")

    play(vault.root, flow)


def test_declining_asks_why_and_the_pair_is_gone(vault: VaultBox, pair: tuple[str, str]) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("may be one")
        await stage.press("enter")
        await stage.see("Wrote notes.")
        await stage.press("d")
        await stage.type("two")
        await stage.press("enter")
        await stage.see("nothing waits for you")

    play(vault.root, flow)
    assert not vault.candidates()


@pytest.mark.parametrize(("key", "survivor"), [("l", "first"), ("r", "second")])
def test_merging_is_handed_over_with_the_chosen_survivor(
    vault: VaultBox, pair: tuple[str, str], key: str, survivor: str
) -> None:
    found = vault.call("knowledge_diagnostics")["mergeCandidates"][0]

    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("may be one")
        await stage.press("enter")
        await stage.see("Wrote notes.")
        await stage.press(key)
        await stage.see("Ask an agent to merge", "⇐")
        await stage.type("so")
        await stage.press("ctrl+s")
        await stage.see("In the clipboard")

    play(vault.root, flow, size=(100, 30))
    (file,) = (vault.root / ".vault-kg" / "requests").glob("*-merge.json")
    given = json.loads(file.read_text())
    assert given["survivor"]["id"] == found[survivor]
    assert {given["survivor"]["id"], given["absorbed"]["id"]} == set(pair)
