"""What is read of the graph after consolidation: history, chains, contradictions and what is around."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consolidation.boards import Board, paged
from vault_kg.errors import InvalidArgument, InvalidRecord, MissingFile, NotFound
from vault_kg.operations.caller import Caller

HIDDEN = Caller("x", partitions=frozenset({"elsewhere"}))


def superseding(board: Board, title: str, old: str) -> str:
    session = board.begin()
    board.edge(session, board.node(session, title, f"{title}."), "supersedes", old)
    board.propose(session)
    return str(board.commit(session)["applied"]["added"][0]["node_id"])


@pytest.fixture
def chain(board: Board) -> list[str]:
    first = board.consolidate("Retry every 3 s", "Fixed.")
    second = superseding(board, "Retry with backoff", first)
    return [first, second, superseding(board, "Retry with jitter", second)]


def titles(answer: dict[str, Any]) -> list[str]:
    return [node["title"] for node in answer["nodes"]]


def test_the_head_of_a_chain_is_the_same_from_every_link(board: Board, chain: list[str]) -> None:
    """C36."""
    for node in chain:
        found = board.ask("get_supersedence_chain", node_id=node)
        assert [n["node_id"] for n in found["chain"]] == chain
        assert found["current"] == chain[-1] and found["depth"] == 2
    assert [n["lifecycle"] for n in found["chain"]] == ["superseded", "superseded", "active"]
    assert [n["superseded_by"] for n in found["chain"]] == [chain[1], chain[2], None]


def test_a_chain_whose_head_was_withdrawn_or_merged(board: Board, chain: list[str]) -> None:
    other = board.page("Retry with jitter and a limit", "Decision")
    board.merge(other, chain[-1])
    assert {board.ask("get_supersedence_chain", node_id=node)["current"] for node in chain} == {
        other
    }
    board.withdraw(other)
    assert {board.ask("get_supersedence_chain", node_id=node)["current"] for node in chain} == {
        None
    }


def test_a_node_alone_is_a_chain_and_a_hidden_one_is_none(board: Board) -> None:
    node = board.consolidate("Alone")
    found = board.ask("get_supersedence_chain", node_id=node)
    assert found["current"] == node and found["depth"] == 0
    for caller, name in ((HIDDEN, node), (Caller("tester"), "pg_none")):
        assert isinstance(board.refusal("get_supersedence_chain", caller, node_id=name), NotFound)
    claim = board.claim(node)
    refused = board.refusal("get_supersedence_chain", node_id=claim)
    assert isinstance(refused, InvalidArgument) and "is a claim" in refused.message


def test_of_a_node_whose_file_cannot_be_read_is_said_why(board: Board) -> None:
    node = board.consolidate("Alone")
    file = board.path(node)
    file.write_text("---\n[")
    board.ws.scan()
    refused = board.refusal("get_supersedence_chain", node_id=node)
    assert isinstance(refused, InvalidRecord | MissingFile)
    assert board.relative(file) in refused.message


def test_the_history_of_a_topic_has_what_was_superseded_but_not_what_was_withdrawn(
    board: Board, chain: list[str]
) -> None:
    board.consolidate("Colour of the logo", "Green.")
    board.withdraw(board.consolidate("Retry never", "No."))
    found = board.ask("get_decision_history", topic="retry")
    assert [n["node_id"] for n in found["nodes"]] == chain[::-1], "the newest first"
    assert found["nodes"][0]["body"] == "Retry with jitter." and found["total"] == 3
    assert titles(board.ask("get_decision_history", topic="retry", max_rows=1)) == [
        "Retry with jitter"
    ]
    assert board.ask("get_decision_history", HIDDEN, topic="retry")["total"] == 0
    assert board.ask("get_decision_history", topic="retry", min_confidence=0.8)["total"] == 0
    assert board.ask("get_decision_history", topic="retry", min_relevance=1.4)["total"] == 0


def test_similar_decisions_are_current_ones(board: Board, chain: list[str]) -> None:
    found = board.ask("find_similar_decisions", topic="retry")
    assert [d["node"]["node_id"] for d in found["decisions"]] == chain[-1:]
    assert found["decisions"][0]["text_match"] and found["semantic"] == "off"


def test_similar_decisions_are_found_by_meaning(meaning: None, board: Board) -> None:
    node = board.consolidate("Exponential backoff for webhooks", "Delays double after a failure.")
    board.consolidate("Colour of the logo", "The logo is green.")
    board.ws.semantics.embed_pending()
    found = board.ask("find_similar_decisions", topic="how long do we wait before trying again")
    assert found["semantic"] == "ready"
    assert [d["node"]["node_id"] for d in found["decisions"]][:1] in ([node], [])


def test_contradictions_are_listed_page_by_page(board: Board) -> None:
    hub = board.consolidate("The one")
    for n in range(3):
        session = board.begin()
        other = board.node(session, ("Never", "Rarely", "Later")[n])
        board.edge(session, hub, "contradicts", other, attributes={"confidence": 0.6})
        board.propose(session)
        board.commit(session)
    whole = board.ask("find_contradictions")
    assert (whole["count"], whole["total"], whole["next_cursor"]) == (3, 3, None)
    pages = paged(board, "find_contradictions", max_rows=2)
    assert [page["count"] for page in pages] == [2, 1] and pages[1]["total"] == 3
    assert [pair for page in pages for pair in page["pairs"]] == whole["pairs"]


def test_contradictions_are_pairs_with_their_sentence(board: Board) -> None:
    session = board.begin()
    one, two = board.node(session, "Retry"), board.node(session, "Never retry")
    board.edge(
        session, one, "contradicts", two, attributes={"confidence": 0.6, "reason": "clearly"}
    )
    board.propose(session)
    ids = [a["node_id"] for a in board.commit(session)["applied"]["added"]]
    found = board.ask("find_contradictions")
    (pair,) = found["pairs"]
    assert (pair["id_a"], pair["title_b"], pair["confidence"]) == (ids[0], "Never retry", 0.6)
    assert "clearly" in pair["fact"] and found["total"] == 1
    for node in ids:
        assert board.ask("find_contradictions", node_id=node)["total"] == 1
    assert board.ask("find_contradictions", node_id=board.consolidate("Other"))["total"] == 0
    assert board.ask("find_contradictions", HIDDEN)["total"] == 0
    board.withdraw(ids[1])
    assert board.ask("find_contradictions")["total"] == 0


def test_edges_of_a_merged_node_are_its_survivors(board: Board) -> None:
    session = board.begin()
    one, two = board.node(session, "Retry"), board.node(session, "Never retry")
    board.edge(session, one, "contradicts", two, attributes={"confidence": 0.5})
    board.edge(session, one, "relates_to", board.node(session, "Cron", type="Alternative"))
    board.propose(session)
    nodes = [a["node_id"] for a in board.commit(session)["applied"]["added"]]
    survivors = [board.page(title, "Decision") for title in ("Do retry", "Do not retry")]
    for survivor, absorbed in zip(survivors, nodes, strict=False):
        board.merge(survivor, absorbed)
    (pair,) = board.ask("find_contradictions", node_id=survivors[1])["pairs"]
    assert [pair["id_a"], pair["id_b"]] == survivors and pair["title_b"] == "Do not retry"
    assert titles(board.ask("list_alternatives", decision_id=survivors[0])) == ["Cron"]
    around = board.ask("get_related_context", artifact_id=survivors[0])
    assert set(titles(around)) == {"Do retry", "Do not retry", "Cron"} and len(around["edges"]) == 2
    relevance = {n["title"]: n["relevance"] for n in around["nodes"]}
    assert relevance["Do retry"] > 0.3 > relevance["Do not retry"], "two edges; contradicted"


def test_alternatives_of_a_decision(board: Board) -> None:
    session = board.begin()
    decision = board.node(session, "Use a queue")
    for title, confidence in (("Use cron", 0.4), ("Use threads", 0.9)):
        option = board.node(
            session, title, type="Alternative", attributes={"confidence": confidence}
        )
        board.edge(session, decision, "relates_to", option)
    board.edge(session, decision, "relates_to", board.node(session, "Broker", type="Entity"))
    board.propose(session)
    node = board.commit(session)["applied"]["added"][0]["node_id"]
    assert titles(board.ask("list_alternatives", decision_id=node)) == ["Use threads", "Use cron"]
    assert titles(board.ask("list_alternatives", decision_id=node, min_confidence=0.5)) == [
        "Use threads"
    ]


def test_lessons_of_bugs_in_an_area(board: Board) -> None:
    session = board.begin()
    for area, lesson in (("Webhook storm", "Add jitter"), ("Login loop", "Check the clock")):
        learning = board.node(session, lesson, type="Learning")
        board.edge(session, learning, "validates", board.node(session, area, "It broke.", "Bug"))
    board.propose(session)
    board.commit(session)
    for words in ("webhook", "jitter"):
        (found,) = board.ask("get_learning_from_bugs", area=words)["lessons"]
        assert (
            found["learning"]["title"] == "Add jitter" and found["bug"]["title"] == "Webhook storm"
        )
        assert found["edge"]["rel"] == "validates"
    assert board.ask("get_learning_from_bugs", area="colour")["total"] == 0


def test_the_context_of_an_artefact_and_of_a_node(board: Board) -> None:
    queue = board.page("Queue", "Entity")
    far = board.page("Broker", "Entity")
    board.relationship(queue, far, "part_of", "The queue is part of the broker.")
    session = board.begin(source_id="spec_009")
    decision = board.node(
        session, "Use a queue", source_ref={"spec_id": "spec_009", "section": "a"}
    )
    limit = board.node(session, "Limit", type="Constraint")
    board.edge(session, decision, "depends_on", limit)
    board.edge(session, decision, "depends_on", queue)
    board.propose(session)
    nodes = [a["node_id"] for a in board.commit(session)["applied"]["added"]]
    found = board.ask("get_related_context", artifact_id="spec_009")
    assert found["start"] == nodes and set(titles(found)) == {"Use a queue", "Limit", "Queue"}
    assert len(found["edges"]) == 2
    deep = board.ask("get_related_context", artifact_id="spec_009", max_depth=2)
    assert "Broker" in titles(deep) and len(deep["edges"]) == 3
    around = board.ask("get_related_context", artifact_id=queue)
    assert set(titles(around)) == {"Queue", "Broker", "Use a queue"}
    ways = {"outgoing": {"Queue", "Broker"}, "incoming": {"Queue", "Use a queue"}}
    for direction, expected in ways.items():
        answer = board.ask("get_related_context", artifact_id=queue, direction=direction)
        assert set(titles(answer)) == expected
    narrow = board.ask("get_related_context", artifact_id=queue, rel_types=["part of"])
    assert set(titles(narrow)) == {"Queue", "Broker"}
    assert board.ask("get_related_context", artifact_id="spec_404")["nodes"] == []
    assert board.ask("get_related_context", HIDDEN, artifact_id="spec_009")["total"] == 0
