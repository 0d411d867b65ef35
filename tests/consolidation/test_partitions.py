"""What a caller who sees one partition is told of sessions that lead into another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.consolidation.boards import Board, end, override
from vault_kg.errors import CommitConflict, InvalidArgument, PermissionDenied
from vault_kg.operations.caller import Caller

MAIN = Caller("tester", partitions=frozenset({"main"}))


@pytest.fixture
def hidden(board: Board) -> str:
    return board.page("Secret plan", "Decision", partition="secret")


def leading_to(board: Board, hidden: str) -> str:
    """A session of two nodes, an edge between them and one that leads to what is hidden."""
    session = board.begin()
    board.node(session, "Public choice", "We choose.")
    board.node(session, "Other choice", "We choose otherwise.")
    board.edge(session, "cand_001", "relates_to", "cand_002")
    board.edge(session, "cand_001", "depends_on", hidden)
    board.propose(session)
    return session


def test_an_open_session_shows_no_edge_to_what_is_hidden(board: Board, hidden: str) -> None:
    session = leading_to(board, hidden)
    (shown,) = board.ask("sessions", MAIN, session_id=session)["sessions"]
    assert (shown["nodes"], shown["edges"]) == (2, 1)
    assert [c["candidate_id"] for c in shown["candidates"]] == [
        "cand_001", "cand_002", "edge_cand_001",
    ]  # fmt: skip
    assert hidden not in json.dumps(shown)
    assert board.ask("sessions")["sessions"][0]["edges"] == 2


@pytest.mark.parametrize("what", ["audit", "outbox_read"])
def test_what_was_committed_is_told_without_what_is_hidden(
    board: Board, hidden: str, what: str
) -> None:
    session = leading_to(board, hidden)
    edges = board.commit(session)["edges_added"]
    secret = next(edge["edge_id"] for edge in edges if edge["dst"] == hidden)
    asked = {"session_id": session} if what == "audit" else {}
    said = json.dumps(board.ask(what, MAIN, **asked))
    assert hidden not in said and secret not in said
    assert all(edge["edge_id"] in said for edge in edges if edge["dst"] != hidden)
    assert {hidden, secret} <= set(json.dumps(board.ask(what, **asked)).split('"'))
    if what == "audit":
        assert board.ask("audit", node_id=secret)["total"] == 1
        assert board.ask("audit", MAIN, node_id=secret)["total"] == 0
    board.ask("undo_consolidation", session_id=session, reason="not so")
    assert secret not in json.dumps(board.ask(what, MAIN, **asked))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_relationship_that_is_hidden_is_none(board: Board, when: str) -> None:
    first, second = board.page("A", "Decision", body="aa"), board.page("B", "Decision", body="bb")

    def relate() -> str:
        return board.relationship(first, second, "depends_on", "Secretly so.", partition="secret")

    secret = relate() if when == "before" else ""
    session = board.begin(MAIN)
    board.node(session, "A", "aa")
    board.edge(session, "cand_001", "depends_on", second)
    assert board.propose(session, MAIN)["edge_cand_001"]["hint"] == "ADD"
    secret = secret or relate()
    committed = board.commit(session, MAIN)
    assert len(committed["edges_added"]) == 1 and secret not in json.dumps(committed)


@pytest.mark.parametrize("known", [True, False])
def test_a_candidate_is_left_out_for_a_node_that_is_there_only(
    board: Board, hidden: str, known: bool
) -> None:
    target = hidden if known else "pg_01kh0000000000000000000001"
    session = board.begin(MAIN)
    board.node(session, "Public choice", "We choose.")
    board.propose(session, MAIN)
    instead = [override("cand_001", "NOOP", target_node=target)]
    with pytest.raises(CommitConflict) as caught:
        board.commit(session, MAIN, agent_overrides=instead)
    assert "Secret plan" not in caught.value.message


def test_an_edge_is_left_out_for_a_relationship_that_stands_only(board: Board) -> None:
    first, second = board.page("A", "Decision", body="aa"), board.page("B", "Decision", body="bb")
    known = board.relationship(first, second, "depends_on", "A needs B.")
    session = board.begin()
    board.node(session, "A", "aa")
    board.ask(
        "add_edge_candidate", session_id=session, src=end("cand_001"), dst=end(second),
        rel_type="depends_on",
    )  # fmt: skip
    assert board.propose(session)["edge_cand_001"]["target_node"] == known
    board.withdraw(known)
    assert isinstance(board.refusal("commit_consolidation", session_id=session), CommitConflict)
    board.propose(session)
    assert len(board.commit(session)["edges_added"]) == 1


def test_receivers_are_the_matter_of_who_sees_everything(board: Board, tmp_path: Path) -> None:
    asked = {
        "event_subscribe": {"name": "feed", "file": str(tmp_path / "events.jsonl")},
        "event_unsubscribe": {"name": "feed"}, "event_subscribers": {}, "deliver_events": {},
    }  # fmt: skip
    for name, arguments in asked.items():
        assert isinstance(board.refusal(name, MAIN, **arguments), PermissionDenied)
        board.ask("event_subscribe", name="feed", file=str(tmp_path / "events.jsonl"))


def test_events_are_appended_to_no_file_of_the_vault_but_their_own(board: Board) -> None:
    page = board.relative(board.path(board.page("A", "Decision")))
    for file in (page, ".vault-kg/state.sqlite", "../vault/ontology.yaml"):
        refused = board.refusal("event_subscribe", name="feed", file=file)
        assert isinstance(refused, InvalidArgument)
    board.ask("event_subscribe", name="feed", file="events.jsonl")
