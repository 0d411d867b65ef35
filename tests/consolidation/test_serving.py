"""The protocol's end-to-end example, call for call: over MCP with the SDK's client, and over the socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.consolidation.boards import Board
from tests.serve.served import Running, until
from tests.serve.test_mcp import Agent, connected

OLD = "Fixed 3s retry interval, 5 attempts"
BEGIN = {"board_id": "main", "source_type": "spec", "source_id": "spec_007", "source_version": 4,
         "payload_hash": "sha256:8c1f"}  # fmt: skip
NODE = {
    "node_type": "Decision", "title": "Exponential backoff with jitter for webhook retries",
    "body": "Fixed retries cause thundering-herd at peer recovery...",
    "attributes": {"confidence": 0.9, "rationale": "..."},
    "source_ref": {"spec_id": "spec_007", "section": "retry-strategy"},
}  # fmt: skip
TOOLS = {
    "kg_begin_consolidation", "kg_add_node_candidate", "kg_add_edge_candidate",
    "kg_get_similar_nodes", "kg_propose_reconciliation", "kg_commit_consolidation",
    "kg_abort_consolidation",
}  # fmt: skip


@pytest.fixture
def old(board: Board) -> str:
    """The node that the example calls dec_4c20."""
    node = board.page(OLD, "Decision", body="Every delivery is tried five times, 3 s apart.")
    board.ws.close()
    return node


def check(old: str, begun: dict, added: dict, edge: dict, proposed: dict, done: dict) -> None:
    """Hold that the answers are those of the example."""
    assert begun["session_id"].startswith("kgs_") and begun["content_hash"] == "sha256:8c1f"
    assert begun["nothing_changed"] is False and begun["expires_at"]
    assert (added["candidate_id"], added["node_type"]) == ("cand_001", "Decision")
    assert edge == {"edge_candidate_id": "edge_cand_001", "rel_type": "supersedes", "valid": True}
    (proposal,) = proposed["proposals"]
    assert proposal["candidate_id"] == "cand_001" and proposal["hint"] == "SUPERSEDE"
    assert proposal["target_node"] == old and proposal["rationale"]
    (new,) = done["applied"]["added"]
    assert done["committed"] and new["candidate_id"] == "cand_001"
    (written,) = done["edges_added"]
    assert (written["src"], written["rel"], written["dst"]) == (new["node_id"], "supersedes", old)
    assert isinstance(done["audit_row_id"], int) and done["outbox_event"] == "kg.consolidated.v1"


def test_an_agent_consolidates_over_mcp(board: Board, old: str) -> None:
    async def work(agent: Agent) -> None:
        listed = {tool.name for tool in (await agent.client.list_tools()).tools}
        assert listed >= TOOLS and "kg_event_subscribe" not in listed
        assert "kg_undo_consolidation" not in listed, "an administrator's"
        begun = await agent.ask("kg_begin_consolidation", **BEGIN)
        session = begun["session_id"]
        added = await agent.ask("kg_add_node_candidate", session_id=session, **NODE)
        similar = await agent.ask(
            "kg_get_similar_nodes", session_id=session, candidate_id="cand_001", k=5
        )
        assert similar["candidate_id"] == "cand_001" and similar["match_mode"] == "title_prefix"
        edge = await agent.ask(
            "kg_add_edge_candidate", session_id=session, src={"candidate_id": "cand_001"},
            dst={"node_id": old}, rel_type="supersedes",
            attributes={"reason": "thundering-herd at recovery"},
        )  # fmt: skip
        refused = await agent.refused(
            "kg_add_edge_candidate", session_id=session, src={"candidate_id": "cand_001"},
            dst={"node_id": old}, rel_type="derives_from",
        )  # fmt: skip
        assert refused["code"] == "reserved_edge_type" and refused["data"]["status"] == 403
        proposed = await agent.ask("kg_propose_reconciliation", session_id=session)
        done = await agent.ask("kg_commit_consolidation", session_id=session)
        check(old, begun, added, edge, proposed, done)
        assert await agent.ask("kg_commit_consolidation", session_id=session) == done
        again = await agent.ask("kg_begin_consolidation", **BEGIN)
        assert again["session_id"] is None and again["nothing_changed"]
        chain = await agent.ask("kg_get_supersedence_chain", node_id=old)
        assert chain["current"] == done["applied"]["added"][0]["node_id"]
        dropped = await agent.ask("kg_begin_consolidation", **BEGIN | {"payload_hash": "other"})
        aborted = await agent.ask("kg_abort_consolidation", session_id=dropped["session_id"])
        assert aborted == {"session_id": dropped["session_id"], "aborted": True}

    connected(board.root, work, "--toolset", "consolidation")
    board.reopen()
    (row,) = board.ask("audit")["rows"]
    assert row["agent"] == "Test Agent", "the client's own name"


@pytest.mark.parametrize(("actor", "may"), [("agent-7", False), ("boss", True), (None, True)])
def test_flags_are_those_of_the_name_that_the_operator_gave(
    board: Board, actor: str | None, may: bool
) -> None:
    board.ws.close()
    with (board.root / ".vault-kg/vault.toml").open("a") as config:
        config.write('[consolidation.permissions]\ndefault = []\nboss = ["kg.session.*"]\n')
    running = Running(board.root, actor=actor)
    try:
        with running.client() as client:
            asked = client.ask("kg_begin_consolidation", _actor="boss", **BEGIN)
            assert ("result" in client.answer(asked)) == may
    finally:
        running.stop()


@pytest.mark.usefixtures("meaning")
def test_the_example_with_a_real_model(board: Board) -> None:
    node = board.page(OLD, "Decision", body="Every delivery is tried five times, 3 s apart.")
    session = board.ask("begin_consolidation", **BEGIN)["session_id"]
    added = board.ask("add_node_candidate", session_id=session, **NODE)
    assert added["embedding_status"] == "queued"
    found = board.ask("get_similar_nodes", session_id=session, candidate_id="cand_001", k=5)
    assert found["match_mode"] == "vector" and found["matches"][0]["node_id"] == node
    assert 0.3 <= found["matches"][0]["score"] < 0.95


def test_a_client_consolidates_over_the_socket(board: Board, old: str, tmp_path: Path) -> None:
    board.reopen()
    board.ask("event_subscribe", name="feed", file=str(tmp_path / "events.jsonl"))
    board.ws.close()
    running = Running(board.root)
    try:
        running.healthy()
        with running.client() as client:

            def ask(name: str, **params: Any) -> Any:
                return client.call(f"kg_{name}", _actor="agent-7", **params)

            begun = ask("begin_consolidation", **BEGIN)
            session = begun["session_id"]
            added = ask("add_node_candidate", session_id=session, **NODE)
            ask("get_similar_nodes", session_id=session, candidate_id="cand_001", k=5)
            edge = ask("add_edge_candidate", session_id=session, src={"candidate_id": "cand_001"},
                       dst={"node_id": old}, rel_type="supersedes")  # fmt: skip
            error = client.refused("kg_commit_consolidation", session_id=session, _actor="agent-8")
            assert error["data"]["code"] == "permission_denied", "another agent's session"
            proposed = ask("propose_reconciliation", session_id=session)
            done = ask("commit_consolidation", session_id=session)
            check(old, begun, added, edge, proposed, done)
            undone = ask("undo_consolidation", session_id=session, reason="for the test")
            assert undone["restored"] == [old]
        file = tmp_path / "events.jsonl"
        until(lambda: file.exists() and len(file.read_text().splitlines()) == 2)
    finally:
        running.stop()
