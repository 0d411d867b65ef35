"""Giving relationships a type of the vocabulary: by words, then by the nearest description.

Everything is worked out before the write lane is taken, no model is called under it, and all edges
change in one journal entry. An edge that changed in between is left for the next time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index import catalog, graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import checks, drafts, targets
from vault_kg.operations.base import Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, relation_rules, writing
from vault_kg.operations.graph.relation_rules import Verdict
from vault_kg.operations.graph.request import GraphModel, GraphWrite, Similarity, Written
from vault_kg.operations.graph.views import UNCLASSIFIED, type_shown
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.store.plan import Change, Plan

CANONICALIZE, BACKFILL = "knowledge_canonicalize_relations", "knowledge_backfill_relation_types"
_BATCH = 256


class Canonicalize(GraphWrite):
    """The group whose edges are typed."""

    group_id: Partition = Field(description="Required: there is no default here.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")
    embedding_threshold: Similarity = Field(
        0.7, description="How near a fact must be to a type's description, for what words leave."
    )


class Backfill(GraphWrite):
    """The group whose edges are typed."""

    group_id: Partition = Field(description="Required: there is no default here.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class Retyped(GraphModel):
    """One edge and its types."""

    edge_id: str
    fact: str
    old_type: str | None
    new_type: str | None


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
    meaning is on; what is left then is UNCLASSIFIED and keeps its predicate. A type that does not
    join the two kinds is never given. An edge at its target is not written.
    """
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    typed = _Typed(_edges(ws, group))
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
    result = writing.carry_out(
        ws, caller, CANONICALIZE, request,
        lambda: _plan(ws, caller, group, typed, counted), dry_run=request.dry_run,
    )  # fmt: skip
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
    typed = _Typed(_edges(ws, group))
    for each in typed.edges:
        made = relation_rules.minted(each.stated.get("predicate"), each.fact)
        if each.row.type is None and made is not None and _joins(ws, each, made):
            typed.wanted[each.row.id] = made
    counted = {"group_id": group, "total_edges": len(typed.edges)}
    result = writing.carry_out(
        ws, caller, BACKFILL, request,
        lambda: _plan(ws, caller, group, typed, counted), dry_run=request.dry_run,
    )  # fmt: skip
    result["backfilled"] = result.pop("changed_count")
    result.pop("breakdown")
    return Backfilled(**result, dry_run=request.dry_run)


def _edges(ws: Workspace, group: str) -> list[GraphRow]:
    wanted = Filter(ws.now(), kinds=("relationship",), partitions=[group])
    return graph_rows.every(ws.database, Narrow(wanted))


def _by_words(ws: Workspace, caller: Caller, group: str, typed: _Typed) -> list[GraphRow]:
    """Classify by words; returns the edges that words leave."""
    ontology, left = ws.ontology(group), []
    for number, each in enumerate(typed.edges):
        if number % _BATCH == 0:
            writing.step(caller, number, len(typed.edges), "lexical")
        verdict = relation_rules.classify(ontology, _predicate(each), each.row.type)
        if verdict.type is not None and not _joins(ws, each, verdict.type):
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
    for start in range(0, len(left), _BATCH):
        writing.step(caller, start, len(left), "embedding_fallback")
        part = left[start : start + _BATCH]
        facts, reason = ws.semantics.embed_texts([each.fact for each in part])
        if facts is None:
            return reason
        for each, scores in zip(part, facts @ glosses.T, strict=True):
            best = int(scores.argmax())
            if scores[best] >= threshold and _joins(ws, each, types[best].name):
                typed.counts["promoted"] += 1
                typed.wanted[each.row.id] = types[best].name
    return None


def _plan(
    ws: Workspace, caller: Caller, group: str, typed: _Typed, counted: dict[str, Any]
) -> Plan:
    changes: list[Change] = []
    told: list[dict[str, Any]] = []
    moving = [e for e in typed.edges if typed.wanted.get(e.row.id, e.row.type) != e.row.type]
    for number, each in enumerate(moving):
        if number % _BATCH == 0:
            writing.step(caller, number, len(moving), "writing")
        target = targets.load(ws, caller, each.row.id)
        if target.row.revision != each.row.revision:
            continue  # it was changed since it was looked at
        new = typed.wanted[each.row.id]
        values: dict[str, Value | Remove] = {"type": new}
        if target.record.predicate is None and each.row.type:
            values["predicate"] = each.row.type  # what it was called is not lost
        change = drafts.revise(ws, target, values)
        if change is not None:
            changes.append(change)
            told.append(
                {
                    "edge_id": each.row.id,
                    "fact": each.fact,
                    "old_type": type_shown(each.row.type),
                    "new_type": type_shown(new),
                }
            )
    result = {
        **counted,
        "changed_count": len(told),
        "changes": told[: writing.MAX_LISTED],
        "breakdown": dict(sorted(Counter(str(t["new_type"]) for t in told).items())),
    }
    if not changes:
        return writing.nothing(group, result)
    return Plan(group, writing.answer(result), tuple(changes), f"relation types of {group}")


def _predicate(each: GraphRow) -> str | None:
    stated = each.stated.get("predicate")
    return str(stated) if stated else None


def _joins(ws: Workspace, each: GraphRow, name: str) -> bool:
    """Say whether a type may join the kinds of an edge's two ends."""
    kinds = []
    for end in (each.row.from_id, each.row.to_id):
        found = catalog.kind_and_type(ws.database, finding.final(ws, end or "") or "")
        kinds.append(found[1] if found else None)
    return ws.ontology(each.row.partition).allows_endpoints(name, *kinds) is None
