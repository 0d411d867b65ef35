"""What a session asks of the model: each text once, what is compared first, and told as it goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.consolidation.boards import Board
from tests.operations.builder import ANYBODY
from vault_kg.embedding.client import Embedder
from vault_kg.embedding.models import DEFAULT_MODEL
from vault_kg.errors import Cancelled

BODY = "Webhook deliveries are retried every three seconds, five times, then dropped. "


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that reaches the real model."""
    texts: list[str] = []
    embed = Embedder.embed_passages

    def told(self, many, **options):
        texts.extend(many)
        return embed(self, many, **options)

    monkeypatch.setattr(Embedder, "embed_passages", told)
    return texts


def filled(board: Board, nodes: int, subject: str) -> str:
    session = board.begin()
    for n in range(nodes):
        board.node(session, f"{subject} {n}", f"{BODY}Case {n} of {subject}.")
    return session


def test_a_candidate_is_embedded_once_from_its_proposal_to_its_page(
    meaning: None, board: Board, asked: list[str]
) -> None:
    session = filled(board, 3, "Retry")
    board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001")
    board.propose(session), board.propose(session)
    assert len(asked) == len(set(asked)) == 3
    board.commit(session)
    board.ws.semantics.embed_pending()
    assert len(asked) == 3 and board.ws.semantics.state()["pending"] == 0
    again = board.begin()
    board.node(again, "Retry 1 anew", f"{BODY}Case 1 of Retry.")
    proposal = board.propose(again)["cand_001"]
    assert proposal["hint"] in ("UPDATE", "SUPERSEDE") and len(asked) == 4


def test_a_vector_that_is_remembered_is_the_models(meaning: None, board: Board) -> None:
    texts = ["One text.", "Another text, which is longer.", "", "A third one."]
    first, _ = board.ws.semantics.embed_texts(texts[:2])
    mixed, _ = board.ws.semantics.embed_texts(texts[::-1])
    fresh = Embedder(DEFAULT_MODEL)
    expected = fresh.embed_passages(texts).vectors
    fresh.close()
    assert np.allclose(first, expected[:2], atol=1e-5)
    assert np.allclose(mixed, expected[::-1], atol=1e-5)


def test_only_pages_that_can_be_meant_are_embedded_before_the_comparison(
    meaning: None, board: Board, asked: list[str]
) -> None:
    near = board.page("Retry policy of webhooks", "Decision", body=BODY)
    bug = board.page("A bug", "Bug", body="Something broke.")
    board.relationship(near, bug, "relates_to")
    session = board.begin()
    board.node(session, "Retry policy of web hooks", BODY)
    found = board.ask("propose_reconciliation", session_id=session)
    assert found["proposals"][0]["target_node"] == near
    assert found["match_mode"] == "vector" and found["reason"] is None
    assert len(asked) == 2 and not any("broke" in text for text in asked)


def test_a_long_proposal_tells_how_far_it_is(meaning: None, board: Board) -> None:
    board.page("Something", "Decision", body="It stands.")
    session = filled(board, 40, "Retry")
    said: list[tuple[int, int, str]] = []
    caller = replace(ANYBODY, report=lambda *told: said.append(told))
    board.propose(session, caller)
    compared = [(done, total) for done, total, what in said if what.startswith("comparing")]
    assert len(compared) > 2 and compared[-1] == (40, 40) and compared == sorted(compared)
    assert ("embedding pages") in {what for _, _, what in said}


def test_a_proposal_can_be_taken_back(meaning: None, board: Board) -> None:
    session = filled(board, 40, "Retry")
    said: list[str] = []
    caller = replace(
        ANYBODY, report=lambda *told: said.append(told[2]), cancelled=lambda: len(said) > 1
    )
    assert isinstance(
        board.refusal("propose_reconciliation", caller, session_id=session), Cancelled
    )
    assert (
        "nothing was proposed" in board.refusal("commit_consolidation", session_id=session).message
    )
    board.edge(session, "cand_001", "depends_on", "cand_002")
    assert len(board.propose(session)) == 41
