"""Merging entities: the merge of the records family, for several pages in one entry."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from vault_kg.operations import absorbing, checks, drafts
from vault_kg.operations.base import Id, Ids, Lines, Reason
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import choosing, finding, writing
from vault_kg.operations.graph.choosing import Chosen, Wanted
from vault_kg.operations.graph.request import (
    EntityName,
    GraphModel,
    GraphWrite,
    GroupId,
    Kind,
    Written,
)
from vault_kg.operations.joining import Joined
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Plan

MERGE = "knowledge_merge_entities"


class MergeEntities(GraphWrite):
    """The entity that stays, and those that are the same thing."""

    canonical_uuid: Id | None = None
    canonical_name: EntityName | None = None
    alias_uuids: Ids = Field(default_factory=list)
    alias_names: Lines = Field(default_factory=list)
    merge_all_by_name: bool = Field(
        False, description="Also every entity of the canonical's kind with the same name."
    )
    kind: Kind | None = Field(None, description="The kind that the names are of.")
    group_id: GroupId = DEFAULT_PARTITION
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")
    reason: Reason | None = Field(None, description="Who or what says that they are one.")

    @model_validator(mode="after")
    def _names_both(self) -> MergeEntities:
        if self.canonical_uuid is None and self.canonical_name is None:
            raise ValueError("give canonical_uuid or canonical_name")
        if not (self.alias_uuids or self.alias_names or self.merge_all_by_name):
            raise ValueError("give alias_uuids, alias_names or merge_all_by_name")
        return self


class PlannedAlias(GraphModel):
    """One entity that would be merged."""

    uuid: str
    name: str
    active_edges: int
    duplicate_edges: int
    self_loops: int
    foreign_edges_skipped: int


class MergePlan(GraphModel):
    """What a dry run found."""

    aliases: list[PlannedAlias]
    total_edges_rewritten: int
    total_edges_collapsed: int
    total_foreign_edges_skipped: int


class Merged(Written):
    """What was, or would be, merged. An unmerge takes it back, the collapsed edges with it."""

    success: bool
    dry_run: bool
    canonical_uuid: str
    merged_count: int
    skipped: int = Field(description="Merged into it already.")
    edges_rewritten: int = Field(description="Edges that are the canonical's now.")
    edges_deduplicated: int = Field(description="Edges that say the same as another one now.")
    self_loops_collapsed: int
    foreign_edges_skipped: int = Field(description="Edges of other groups; left as they are.")
    added: dict[str, Any] = Field(description="What the canonical gained.")
    conflicts: list[dict[str, Any]] = Field(description="Values that differ; its own stand.")
    errors: list[str]
    plan: MergePlan | None = None


@operation("write", Merged, toolset="graph")
def knowledge_merge_entities(ws: Workspace, request: MergeEntities, caller: Caller) -> Merged:
    """Merge entities of one kind and group that are confirmed to be one thing, all or none.

    The canonical gains their names, tags, evidence and what it lacks; edges and mentions mean it
    from then on; true duplicates and self-loops are collapsed. knowledge_unmerge takes it back.
    """
    finding.group_to_write(caller, request.group_id)
    wanted = Wanted(
        request.group_id, request.canonical_uuid, request.canonical_name, request.alias_uuids,
        request.alias_names, request.merge_all_by_name, request.kind,
    )  # fmt: skip
    reason = request.reason or "merged as one entity"
    result = writing.carry_out(
        ws, caller, MERGE, request,
        lambda: plan(ws, caller, wanted, reason, request.request_id),
        dry_run=request.dry_run,
    )  # fmt: skip
    if not request.dry_run:
        result["plan"] = None
    return Merged(**result, dry_run=request.dry_run)


def plan(ws: Workspace, caller: Caller, wanted: Wanted, reason: str, request_id: str) -> Plan:
    """Return the plan that merges entities, or that changes nothing; the caller holds the lane."""
    chosen = choosing.choose(ws, caller, wanted)
    if not chosen.aliases:
        return writing.nothing(wanted.group, _result(chosen, [], {}, []))
    survivor = checks.editable(ws, caller, chosen.canonical.id, ("page",))
    absorbed = [checks.editable(ws, caller, row.id, ("page",)) for row in chosen.rows]
    done = absorbing.absorb(ws, caller, survivor, absorbed, reason, request_id)
    added = absorbing.by_field(done.added)
    result = _result(chosen, done.joined, added, done.conflicts) | {"warnings": done.warnings}
    receipt = drafts.receipt_of(done.kept) if done.kept else drafts.unchanged(survivor)
    return done.plan(survivor, receipt | {"reason": reason, **writing.answer(result)}, reason)


def _result(
    chosen: Chosen, joined: list[Joined], added: dict[str, Any], conflicts: list[dict[str, Any]]
) -> dict[str, Any]:
    aliases = [_alias(one) for one in joined]
    duplicates, loops, foreign = (
        sum(alias[key] for alias in aliases)
        for key in ("duplicate_edges", "self_loops", "foreign_edges_skipped")
    )
    rewritten = sum(one.rewritten for one in joined)
    return {
        "success": True, "canonical_uuid": chosen.canonical.id, "merged_count": len(joined),
        "skipped": chosen.skipped, "edges_rewritten": rewritten, "edges_deduplicated": duplicates,
        "self_loops_collapsed": loops, "foreign_edges_skipped": foreign, "added": added,
        "conflicts": conflicts, "errors": [],
        "plan": {
            "aliases": aliases, "total_edges_rewritten": rewritten,
            "total_edges_collapsed": duplicates + loops, "total_foreign_edges_skipped": foreign,
        },
    }  # fmt: skip


def _alias(one: Joined) -> dict[str, Any]:
    duplicates, loops = len(one.duplicates), len(one.self_loops)
    return {
        "uuid": one.absorbed, "name": one.name,
        "active_edges": one.rewritten + duplicates + loops, "duplicate_edges": duplicates,
        "self_loops": loops, "foreign_edges_skipped": one.foreign,
    }  # fmt: skip
