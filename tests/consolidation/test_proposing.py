"""Reconciliation over what really stands: by reference, title and text, with a model and without."""

from __future__ import annotations

import pytest

from tests.consolidation.boards import SPEC, Board
from tests.operations.builder import Clock
from vault_kg.errors import NotFound
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller

FIXED = "Fixed 3s retry interval for webhook deliveries"
BODY = "Webhook deliveries are retried every three seconds, five times, then dropped."
LIKE = "Webhook deliveries are retried every three seconds, at most five times."


def test_without_a_model_titles_are_compared(board: Board) -> None:
    same = board.page("Retry policy of webhooks", "Decision")
    board.page("Retry policy of webhooks", "Bug"), board.page("Something else", "Decision")
    near = board.page("Retry policy of jobs", "Decision")
    session = board.begin()
    board.node(session, "Retry policy of webhooks", "Text.")
    found = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001", k=5)
    assert found["match_mode"] == "title_prefix" and "off" in found["reason"]
    assert [(m["node_id"], m["score"]) for m in found["matches"]] == [(same, 1.0), (near, 0.666667)]
    one = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001", k=1)
    assert [m["node_id"] for m in one["matches"]] == [same]


@pytest.mark.parametrize(
    ("title", "hint"),
    [("x" * 19 + "y", "UPDATE"), ("x" * 18 + "yy", "SUPERSEDE"), ("x" * 17 + "yyy", "SUPERSEDE"),
     ("x" * 16 + "yyyy", "ADD"), ("x" * 5 + "y" * 15, "ADD")],
)  # fmt: skip
def test_titles_on_either_side_of_the_thresholds(board: Board, title: str, hint: str) -> None:
    """19 of 20 characters in common are 0.95, 17 are 0.85."""
    stands = board.page("x" * 20, "Requirement", body="Text.")
    session = board.begin()
    board.node(session, title, "Another text.", "Requirement")
    proposal = board.propose(session)["cand_001"]
    assert proposal["hint"] == hint
    assert proposal["target_node"] == (stands if hint != "ADD" else None)


def test_thresholds_are_the_vaults(board: Board) -> None:
    board.page("x" * 20, "Requirement", body="Text.")
    board.configure("[consolidation]\nupdate_similarity = 0.5\nsupersede_similarity = 0.4\n")
    session = board.begin()
    board.node(session, "x" * 12 + "y" * 8, "Another text.", "Requirement")
    assert board.hint(session) == "UPDATE"


@pytest.mark.parametrize("shift", [-0.0001, 0.0001])
def test_meaning_on_either_side_of_the_thresholds(
    meaning: None, board: Board, shift: float
) -> None:
    """The similarity that the real model gives is set against thresholds just below and above it."""
    stands = board.page(FIXED, "Decision", body=BODY)
    session = board.begin()
    board.node(session, "Webhook retry interval", LIKE)
    found = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001")
    assert found["match_mode"] == "vector" and found["reason"] is None
    (match,) = found["matches"]
    score = match["score"]
    assert match["node_id"] == stands and 0.6 < score < 0.99
    board.configure(
        f"[consolidation]\nupdate_similarity = {score + shift}\n"
        f"supersede_similarity = {min(score, score + shift)}\n"
    )
    proposal = board.propose(session)["cand_001"]
    assert proposal["hint"] == ("UPDATE" if shift < 0 else "SUPERSEDE")
    assert proposal["score"] == score and proposal["target_node"] == stands


@pytest.mark.parametrize(("shift", "hint"), [(-0.0001, "SUPERSEDE"), (0.0001, "ADD")])
def test_meaning_on_either_side_of_the_lower_threshold(
    meaning: None, board: Board, shift: float, hint: str
) -> None:
    board.page(FIXED, "Decision", body=BODY)
    session = board.begin()
    board.node(session, "Webhook retry interval", LIKE)
    found = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001")
    board.configure(
        "[consolidation]\nupdate_similarity = 1.0\n"
        f"supersede_similarity = {found['matches'][0]['score'] + shift}\n"
    )
    assert board.hint(session) == hint


def test_the_same_text_is_as_similar_as_can_be_and_other_types_do_not_count(
    meaning: None, board: Board
) -> None:
    board.page(FIXED, "Bug", body=BODY)
    long = f"# Why\n\n{BODY}\n\n# How\n\n" + "\n\n".join(f"Step {n}: {LIKE}" for n in range(30))
    stands = board.page(FIXED, "Decision", body=long)
    board.page("Colours of the logo", "Decision", body="The logo is green.")
    session = board.begin()
    board.node(session, FIXED, long)
    found = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001")
    first = found["matches"][0]
    assert first["node_id"] == stands and first["score"] > 0.999
    assert all(match["score"] < 0.9 for match in found["matches"][1:])
    assert board.propose(session)["cand_001"]["hint"] == "NOOP", "same title and body goes first"


def test_what_is_not_embedded_yet_is_found_all_the_same(meaning: None, board: Board) -> None:
    """The pages of a session that was just committed are compared with those of the next."""
    node = board.consolidate(FIXED, BODY)
    session = board.begin()
    board.node(session, f"{FIXED}!", BODY)
    assert board.propose(session)["cand_001"]["target_node"] == node


