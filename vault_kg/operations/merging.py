"""Merging two pages that are one thing, and taking a merge back."""

from __future__ import annotations

from pydantic import Field

from vault_kg.errors import LifecycleRefused
from vault_kg.operations import absorbing, checks, drafts, targets
from vault_kg.operations.base import (
    Evidence,
    Fenced,
    Reason,
    Receipt,
    RecordFence,
    Text,
    Title,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.impact import impact_of
from vault_kg.operations.registry import operation
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import REMOVE, Document, Remove, Value, parse
from vault_kg.state import merges, revisions
from vault_kg.state.merges import Contribution, Merge
from vault_kg.store.plan import Change, Plan

Changes = dict[str, Value | Remove]


class MergePages(Write):
    """Merge `absorbed` into `survivor`; both as you looked at them."""

    reason: Reason = Field(description="Who or what says that they are one.")
    survivor: RecordFence
    absorbed: RecordFence
    title: Title | None = Field(None, description="A new title for the survivor.")
    body: Text | None = Field(None, description="A combined body; bodies are never joined by us.")
    evidence: Evidence | None = Field(None, description="Sources of their identity.")


class Unmerge(Fenced):
    """Take back the merge that absorbed a page."""

    reason: Reason


@operation("write", Receipt)
def knowledge_merge(ws: Workspace, request: MergePages, caller: Caller) -> Receipt:
    """Merge two pages of one type that the user or a source says are one thing.

    Never because of similar names. The absorbed page stays on disk; every reference to it means
    the survivor. The survivor gains title and aliases, tags, evidence and fields that it lacks;
    its own values win, and what differs is in conflicts.
    """
    return ws.write(caller, "knowledge_merge", request, lambda: _plan_merge(ws, request, caller))


@operation("write", Receipt)
def knowledge_unmerge(ws: Workspace, request: Unmerge, caller: Caller) -> Receipt:
    """Take a merge back.

    The absorbed page is active again, and what the merge added leaves the survivor, except values
    edited since.
    """
    return ws.write(
        caller, "knowledge_unmerge", request, lambda: _plan_unmerge(ws, request, caller)
    )


def _plan_merge(ws: Workspace, request: MergePages, caller: Caller) -> Plan:
    survivor = _mergeable(ws, caller, request.survivor)
    absorbed = _mergeable(ws, caller, request.absorbed)
    done = absorbing.absorb(
        ws, caller, survivor, [absorbed], request.reason, request.request_id,
        identity=drafts.evidence_values(request.evidence or []), title=request.title,
        body=None if request.body is None else drafts.new_body(survivor.document, request.body),
    )  # fmt: skip
    kept = done.kept
    receipt = drafts.receipt_of(kept) if kept else drafts.unchanged(survivor) | {"changed": True}
    receipt |= {
        "reason": request.reason,
        "added": absorbing.by_field(done.added),
        "conflicts": done.conflicts,
        "impact": impact_of(ws, caller, absorbed.row.id).model_dump(mode="json"),
        "warnings": [*done.warnings, *done.told()] or None,
    }
    return done.plan(survivor, receipt, request.reason)


def _mergeable(ws: Workspace, caller: Caller, fence: RecordFence) -> Target:
    target = targets.load(ws, caller, fence.id)
    checks.check_mergeable(ws, caller, target.row)
    targets.check_fence(target, fence)
    return target


def _plan_unmerge(ws: Workspace, request: Unmerge, caller: Caller) -> Plan:
    absorbed = targets.load(ws, caller, request.id)
    merge = merges.standing(ws.database, request.id)
    if merge is None:
        raise LifecycleRefused(
            f"{request.id} is not merged into another page; there is nothing to take back",
            id=request.id,
        )
    if absorbed.row.lifecycle != "merged":
        raise LifecycleRefused(
            f"{request.id} is {absorbed.row.lifecycle} and stays so", id=request.id
        )
    targets.check_fence(absorbed, request)
    _check_on_top(ws, merge)
    left, removed, kept = _left_over(ws, caller, merge)
    back = drafts.revise(
        ws,
        absorbed,
        {
            "lifecycle": "active",
            "merged_into": REMOVE,
            "lifecycle_change": REMOVE,
        },
        lifecycle="active",
    )
    assert back is not None, "its lifecycle changes"
    receipt = drafts.receipt_of(
        back,
        reason=request.reason,
        removed=absorbing.by_field(removed),
        kept=absorbing.by_field(kept),
    )
    return Plan(
        absorbed.row.partition, receipt, tuple(c for c in (back, left) if c is not None),
        absorbed.row.title,
        undo_merge=merge.absorbed, reason=request.reason,
    )  # fmt: skip


def _left_over(
    ws: Workspace, caller: Caller, merge: Merge
) -> tuple[Change | None, list[Contribution], list[Contribution]]:
    """Return the survivor's change, and which of the merge's gains leave it and which are kept."""
    if revisions.head(ws.database, merge.survivor) is None:
        return None, [], []  # a file named it, and no such page is known
    survivor = targets.load(ws, caller, merge.survivor)
    others = absorbing.given(ws, merge.survivor, but=merge.absorbed)
    every = [
        gain
        for gain in merges.contributions(ws.database, merge.id)
        if gain.field != merges.COLLAPSED
    ]
    own = [gain for gain in every if gain not in others]
    changes, removed, kept = _without_gains(survivor.document, own)
    _as_it_was(ws, merge, changes)
    kept += [gain for gain in every if gain in others]
    return drafts.revise(ws, survivor, changes), removed, kept


def _check_on_top(ws: Workspace, merge: Merge) -> None:
    """Refuse to take out a merge that a later one stands on; in a circle each may go first."""
    above = merges.standing(ws.database, merge.survivor)
    if above is not None and not _in_circle(ws, merge.absorbed):
        raise LifecycleRefused(
            f"{merge.survivor}, which {merge.absorbed} was merged into, was itself merged into "
            f"{above.survivor} later; unmerge {merge.survivor} first",
            id=merge.absorbed,
            unmerge_first=merge.survivor,
        )


def _in_circle(ws: Workspace, page_id: str) -> bool:
    chains, seen = merges.targets(ws.database), set[str]()
    following = chains.get(page_id)
    while following is not None and following not in seen:
        if following == page_id:
            return True
        seen.add(following)
        following = chains.get(following)
    return False


def _without_gains(
    document: Document, contributions: list[Contribution]
) -> tuple[Changes, list[Contribution], list[Contribution]]:
    """Return the changes that take gained values out, and which were taken and which kept."""
    changes: Changes = {}
    removed: list[Contribution] = []
    kept: list[Contribution] = []
    lists = {key: absorbing.items(document, key) for key in ("aliases", "tags", "evidence")}
    fields = dict(standing) if isinstance(standing := document.fields.get("fields"), dict) else {}
    for gain in contributions:
        (removed if _take(gain, lists, fields, document, changes) else kept).append(gain)
    touched = {gain.field for gain in removed}
    for key in lists:
        if key in touched:
            changes[key] = lists[key] or REMOVE
    if any(field.startswith("fields.") for field in touched):
        changes["fields"] = fields or REMOVE
    return changes, removed, kept


def _take(
    gain: Contribution,
    lists: dict[str, list[Value]],
    fields: dict[str, Value],
    document: Document,
    changes: Changes,
) -> bool:
    if gain.field in lists:
        if gain.value not in lists[gain.field]:
            return False
        lists[gain.field].remove(gain.value)
        return True
    if gain.field.startswith("fields."):
        name = gain.field[7:]
        if fields.get(name) != gain.value:
            return False
        del fields[name]
        return True
    if document.fields.get(gain.field) != gain.value:
        return False
    changes[gain.field] = REMOVE
    return True


def _as_it_was(ws: Workspace, merge: Merge, changes: Changes) -> None:
    """Give back an empty key that the survivor had before the merge, instead of removing it."""
    before = revisions.get(ws.database, merge.survivor, merge.survivor_revision - 1)
    if before is None:
        return
    content = ws.bytes_of(before)
    if content is None:
        return
    original = parse(content)
    for key, value in changes.items():
        stood = original.fields.get(key)
        if isinstance(value, Remove) and key in original.fields and stood in (None, "", [], {}):
            changes[key] = stood
