"""Clearing whole groups: records and sources leave the working tree, history stays in Git.

Each record is withdrawn by a guard, so that no file that comes back makes it current again. A
person's notes and files that cannot be read as records are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index import episodes, graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import steps, withdrawing
from vault_kg.operations.base import Reason
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, pointing, writing
from vault_kg.operations.graph.deletion import DRY_RUN, REASON, removals
from vault_kg.operations.graph.request import GraphModel, GraphWrite, SomeGroups, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import guards, revisions
from vault_kg.state.guards import Guard
from vault_kg.store import files
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Change, Plan

_STEP = 100
CONFIRM = Field(False, description="Must be true, unless it is a dry run.")


class DeleteByGroup(GraphWrite):
    """The groups to clear."""

    group_ids: SomeGroups
    confirm: bool = CONFIRM
    dry_run: bool = DRY_RUN
    reason: Reason | None = REASON


class ClearAll(GraphWrite):
    """The whole vault."""

    confirm: bool = CONFIRM
    preserve_wal: bool = Field(True, description="The journal is always preserved.")
    dry_run: bool = DRY_RUN
    reason: Reason | None = REASON


class GroupCleared(GraphModel):
    """What a group held."""

    group_id: str
    entities: int = 0
    episodes: int = 0
    edges: int = 0
    claims: int = 0


class UnboundImpact(GraphModel):
    """Pointers of another group that lead to nothing now."""

    group_id: str
    pointer_count: int


class Cleared(Written):
    """What was, or would be, cleared."""

    success: bool
    dry_run: bool
    groups: list[GroupCleared]
    unbound_impacts: list[UnboundImpact]
    applied_seq_reset: bool = Field(False, description="Never: the journal goes on.")


class AllCleared(Cleared):
    """What the vault held."""

    message: str


@dataclass
class _Parts:
    changes: list[Change] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)


@operation("admin", Cleared, toolset="graph", destructive=True)
def knowledge_delete_by_group(ws: Workspace, request: DeleteByGroup, caller: Caller) -> Cleared:
    """Remove everything in the named groups from the working tree; history stays in Git.

    Needs confirm: true. Other groups' files do not change; their edges into the groups no longer
    lead anywhere. dry_run counts what would be removed.
    """
    groups = sorted(finding.groups_to_read(caller, request.group_ids) or ())
    return Cleared(**_clear(ws, caller, "knowledge_delete_by_group", request, groups))


@operation("admin", AllCleared, toolset="graph", destructive=True)
def knowledge_clear_all(ws: Workspace, request: ClearAll, caller: Caller) -> AllCleared:
    """Remove all records and sources from the working tree; notes stay, and history stays in Git.

    Needs confirm: true. dry_run counts what would be removed.
    """
    if not request.preserve_wal:
        raise InvalidArgument(
            "the journal and the Git history are never deleted; leave preserve_wal out",
            field="preserve_wal",
        )
    groups = [name for name in graph_rows.groups(ws.database) if caller.sees(name)]
    done = _clear(ws, caller, "knowledge_clear_all", request, groups)
    said = "would be removed" if request.dry_run else "is removed"
    return AllCleared(
        **done, message=f"everything in {len(groups)} groups {said}; the Git history has it"
    )


def _clear(
    ws: Workspace,
    caller: Caller,
    operation: str,
    request: DeleteByGroup | ClearAll,
    groups: Sequence[str],
) -> dict[str, Any]:
    if not (request.confirm or request.dry_run):
        raise InvalidArgument(
            f"{operation} removes whole groups; look with dry_run: true, then say confirm: true",
            field="confirm",
        )
    return writing.carry_out(
        ws, caller, operation, request, lambda: _plan(ws, caller, request, groups),
        dry_run=request.dry_run,
    ) | {"dry_run": request.dry_run}  # fmt: skip


def _plan(
    ws: Workspace, caller: Caller, request: DeleteByGroup | ClearAll, groups: Sequence[str]
) -> Plan:
    reason = request.reason or f"the group was cleared: {', '.join(groups)}"
    parts, counted = _Parts(), []
    for group in groups:
        counted.append(_clear_one(ws, caller, group, reason, request.request_id, parts))
    result = {
        "success": True,
        "groups": counted,
        "unbound_impacts": [
            {"group_id": group, "pointer_count": count}
            for group, count in sorted(pointing.into(ws, caller, groups).items())
        ],
        "applied_seq_reset": False,
    }
    if not parts.changes:
        return writing.nothing(groups[0] if groups else DEFAULT_PARTITION, result)
    receipt = {"reason": reason, **writing.answer(result)}
    return Plan(
        groups[0], receipt, tuple(parts.changes), ", ".join(groups), tuple(parts.guards),
        reason=reason,
    )  # fmt: skip


def _clear_one(
    ws: Workspace, caller: Caller, group: str, reason: str, request_id: str, parts: _Parts
) -> dict[str, Any]:
    everything = Filter(ws.now(), partitions=[group], lifecycle="all")
    rows = _fresh(ws, Narrow(everything))
    for number, each in enumerate(rows):
        if number % _STEP == 0:
            steps.step(caller, number, len(rows), f"clearing {group}")
        parts.changes += _removal(ws, each)
    sources = episodes.every(ws.database, episodes.Wanted(groups=[group]))
    for source in sources:
        parts.changes += removals(ws, source)
    for record_id in sorted({each.row.id for each in rows}):
        if guards.WITHDRAWN not in guards.of(ws.database, record_id):
            parts.guards.append(withdrawing.guard(ws, caller, record_id, group, reason, request_id))
    kinds = [each.row.kind for each in rows]
    return {
        "group_id": group,
        "entities": kinds.count("page"),
        "edges": kinds.count("relationship"),
        "claims": kinds.count("claim"),
        "episodes": len(sources),
    }


def _fresh(ws: Workspace, narrow: Narrow) -> list[GraphRow]:
    """Return records as their files are now."""
    rows = graph_rows.every(ws.database, narrow)
    stale = ws.indexer.stale([each.row.path for each in rows])
    if stale:
        ws.indexer.observe(ws.journal, stale)
        rows = graph_rows.every(ws.database, narrow)
    return rows


def _removal(ws: Workspace, each: GraphRow) -> list[Change]:
    """Return the change that takes a record's file out of the working tree."""
    row = each.row
    content, head = files.read(ws.vault.root, row.path), revisions.head(ws.database, row.id)
    if content is None:
        return []
    revision = head.revision + 1 if head and head.path == row.path else 0
    return [Change(row.path, content, None, row.id, row.kind, revision, "withdrawn", row.partition)]
