"""Giving relationships a type of the vocabulary: by words, then by the nearest description.

Everything is worked out before the write lane is taken, and no model is called under it. A type of
the vocabulary that an edge has, and that may join its ends, stays: another run changes nothing that
a person or a model has decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index.graph_rows import GraphRow
from vault_kg.operations import checks, steps
from vault_kg.operations.base import Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, relation_rules, retyping, writing
from vault_kg.operations.graph.relation_rules import Verdict
from vault_kg.operations.graph.request import GraphWrite, Written
from vault_kg.operations.graph.retyping import Retyped
from vault_kg.operations.graph.views import UNCLASSIFIED
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology import RelationshipType
from vault_kg.store.plan import Plan

LEAST_SIMILARITY = 0.3
"""Below it the nearest of several descriptions says nothing of a fact."""

MARGIN = 0.03
"""How much nearer the nearest description must be than the next: else no type is given."""

CANONICALIZE, BACKFILL = "knowledge_canonicalize_relations", "knowledge_backfill_relation_types"


class Canonicalize(GraphWrite):
    """The group whose edges are typed."""

    group_id: Partition = Field(description="Required: there is no default here.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")
    embedding_threshold: Annotated[float, Field(ge=LEAST_SIMILARITY, le=1, allow_inf_nan=False)] = (
        Field(
            0.7,
            description="How near a fact must be to a type's description, for what words leave.",
        )
    )


class Backfill(GraphWrite):
    """The group whose edges are typed."""

    group_id: Partition = Field(description="Required: there is no default here.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class Canonicalized(Written):
    """How the edges were typed; the four counts add up to all edges."""

    group_id: str
    dry_run: bool
    total_edges: int
    mapped_count: int = Field(description="By predicate, alias or keyword.")
    noise_count: int = Field(description="Arrows; a type that they have stays.")
    residual_count: int = Field(description="Left; UNCLASSIFIED, and its own words are kept.")
    embedding_fallback_promoted: int = Field(description="By the nearest description.")
    mapped_pct: float
    noise_pct: float
    residual_pct: float
    changed_count: int
    changes: list[Retyped]
    breakdown: dict[str, int] = Field(description="Changed edges by their new type.")
    embedding_warning: str | None = None


class Backfilled(Written):
    """How many edges got a type made of their words."""

    group_id: str
    dry_run: bool
    total_edges: int
    backfilled: int
    changes: list[Retyped]


@dataclass
class _Typed:
    """What was worked out for the edges of a group."""

    edges: list[GraphRow]
    counts: Counter[str] = field(default_factory=Counter)
    wanted: dict[str, str] = field(default_factory=dict)
    """The new type of each edge that gets one."""


@operation("write", Canonicalized, toolset="graph")
def knowledge_canonicalize_relations(
    ws: Workspace, request: Canonicalize, caller: Caller
) -> Canonicalized:
    """Map the predicates of a group's edges onto the types of its vocabulary.

    By name, alias and keyword; what is left by the nearest description of a type, where search by
    meaning is on and one is clearly nearest; what is left then is UNCLASSIFIED. A type of the
    vocabulary that stands is kept, and so is the predicate. A type that does not join the two kinds
    is never given. To classify by the fact use knowledge_reprocess_relation_types.
    """
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    typed = _Typed(retyping.edges(ws, caller, group))
    left = _by_words(ws, caller, group, typed)
    warning = _by_meaning(ws, caller, group, left, request.embedding_threshold, typed)
    for each in left:
        if each.row.id not in typed.wanted:
            typed.counts["residual"] += 1
            typed.wanted[each.row.id] = UNCLASSIFIED
    total = len(typed.edges)
    counted = {
        "group_id": group,
        "total_edges": total,
        "embedding_fallback_promoted": typed.counts["promoted"],
        "embedding_warning": warning,
    }
    for name in ("mapped", "noise", "residual"):
        count = typed.counts[name]
        counted |= {
            f"{name}_count": count,
            f"{name}_pct": round(100 * count / total, 2) if total else 0.0,
        }
    result = _carry_out(ws, caller, CANONICALIZE, request, typed, counted)
    return Canonicalized(**result, dry_run=request.dry_run)


@operation("write", Backfilled, toolset="graph")
def knowledge_backfill_relation_types(
    ws: Workspace, request: Backfill, caller: Caller
) -> Backfilled:
    """Make a type of the predicate, or of the first words of the fact, of each edge without one.

    Deprecated: such types are nobody's vocabulary. Prefer knowledge_canonicalize_relations.
    """
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    if ws.ontology(group).mode == "strict":
        raise InvalidArgument(
            "the vocabulary of this group is strict, so no types are made up in it; use "
            "knowledge_canonicalize_relations",
            group_id=group,
        )
    typed = _Typed(retyping.edges(ws, caller, group))
    for each in typed.edges:
        made = relation_rules.minted(each.stated.get("predicate"), each.fact)
        if each.row.type is None and made is not None and retyping.joins(ws, each, made):
            typed.wanted[each.row.id] = made
    counted = {"group_id": group, "total_edges": len(typed.edges)}
    result = _carry_out(ws, caller, BACKFILL, request, typed, counted)
    result["backfilled"] = result.pop("changed_count")
    result.pop("breakdown")
    return Backfilled(**result, dry_run=request.dry_run)


def _carry_out(
    ws: Workspace,
    caller: Caller,
    operation: str,
    request: Canonicalize | Backfill,
    typed: _Typed,
    counted: dict[str, Any],
) -> dict[str, Any]:
    def plan() -> Plan:
        group = request.group_id
        return retyping.plan(ws, caller, group, typed.edges, typed.wanted, counted)

    return writing.carry_out(ws, caller, operation, request, plan, dry_run=request.dry_run)


def _by_words(ws: Workspace, caller: Caller, group: str, typed: _Typed) -> list[GraphRow]:
    """Classify by words; returns the edges that words leave."""
    ontology, left = ws.ontology(group), []
    for number, each in enumerate(typed.edges):
        if number % retyping.STEP == 0:
            steps.step(caller, number, len(typed.edges), "lexical")
        fits = each.row.type is not None and retyping.joins(ws, each, each.row.type)
        standing = each.row.type if fits else None
        verdict = relation_rules.classify(ontology, _predicate(each), standing)
        if verdict.type is not None and not retyping.joins(ws, each, verdict.type):
            verdict = Verdict("residual")
        if verdict.outcome == "residual":
            left.append(each)
            continue
        typed.counts[verdict.outcome] += 1
        typed.wanted[each.row.id] = verdict.type or each.row.type or UNCLASSIFIED
    return left


def _by_meaning(
    ws: Workspace,
    caller: Caller,
    group: str,
    left: Sequence[GraphRow],
    threshold: float,
    typed: _Typed,
) -> str | None:
    """Promote edges to the type whose description is nearest; returns why that is not done."""
    types = relation_rules.offered(ws.ontology(group))
    if not left or not types:
        return None
    reason: str | None
    glosses, reason = ws.semantics.embed_texts([f"{t.label}: {t.description}" for t in types])
    if glosses is None:
        return reason
    for start in range(0, len(left), retyping.STEP):
        steps.step(caller, start, len(left), "embedding_fallback")
        part = left[start : start + retyping.STEP]
        facts, reason = ws.semantics.embed_texts([each.fact for each in part])
        if facts is None:
            return reason
        for each, scores in zip(part, facts @ glosses.T, strict=True):
            name = _clearly_nearest(ws, each, types, scores, threshold)
            if name is not None:
                typed.counts["promoted"] += 1
                typed.wanted[each.row.id] = name
    return None


def _predicate(each: GraphRow) -> str | None:
    stated = each.stated.get("predicate")
    return str(stated) if stated else None


def _clearly_nearest(
    ws: Workspace,
    each: GraphRow,
    types: Sequence[RelationshipType],
    scores: Any,
    threshold: float,
) -> str | None:
    """Return the nearest type that may join an edge's ends, unless another is as near."""
    ontology, ends = ws.ontology(each.row.partition), retyping.kinds(ws, each)
    nearest_first = (int(n) for n in scores.argsort()[::-1])
    ranked = [n for n in nearest_first if ontology.allows_endpoints(types[n].name, *ends) is None]
    if not ranked or scores[ranked[0]] < threshold:
        return None
    if len(ranked) > 1 and scores[ranked[0]] - scores[ranked[1]] < MARGIN:
        return None
    return types[ranked[0]].name
