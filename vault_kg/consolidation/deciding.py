"""What a commit does with each candidate: what was proposed, or what the agent says instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from vault_kg.consolidation.candidates import Contents
from vault_kg.consolidation.hints import Hint
from vault_kg.errors import InvalidArgument
from vault_kg.operations.base import Id, Line, Positive, Reason
from vault_kg.operations.graph.request import GraphRequest


class Override(GraphRequest):
    """Another hint than the one that was proposed. Of an edge candidate: ADD or NOOP."""

    candidate_id: Line
    hint: Hint
    rationale: Reason = Field(description="Why; kept in the audit row.")
    target_node: Id | None = Field(None, description="Of UPDATE and SUPERSEDE, if not as proposed.")
    expected_revision: Positive | None = Field(
        None, description="Of a target that the proposal did not show: the revision you looked at."
    )


@dataclass(frozen=True)
class Decision:
    """What is done with a candidate. A fence is what stood of the target: (revision, hash)."""

    hint: Hint
    target: str | None
    rationale: str
    fence: tuple[int, str | None] | None = None
    seen: frozenset[str] = frozenset()
    """The pages that it was taken in view of."""


def decide(held: Contents, overrides: Sequence[Override]) -> dict[str, Decision]:
    """Return the decision for every candidate, by its id.

    Raises:
        InvalidArgument: a candidate was not proposed for, or an override does not fit.
    """
    instead = {override.candidate_id: override for override in overrides}
    edges = {edge.id for edge in held.edges}
    every = [*(node.id for node in held.nodes), *edges]
    if len(instead) != len(overrides) or not set(instead) <= set(every):
        strange = next((o for o in instead if o not in every), overrides[-1].candidate_id)
        raise InvalidArgument(
            f"agent_overrides: {strange!r} is no candidate of this session, or there twice",
            candidate_id=strange,
        )
    open_ones = [name for name in every if name not in held.proposals and name not in instead]
    if open_ones:
        raise InvalidArgument(
            f"nothing was proposed for {', '.join(sorted(open_ones)[:5])} yet; call "
            "kg_propose_reconciliation, look at what it says, and commit again",
            candidates=sorted(open_ones),
        )
    found = {
        name: _decision(name, held.proposals.get(name, {}), instead.get(name), name in edges)
        for name in every
    }
    _check_targets(found)
    return found


def _decision(
    name: str, proposal: Mapping[str, Any], instead: Override | None, is_edge: bool
) -> Decision:
    seen = proposal.get("seen", {})
    if instead is None:
        target = proposal["target"]
        return Decision(
            proposal["hint"],
            target,
            proposal["rationale"],
            _fence(seen.get(target)),
            frozenset(seen),
        )
    if is_edge and instead.hint not in ("ADD", "NOOP"):
        raise InvalidArgument(f"{name} is an edge: ADD or NOOP", candidate_id=name)
    if instead.hint == "ADD":
        return Decision("ADD", None, instead.rationale, seen=frozenset(seen))
    target = instead.target_node or proposal.get("target")
    if instead.hint == "NOOP":
        return Decision("NOOP", target, instead.rationale, seen=frozenset(seen))
    if target is None:
        raise InvalidArgument(
            f"{name}: {instead.hint} needs target_node, the node that it is about",
            candidate_id=name,
        )
    fence = _fence(seen.get(target))
    if instead.expected_revision is not None:
        fence = (instead.expected_revision, None)
    if fence is None:
        raise InvalidArgument(
            f"{name}: the proposal did not show {target}; give expected_revision, the revision of it "
            "that you looked at",
            candidate_id=name,
            target_node=target,
        )
    return Decision(instead.hint, target, instead.rationale, fence, frozenset(seen))


def _fence(stood: Sequence[Any] | None) -> tuple[int, str | None] | None:
    return (int(stood[0]), str(stood[1])) if stood is not None else None


def _check_targets(decisions: Mapping[str, Decision]) -> None:
    """Refuse to change one node for two candidates: one of them would be lost."""
    taken: dict[str, str] = {}
    for name, decision in decisions.items():
        if decision.hint not in ("UPDATE", "SUPERSEDE") or decision.target is None:
            continue
        if decision.target in taken:
            raise InvalidArgument(
                f"{taken[decision.target]} and {name} would both change {decision.target}; override "
                "one of them with ADD or NOOP",
                candidates=[taken[decision.target], name],
                target_node=decision.target,
            )
        taken[decision.target] = name
