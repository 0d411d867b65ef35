"""Undoing a session: values as before, in files, state and Git, or a list of what stands on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consolidation.boards import SPEC, Board, override
from vault_kg.errors import NotFound, ScopeDenied, UndoBlocked
from vault_kg.operations import care
from vault_kg.operations.caller import AGENT_SCOPES, Caller
from vault_kg.operations.impact import MAX_ITEMS
from vault_kg.operations.workspace import Workspace

REF = "spec_007#retry"


def committed(board: Board) -> tuple[str, dict[str, Any]]:
    """Commit a session that adds, updates and supersedes; returns it and its answer."""
    session = board.begin()
    board.node(session, "Retries", "Five times.", source_ref=REF)
    board.node(session, "Delay", "Delay.", "Requirement", attributes={"priority": "high"})
    board.node(session, "Signed deliveries", "All of them.", "Requirement")
    board.edge(session, "cand_001", "depends_on", "cand_003")
    hints = board.propose(session)
    assert [hints[f"cand_00{n}"]["hint"] for n in (1, 2, 3)] == ["SUPERSEDE", "UPDATE", "ADD"]
    return session, board.commit(session)


@pytest.fixture
def pages(board: Board) -> dict[str, str]:
    return {
        "decision": board.page("Retries", "Decision", body="Thrice.", fields={"source_ref": REF}),
        "requirement": board.page(
            "Delay", "Requirement", body="Delay.", fields={"priority": "low"}
        ),
    }


def undo(board: Board, session: str, **more: Any) -> dict[str, Any]:
    return board.ask("undo_consolidation", session_id=session, reason="a mistake", **more)


def values(board: Board, node: str) -> dict[str, Any]:
    view = board.get(node)
    return {k: v for k, v in view.items() if k not in ("revision", "hash", "updatedAt", "lines")}


def test_values_are_as_before(board: Board, pages: dict[str, str]) -> None:
    """C33."""
    before = {name: values(board, node) for name, node in pages.items()}
    listed = board.listed()
    session, done = committed(board)
    new = {a["node_id"] for a in done["applied"]["added"]} | {
        e["edge_id"] for e in done["edges_added"]
    }
    result = undo(board, session)
    assert set(result["withdrawn"]) == new and set(result["restored"]) == set(pages.values())
    assert {name: values(board, node) for name, node in pages.items()} == before
    assert board.listed() == listed, "what was current is, and nothing else"
    assert board.get(pages["decision"])["lifecycle"] == "active"
    assert "superseded_by" not in board.path(pages["decision"]).read_text()
    assert result["git"]["state"] == "committed" and result["audit_row_id"] == board.position
    board.scan()
    assert board.findings() == [] and board.git("status", "--short", "--", "main") == ""
    for node in new:
        assert board.get(node)["lifecycle"] == "withdrawn", "nothing is deleted"


def test_what_stood_between_is_still_read_as_of_then(board: Board, pages: dict[str, str]) -> None:
    session, done = committed(board)
    then = board.position
    undo(board, session)
    shown = {r["id"] for r in board.call("knowledge_records", asOf={"revision": then})["records"]}
    assert pages["decision"] not in shown
    assert done["applied"]["added"][0]["node_id"] in shown


def test_undoing_twice_is_once_and_told_in_audit_and_events(
    board: Board, pages: dict[str, str]
) -> None:
    session, done = committed(board)
    first = undo(board, session)
    with board.nothing_changes():
        assert undo(board, session) == first
    (row,) = board.ask("audit")["rows"]
    assert row["undone"]["reason"] == "a mistake" and row["undone"]["agent"] == "tester"
    kinds = [(e["event"], e["session_id"]) for e in board.ask("outbox_read")["events"]]
    assert kinds == [("kg.consolidated.v1", session), ("kg.consolidation_undone.v1", session)]
    assert board.commit(session) == done, "what the commit answered stands in the journal"


def test_an_undone_artefact_has_changed_again_and_may_be_consolidated(board: Board) -> None:
    session = board.ask("begin_consolidation", **SPEC)["session_id"]
    board.node(session, "Retries", "Five times.")
    board.propose(session)
    board.commit(session)
    assert board.ask("begin_consolidation", **SPEC)["nothing_changed"]
    undo(board, session)
    again = board.ask("begin_consolidation", **SPEC)
    assert not again["nothing_changed"]
    board.node(again["session_id"], "Retries", "Five times.")
    assert board.hint(again["session_id"]) == "ADD", "nobody judged the node itself"


@pytest.mark.parametrize("what", ["changed", "edited", "claimed", "superseded", "merged", "found"])
def test_what_later_stands_on_a_session_is_listed_and_nothing_is_done(
    board: Board, pages: dict[str, str], what: str
) -> None:
    session, done = committed(board)
    node = done["applied"]["added"][1]["node_id"]
    later = ""
    if what == "changed":
        board.change(node, summary="x")
    elif what == "edited":
        board.edit(node, "All of them.", "Most of them.")
        board.scan()
    elif what == "claimed":
        later = board.claim(node)
    elif what == "superseded":
        other = board.begin()
        board.edge(other, board.node(other, "Unsigned", type="Requirement"), "supersedes", node)
        board.propose(other)
        board.commit(other)
    elif what == "merged":
        board.merge(board.page("Signatures", "Requirement"), node)
    else:
        later = board.begin()
        board.node(later, "Signed deliveries", "All of them.", "Requirement")
        board.propose(later)
        board.commit(later)
    error = board.refusal("undo_consolidation", session_id=session, reason="x")
    assert isinstance(error, UndoBlocked) and error.data["status"] == 409
    (blocking,) = [b for b in error.data["blocking"] if b["id"] == (later or node)]
    assert blocking["why"]
    if what == "found":
        undo(board, later)
        assert undo(board, session)["undone"], "once the later one is undone"


def test_one_that_stands_on_a_large_session_is_found_among_its_own(board: Board) -> None:
    """More of the session's own records stand on a node than an impact lists."""
    session = board.begin()
    hub = board.node(session, "The hub", "It is the hub.")
    for n in range(MAX_ITEMS + 5):
        spoke = board.node(session, f"Spoke number {n}", f"Text {n}.")
        board.edge(session, spoke, "depends_on", hub)
    board.propose(session)
    added = board.commit(session)["applied"]["added"]
    node = next(a["node_id"] for a in added if a["candidate_id"] == hub)
    later = board.relationship(
        board.page("Later", "Decision"), node, "relates_to", "It relies on it."
    )
    error = board.refusal("undo_consolidation", session_id=session, reason="x")
    assert isinstance(error, UndoBlocked)
    assert [b["id"] for b in error.data["blocking"]] == [later]
    assert board.get(later)["eligible"]


