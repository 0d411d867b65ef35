"""What is left to repair and to maintain, beside the queue."""

from __future__ import annotations

from tests.operations.builder import VaultBox
from tests.tui.stage import Stage, play


def test_what_a_withdrawal_left_unresolved_is_listed_until_it_is_repaired(vault: VaultBox) -> None:
    ada = vault.page("Ada")
    rumour = vault.page("A rumour", "Topic", dependencies=[ada])
    vault.claim(ada, "Ada wrote the notes.")
    vault.withdraw(ada)

    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! left unresolved  A rumour", "! left unresolved  Ada wrote the notes.")
        await stage.see("is withdrawn")
        vault.change(rumour, dependencies=[])
        await stage.until(lambda: "A rumour" not in stage.text)
        await stage.press("tab", "enter")
        await stage.see("✗ not eligible", "is withdrawn")

    play(vault.root, flow)


def test_a_claim_whose_time_is_over_needs_no_repair(vault: VaultBox) -> None:
    vault.claim(vault.page("Ada"), "Until then.", validUntil="2026-01-01T00:00:00Z")

    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("nothing is left to repair")
        await stage.press("4", "z")
        await stage.see("Records, unresolved", "Until then.", "✗ not eligible")

    play(vault.root, flow)


def test_debt_is_told_and_opens_with_the_pages_behind_it(vault: VaultBox) -> None:
    for n in range(40):
        vault.page(f"A page that nothing is joined to {n}", "Topic", body="Alone.\n")

    async def flow(stage: Stage) -> None:
        await stage.press("2")
        await stage.see("! debt")
        await stage.press("tab", "enter")
        await stage.see("health", "debt", "to do")
        await stage.until(lambda: stage.app.screen.query_one("#about").option_count)

    play(vault.root, flow, size=(120, 40))
