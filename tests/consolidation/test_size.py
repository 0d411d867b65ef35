"""How large a session may be: all of its candidates together, as they are stored."""

from __future__ import annotations

import re
from contextlib import closing

from tests.consolidation.boards import Board, end
from tests.operations.builder import ANYBODY
from vault_kg.errors import SessionTooLarge, VaultError
from vault_kg.operations import registry
from vault_kg.operations.workspace import Workspace


def allow(board: Board, characters: int) -> None:
    """Set the limit of a vault."""
    config = board.root / ".vault-kg/vault.toml"
    text = re.sub(r"\n\[consolidation\]\n.*\n", "", config.read_text())
    config.write_text(f"{text}\n[consolidation]\nsession_characters = {characters}\n")


def too_large(board: Board, session: str, title: str, body: str = "") -> VaultError:
    refused = board.refusal(
        "add_node_candidate", session_id=session, node_type="Decision", title=title, body=body
    )
    assert isinstance(refused, SessionTooLarge) and refused.status == 413
    assert refused.data["session_id"] == session
    return refused


def test_all_candidates_together_may_be_just_as_large_as_allowed(board: Board) -> None:
    """What two nodes and an edge take is told by a refusal; that much fits, and a character less not."""
    first, second = ("Retry", "ä" * 300), ("Jitter", "b" * 200)
    session = board.begin()
    board.node(session, *first)
    allow(board, 1)
    size = too_large(board, session, *second).data["characters"]
    assert 500 < size < 1_000, "characters, not bytes"
    allow(board, size - 1)
    refused = too_large(board, session, *second)
    assert (refused.data["characters"], refused.data["limit"]) == (size, size - 1)
    assert "session_characters" in refused.message
    allow(board, size)
    assert board.node(session, *second) == "cand_002", "a refused candidate leaves no gap"
    too_large(board, session, "One more")
    edge = {"src": end("cand_001"), "dst": end("cand_002"), "rel_type": "depends_on"}
    assert isinstance(
        board.refusal("add_edge_candidate", session_id=session, **edge), SessionTooLarge
    )
    board.propose(session)
    assert len(board.commit(session)["applied"]["added"]) == 2, "what it holds can be committed"


def test_each_session_has_room_of_its_own(board: Board) -> None:
    one = board.begin()
    allow(board, 1_000)
    board.node(one, "Retry", "a" * 800)
    too_large(board, one, "Jitter", "b" * 800)
    another = board.begin()
    board.node(another, "Jitter", "b" * 800)


def test_a_session_is_as_large_for_every_process(board: Board) -> None:
    """What one process has added counts when another one goes on."""
    session = board.begin()
    board.node(session, "Retry", "a" * 800)
    board.reopen()
    allow(board, 1_000)
    too_large(board, session, "Jitter", "b" * 800)
    assert board.node(session, "Short") == "cand_002"


def test_what_another_process_has_added_counts_at_once(board: Board) -> None:
    session = board.begin()
    board.node(session, "Retry", "a" * 400)
    with closing(Workspace.open(board.root, clock=board.ws.clock)) as other:
        arguments = {"session_id": session, "node_type": "Decision", "body": "b" * 400}
        done = registry.call(
            other, "kg_add_node_candidate", {**arguments, "title": "Jitter"}, ANYBODY
        )
        assert done["candidate_id"] == "cand_002"
    twin = board.refusal(
        "add_node_candidate", session_id=session, node_type="Decision", title="JITTER",
        body="b" * 400,
    )  # fmt: skip
    assert "cand_002" in twin.message
    allow(board, 1_200)
    too_large(board, session, "More", "c" * 400)
    assert board.node(session, "Short") == "cand_003"
