"""The rules of reconciliation by themselves: which one wins, on either side of each threshold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.consolidation.candidates import Node
from vault_kg.consolidation.hints import Facts, Known, Proposal, propose
from vault_kg.consolidation.settings import Rules

RULES = Rules()


def node(number: int = 1, type: str = "Requirement", **more: Any) -> Node:
    values: dict[str, Any] = {"title": "Retry", "body": "Thrice.", "attributes": {}} | more
    return Node(f"cand_{number:03d}", type, **values)


def page(name: str = "pg_1", **more: Any) -> Known:
    values: dict[str, Any] = {
        "title": "Retry", "body": "\nThrice.\n", "fields": {}, "revision": 1, "hash": "h",
    } | more  # fmt: skip
    return Known(name, **values)


def proposed(one: Node, facts: Facts) -> Proposal:
    return propose({one.id: facts}, [one], RULES)[one.id]


REF = "spec_007#retry"
DECISION = node(type="Decision", source_ref=REF, body="Five times.")
CASES: list[tuple[str, Node, Facts, str, str | None]] = [
    ("nothing stands", node(), Facts(), "ADD", None),
    ("the artefact is unchanged", node(), Facts(unchanged=True, near=[(page(), 1.0)]), "NOOP", None),
    ("unchanged, and the page is there", node(), Facts(unchanged=True, titled=[page()]), "NOOP", "pg_1"),
    ("an edge says so", node(), Facts(supersedes=page("pg_9"), titled=[page()]), "SUPERSEDE", "pg_9"),
    ("same reference, other text", node(source_ref=REF, body="Five times."),
     Facts(referenced=[page(fields={"source_ref": REF})]), "UPDATE", "pg_1"),
    ("a decision that means something else", DECISION,
     Facts(referenced=[page(fields={"source_ref": REF})]), "SUPERSEDE", "pg_1"),
    ("a decision with another confidence",
     node(type="Decision", source_ref=REF, attributes={"confidence": 0.5}),
     Facts(referenced=[page(fields={"source_ref": REF, "confidence": 0.9})]), "UPDATE", "pg_1"),
    ("a decision with another rationale",
     node(type="Decision", source_ref=REF, attributes={"rationale": "new"}),
     Facts(referenced=[page(fields={"source_ref": REF, "rationale": "old"})]), "SUPERSEDE", "pg_1"),
    ("same reference, nothing differs", node(source_ref=REF),
     Facts(referenced=[page(fields={"source_ref": REF, "priority": "high"})]), "NOOP", "pg_1"),
    ("a reference to the whole does not tell", node(source_ref="spec_007", title="Other"),
     Facts(referenced=[page(fields={"source_ref": "spec_007"})]), "ADD", None),
    ("a reference to the whole, and the title", node(source_ref="spec_007", body="New."),
     Facts(referenced=[page(fields={"source_ref": "spec_007"})]), "UPDATE", "pg_1"),
    ("a shared reference does not tell", node(source_ref=REF, title="Other"),
     Facts(referenced=[page(fields={"source_ref": REF})], shared=True), "ADD", None),
    ("two pages of one reference", node(source_ref=REF, title="Other"),
     Facts(referenced=[page(), page("pg_2", title="Delay")]), "ADD", None),
    ("two pages of one reference, one of the title", node(source_ref=REF, title="Delay", body="x"),
     Facts(referenced=[page(), page("pg_2", title="delay")]), "UPDATE", "pg_2"),
    ("same title and body", node(title=" RETRY ", body="  thrice. "), Facts(titled=[page()]),
     "NOOP", "pg_1"),
    ("same title and body, other attributes", node(attributes={"priority": "high"}),
     Facts(titled=[page()]), "UPDATE", "pg_1"),
    ("same title, other body", node(body="Five times."), Facts(titled=[page()]), "ADD", None),
    ("withdrawn", node(body="Whatever."),
     Facts(gone=[page(lifecycle="withdrawn", note="2026-01-01: wrong")], near=[(page("pg_2"), 0.99)]),
     "NOOP", None),
    ("superseded before, said again", node(),
     Facts(gone=[page(lifecycle="superseded", note="pg_2")]), "NOOP", None),
    ("superseded before, said otherwise", node(body="New."),
     Facts(gone=[page(lifecycle="superseded", note="pg_2")]), "ADD", None),
    ("withdrawn, and another of the title stands", node(),
     Facts(gone=[page(lifecycle="withdrawn")], titled=[page("pg_2")]), "NOOP", "pg_2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "one", "facts", "hint", "target"), CASES, ids=[c[0] for c in CASES]
)
def test_the_first_rule_that_applies_wins(
    what: str, one: Node, facts: Facts, hint: str, target: str | None
) -> None:
    found = proposed(one, facts)
    assert (found.hint, found.target) == (hint, target), found
    assert len(found.rationale) > 10


@pytest.mark.parametrize(
    ("score", "hint"),
    [(1.0, "UPDATE"), (0.95, "UPDATE"), (0.949999, "SUPERSEDE"), (0.85, "SUPERSEDE"),
     (0.849999, "ADD"), (0.3, "ADD")],
)  # fmt: skip
def test_similarity_on_either_side_of_its_thresholds(score: float, hint: str) -> None:
    found = proposed(node(title="Other"), Facts(near=[(page(), score)]))
    assert found.hint == hint and found.score == score
    assert f"{score:.3f}" in found.rationale, "it says why, with the score"


def test_no_page_is_changed_for_two_candidates() -> None:
    """The more similar candidate has the page, the other the next page, or is new."""
    nodes = [node(1, title="A"), node(2, title="B"), node(3, title="C")]
    one, two = page(), page("pg_2", title="Delay")
    facts = {
        "cand_001": Facts(near=[(one, 0.96)]),
        "cand_002": Facts(near=[(one, 0.99), (two, 0.9)]),
        "cand_003": Facts(near=[(one, 0.97), (two, 0.86)]),
    }
    found = propose(facts, nodes, RULES)
    assert [(p.hint, p.target) for p in found.values()] == [
        ("ADD", None), ("UPDATE", "pg_1"), ("SUPERSEDE", "pg_2"),
    ]  # fmt: skip


def test_an_earlier_rule_goes_before_a_higher_score() -> None:
    nodes = [node(1, title="A"), node(2, source_ref=REF, body="New.")]
    facts = {
        "cand_001": Facts(near=[(page(), 1.0)]),
        "cand_002": Facts(referenced=[page(fields={"source_ref": REF})]),
    }
    found = propose(facts, nodes, RULES)
    assert [p.hint for p in found.values()] == ["ADD", "UPDATE"]


SCORES = st.lists(st.floats(0, 1), max_size=4)


@given(st.lists(SCORES, min_size=1, max_size=6))
def test_every_candidate_has_one_hint_and_every_target_one_candidate(
    many: list[list[float]],
) -> None:
    nodes = [node(n, title=f"T{n}") for n in range(len(many))]
    facts = {
        one.id: Facts(near=[(page(f"pg_{k}"), s) for k, s in enumerate(sorted(scores)[::-1])])
        for one, scores in zip(nodes, many, strict=True)
    }
    found = propose(facts, nodes, RULES)
    assert list(found) == [one.id for one in nodes]
    changed = [p.target for p in found.values() if p.hint in ("UPDATE", "SUPERSEDE")]
    assert len(changed) == len(set(changed))
    for proposal in found.values():
        assert (proposal.target is None) == (proposal.hint == "ADD")
        assert proposal.hint != "SUPERSEDE" or 0.85 <= (proposal.score or 0) < 0.95
        assert proposal.hint != "UPDATE" or (proposal.score or 0) >= 0.95
