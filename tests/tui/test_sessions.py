"""Sessions: what is open with its hints, what was committed; it changes while it is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.consolidation.boards import Board
from tests.tui.stage import Stage, play


@pytest.fixture
def board(folder: Path) -> Iterator[Board]:
    """A vault in which a session was committed and another one is open."""
    made = Board(folder / "vault", clock=lambda: datetime.now(UTC))  # as the UI's, or it expires
    made.consolidate("Use SQLite", "We use SQLite.")
    made.open = made.begin()  # type: ignore[attr-defined]
    made.node(made.open, "Use SQLite", "We use SQLite for all of it.")
    yield made
    made.ws.close()


def test_an_open_session_shows_its_hints_once_they_are_proposed(board: Board) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("9")
        await stage.see("… open  spec spec_007 v4", "1 node, 0 edges", "1 added")
        await stage.press("enter")
        await stage.see("not proposed yet", "Use SQLite", "cand_001")
        board.propose(board.open)
        await stage.see("UPDATE", "similarity")
        await stage.press("enter")
        await stage.see("Use SQLite", "revision 1")

    play(board.root, flow)


def test_a_session_that_is_committed_while_it_is_open_says_so(board: Board) -> None:
    board.propose(board.open)

    async def flow(stage: Stage) -> None:
        await stage.press("9")
        await stage.see("… open")
        await stage.press("enter")
        await stage.see("UPDATE")
        board.commit(board.open)
        await stage.see("✓ committed")
        await stage.press("escape")
        await stage.see("no session is open", "1 updated")

    play(board.root, flow)


def test_a_dropped_session_is_told(board: Board) -> None:
    async def flow(stage: Stage) -> None:
        await stage.press("9")
        await stage.see("… open")
        await stage.press("enter")
        await stage.see("not proposed yet")
        board.ask("abort_consolidation", session_id=board.open)
        await stage.see("was dropped, or it has expired")

    play(board.root, flow)


def test_an_override_is_shown_with_its_reason(board: Board) -> None:
    board.propose(board.open)
    board.commit(
        board.open,
        agent_overrides=[
            {"candidate_id": "cand_001", "hint": "ADD", "rationale": "another matter"}
        ],
    )

    async def flow(stage: Stage) -> None:
        await stage.press("9")
        await stage.see("no session is open", "1 added")
        await stage.press("tab", "enter")
        await stage.see("UPDATE", "overridden: ADD", "another matter")

    play(board.root, flow)
