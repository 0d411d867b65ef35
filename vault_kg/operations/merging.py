"""Merging two pages that are one thing, and taking a merge back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument, LifecycleRefused
from vault_kg.operations import drafts, save, targets
from vault_kg.operations.base import (
    Evidence,
    Fenced,
    Line,
    Reason,
    Receipt,
    RecordFence,
    Text,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.impact import impact_of
from vault_kg.operations.registry import operation
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import REMOVE, Document, Remove, Value, parse
from vault_kg.state import merges, revisions
from vault_kg.state.merges import Contribution, Merge
from vault_kg.store.journal import Change, Plan

Changes = dict[str, Value | Remove]


class MergePages(Write):
    """Merge `absorbed` into `survivor`; both as you looked at them."""

    reason: Reason = Field(description="Who or what says that they are one.")
    survivor: RecordFence
    absorbed: RecordFence
    title: Line | None = Field(None, description="A new title for the survivor.")
    body: Text | None = Field(None, description="A combined body; bodies are never joined by us.")
    evidence: Evidence | None = Field(None, description="Sources of their identity.")


class Unmerge(Fenced):
    """Take back the merge that absorbed a page."""

    reason: Reason


@operation("write", Receipt)
def knowledge_merge(ws: Workspace, request: MergePages, caller: Caller) -> Receipt:
    """Merge two pages of one type that are confirmed to be one thing (the user or a source says so;
    never because of similar names). The absorbed page stays on disk; every reference to it means the
    survivor. The survivor gains title and aliases, tags, evidence and fields that it lacks; its own
    values win, and what differs is in conflicts."""
    return ws.write(caller, "knowledge_merge", request, lambda: _plan_merge(ws, request, caller))


@operation("write", Receipt)
def knowledge_unmerge(ws: Workspace, request: Unmerge, caller: Caller) -> Receipt:
    """Take a merge back: the absorbed page is active again, and what the merge added leaves the
    survivor, except values edited since."""
    return ws.write(
        caller, "knowledge_unmerge", request, lambda: _plan_unmerge(ws, request, caller)
    )


def _plan_merge(ws: Workspace, request: MergePages, caller: Caller) -> Plan:
    survivor = _mergeable(ws, caller, request.survivor)
    absorbed = _mergeable(ws, caller, request.absorbed)
    _check_pair(ws, survivor, absorbed)
    gained = _gained(survivor, absorbed, drafts.evidence_values(request.evidence or []))
    shared = _shared(ws, survivor, absorbed)
    body = None if request.body is None else drafts.new_body(survivor.document, request.body)
    changes = _with_gains(survivor.document, gained)
    if request.title:
        changes["title"] = request.title
    kept = drafts.revise(ws, survivor, changes, body)
    warnings = drafts.validate(ws, caller, kept, save.standing_problems(ws, caller, survivor)) if kept else []
    gone = drafts.revise(
        ws,
        absorbed,
        {
            "lifecycle": "merged",
            "merged_into": survivor.row.id,
            "lifecycle_change": {
                "reason": request.reason,
                "at": ws.now(),
                "actor": caller.actor,
                "request_id": request.request_id,
            },
        },
        lifecycle="merged",
    )
    assert gone is not None, "its lifecycle changes"
    merge = Merge(
        survivor.row.partition, absorbed.row.id, survivor.row.id, request.reason, ws.now(),
        gone.revision, kept.revision if kept else survivor.head.revision,
    )  # fmt: skip
    receipt = drafts.receipt_of(kept) if kept else drafts.unchanged(survivor) | {"changed": True}
    receipt |= {
        "reason": request.reason,
        "added": _by_field(gained),
        "conflicts": _conflicts(survivor, absorbed),
        "impact": impact_of(ws, caller, absorbed.row.id).model_dump(mode="json"),
        "warnings": warnings or None,
    }
    changed = tuple(c for c in (kept, gone) if c is not None)
    return Plan(
        survivor.row.partition, receipt, changed, survivor.row.title, merges=(merge,),
        contributions=(*gained, *shared), reason=request.reason,
    )  # fmt: skip


def _mergeable(ws: Workspace, caller: Caller, fence: RecordFence) -> Target:
    target = targets.load(ws, caller, fence.id)
    if target.row.kind != "page":
        raise InvalidArgument(
            f"{fence.id} is a {target.row.kind}; only pages are merged. One that is wrong is replaced "
            "with knowledge_correct, one too many is withdrawn",
            id=fence.id,
        )
    target = save.editable(ws, caller, fence.id, ("page",))
    targets.check_fence(target, fence)
    return target


def _check_pair(ws: Workspace, survivor: Target, absorbed: Target) -> None:
    if survivor.row.id == absorbed.row.id:
        raise InvalidArgument("a page cannot be merged into itself", id=survivor.row.id)
    if (survivor.row.type or "") != (absorbed.row.type or ""):
        raise InvalidArgument(
            f"{survivor.row.id} is a {survivor.row.type} and {absorbed.row.id} a {absorbed.row.type}; "
            "only pages of one type are merged"
        )
    if survivor.row.partition != absorbed.row.partition:
        raise InvalidArgument("the two pages lie in different partitions and cannot be merged")
    chain = merges.targets(ws.database) | {absorbed.row.id: survivor.row.id}
    if any(merges.resolve(chain, record_id) is None for record_id in chain):
        raise LifecycleRefused(
            f"the chain of merges would be longer than {merges.MAX_HOPS}; merge into the page at its "
            "end instead"
        )


def _gained(survivor: Target, absorbed: Target, identity: list[Value]) -> list[Contribution]:
    """Return what the survivor takes over, one contribution a value."""
    record = survivor.record
    spellings = [absorbed.row.title, *absorbed.record.aliases]
    known = {names.lookup_key(text) for text in (record.title, *record.aliases)}
    gained = [Contribution("aliases", text) for text in _new(spellings, known)]
    known = {names.lookup_key(tag) for tag in record.tags}
    gained += [Contribution("tags", tag) for tag in _new(absorbed.record.tags, known)]
    standing = _items(survivor.document, "evidence")
    for citation in (*_items(absorbed.document, "evidence"), *identity):
        if citation not in standing:
            standing.append(citation)
            gained.append(Contribution("evidence", citation))
    for key in ("summary",):
        if not record.summary and absorbed.record.summary:
            gained.append(Contribution(key, absorbed.record.summary))
    gained += [
        Contribution(f"fields.{name}", value)
        for name, value in absorbed.record.fields.items()
        if name not in record.fields
    ]
    return gained


def _shared(ws: Workspace, survivor: Target, absorbed: Target) -> list[Contribution]:
    """Return what earlier merges gave the survivor and this page would have given too.

    They count as this merge's as well, so that taking back the earlier one does not take them away.
    """
    record = absorbed.record
    spellings = {names.lookup_key(text) for text in (absorbed.row.title, *record.aliases)}
    tags = {names.lookup_key(tag) for tag in record.tags}
    citations = _items(absorbed.document, "evidence")

    def has(gain: Contribution) -> bool:
        if gain.field in ("aliases", "tags"):
            return names.lookup_key(gain.value) in (spellings if gain.field == "aliases" else tags)
        if gain.field == "evidence":
            return gain.value in citations
        if gain.field == "summary":
            return bool(record.summary == gain.value)
        return bool(record.fields.get(gain.field[7:]) == gain.value)

    return [gain for gain in _given(ws, survivor.row.id) if has(gain)]


def _given(ws: Workspace, survivor: str, but: str | None = None) -> list[Contribution]:
    """Return what the merges that stand gave a page, once each, but for that of one page."""
    given: list[Contribution] = []
    for merge in merges.into(ws.database, survivor):
        if merge.absorbed != but:
            gains = merges.contributions(ws.database, merge.id)
            given += [gain for gain in gains if gain not in given]
    return given


def _with_gains(document: Document, gained: list[Contribution]) -> Changes:
    changes: Changes = {}
    for key in ("aliases", "tags", "evidence"):
        added = [c.value for c in gained if c.field == key]
        if added:
            changes[key] = [*_items(document, key), *added]
    fields = {c.field[7:]: c.value for c in gained if c.field.startswith("fields.")}
    if fields:
        standing = document.fields.get("fields")
        changes["fields"] = {**(standing if isinstance(standing, dict) else {}), **fields}
    for contribution in gained:
        if contribution.field == "summary":
            changes["summary"] = contribution.value
    return changes


def _conflicts(survivor: Target, absorbed: Target) -> list[dict[str, Any]]:
    pairs = [
        (f"fields.{name}", survivor.record.fields[name], value)
        for name, value in absorbed.record.fields.items()
        if name in survivor.record.fields and survivor.record.fields[name] != value
    ]
    if (
        survivor.record.summary
        and absorbed.record.summary
        and survivor.record.summary != absorbed.record.summary
    ):
        pairs.append(("summary", survivor.record.summary, absorbed.record.summary))
    return [{"field": f, "survivor": mine, "absorbed": theirs} for f, mine, theirs in pairs]


def _plan_unmerge(ws: Workspace, request: Unmerge, caller: Caller) -> Plan:
    absorbed = targets.load(ws, caller, request.id)
    merge = merges.standing(ws.database, request.id)
    if merge is None:
        raise LifecycleRefused(f"{request.id} is not merged into another page", id=request.id)
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
        back, reason=request.reason, removed=_by_field(removed), kept=_by_field(kept)
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
    others = _given(ws, merge.survivor, but=merge.absorbed)
    every = merges.contributions(ws.database, merge.id)
    own = [gain for gain in every if gain not in others]
    changes, removed, kept = _without_gains(survivor.document, own)
    _as_it_was(ws, survivor, merge, changes)
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
    lists = {key: _items(document, key) for key in ("aliases", "tags", "evidence")}
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


def _as_it_was(ws: Workspace, survivor: Target, merge: Merge, changes: Changes) -> None:
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


def _new(values: Iterable[str], known: set[str]) -> Iterable[str]:
    for value in values:
        key = names.lookup_key(value)
        if key and key not in known:
            known.add(key)
            yield value


def _items(document: Document, key: str) -> list[Value]:
    value = document.fields.get(key)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _by_field(contributions: Iterable[Contribution]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for contribution in contributions:
        if contribution.field in ("aliases", "tags", "evidence"):
            found.setdefault(contribution.field, []).append(contribution.value)
        else:
            found[contribution.field] = contribution.value
    return found
