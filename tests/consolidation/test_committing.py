"""Commits: what is written, what an override does, and what is refused when things have moved."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.consolidation.boards import Board, override
from tests.operations.builder import Clock, VaultBox
from vault_kg.errors import (
    CommitConflict,
    ConflictBlocked,
    InvalidArgument,
    PermissionDenied,
    RateLimited,
    RequestMismatch,
    SessionClosed,
    VaultError,
)
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import failpoints

REF = {"spec_id": "spec_007", "section": "retry"}


def test_a_new_node_is_a_page_with_its_artefact_as_source(board: Board) -> None:
    session = board.begin(content="# Retries\n\nFive times.\n")
    board.node(session, "Retries are limited", "Five times.", source_ref=REF)
    board.propose(session)
    done = board.commit(session)
    (added,) = done["applied"]["added"]
    view = board.get(added["node_id"])
    assert view["body"].strip() == "Five times." and view["revision"] == 1
    source = board.call("knowledge_source", id=view["evidence"][0]["source"])
    assert source["text"].strip() == "# Retries\n\nFive times." and "spec_007" in source["filename"]
    assert done["audit_row_id"] == board.position and done["outbox_event"] == "kg.consolidated.v1"
    assert done["git"]["state"] == "committed"


def test_an_update_changes_what_is_said_and_keeps_the_rest(board: Board) -> None:
    node = board.page(
        "Retries", "Requirement", body="Three times.", aliases=["Retry"], tags=["http"],
        fields={"source_ref": "spec_007#retry", "priority": "low", "kind": "functional"},
        evidence=board.evidence,
    )  # fmt: skip
    session = board.begin()
    board.node(session, "Retries of webhooks", "Five times.", "Requirement", source_ref=REF,
               attributes={"priority": "high"})  # fmt: skip
    assert board.hint(session) == "UPDATE"
    done = board.commit(session)
    assert done["applied"]["updated"] == [{"candidate_id": "cand_001", "node_id": node}]
    view = board.get(node)
    assert view["title"] == "Retries of webhooks" and view["aliases"] == ["Retry", "Retries"]
    assert view["body"].strip() == "Five times." and view["tags"] == ["http"]
    assert view["fields"] == {
        "source_ref": "spec_007#retry", "priority": "high", "kind": "functional",
    }  # fmt: skip
    assert len(view["evidence"]) == 2 and view["revision"] == 2


def test_an_update_without_a_body_leaves_the_body(board: Board) -> None:
    node = board.page("Retries", "Requirement", body="Three times.",
                      fields={"source_ref": "spec_007#retry"})  # fmt: skip
    session = board.begin()
    board.node(
        session, "Retries", "", "Requirement", source_ref=REF, attributes={"priority": "low"}
    )
    board.propose(session)
    board.commit(session)
    assert board.get(node)["body"].strip() == "Three times."


def test_an_update_that_changes_nothing_writes_nothing(board: Board) -> None:
    node = board.page("Retries", "Requirement", body="Three times.")
    session = board.begin()
    board.node(session, "Retries", "Three times.", "Requirement")
    board.propose(session)
    before = board.files()
    done = board.commit(session, agent_overrides=[override("cand_001", "UPDATE")])
    assert done["applied"]["noop"] == [{"candidate_id": "cand_001", "node_id": node}]
    assert board.files() == before and board.get(node)["revision"] == 1


def test_a_superseded_node_is_kept_and_names_its_successor(board: Board) -> None:
    old = board.page("Retries", "Decision", body="Thrice.", fields={"source_ref": "spec_007#retry"})
    claim = board.claim(old)
    session = board.begin()
    board.node(session, "Retries", "Five times.", source_ref=REF)
    assert board.hint(session) == "SUPERSEDE"
    done = board.commit(session, summary="the outage taught us")
    new = done["applied"]["added"][0]["node_id"]
    assert done["applied"]["superseded"] == [
        {"candidate_id": "cand_001", "node_id": new, "target_node": old}
    ]
    (edge,) = done["edges_added"]
    assert (edge["src"], edge["rel"], edge["dst"]) == (new, "supersedes", old)
    view = board.get(old)
    assert view["lifecycle"] == "superseded" and view["body"].strip() == "Thrice."
    assert f"superseded_by: {new}" in board.path(old).read_text()
    assert f"supersedes: {old}" in board.path(new).read_text()
    assert "1 record(s) stand on" in done["warnings"][0] and claim not in board.listed()
    board.edit(old, "lifecycle: superseded", "lifecycle: active")
    board.scan()
    assert old not in board.listed(), "it is guarded"
    assert board.lookup("Retries") == new


def test_a_session_in_which_everything_stands_writes_no_file(board: Board) -> None:
    node = board.consolidate("Retries", "Five times.")
    session = board.begin()
    board.node(session, "Retries", "Five times.")
    board.propose(session)
    before, head = board.files(), board.git("rev-parse", "HEAD")
    done = board.commit(session)
    assert done["applied"]["noop"] == [{"candidate_id": "cand_001", "node_id": node}]
    assert board.files() == before and board.git("rev-parse", "HEAD") == head
    assert board.ask("audit")["rows"][0]["session_id"] == session, "and it is in the audit"


def test_committing_twice_is_once(board: Board) -> None:
    session = board.begin()
    board.node(session, "One")
    board.propose(session)
    first = board.commit(session)
    with board.nothing_changes():
        assert board.commit(session) == first
        assert board.commit(session, agent_overrides=[override("cand_001", "NOOP")]) == first


def test_edges_lead_from_new_nodes_to_new_and_standing_ones(board: Board) -> None:
    queue = board.page("Queue", "Entity")
    session = board.begin()
    one, two = board.node(session, "One"), board.node(session, "Two")
    board.edge(session, one, "depends_on", two, attributes={"reason": "order", "confidence": 0.8})
    board.edge(session, two, "relates_to", queue)
    board.edge(session, queue, "depends_on", one, attributes={"fact": "The queue waits."})
    board.propose(session)
    done = board.commit(session)
    ids = {a["candidate_id"]: a["node_id"] for a in done["applied"]["added"]}
    assert [(e["src"], e["rel"], e["dst"]) for e in done["edges_added"]] == [
        (ids[one], "depends_on", ids[two]), (ids[two], "relates_to", queue),
        (queue, "depends_on", ids[one]),
    ]  # fmt: skip
    facts = [board.get(e["edge_id"])["body"].strip() for e in done["edges_added"]]
    assert facts == [
        "“One” depends on “Two”: order",
        "“Two” relates to “Queue”.",
        "The queue waits.",
    ]
    assert board.get(done["edges_added"][0]["edge_id"])["confidence"] == 0.8
    shown = board.call("knowledge_connections", id=ids[one])
    assert sum(edge["explicit"] for edge in shown["edges"]) == 2


def test_an_edge_that_stands_is_not_written_again(board: Board) -> None:
    for _ in range(2):
        session = board.begin()
        ends = [board.node(session, title, f"{title}.") for title in ("One", "Two")]
        board.edge(session, ends[0], "depends_on", ends[1])
        proposals = board.propose(session)
        done = board.commit(session)
    assert {p["hint"] for p in proposals.values()} == {"NOOP"}
    assert done["edges_added"] == [] and done["edges_noop"][0]["edge_id"].startswith("re_")
    assert len(board.listed(kind="relationship")) == 1


# Overrides


def test_an_override_keeps_both(board: Board) -> None:
    """SUPERSEDE becomes ADD: the edge is written, and the old decision stays current."""
    old = board.page("Fixed 3s retry interval", "Decision")
    session = board.begin()
    board.edge(session, board.node(session, "Exponential backoff"), "supersedes", old)
    assert board.hint(session) == "SUPERSEDE"
    done = board.commit(session, agent_overrides=[
        {"candidate_id": "cand_001", "hint": "ADD", "rationale": "Keeping both — different scopes"}
    ])  # fmt: skip
    assert len(done["applied"]["added"]) == 1 and done["applied"]["superseded"] == []
    assert [e["rel"] for e in done["edges_added"]] == ["supersedes"]
    assert board.get(old)["lifecycle"] == "active"
    (row,) = board.ask("audit", session_id=session)["rows"]
    assert row["overrides"][0]["rationale"] == "Keeping both — different scopes"
    assert row["candidates"][0]["proposal"]["hint"] == "SUPERSEDE", "what was proposed is kept too"


@pytest.mark.parametrize("hint", ["ADD", "UPDATE", "SUPERSEDE", "NOOP"])
def test_every_hint_may_be_said_instead(board: Board, hint: str) -> None:
    old = board.page("Retries", "Requirement", body="Thrice.",
                     fields={"source_ref": "spec_007#retry"})  # fmt: skip
    session = board.begin()
    board.node(session, "Retries", "Five times.", "Requirement", source_ref=REF)
    board.propose(session)
    applied = board.commit(session, agent_overrides=[override("cand_001", hint)])["applied"]
    lifecycle, body = board.get(old)["lifecycle"], board.get(old)["body"].strip()
    assert (len(applied["added"]), lifecycle, body) == {
        "ADD": (1, "active", "Thrice."), "UPDATE": (0, "active", "Five times."),
        "SUPERSEDE": (1, "superseded", "Thrice."), "NOOP": (0, "active", "Thrice."),
    }[hint]  # fmt: skip


def test_an_override_may_name_another_target_with_the_revision_seen(board: Board) -> None:
    other = board.page("Wholly different", "Decision")
    session = board.begin()
    board.node(session, "New")
    board.propose(session)
    unseen = [override("cand_001", "SUPERSEDE", target_node=other)]
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=unseen)
    assert "expected_revision" in error.message
    stale = [override("cand_001", "SUPERSEDE", target_node=other, expected_revision=7)]
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=stale)
    assert isinstance(error, CommitConflict)
    seen = [override("cand_001", "SUPERSEDE", target_node=other, expected_revision=1)]
    assert board.commit(session, agent_overrides=seen)["applied"]["superseded"]


@pytest.mark.parametrize(
    "overrides",
    [
        [override("cand_009", "ADD")], [override("cand_001", "ADD"), override("cand_001", "NOOP")],
        [override("cand_001", "DELETE")], [{"candidate_id": "cand_001", "hint": "ADD"}],
        [override("cand_001", "UPDATE")], [override("edge_cand_001", "UPDATE")],
        [override("cand_001", "NOOP")],
    ],
)  # fmt: skip
def test_overrides_that_do_not_fit_are_refused(board: Board, overrides: list[Any]) -> None:
    """The last one would leave an edge without its end."""
    session = board.begin()
    board.edge(session, board.node(session, "A"), "depends_on", board.node(session, "B"))
    board.propose(session)
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=overrides)
    assert isinstance(error, InvalidArgument)
    assert board.commit(session)["committed"], "and the session goes on"


def test_an_edge_may_be_left_out_by_an_override(board: Board) -> None:
    session = board.begin()
    board.edge(session, board.node(session, "A"), "depends_on", board.node(session, "B"))
    board.propose(session)
    done = board.commit(session, agent_overrides=[override("edge_cand_001", "NOOP")])
    assert done["edges_added"] == []
    assert done["edges_noop"] == [{"edge_candidate_id": "edge_cand_001", "edge_id": None}]


def test_two_candidates_never_change_one_node(board: Board) -> None:
    node = board.page("Retries", "Requirement", body="Thrice.")
    session = board.begin()
    for title in ("Retries", "Retry"):
        board.node(session, title, f"{title} five times.", "Requirement")
    board.propose(session)
    both = [
        override(f"cand_00{n}", "UPDATE", target_node=node, expected_revision=1) for n in (1, 2)
    ]
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=both)
    assert isinstance(error, InvalidArgument) and error.data["target_node"] == node


def test_a_target_of_another_type_is_refused(board: Board) -> None:
    bug = board.page("Crash", "Bug")
    session = board.begin()
    board.node(session, "New")
    board.propose(session)
    wrong = [override("cand_001", "UPDATE", target_node=bug, expected_revision=1)]
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=wrong)
    assert isinstance(error, InvalidArgument) and "Bug" in error.message


# What moved


def racing(board: Board) -> list[str]:
    board.page("Retries", "Requirement", body="Thrice.", fields={"source_ref": "spec_007#retry"})
    sessions = [board.begin() for _ in range(2)]
    for number, session in enumerate(sessions):
        board.node(session, "Retries", f"{number + 4} times.", "Requirement", source_ref=REF)
        assert board.hint(session) == "UPDATE"
    return sessions


def test_of_two_sessions_with_one_target_one_commits_and_the_other_proposes_again(
    board: Board,
) -> None:
    first, second = racing(board)
    board.commit(first)
    error = board.refusal("commit_consolidation", session_id=second)
    assert isinstance(error, CommitConflict) and error.data["status"] == 409
    assert error.message.startswith("409 commit_conflict: ")
    assert error.data["candidate_id"] == "cand_001" and error.data["committable"] is False
    assert isinstance(board.refusal("commit_consolidation", session_id=second), CommitConflict)
    assert board.hint(second) == "UPDATE"
    assert board.commit(second)["applied"]["updated"]
    assert board.lookup("Retries") and len(board.listed(type="Requirement")) == 1


def at_once(board: Board, sessions: list[str]) -> list[Any]:
    """Commit sessions at one time, each in a workspace of its own; returns answers and refusals."""
    others = [Workspace.open(board.root, clock=board.clock) for _ in sessions]
    outcomes: list[Any] = []

    def commit(ws: Workspace, session: str) -> None:
        try:
            asked = {"session_id": session}
            outcomes.append(registry.call(ws, "kg_commit_consolidation", asked, Caller("tester")))
        except VaultError as error:
            outcomes.append(error.code)

    pairs = zip(others, sessions, strict=True)
    threads = [threading.Thread(target=commit, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ws in others:
        ws.close()
    return outcomes


def test_two_processes_that_commit_at_once_are_one_after_the_other(board: Board) -> None:
    outcomes = at_once(board, racing(board))
    assert sorted(type(outcome) is dict for outcome in outcomes) == [False, True]
    assert "commit_conflict" in outcomes


def test_one_session_that_is_committed_four_times_at_once_is_committed_once(board: Board) -> None:
    session = board.begin()
    for n in range(5):
        board.node(session, f"Node {n}", type="Bug")
    board.propose(session)
    first, *others = at_once(board, [session] * 4)
    assert type(first) is dict and len(first["applied"]["added"]) == 5
    for other in others:
        assert {**other, "git": None} == {**first, "git": None}
    assert board.ask("audit")["total"] == 1 and len(board.listed(type="Bug")) == 5


def test_a_request_id_that_somebody_else_used_is_told(board: Board) -> None:
    session = board.begin()
    board.write("knowledge_save_page", type="Bug", title="x", requestId=f"commit:{session}")
    assert isinstance(board.refusal("commit_consolidation", session_id=session), RequestMismatch)


def test_a_node_that_another_session_added_meanwhile_is_a_conflict(board: Board) -> None:
    sessions = [board.begin() for _ in range(2)]
    for number, session in enumerate(sessions):
        board.node(session, "Retries", f"{number} times.")
        assert board.hint(session) == "ADD"
    board.commit(sessions[0])
    error = board.refusal("commit_consolidation", session_id=sessions[1])
    assert isinstance(error, CommitConflict) and "title or source reference" in error.message
    assert board.hint(sessions[1]) != "ADD" or board.commit(sessions[1])


@pytest.mark.parametrize("what", ["edited", "withdrawn", "changed", "gone", "merged"])
def test_a_target_that_moved_since_the_proposal_is_a_conflict(board: Board, what: str) -> None:
    node = board.page("Retries", "Requirement", body="Thrice.")
    session = board.begin()
    board.node(session, "Retries", "Thrice.", "Requirement", attributes={"priority": "high"})
    assert board.hint(session) == "UPDATE"
    if what == "edited":
        board.edit(node, "Thrice.", "Twice.")
    elif what == "withdrawn":
        board.withdraw(node)
    elif what == "changed":
        board.change(node, summary="x")
    elif what == "gone":
        board.path(node).unlink()
    else:
        board.merge(board.page("Retry", "Requirement"), node)
    text = board.path(node).read_bytes() if what == "edited" else b""
    with pytest.raises(CommitConflict):
        board.commit(session)
    if what == "edited":
        assert board.path(node).read_bytes() == text, "an edit is never written over"
        assert board.hint(session) == "ADD" or board.propose(session)["cand_001"]["target_node"]


def test_an_edge_whose_end_was_withdrawn_meanwhile_is_refused_and_named(board: Board) -> None:
    """C35."""
    queue = board.page("Queue", "Entity")
    session = board.begin()
    board.edge(session, board.node(session, "A"), "relates_to", queue)
    board.propose(session)
    board.withdraw(queue)
    error = board.refusal("commit_consolidation", session_id=session)
    assert isinstance(error, CommitConflict)
    assert "edge_cand_001" in error.message and queue in error.message
    assert board.listed(type="Decision") == set(), "and nothing else of it is written"
    assert "NOOP" in error.message and "withdrawn" in error.message
    proposed = board.propose(session)["edge_cand_001"]
    assert proposed["hint"] == "NOOP" and queue in proposed["rationale"]
    again = [override("edge_cand_001", "ADD")]
    error = board.refusal("commit_consolidation", session_id=session, agent_overrides=again)
    assert isinstance(error, CommitConflict) and "NOOP" in error.message
    done = board.commit(session)
    assert len(done["applied"]["added"]) == 1 and done["edges_added"] == []


def test_an_override_leaves_out_an_edge_whose_end_was_withdrawn(board: Board) -> None:
    queue = board.page("Queue", "Entity")
    session = board.begin()
    board.edge(session, board.node(session, "A"), "relates_to", queue)
    board.propose(session)
    board.withdraw(queue)
    done = board.commit(session, agent_overrides=[override("edge_cand_001", "NOOP")])
    assert len(done["applied"]["added"]) == 1 and done["edges_added"] == []


def test_an_edge_to_a_node_that_was_merged_meanwhile_leads_to_its_survivor(board: Board) -> None:
    queue, survivor = board.page("Queue", "Entity"), board.page("Queues", "Entity")
    session = board.begin()
    board.edge(session, board.node(session, "A"), "relates_to", queue)
    board.merge(survivor, queue)
    assert board.hint(session, "edge_cand_001") == "ADD"
    (made,) = board.commit(session)["edges_added"]
    assert made["dst"] == survivor


def test_a_candidate_added_after_the_proposal_needs_one(board: Board) -> None:
    session = board.begin()
    board.node(session, "A")
    board.propose(session)
    board.node(session, "B")
    error = board.refusal("commit_consolidation", session_id=session)
    assert error.data["candidates"] == ["cand_002"]


def met_by_an_edit(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str, str]:
    """Commit a session while an editor saves; returns it, its node and the conflict."""
    node = board.page("Retries", "Requirement", body="Thrice.")
    session = board.begin()
    board.node(session, "Retries", "Thrice.", "Requirement", attributes={"priority": "high"})
    board.node(session, "Other", "x", "Requirement")
    board.propose(session)
    path, gate = board.path(node), tmp_path / "gate"
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"accept.after=pause:{gate}")
    failpoints._reached.clear()
    refusals: list[VaultError] = []

    def commit() -> None:
        try:
            board.commit(session)
        except VaultError as error:
            refusals.append(error)

    thread = threading.Thread(target=commit)
    thread.start()
    while not tmp_path.joinpath("gate.reached").exists():
        thread.join(0.01)
    path.write_bytes(path.read_bytes().replace(b"Thrice.", b"Mine."))
    gate.touch()
    thread.join()
    monkeypatch.delenv(failpoints.ENVIRONMENT)
    assert isinstance(refusals[0], ConflictBlocked) and b"Mine." in path.read_bytes()
    assert isinstance(board.refusal("commit_consolidation", session_id=session), ConflictBlocked)
    assert board.ask("audit")["total"] == board.ask("outbox_read")["count"] == 0
    return session, node, refusals[0].data["conflict_id"]


def test_a_commit_that_met_an_edit_happens_when_a_person_lets_it_through(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, node, conflict = met_by_an_edit(board, tmp_path, monkeypatch)
    board.write("knowledge_review", conflictId=conflict, choice="apply_proposed", reason="theirs")
    done = board.commit(session)
    assert done["committed"] and board.get(node)["fields"] == {"priority": "high"}
    (event,) = board.ask("outbox_read")["events"]
    assert event["session_id"] == session and event["seq"] == board.position
    assert board.ask("audit", node_id=node)["total"] == 1
    undone = board.ask("undo_consolidation", session_id=session, reason="not so")
    assert undone["restored"] == [node] and board.get(node)["body"].strip() == "Mine."
    assert board.get(node)["fields"] == {} and len(board.ask("outbox_read")["events"]) == 2


def test_a_commit_that_a_person_drops_never_happened(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, node, conflict = met_by_an_edit(board, tmp_path, monkeypatch)
    board.write("knowledge_review", conflictId=conflict, choice="keep_disk", reason="mine")
    error = board.refusal("commit_consolidation", session_id=session)
    assert isinstance(error, SessionClosed) and "review" in error.message
    assert board.get(node)["body"].strip() == "Mine." and board.listed(type="Requirement") == {node}
    assert board.ask("audit")["total"] == board.ask("outbox_read")["count"] == 0


# Rate and configuration


def test_an_agent_commits_so_often_a_minute(board: Board, clock: Clock) -> None:
    board.configure("[consolidation]\ncommits_per_minute = 2\n")
    for _ in range(2):
        board.commit(board.begin())
    session = board.begin()
    error = board.refusal("commit_consolidation", session_id=session)
    assert isinstance(error, RateLimited) and error.data["status"] == 429
    assert error.message.startswith("429 rate_limited: ") and error.data["committable"] is False
    assert 0 < error.data["retry_after"] <= 60
    other = Caller("another")
    assert board.commit(board.begin(other), other)["committed"], "each agent for itself"
    clock.at += timedelta(seconds=error.data["retry_after"])
    assert board.commit(session)["committed"]


def test_everything_but_commit_is_a_dry_run(board: Board) -> None:
    flags = ("begin", "add_node", "add_edge", "get_similar", "propose", "abort")
    listed = ", ".join(f'"kg.session.{flag}"' for flag in flags)
    board.configure(f'[consolidation.permissions]\n"dry runner" = [{listed}]\nreader = []\n')
    dry = Caller("dry runner")
    session = board.begin(dry)
    for title in ("A", "B"):
        board.ask("add_node_candidate", dry, session_id=session, node_type="Decision", title=title)
    ends = {"src": {"candidate_id": "cand_001"}, "dst": {"candidate_id": "cand_002"}}
    board.ask("add_edge_candidate", dry, session_id=session, rel_type="depends_on", **ends)
    board.ask("get_similar_nodes", dry, session_id=session, candidate_id="cand_001")
    assert {p["hint"] for p in board.propose(session, dry).values()} == {"ADD"}
    error = board.refusal("commit_consolidation", dry, session_id=session)
    assert isinstance(error, PermissionDenied) and error.data["flag"] == "kg.session.commit"
    assert board.ask("abort_consolidation", dry, session_id=session)["aborted"]
    refused = board.refusal("begin_consolidation", Caller("reader"), source_type="a", source_id="b")
    assert refused.data["flag"] == "kg.session.begin"
    assert board.commit(board.begin())["committed"], "others have what default says: all"


@pytest.mark.parametrize(
    "flag", ["begin", "add_node", "add_edge", "get_similar", "propose", "commit", "abort"]
)
def test_each_tool_has_a_flag_of_its_own(board: Board, flag: str) -> None:
    session = board.begin()
    board.node(session, "A"), board.node(session, "B")
    board.propose(session)
    every = ("begin", "add_node", "add_edge", "get_similar", "propose", "commit", "abort")
    left = ", ".join(f'"kg.session.{f}"' for f in every if f != flag)
    board.configure(f"[consolidation.permissions]\ndefault = [{left}]\n")
    calls: dict[str, dict[str, Any]] = {
        "begin": {"source_type": "a", "source_id": "b"},
        "add_node": {"session_id": session, "node_type": "Bug", "title": "C"},
        "add_edge": {"session_id": session, "src": {"candidate_id": "cand_001"},
                     "dst": {"candidate_id": "cand_002"}, "rel_type": "depends_on"},
        "get_similar": {"session_id": session, "candidate_id": "cand_001"},
        "propose": {"session_id": session}, "commit": {"session_id": session},
        "abort": {"session_id": session},
    }  # fmt: skip
    tools = {
        "begin": "begin_consolidation", "add_node": "add_node_candidate",
        "add_edge": "add_edge_candidate", "get_similar": "get_similar_nodes",
        "propose": "propose_reconciliation", "commit": "commit_consolidation",
        "abort": "abort_consolidation",
    }  # fmt: skip
    error = board.refusal(tools[flag], **calls[flag])
    assert isinstance(error, PermissionDenied) and error.data["flag"] == f"kg.session.{flag}"
    for name in every:
        if name not in (flag, "commit", "abort"):
            board.ask(tools[name], **calls[name])


# The audit


def test_the_audit_holds_the_whole_session(board: Board) -> None:
    session = board.begin(payload_hash="sha256:8c1f")
    board.edge(session, board.node(session, "A", "a", attributes={"confidence": 0.9}), "depends_on",
               board.node(session, "B", "b"))  # fmt: skip
    board.propose(session)
    done = board.commit(session, summary="why")
    (row,) = board.ask("audit", session_id=session)["rows"]
    assert row["audit_row_id"] == done["audit_row_id"] and row["agent"] == "tester"
    assert row["content_hash"] == "sha256:8c1f" and row["source_version"] == "4"
    assert row["summary"] == "why" and row["applied"] == done["applied"]
    assert [c["candidate_id"] for c in row["candidates"]] == [
        "cand_001",
        "cand_002",
        "edge_cand_001",
    ]
    assert row["candidates"][0]["attributes"] == {"confidence": 0.9}
    assert all(c["proposal"]["rationale"] for c in row["candidates"])
    entry = rows.get(board.ws.database, done["audit_row_id"])
    assert entry is not None and entry.operation == "kg_commit_consolidation"


def test_the_audit_is_paged_and_narrowed(board: Board) -> None:
    nodes = [board.consolidate(f"Node {n}", type="Bug") for n in range(5)]
    found, cursor = [], None
    while True:
        page = board.ask("audit", limit=2, **({"cursor": cursor} if cursor else {}))
        assert page["count"] == len(page["rows"]) <= 2 and page["total"] == 5
        found += [row["applied"]["added"][0]["node_id"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == nodes[::-1], "newest first"
    (row,) = board.ask("audit", node_id=nodes[2])["rows"]
    assert row["applied"]["added"][0]["node_id"] == nodes[2] and row["candidates"] is None
    assert board.ask("audit", source_id="spec_008")["total"] == 0
    hidden = Caller("x", partitions=frozenset({"elsewhere"}))
    assert board.ask("audit", hidden) == {"count": 0, "total": 0, "next_cursor": None, "rows": []}


def test_commits_survive_a_lost_state(board: Board) -> None:
    """Recovered from Git: guards, and what each commit answered."""
    from vault_kg.operations import care

    old = board.page("Retries", "Decision", body="Thrice.")
    session = board.begin()
    board.edge(session, board.node(session, "Backoff"), "supersedes", old)
    board.propose(session)
    done = board.commit(session)
    board.ws.close()
    for left in (board.root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()
    care.recover(board.root)
    board.ws = Workspace.open(board.root, clock=board.clock)
    board.scan()
    assert board.get(old)["lifecycle"] == "superseded"
    (row,) = board.ask("audit")["rows"]
    assert row["session_id"] == session and row["applied"] == done["applied"]
    assert VaultBox.get(board, done["applied"]["added"][0]["node_id"])["title"] == "Backoff"
