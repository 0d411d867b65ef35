"""Handing over: the request is exact, copied, kept, and accepted as it is; nothing is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play
from tui.opening import ToRecord, open_value

ROOT = Path(__file__).parents[2]


def kept(vault: VaultBox) -> list[Path]:
    return sorted((vault.root / ".vault-kg" / "requests").glob("*.json"))


def carried_out(vault: VaultBox, name: str, text: str) -> dict[str, Any]:
    """Paste a request into `vault-kg call`."""
    done = subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "call", name, "--json", "-", "--vault", vault.root],
        input=text, capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return dict(json.loads(done.stdout))


def test_withdrawing_shows_its_impact_first_and_hands_over_a_request(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    claim = vault.claim(ada, "Ada wrote the notes.")
    position = vault.position
    copied: list[str] = []

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Withdraw")
        await stage.press("w")
        await stage.see("Would be left unresolved", "Ada wrote the notes.", "directly")
        await stage.type("not so")
        await stage.press("ctrl+s")
        await stage.see("In the clipboard", "knowledge_withdraw", "--json -")
        copied.append(stage.app.clipboard)

    play(vault.root, flow, size=(80, 30))
    assert vault.position == position, "nothing is sent by itself"
    (file,) = kept(vault)
    assert file.name.endswith("-withdraw.json")
    assert copied == [file.read_text()]
    given = json.loads(file.read_text())
    assert given["id"] == ada
    assert given["expectedHash"] == vault.get(ada)["hash"]
    assert given["reason"] == "not so"
    receipt = carried_out(vault, "knowledge_withdraw", file.read_text())
    assert receipt["targetId"] == ada
    assert [i["id"] for i in receipt["impact"]["items"]] == [claim]


def test_correcting_hands_over_a_complete_replacement(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    claim = vault.claim(
        ada, "Ada wrote the notes.", confidence=0.5, tags=["x"], validFrom="1843-01-01"
    )

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(claim))
        await stage.see("Correct")
        await stage.press("c")
        await stage.see("The statement that replaces it")
        await stage.type("more exactly")
        await stage.press("tab")
        await stage.type(" In 1843.")
        await stage.press("ctrl+s")
        await stage.until(lambda: kept(vault))

    play(vault.root, flow)
    receipt = carried_out(vault, "knowledge_correct", kept(vault)[0].read_text())
    new = vault.get(receipt["replacementId"])
    assert new["body"] == "Ada wrote the notes. In 1843."
    assert (new["confidence"], new["tags"], new["validFrom"]) == (0.5, ["x"], "1843-01-01")
    assert vault.get(claim)["lifecycle"] == "superseded"


def test_correcting_a_relationship_keeps_its_ends(vault: VaultBox) -> None:
    edge = vault.relationship(vault.page("Ada"), vault.page("Charles"))

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(edge))
        await stage.see("Correct")
        await stage.press("c")
        await stage.see("The statement that replaces it")
        await stage.press(*"why", "ctrl+s")
        await stage.until(lambda: kept(vault))

    play(vault.root, flow)
    receipt = carried_out(vault, "knowledge_correct", kept(vault)[0].read_text())
    new, old = vault.get(receipt["replacementId"]), vault.get(edge)
    assert (new["from"], new["to"], new["type"]) == (old["from"], old["to"], old["type"])


def test_merging_names_the_other_page(vault: VaultBox) -> None:
    ada, countess = vault.page("Ada"), vault.page("Countess of Lovelace")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Merge")
        await stage.press("m")
        await stage.see("the page it absorbs")
        await stage.type("so")
        await stage.press("tab")
        await stage.type("Countess of Lovelace")
        await stage.press("ctrl+s")
        await stage.until(lambda: kept(vault))

    play(vault.root, flow)
    receipt = carried_out(vault, "knowledge_merge", kept(vault)[0].read_text())
    assert receipt["changed"]
    assert vault.get(countess)["id"] == ada


def test_without_a_reason_nothing_is_composed(vault: VaultBox) -> None:
    ada = vault.page("Ada")

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToRecord(ada))
        await stage.see("Withdraw")
        await stage.press("w", "ctrl+s")
        await stage.see("Say why.")

    play(vault.root, flow)
    assert not kept(vault)


@pytest.mark.parametrize("name", ["knowledge_withdraw", "knowledge_save_page", "knowledge_merge"])
def test_the_desk_itself_refuses_what_is_an_agents(vault: VaultBox, name: str) -> None:
    from tui.desk import Desk
    from vault_kg.errors import ScopeDenied

    desk = Desk(vault.root)
    with pytest.raises(ScopeDenied):
        desk.change(name, id="pg_x")
    desk.stop()
