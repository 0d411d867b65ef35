"""Giving edges types that were worked out before: candidates, what may join them, and one plan.

All edges change in one journal entry. An edge that changed since it was looked at is left for the
next time. What an edge was called stays its predicate, so that its words can be looked at again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from vault_kg.index import catalog, graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import drafts, steps, targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, writing
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.graph.views import type_shown
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.records.ontology import Ontology
from vault_kg.store.plan import Change, Plan

STEP = 256
"""So many edges are looked at between two reports of progress."""


class Retyped(GraphModel):
    """One edge and its types."""

    edge_id: str
    fact: str
    old_type: str | None
    new_type: str | None


def edges(ws: Workspace, caller: Caller, group: str) -> list[GraphRow]:
    """Return the edges of a group whose type may be worked out: not those of the extractor."""
    wanted = Filter(
        ws.now(), kinds=("relationship",), partitions=[group], ends_in=caller.partitions
    )
    ontology = ws.ontology(group)
    found = graph_rows.every(ws.database, Narrow(wanted))
    return [each for each in found if not _is_reserved(ontology, each.row.type)]


def kinds(ws: Workspace, each: GraphRow) -> tuple[str | None, str | None]:
    """Return the types of the two pages that an edge joins, merges followed."""
    first, second = (_kind(ws, end) for end in (each.row.from_id, each.row.to_id))
    return first, second


def joins(ws: Workspace, each: GraphRow, name: str) -> bool:
    """Say whether a type may join the kinds of an edge's two ends."""
    return ws.ontology(each.row.partition).allows_endpoints(name, *kinds(ws, each)) is None


def plan(
    ws: Workspace,
    caller: Caller,
    group: str,
    candidates: Sequence[GraphRow],
    wanted: Mapping[str, str],
    counted: Mapping[str, Any],
) -> Plan:
    """Return the plan that gives edges their new types, and tells what it changes.

    Args:
        ws: the opened vault.
        caller: who asks.
        group: whose edges they are.
        candidates: the edges as they were looked at.
        wanted: the new type of each edge that gets one.
        counted: what the answer says besides.
    """
    changes: list[Change] = []
    told: list[dict[str, Any]] = []
    moving = [e for e in candidates if wanted.get(e.row.id, e.row.type) != e.row.type]
    for number, each in enumerate(moving):
        if number % STEP == 0:
            steps.step(caller, number, len(moving), "writing")
        change = _change(ws, caller, each, wanted[each.row.id])
        if change is not None:
            changes.append(change)
            told.append(
                {
                    "edge_id": each.row.id,
                    "fact": each.fact,
                    "old_type": type_shown(each.row.type),
                    "new_type": type_shown(wanted[each.row.id]),
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


def _change(ws: Workspace, caller: Caller, each: GraphRow, new: str) -> Change | None:
    target = targets.load(ws, caller, each.row.id)
    if target.row.revision != each.row.revision:
        return None
    values: dict[str, Value | Remove] = {"type": new}
    if target.record.predicate is None and each.row.type:
        values["predicate"] = each.row.type
    return drafts.revise(ws, target, values)


def _is_reserved(ontology: Ontology, name: str | None) -> bool:
    declared = ontology.relationship_type(name)
    return declared is not None and declared.reserved


def _kind(ws: Workspace, page_id: str | None) -> str | None:
    found = catalog.kind_and_type(ws.database, finding.final(ws, page_id or "") or "")
    return found[1] if found else None