@pytest.mark.parametrize("where", ["secret", "main"])
def test_what_the_caller_does_not_see_is_in_the_way_all_the_same(board: Board, where: str) -> None:
    session = board.begin()
    board.node(session, "The hub", "It is the hub.")
    board.propose(session)
    node = board.commit(session)["applied"]["added"][0]["node_id"]
    if where == "secret":  # a claim of another partition, or a relationship to a page of it
        cited = [{"source": board.source(partition="secret")}]
        hidden = board.claim(node, "Zugzwang.", partition="secret", evidence=cited)
    else:
        unseen = board.page("Zugzwang", "Decision", partition="secret")
        hidden = board.relationship(node, unseen, "relates_to", "Zugzwang.", partition="main")
    some = Caller("a", partitions=frozenset({"main"}))
    error = board.refusal("undo_consolidation", some, session_id=session, reason="x")
    assert isinstance(error, UndoBlocked)
    assert hidden not in str(error.to_dict()) and "Zugzwang" not in str(error.to_dict())
    assert [b["id"] for b in error.data["blocking"]] == ["(hidden)"]
    whole = board.refusal("undo_consolidation", session_id=session, reason="x")
    assert [b["id"] for b in whole.data["blocking"]] == [hidden]


def test_what_a_person_wrote_meanwhile_is_not_taken_away(
    board: Board, pages: dict[str, str]
) -> None:
    """An edit that nobody has scanned yet blocks too."""
    session, _ = committed(board)
    path = board.edit(pages["requirement"], "Delay.", "My delay.")
    with pytest.raises(UndoBlocked):
        undo(board, session)
    assert "My delay." in path.read_text()


def test_only_an_administrator_undoes(board: Board, pages: dict[str, str]) -> None:
    session, _ = committed(board)
    error = board.refusal(
        "undo_consolidation", Caller("agent", AGENT_SCOPES), session_id=session, reason="x"
    )
    assert isinstance(error, ScopeDenied)
    hidden = Caller("x", partitions=frozenset({"elsewhere"}))
    for name in (session, "kgs_none"):
        assert isinstance(
            board.refusal("undo_consolidation", hidden, session_id=name, reason="x"), NotFound
        )
    assert isinstance(
        board.refusal("undo_consolidation", session_id=board.begin(), reason="x"), NotFound
    )


def test_the_guards_of_an_undone_session_stay_lifted_when_the_state_is_lost(
    board: Board, pages: dict[str, str]
) -> None:
    session, done = committed(board)
    undo(board, session)
    board.ws.close()
    for left in (board.root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()
    care.recover(board.root)
    board.ws = Workspace.open(board.root, clock=board.clock)
    board.scan()
    assert board.get(pages["decision"])["lifecycle"] == "active"
    for added in done["applied"]["added"]:
        assert board.get(added["node_id"])["lifecycle"] == "withdrawn"
    assert board.ask("audit")["rows"][0]["undone"]


def test_a_session_that_wrote_nothing_can_be_undone(board: Board) -> None:
    board.consolidate("A", "a")
    session = board.begin()
    board.node(session, "A", "a")
    board.propose(session)
    board.commit(session, agent_overrides=[override("cand_001", "NOOP")])
    before = board.files()
    result = undo(board, session)
    assert result["withdrawn"] == result["restored"] == [] and board.files() == before
