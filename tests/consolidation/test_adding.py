"""Candidates: eleven node types with their attributes, five edge types with their endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consolidation.boards import Board, end
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    MergedReference,
    NotFound,
    ReservedEdgeType,
    UnknownAttribute,
)

TYPES: dict[str, dict[str, Any]] = {
    "Decision": {"rationale": "why", "confidence": 0.9, "decided_by": ["Ada"]},
    "Criterion": {"measure": "latency", "threshold": "200 ms", "weight": 2},
    "Constraint": {"severity": "high", "scope": "EU"},
    "Assumption": {"status": "open", "impact": "all"},
    "Requirement": {"kind": "functional", "priority": "high", "acceptance": ["seen"]},
    "Entity": {"website": ["https://example.org/"]},
    "APIContract": {"method": "POST", "path": "/hooks", "errors": ["429"]},
    "TestScenario": {"given": "a", "when": "b", "then": "c", "result": "pass"},
    "Bug": {"severity": "major", "status": "open", "root_cause": "race"},
    "Learning": {"trigger": "outage", "applies_to": ["queues"]},
    "Alternative": {"rejected_because": "cost", "pros": ["simple"], "cons": ["slow"]},
}
RESERVED = ("derives_from", "mentions", "violates", "implements", "tests", "belongs_to")


@pytest.mark.parametrize("type_name", TYPES)
def test_each_type_has_its_attributes_and_refuses_others(board: Board, type_name: str) -> None:
    session = board.begin()
    board.node(session, "One", "Text.", type_name, attributes=TYPES[type_name])
    error = board.refusal(
        "add_node_candidate", session_id=session, node_type=type_name, title="Two",
        attributes={"colour": "red"},
    )  # fmt: skip
    assert isinstance(error, UnknownAttribute) and error.data["status"] == 422
    assert error.message.startswith("422 unknown_attribute: ")
    assert set(TYPES[type_name]) <= set(error.data["allowed"]), "it names the allowed ones"
    board.propose(session)
    (added,) = board.commit(session)["applied"]["added"]
    view = board.get(added["node_id"])
    assert view["type"] == type_name and view["fields"] == TYPES[type_name]
    assert view["evidence"], "the artefact is its source"


def test_a_type_and_an_attribute_may_be_spelled_otherwise(board: Board) -> None:
    session = board.begin()
    done = board.ask(
        "add_node_candidate", session_id=session, node_type="api_contract", title="Hooks",
        attributes={"Method": "POST"},
    )  # fmt: skip
    assert done == {
        "candidate_id": "cand_001", "node_type": "APIContract", "embedding_status": "off",
        "warnings": [],
    }  # fmt: skip


@pytest.mark.parametrize("node_type", ["Nonsense", "decisions made"])
def test_an_unknown_type_is_refused(board: Board, node_type: str) -> None:
    session = board.begin()
    error = board.refusal("add_node_candidate", session_id=session, node_type=node_type, title="x")
    assert isinstance(error, InvalidArgument) and "knowledge_ontology" in error.message


@pytest.mark.parametrize(
    ("type_name", "attributes"),
    [
        ("Decision", {"confidence": 1.5}), ("Decision", {"confidence": "high"}),
        ("Constraint", {"severity": "awful"}), ("Bug", {"reported_on": "yesterday"}),
        ("Decision", {"requirements": ["not a page"]}),
    ],
)  # fmt: skip
def test_a_value_that_the_type_does_not_take_is_refused(
    board: Board, type_name: str, attributes: dict[str, Any]
) -> None:
    session = board.begin()
    error = board.refusal(
        "add_node_candidate", session_id=session, node_type=type_name, title="x",
        attributes=attributes,
    )  # fmt: skip
    assert isinstance(error, InvalidArgument) and next(iter(attributes)) in error.message


def test_a_lenient_session_drops_unknown_attributes_and_the_audit_says_so(board: Board) -> None:
    session = board.begin(lenient=True)
    done = board.ask(
        "add_node_candidate", session_id=session, node_type="Bug", title="One",
        attributes={"colour": "red", "severity": "minor"},
    )  # fmt: skip
    assert "colour" in done["warnings"][0]
    board.propose(session)
    committed = board.commit(session)
    assert "colour" in committed["warnings"][0]
    (row,) = board.ask("audit", session_id=session)["rows"]
    assert row["warnings"] == committed["warnings"]
    assert board.get(committed["applied"]["added"][0]["node_id"])["fields"] == {"severity": "minor"}


def test_a_vaults_own_attribute_and_type_extend_the_schema(board: Board) -> None:
    board.put("ontology.yaml", (
        "page_types:\n  Decision:\n    fields:\n      colour: {type: text}\n"
        "  Risk:\n    parent: null\n    fields:\n      odds: {type: number}\n"
        "relationship_types:\n  mitigates:\n    from: Decision\n    to: Risk\n"
    ))  # fmt: skip
    board.scan()
    session = board.begin()
    decision = board.node(session, "One", attributes={"colour": "red"})
    risk = board.node(session, "Fire", type="Risk", attributes={"odds": 0.1})
    assert board.edge(session, decision, "mitigates", risk) == "edge_cand_001"


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"spec_id": "spec_007", "section": "retry"}, "spec_007#retry"),
        ({"spec_id": "spec_007"}, "spec_007"), ("spec_007#retry", "spec_007#retry"),
        ({"repo": "core", "path": "a.py", "anchor": 7}, "a.py/core#7"), (None, None), ({}, None),
    ],
)  # fmt: skip
def test_a_source_reference_is_kept_as_one_text(
    board: Board, given: Any, stored: str | None
) -> None:
    session = board.begin()
    board.node(session, "One", source_ref=given)
    board.propose(session)
    node = board.commit(session)["applied"]["added"][0]["node_id"]
    assert board.get(node)["fields"].get("source_ref") == stored


def test_the_same_node_is_not_added_twice(board: Board) -> None:
    session = board.begin()
    board.node(session, "One", "Text.")
    error = board.refusal(
        "add_node_candidate", session_id=session, node_type="Decision", title="ONE",
        body=" text. ",
    )  # fmt: skip
    assert error.data["candidate_id"] == "cand_001"
    assert board.node(session, "One", "Another text.") == "cand_002"


# Edges


@pytest.mark.parametrize("rel", RESERVED)
def test_reserved_edge_types_are_the_workers(board: Board, rel: str) -> None:
    session = board.begin()
    ends = {"src": end(board.node(session, "A")), "dst": end(board.node(session, "B"))}
    error = board.refusal("add_edge_candidate", session_id=session, rel_type=rel, **ends)
    assert isinstance(error, ReservedEdgeType) and error.data["status"] == 403
    assert error.message.startswith("403 reserved_edge_type: ")
    spelled = board.refusal(
        "add_edge_candidate", session_id=session, rel_type=rel.upper().replace("_", " "), **ends
    )
    assert isinstance(spelled, ReservedEdgeType)


@pytest.mark.parametrize(
    ("src", "rel", "dst", "allowed"),
    [
        ("Decision", "supersedes", "Decision", True), ("Decision", "supersedes", "Bug", False),
        ("Decision", "contradicts", "Constraint", True), ("Bug", "contradicts", "Bug", False),
        ("Decision", "depends_on", "Assumption", True), ("Bug", "depends_on", "Decision", False),
        ("Decision", "relates_to", "Alternative", True), ("Bug", "relates_to", "Entity", True),
        ("Learning", "validates", "Bug", True), ("Bug", "validates", "Learning", False),
        ("Decision", "works_for", "Entity", False), ("Decision", "nonsense", "Decision", False),
    ],
)  # fmt: skip
def test_endpoint_types_are_checked_when_an_edge_is_added(
    board: Board, src: str, rel: str, dst: str, allowed: bool
) -> None:
    session = board.begin()
    ends = [board.node(session, name, type=kind) for name, kind in (("A", src), ("B", dst))]
    asked = {"session_id": session, "src": end(ends[0]), "dst": end(ends[1]), "rel_type": rel}
    if allowed:
        assert board.ask("add_edge_candidate", **asked) == {
            "edge_candidate_id": "edge_cand_001", "rel_type": rel, "valid": True,
        }  # fmt: skip
    else:
        assert isinstance(board.refusal("add_edge_candidate", **asked), InvalidArgument)


def test_an_end_that_does_not_resolve_is_refused_at_once(board: Board) -> None:
    decision, bug = board.page("Old", "Decision"), board.page("Crash", "Bug")
    twin, claim = board.page("Twin", "Bug"), board.claim(decision)
    board.withdraw(decision)
    board.merge(bug, twin)
    session = board.begin()
    mine = board.node(session, "New")
    for other, error in (
        ({"candidate_id": "cand_009"}, NotFound), ({"node_id": "pg_none"}, InvalidRecord),
        ({"node_id": decision}, InvalidRecord), ({"node_id": twin}, MergedReference),
        ({"node_id": claim}, InvalidRecord), (end(mine), InvalidArgument),
        ({"node_id": bug, "candidate_id": mine}, InvalidArgument), ({}, InvalidArgument),
    ):  # fmt: skip
        refused = board.refusal(
            "add_edge_candidate", session_id=session, src=end(mine), dst=other,
            rel_type="relates_to",
        )  # fmt: skip
        assert isinstance(refused, error), (other, refused)
    both = board.refusal(
        "add_edge_candidate", session_id=session, src=end(bug), dst=end(bug), rel_type="relates_to"
    )
    assert "knowledge_save_relationship" in both.message


def test_a_superseded_end_is_refused_and_its_successor_named(board: Board) -> None:
    old = board.page("A", "Decision")
    session = board.begin()
    board.edge(session, board.node(session, "B"), "supersedes", old)
    board.propose(session)
    new = board.commit(session)["applied"]["added"][0]["node_id"]
    again = board.begin()
    error = board.refusal(
        "add_edge_candidate", session_id=again, src=end(board.node(again, "C")), dst=end(old),
        rel_type="supersedes",
    )  # fmt: skip
    assert isinstance(error, InvalidRecord) and error.data["successor"] == new
    assert new in error.message


def test_an_edge_is_added_once_and_a_candidate_supersedes_one_node(board: Board) -> None:
    first, second = board.page("A", "Decision"), board.page("B", "Decision")
    session = board.begin()
    mine = board.node(session, "New")
    board.edge(session, mine, "supersedes", first)
    for dst in (first, second):
        error = board.refusal(
            "add_edge_candidate", session_id=session, src=end(mine), dst=end(dst),
            rel_type="supersedes",
        )  # fmt: skip
        assert error.data["edge_candidate_id"] == "edge_cand_001"


@pytest.mark.parametrize(
    ("attributes", "error"),
    [({"colour": "red"}, UnknownAttribute), ({"confidence": 2}, InvalidArgument),
     ({"confidence": True}, InvalidArgument), ({"reason": 7}, InvalidArgument),
     ({"confidence": float("nan")}, InvalidArgument), ({"fact": " "}, InvalidArgument),
     ({"fact": "a\0b"}, InvalidArgument), ({"reason": "x\ud800"}, InvalidArgument),
     ({"valid_from": "2026-01-01\n"}, InvalidArgument),
     ({"valid_until": "2" * 3_000}, InvalidArgument)],
)  # fmt: skip
def test_attributes_of_edges_are_checked(
    board: Board, attributes: dict[str, Any], error: type
) -> None:
    session = board.begin()
    ends = {"src": end(board.node(session, "A")), "dst": end(board.node(session, "B"))}
    refused = board.refusal(
        "add_edge_candidate", session_id=session, rel_type="depends_on", attributes=attributes,
        **ends,
    )  # fmt: skip
    assert type(refused) is error
