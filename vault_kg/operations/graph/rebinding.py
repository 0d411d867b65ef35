"""Binding pointers anew: what the ends of edges between groups name, after a group has changed."""

from __future__ import annotations

from pydantic import Field

from vault_kg.index.graph_rows import GraphRow
from vault_kg.operations import drafts, targets, withdrawing
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges, finding, pointing, writing
from vault_kg.operations.graph.pointing import NOWHERE, Bound
from vault_kg.operations.graph.request import GraphWrite, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.state import settings
from vault_kg.state.guards import Guard
from vault_kg.state.revisions import last_seq_of
from vault_kg.store.plan import Change, Plan

REBIND = "knowledge_rebind_pointers"


class RebindPointers(GraphWrite):
    """The group whose names are looked for again."""

    source_group_id: Line


class Rebound(Written):
    """How many pointers were looked at, and what became of them."""

    checked: int
    bound: int
    unbound: int
    ambiguous: int
    invalidated_self_loop: int
    invalidated_duplicate: int
    staleness_skipped: int = Field(description="Bound, and nothing changed in the group since.")


@operation("admin", Rebound, toolset="graph")
def knowledge_rebind_pointers(ws: Workspace, request: RebindPointers, caller: Caller) -> Rebound:
    """Look again for what the pointers into a group name, after the group has changed.

    What is bound is left alone while its group has not changed. A pointer whose edge would become a
    self-loop or a duplicate invalidates the edge.
    """
    group = request.source_group_id
    seq = last_seq_of(ws.database, group)
    result = writing.carry_out(
        ws, caller, REBIND, request, lambda: _plan_rebind(ws, group, request, caller)
    )
    settings.put(ws.database, _checked_key(group), str(seq))
    return Rebound(**result)


class _Tally:
    """What rebinding does: changes and guards, and how many of what."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.guards: list[Guard] = []
        self.counts = dict.fromkeys(
            ("checked", "bound", "unbound", "ambiguous", "invalidated_self_loop",
             "invalidated_duplicate", "staleness_skipped"), 0
        )  # fmt: skip


def _plan_rebind(ws: Workspace, group: str, request: RebindPointers, caller: Caller) -> Plan:
    tally = _Tally()
    seq = last_seq_of(ws.database, group)
    checked = int(settings.get(ws.database, _checked_key(group)) or 0)
    for each, pointers in pointing.carrying(ws, caller):
        ours = {end: p for end, p in pointers.items() if p.group == group and caller.sees(group)}
        new: dict[str, Bound] = {}
        for end, pointer in ours.items():
            known = max(checked, int(each.stated["pointers"][end].get("bound_at") or 0))
            if known >= seq and pointing.state_now(ws, each, end) == "bound":
                tally.counts["staleness_skipped"] += 1
                continue
            new[end] = pointing.bind(ws, pointer)
            tally.counts["checked"] += 1
            tally.counts[new[end].state] += 1
        _rebind(ws, caller, each, new, request.request_id, tally)
    result = dict(tally.counts)
    if not tally.changes:
        return writing.nothing(group, result)
    partition = tally.changes[0].partition
    return Plan(
        partition, writing.answer(result), tuple(tally.changes), f"pointers into {group}",
        tuple(tally.guards),
    )  # fmt: skip


def _rebind(
    ws: Workspace,
    caller: Caller,
    each: GraphRow,
    new: dict[str, Bound],
    request_id: str,
    tally: _Tally,
) -> None:
    """Give an edge the ends that its pointers lead to now, unless it leads there already."""
    ends = {"from": each.row.from_id, "to": each.row.to_id}
    moved = {
        end: bound
        for end, bound in new.items()
        if _leads_elsewhere(ws, ends[end], bound)
        or each.stated["pointers"][end].get("state") != bound.state
    }
    if not moved:
        return
    target = targets.load(ws, caller, each.row.id)
    after = ends | {end: bound.end.id for end, bound in moved.items()}
    why = _invalid(ws, each, after)
    if why is not None:
        tally.counts[f"invalidated_{why}"] += 1
        reason = f"rebinding its pointers made it a {why.replace('_', '-')}"
        change, guard = withdrawing.withdrawal(ws, caller, target, reason, request_id)
        tally.changes.append(change)
        tally.guards.append(guard)
        return
    stated = {**target.record.pointers, **{end: bound.stated for end, bound in moved.items()}}
    changes: dict[str, Value | Remove] = {
        "from": after["from"], "to": after["to"], "pointers": stated,
    }  # fmt: skip
    revised = drafts.revise(ws, target, changes)
    if revised is not None:
        tally.changes.append(revised)


def _leads_elsewhere(ws: Workspace, standing: str | None, bound: Bound) -> bool:
    return (finding.final(ws, standing or "") or standing) != bound.end.id


def _invalid(ws: Workspace, each: GraphRow, after: dict[str, str | None]) -> str | None:
    """Say whether an edge with these ends would be a self-loop or a duplicate of a current one."""
    source, target = (finding.final(ws, after[end] or "") for end in ("from", "to"))
    if not source or not target or NOWHERE in (source, target):
        return None
    if source == target:
        return "self_loop"
    same = (
        other
        for other in edges.between(ws, each.row.partition, source, target)
        if other.row.id != each.row.id
        and other.row.type == each.row.type
        and names.lookup_key(other.fact) == names.lookup_key(each.fact)
    )
    return "duplicate" if next(same, None) is not None else None


def _checked_key(group: str) -> str:
    return f"pointers_checked:{group}"
