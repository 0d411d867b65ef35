"""Sessions: what begins one, whose it is, how long it lives, and that it outlives a restart."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.consolidation.boards import SPEC, Board, override, paged
from tests.operations.builder import ANYBODY, Clock
from vault_kg.errors import (
    InvalidArgument,
    NotFound,
    PermissionDenied,
    SessionClosed,
    SessionExpired,
)
from vault_kg.operations.caller import Caller

OTHER = Caller("somebody else")
CONFINED = Caller("tester", partitions=frozenset({"elsewhere"}))


def test_a_session_begins_with_its_end_in_an_hour(board: Board) -> None:
    begun = board.ask("begin_consolidation", board_id="main", **SPEC)
    assert begun["session_id"].startswith("kgs_") and begun["content_hash"].startswith("sha256:")
    assert begun["expires_at"].startswith("2026-03-01T13:00:")
    assert begun["nothing_changed"] is False and begun["previous_session_id"] is None
    assert board.files() == {}, "nothing of a session is in the files"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (SPEC, SPEC, True),
        (SPEC, {**SPEC, "source_version": "4"}, True),
        (SPEC, {**SPEC, "source_version": 5}, False),
        (SPEC | {"content": "a"}, {**SPEC, "source_version": 5, "content": "a"}, True),
        (SPEC | {"content": "a"}, SPEC | {"content": "b"}, False),
        (SPEC | {"payload_hash": "sha256:8c1f"}, SPEC | {"payload_hash": "sha256:8c1f"}, True),
        (SPEC | {"content": "4"}, SPEC, False),
        (SPEC, SPEC | {"source_type": "card"}, False),
        (SPEC, SPEC | {"source_id": "spec_008"}, False),
        (SPEC, SPEC | {"board_id": "other"}, False),
    ],
)
def test_what_was_committed_as_it_is_has_not_changed(
    board: Board, first: dict, second: dict, same: bool
) -> None:
    session = board.ask("begin_consolidation", **first)["session_id"]
    assert board.ask("begin_consolidation", **first)["session_id"], "not before it is committed"
    board.commit(session)
    again = board.ask("begin_consolidation", **second)
    assert again["nothing_changed"] is same and (again["session_id"] is None) is same
    assert (again["previous_session_id"] == session) is (
        {"source_type", "source_id", "board_id"} & {k for k in second if second[k] != first.get(k)}
        == set()
    )


def test_only_the_last_commit_of_an_artefact_counts(board: Board) -> None:
    for version in (1, 2):
        board.commit(
            board.ask("begin_consolidation", **SPEC | {"source_version": version})["session_id"]
        )
    assert not board.ask("begin_consolidation", **SPEC | {"source_version": 1})["nothing_changed"]


def test_a_session_outlives_a_restart(board: Board) -> None:
    session = board.begin()
    board.node(session, "One")
    board.reopen()
    board.node(session, "Two")
    board.propose(session)
    board.reopen()
    assert len(board.commit(session)["applied"]["added"]) == 2
    board.reopen()
    assert len(board.commit(session)["applied"]["added"]) == 2


def test_a_session_ends_an_hour_after_its_last_step(board: Board, clock: Clock) -> None:
    session = board.begin()
    clock.at += timedelta(minutes=50)
    board.node(session, "One")
    clock.at += timedelta(minutes=50)
    board.propose(session)
    clock.at += timedelta(minutes=61)
    for name, more in (
        ("commit_consolidation", {}), ("propose_reconciliation", {}),
        ("add_node_candidate", {"node_type": "Bug", "title": "x"}),
        ("get_similar_nodes", {"candidate_id": "cand_001"}),
    ):  # fmt: skip
        error = board.refusal(name, session_id=session, **more)
        assert isinstance(error, SessionExpired) and error.data["status"] == 409
        assert error.message.startswith("409 session_expired: ") and "kg_begin" in error.message
    assert board.ask("abort_consolidation", session_id=session)["aborted"]


def test_the_time_to_live_is_the_vaults(board: Board, clock: Clock) -> None:
    board.configure("[consolidation]\nsession_ttl_seconds = 60\n")
    session = board.begin()
    clock.at += timedelta(seconds=61)
    assert isinstance(board.refusal("commit_consolidation", session_id=session), SessionExpired)


def test_a_session_that_ended_uncommitted_is_forgotten_after_a_week(
    board: Board, clock: Clock
) -> None:
    left, kept = board.begin(), board.begin()
    board.commit(kept)
    clock.at += timedelta(days=8)
    board.begin()
    assert isinstance(board.refusal("commit_consolidation", session_id=left), NotFound)
    assert board.commit(kept)["committed"]


def test_a_session_is_its_agents_own(board: Board) -> None:
    session = board.begin()
    board.node(session, "One")
    board.propose(session)
    for name in ("propose_reconciliation", "commit_consolidation", "abort_consolidation"):
        error = board.refusal(name, OTHER, session_id=session)
        assert isinstance(error, PermissionDenied) and error.data["status"] == 403
    assert board.commit(session)["committed"]


def test_a_session_of_another_board_does_not_exist(board: Board) -> None:
    session = board.begin()
    hidden = board.refusal("commit_consolidation", CONFINED, session_id=session)
    unknown = board.refusal("commit_consolidation", CONFINED, session_id="kgs_none")
    assert hidden.message.replace(session, "kgs_none") == unknown.message
    assert isinstance(board.refusal("begin_consolidation", CONFINED, **SPEC), InvalidArgument)


def test_an_aborted_session_wrote_nothing_and_takes_nothing_more(board: Board) -> None:
    session = board.begin()
    board.node(session, "One")
    with board.nothing_changes():
        assert board.ask("abort_consolidation", session_id=session, reason="no") == {
            "session_id": session, "aborted": True,
        }  # fmt: skip
        assert board.ask("abort_consolidation", session_id=session)["aborted"], "twice is once"
    for name in ("propose_reconciliation", "commit_consolidation"):
        assert isinstance(board.refusal(name, session_id=session), SessionClosed)


def test_a_committed_session_takes_nothing_more(board: Board) -> None:
    session = board.begin()
    board.commit(session)
    for name, more in (
        ("propose_reconciliation", {}), ("abort_consolidation", {}),
        ("add_node_candidate", {"node_type": "Bug", "title": "x"}),
    ):  # fmt: skip
        assert isinstance(board.refusal(name, session_id=session, **more), SessionClosed)


def test_open_sessions_are_listed_with_whether_they_can_be_committed(board: Board) -> None:
    nothing = {"sessions": [], "count": 0, "total": 0, "next_cursor": None}
    assert board.ask("sessions") == nothing
    done, session = board.begin(), board.begin()
    board.commit(done)
    board.node(session, "One")
    board.refusal("commit_consolidation", session_id=session)
    (shown,) = board.ask("sessions")["sessions"]
    assert shown["session_id"] == session and shown["nodes"] == 1 and shown["edges"] == 0
    assert not shown["committable"] and "kg_propose_reconciliation" in shown["failure"]
    board.propose(session)
    assert board.ask("sessions")["sessions"][0]["committable"]
    assert board.ask("sessions", CONFINED)["count"] == 0
    assert board.ask("sessions", board_id="elsewhere")["count"] == 0
    board.commit(session, ANYBODY, agent_overrides=[override("cand_001", "NOOP")])
    assert board.ask("sessions")["count"] == 0


def test_a_wrong_configuration_is_named(board: Board) -> None:
    board.configure('[consolidation]\nupdate_similarity = "high"\n')
    error = board.refusal("begin_consolidation", **SPEC)
    assert "consolidation.update_similarity" in error.message and "vault.toml" in error.message


def test_an_open_session_is_shown_with_its_candidates_and_what_was_proposed(board: Board) -> None:
    session, other = board.begin(), board.begin(source_id="another")
    board.node(session, "Use SQLite", "One file.")
    (shown,) = board.ask("sessions", session_id=session)["sessions"]
    assert [(c["title"], c["proposal"]) for c in shown["candidates"]] == [("Use SQLite", None)]
    board.propose(session)
    (shown,) = board.ask("sessions", session_id=session)["sessions"]
    assert shown["candidates"][0]["proposal"]["hint"] == "ADD"
    listed = board.ask("sessions")["sessions"]
    assert {s["session_id"]: s["candidates"] for s in listed} == {session: None, other: None}


def test_open_sessions_are_listed_page_by_page(board: Board) -> None:
    opened = {board.begin(source_id=f"spec_{n}") for n in range(5)}
    board.ask("abort_consolidation", session_id=board.begin(source_id="dropped"))
    whole = board.ask("sessions")
    assert {one["session_id"] for one in whole["sessions"]} == opened
    assert (whole["count"], whole["total"], whole["next_cursor"]) == (5, 5, None)
    pages = paged(board, "sessions", limit=2)
    assert [len(page["sessions"]) for page in pages] == [2, 2, 1]
    assert [one for page in pages for one in page["sessions"]] == whole["sessions"]
    assert all(page["total"] == 5 for page in pages)
    hidden = Caller("elsewhere", partitions=frozenset({"other"}))
    assert board.ask("sessions", hidden)["total"] == 0
    assert board.ask("sessions", session_id=min(opened))["total"] == 1
    with pytest.raises(InvalidArgument, match="cursor"):
        board.ask("sessions", board_id="main", cursor=pages[0]["next_cursor"])
