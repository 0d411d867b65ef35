"""`--connect`: a running service is asked; a person's decisions are made all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.operations.builder import VaultBox
from tests.serve.served import Running
from tests.tui.stage import Stage, meet, play
from tui import engines
from tui.desk import Desk
from tui.opening import ToConflict, open_value


@pytest.fixture
def served(small: VaultBox) -> Iterator[Running]:
    """A service of the small vault."""
    running = Running(small.root)
    running.healthy()
    yield running
    running.stop()


def connected(vault: VaultBox, told: list[str] | None = None) -> Desk:
    said: list[str] = [] if told is None else told
    return Desk(vault.root, engines.connected(vault.root, otherwise=said.append), actor="keeper")


def test_what_is_shown_comes_from_the_service(small: VaultBox, served: Running) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("saved page  Ada Lovelace")
        small.page("Written by somebody else")
        await stage.see("Written by somebody else")
        await stage.press("8")
        await stage.see("through the running service", "up to date")
        await stage.press("/")
        await stage.type("looms")
        await stage.see("An idea", "1 hit")

    play(small.root, flow, desk=connected(small))


def test_a_conflict_is_resolved_though_no_service_may(
    small: VaultBox, served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = small.lookup("Ada Lovelace")
    small.change(ada, body="Words.\n")
    meet(small, ada, "Words.", "A person's words.", monkeypatch, body="An agent's words.\n")
    waiting = small.call("knowledge_conflicts")["conflicts"][0]["id"]

    async def flow(stage: Stage) -> None:
        open_value(stage.app, ToConflict(waiting))
        await stage.see("waits for your choice")
        await stage.press("d")
        await stage.see("Keep the file")
        await stage.type("mine is right")
        await stage.press("enter")
        await stage.see("nothing waits for you")

    play(small.root, flow, desk=connected(small))
    assert small.call("knowledge_conflict", conflictId=waiting)["choice"] == "keep_disk"
    newest = small.call("knowledge_activity", limit=1)["entries"][0]
    assert newest["actor"] == "keeper"


def test_without_a_service_the_vault_is_opened_here(small: VaultBox) -> None:
    told: list[str] = []
    desk = connected(small, told)
    assert "No service of this vault runs" in told[0]

    async def flow(stage: Stage) -> None:
        await stage.see("saved page  Ada Lovelace")
        await stage.press("8")
        await stage.see("opened by this program")

    play(small.root, flow, desk=desk)


def test_a_service_that_ends_is_told_once_and_found_again(small: VaultBox, served: Running) -> None:
    async def flow(stage: Stage) -> None:
        await stage.see("saved page  Ada Lovelace")
        served.stop()
        await stage.see("unavailable")
        again = Running(small.root)
        again.healthy()
        try:
            small.page("After it came back")
            await stage.see("After it came back")
        finally:
            again.stop()

    play(small.root, flow, desk=connected(small))
