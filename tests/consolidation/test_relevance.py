"""Relevance and decay: the formula with worked examples, and that it is kept out of the files."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consolidation.boards import Board
from tests.operations.builder import Clock
from vault_kg.consolidation import relevance
from vault_kg.consolidation.relevance import Standing

EXAMPLES = [
    # 0.4 * 0.7
    (Standing(), 0.28),
    # 0.4 * 0.9 + 0.3 * ln(10) / ln(100) = 0.36 + 0.15
    (Standing(confidence=0.9, degree=9), 0.51),
    # full confidence, and 99 edges: 0.4 + 0.3
    (Standing(confidence=1.0, degree=99), 0.7),
    # two hits, thirty days ago: 0.28 + 0.3 * 1
    (Standing(hits=2, days_since_query=30), 0.58),
    # four hits, sixty days ago count for one
    (Standing(hits=4, days_since_query=60), 0.58),
    # 0.28 + 0.3 * 10, clamped
    (Standing(hits=10), 1.5),
    # 0.28 - 0.2
    (Standing(contradictions=[0.2]), 0.08),
    # a contradiction without confidence counts 0.5; 0.28 - 0.5, clamped
    (Standing(contradictions=[None]), 0.0),
    # never more than 0.5: 0.4 + 0.3 - 0.5
    (Standing(confidence=1.0, hits=1, contradictions=[0.4, 0.4, 0.4]), 0.2),
    # 0.28 + 0.15
    (Standing(boost=0.15), 0.43),
    # 0.28 * (1 + 0.1 * ln 3)
    (Standing(attestations=3), 0.310761),
    # 0.28 * 1.5: e^5 = 148.4 attestations and more
    (Standing(attestations=1_000), 0.42),
]


@pytest.mark.parametrize(("standing", "expected"), EXAMPLES)
def test_worked_examples(standing: Standing, expected: float) -> None:
    assert relevance.relevance(standing) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("type_name", "fields", "expected"),
    [
        ("Requirement", {}, 0.0), ("Requirement", {"priority": "low"}, 0.0),
        ("Requirement", {"priority": "medium"}, 0.05), ("Requirement", {"priority": "high"}, 0.10),
        ("Requirement", {"priority": "very_high"}, 0.15),
        ("Requirement", {"priority": "critical"}, 0.20), ("Bug", {"severity": "minor"}, 0.10),
        ("Bug", {"severity": "major"}, 0.15), ("Bug", {"severity": "critical"}, 0.20),
        ("Bug", {"severity": "minor", "priority": "critical"}, 0.20),
        ("Constraint", {"severity": "critical"}, 0.0),
    ],
)  # fmt: skip
def test_boosts(type_name: str, fields: dict[str, str], expected: float) -> None:
    assert relevance.boost(type_name, fields) == expected


@given(
    st.builds(
        Standing,
        confidence=st.floats(0, 1), degree=st.integers(0, 10_000), hits=st.integers(0, 10_000),
        days_since_query=st.floats(0, 10_000), boost=st.floats(0, 0.2),
        contradictions=st.lists(st.none() | st.floats(0, 1), max_size=5),
        attestations=st.integers(1, 10_000),
    )
)  # fmt: skip
def test_it_lies_between_its_bounds_and_falls_with_time(standing: Standing) -> None:
    now = relevance.relevance(standing)
    assert 0 <= now <= 1.5
    later = Standing(**standing.__dict__ | {"days_since_query": standing.days_since_query + 30})
    assert relevance.relevance(later) <= now


def test_being_asked_for_raises_it_and_time_lowers_it(board: Board, clock: Clock) -> None:
    node = board.consolidate("Retry policy", "Five times.", attributes={"confidence": 0.5})
    before = board.files()

    def asked() -> float:
        (found,) = board.ask("get_decision_history", topic="retry")["nodes"]
        return float(found["relevance"])

    assert asked() == pytest.approx(0.2), "0.4 * 0.5"
    assert asked() == pytest.approx(0.5, abs=1e-3), "one hit just now"
    clock.at += timedelta(days=30)
    assert asked() == pytest.approx(0.2 + 0.3 * 2 * 0.5, abs=1e-3), "two hits a month ago"
    assert board.files() == before and board.get(node)["revision"] == 1, "kept in the state"
    board.reopen()
    assert asked() > 1.0, "and there after a restart: three hits"


def test_being_asserted_anew_raises_it(board: Board) -> None:
    for _ in range(3):
        board.consolidate("Retry policy", "Five times.", attributes={"confidence": 0.5})
    (found,) = board.ask("get_decision_history", topic="retry")["nodes"]
    assert found["relevance"] == pytest.approx(0.2 * 1.109861, abs=1e-6)


def test_connections_and_contradictions_count(board: Board) -> None:
    session = board.begin()
    one, two = (board.node(session, f"Retry {n}", attributes={"confidence": 1.0}) for n in "ab")
    board.edge(session, one, "contradicts", two, attributes={"confidence": 0.25})
    board.propose(session)
    board.commit(session)
    found = {
        n["title"]: n["relevance"]
        for n in board.ask("get_decision_history", topic="retry")["nodes"]
    }
    joined = 0.4 + 0.3 * 0.150515
    assert found["Retry a"] == pytest.approx(joined, abs=1e-5)
    assert found["Retry b"] == pytest.approx(joined - 0.25, abs=1e-5)