def test_a_candidate_that_is_not_there_is_not_compared(board: Board) -> None:
    error = board.refusal("get_similar_nodes", session_id=board.begin(), candidate_id="cand_001")
    assert isinstance(error, NotFound)


def test_two_requirements_of_one_spec_are_two_nodes(board: Board) -> None:
    """C34: they share their reference, within a session and from one session to the next."""
    session = board.begin()
    for title in ("Retries are limited", "Deliveries are signed"):
        board.node(session, title, f"{title}.", "Requirement", source_ref={"spec_id": "spec_007"})
    assert {p["hint"] for p in board.propose(session).values()} == {"ADD"}
    assert len(board.commit(session)["applied"]["added"]) == 2
    later = board.begin()
    for title in ("Payloads are small", "Deliveries are signed"):
        board.node(later, title, f"{title}, always.", "Requirement",
                   source_ref={"spec_id": "spec_007"})  # fmt: skip
    hints = {name: p["hint"] for name, p in board.propose(later).items()}
    assert hints == {"cand_001": "ADD", "cand_002": "UPDATE"}
    board.commit(later)
    titles = {r["title"] for r in board.call("knowledge_records", type="Requirement")["records"]}
    assert titles == {"Retries are limited", "Deliveries are signed", "Payloads are small"}


def test_an_artefact_that_another_session_has_committed_meanwhile_is_all_noop(board: Board) -> None:
    sessions = [board.begin(payload_hash="same") for _ in range(2)]
    for session in sessions:
        board.edge(session, board.node(session, "A", "x"), "depends_on", board.node(session, "B"))
    board.propose(sessions[0])
    first = board.commit(sessions[0])
    proposals = board.propose(sessions[1])
    assert {p["hint"] for p in proposals.values()} == {"NOOP"}
    assert "committed as it is" in proposals["cand_001"]["rationale"]
    second = board.commit(sessions[1])
    assert second["applied"]["added"] == [] and second["edges_added"] == []
    assert {n["node_id"] for n in second["applied"]["noop"]} == {
        n["node_id"] for n in first["applied"]["added"]
    }  # fmt: skip


def test_nothing_withdrawn_comes_back_by_itself(board: Board, clock: Clock) -> None:
    """C42: the artefact is consolidated again, as it was and changed."""
    node = board.consolidate("Retries are limited", "Five times.", type="Requirement")
    board.withdraw(node, reason="nobody wants that")
    for body in ("Five times.", "Six times."):
        session = board.begin()
        board.node(session, "retries are  limited", body, "Requirement")
        proposal = board.propose(session)["cand_001"]
        assert proposal["hint"] == "NOOP" and proposal["target_node"] is None
        assert "nobody wants that" in proposal["rationale"]
        board.edge(session, "cand_001", "relates_to", board.page("Queue", "Entity"))
        assert board.propose(session)["edge_cand_001"]["hint"] == "NOOP", "told, not dropped"
        done = board.commit(session)
        assert done["applied"]["added"] == [] and done["edges_added"] == []
    assert board.get(node)["lifecycle"] == "withdrawn"
    session = board.begin()
    board.node(session, "Retries are limited", "Five times.", "Requirement")
    board.propose(session)
    override = {"candidate_id": "cand_001", "hint": "ADD", "rationale": "they do now"}
    done = board.commit(session, agent_overrides=[override])
    (anew,) = done["applied"]["added"]
    assert done["warnings"] == [], "the proposal has said it"
    assert anew["node_id"] != node and board.get(node)["lifecycle"] == "withdrawn"


def test_a_statement_that_sounds_contrary_supersedes_nothing_by_itself(
    meaning: None, board: Board
) -> None:
    """C41: nobody's decision is replaced unless the agent has seen that and commits it."""
    old = board.page("Webhooks are retried", "Decision", body="Failed webhooks are retried.")
    session = board.begin()
    board.node(session, "Webhooks are not retried", "Failed webhooks are never retried.")
    error = board.refusal("commit_consolidation", session_id=session)
    assert "kg_propose_reconciliation" in error.message
    proposal = board.propose(session)["cand_001"]
    override = {"candidate_id": "cand_001", "hint": "ADD", "rationale": "both, in two scopes"}
    board.commit(session, agent_overrides=[override])
    assert board.get(old)["lifecycle"] == "active"
    assert proposal["hint"] in ("SUPERSEDE", "ADD", "UPDATE") and proposal["rationale"]


def test_a_saved_edit_counts_in_the_proposal(board: Board) -> None:
    node = board.page("Retry", "Requirement", body="Three times.")
    session = board.begin()
    board.node(session, "Retry", "Four times.", "Requirement")
    board.edit(node, "Three times.", "Four times.")
    assert board.propose(session)["cand_001"]["hint"] == "NOOP"


def test_a_node_of_another_board_is_not_compared(board: Board) -> None:
    board.page("Retry", "Requirement", body="Three times.", partition="other")
    session = board.begin()
    board.node(session, "Retry", "Three times.", "Requirement")
    assert board.hint(session) == "ADD"


def test_begin_is_not_needed_for_what_has_not_changed(board: Board) -> None:
    board.commit(board.ask("begin_consolidation", **SPEC)["session_id"])
    answer = registry.call(board.ws, "kg_begin_consolidation", dict(SPEC), Caller("another agent"))
    assert answer["nothing_changed"] and answer["session_id"] is None
