"""Applying `corrections.yaml`: each entry a merge or a withdrawal of its own, all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument, LifecycleRefused, NotFound, VaultError
from vault_kg.index.catalog import by_id
from vault_kg.operations import drafts, sight, steps, targets, withdrawing
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import (
    choosing,
    corrections_file,
    curation,
    finding,
    writing,
)
from vault_kg.operations.graph.choosing import Wanted
from vault_kg.operations.graph.corrections_file import PATH, Correction, Corrections, Issue
from vault_kg.operations.graph.request import GraphModel, GraphRequest, GraphWrite
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import journal as rows
from vault_kg.state import revisions
from vault_kg.store.plan import Change, Plan

APPLY = "knowledge_apply_corrections"


class ValidateCorrections(GraphRequest):
    """The corrections file of the vault."""


class CorrectionIssue(GraphModel):
    """Something that would keep a correction from being applied."""

    id: str | None = None
    line: int
    message: str


class Validated(GraphModel):
    """Whether the file can be applied, and what would hinder it."""

    valid: bool
    message: str
    total_corrections: int
    unapplied_corrections: int
    issues: list[CorrectionIssue]
    warnings: list[str]


class ApplyCorrections(GraphWrite):
    """The corrections file of the vault, to be applied."""

    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class CorrectionError(GraphModel):
    """A correction that was not applied, and why."""

    id: str
    code: str
    message: str


class Action(GraphModel):
    """What became of one correction."""

    id: str
    action: str
    merged_count: int | None = None
    edges_deduplicated: int | None = None


class Applied(GraphModel):
    """What was, or would be, applied, in the order of the file."""

    success: bool
    dry_run: bool
    applied: int
    skipped: int
    errors: list[CorrectionError]
    details: list[Action]
    message: str | None = None


class _Apply(GraphWrite):
    """One correction as a request of its own."""

    correction: dict[str, Any]


@operation("read", Validated, toolset="graph")
def knowledge_validate_corrections(
    ws: Workspace,
    request: ValidateCorrections,
    caller: Caller,
) -> Validated:
    """Say whether corrections.yaml can be applied: its form, ids, and that what it names exists."""
    found = corrections_file.read(ws)
    entries = _seen(ws, found, caller)
    open_ones = [each for each in entries if not _is_applied(ws, each)]
    issues = [
        CorrectionIssue(id=i.id, line=i.line, message=i.message)
        for i in _told(found, entries, caller)
    ]
    for each in open_ones:
        try:
            _look(ws, caller, each)
        except VaultError as error:
            issues.append(CorrectionIssue(id=each.id, line=each.line, message=error.message))
    issues += [
        CorrectionIssue(id=each.id, line=each.line, message="its aliases lead in a circle")
        for each in _circular(open_ones)
    ]
    text = f"there is no {PATH}" if found.content is None else f"{len(entries)} corrections"
    return Validated(
        valid=not issues, message=text if not issues else f"issues found: {len(issues)}",
        total_corrections=len(entries), unapplied_corrections=len(open_ones),
        issues=sorted(issues, key=lambda i: i.line), warnings=[],
    )  # fmt: skip


@operation("write", Applied, toolset="graph")
def knowledge_apply_corrections(
    ws: Workspace, request: ApplyCorrections, caller: Caller
) -> Applied:
    """Apply what corrections.yaml holds and was not applied yet, each entry atomically.

    same_as is a merge, retract a withdrawal. An entry that fails stops no other. Applied entries
    are marked in the file in the same journal entry.
    """
    found = corrections_file.read(ws)
    seen = _seen(ws, found, caller)
    errors = [
        CorrectionError(id=i.id or f"line {i.line}", code="invalid_argument", message=i.message)
        for i in _told(found, seen, caller)
    ]
    broken, details, skipped = {i.id for i in found.issues}, list[Action](), 0
    entries = [each for each in seen if each.id not in broken]
    for number, each in enumerate(entries):
        steps.step(caller, number, len(entries), each.id, _stands(details, request.dry_run))
        if _is_applied(ws, each):
            skipped += 1
            continue
        try:
            details.append(_apply(ws, caller, each, request.dry_run))
        except VaultError as error:
            errors.append(CorrectionError(id=each.id, code=error.code, message=error.message))
    return Applied(
        success=not errors, dry_run=request.dry_run, applied=len(details), skipped=skipped,
        errors=errors, details=details,
        message=f"there is no {PATH}" if found.content is None else None,
    )  # fmt: skip


def _stands(done: Sequence[Action], dry_run: bool) -> str:
    """Say what is written already, for a caller who takes the rest back."""
    if dry_run or not done:
        return steps.NOTHING_CHANGED
    applied = ", ".join(each.id for each in done)
    return f"{applied} of {PATH} is applied and marked there; apply the file again for the rest"


def _apply(ws: Workspace, caller: Caller, each: Correction, dry_run: bool) -> Action:
    """Apply one correction, or rehearse it."""
    asked = _Apply(request_id=each.request_id, correction=_said(each))
    result = writing.carry_out(
        ws, caller, APPLY, asked, lambda: _plan(ws, caller, each), dry_run=dry_run
    )
    return Action(
        id=each.id,
        action=f"dry_run:{each.type}" if dry_run else each.type,
        merged_count=result.get("merged_count"),
        edges_deduplicated=result.get("edges_deduplicated"),
    )


def _said(each: Correction) -> dict[str, Any]:
    said = {key: value for key, value in vars(each).items() if value not in (None, ())}
    return {key: said[key] for key in sorted(said) if key not in ("line", "applied_at")}


def _plan(ws: Workspace, caller: Caller, each: Correction) -> Plan:
    """Return the plan of one correction, with the mark in the file; the caller holds the lane."""
    content = corrections_file.read(ws).content
    if content is None:
        raise NotFound(f"{PATH} is gone; nothing was changed")
    mark = Change(PATH, content, corrections_file.marked(content, each.id, ws.now()))
    if each.type == "retract":
        plan = _retraction(ws, caller, each)
    else:
        reason = each.reason or f"{PATH}: {each.id}"
        finding.group_to_write(caller, each.group)
        plan = curation.plan(ws, caller, _wanted(each), reason, each.request_id)
    receipt = plan.receipt | {"changed": True}
    return replace(plan, receipt=receipt, changes=(*plan.changes, mark), label=f"{PATH}: {each.id}")


def _retraction(ws: Workspace, caller: Caller, each: Correction) -> Plan:
    row = _edge(ws, caller, each)
    target = targets.load(ws, caller, row)
    reason = each.reason or f"{PATH}: {each.id}"
    change, guard = withdrawing.withdrawal(ws, caller, target, reason, each.request_id)
    receipt = drafts.receipt_of(change, reason=reason, **writing.answer({"edge_uuid": row}))
    return Plan(change.partition, receipt, (change,), target.row.title, (guard,), reason=reason)


def _look(ws: Workspace, caller: Caller, each: Correction) -> None:
    """Raise what would keep a correction from being applied, without touching anything."""
    if each.type == "retract":
        _edge(ws, caller, each)
        return
    finding.group_to_write(caller, each.group)
    choosing.choose(ws, caller, _wanted(each))


def _edge(ws: Workspace, caller: Caller, each: Correction) -> str:
    uuid = str(each.edge_uuid)
    found = by_id(ws.database, uuid)
    head = revisions.head(ws.database, uuid)
    if not found or head is None or sight.is_hidden(ws, caller, uuid):
        raise NotFound(
            f"there is no edge {uuid}; knowledge_list_relationships lists them", uuid=uuid
        )
    if found[0].kind != "relationship":
        raise InvalidArgument(
            f"{uuid} is a {found[0].kind}, not an edge; withdraw it with knowledge_withdraw",
            uuid=uuid,
        )
    if found[0].lifecycle != "active":
        raise LifecycleRefused(
            f"{uuid} is {found[0].lifecycle} already; take the entry out of {PATH}", uuid=uuid
        )
    return uuid


def _wanted(each: Correction) -> Wanted:
    return Wanted(
        each.group, each.canonical_uuid, each.canonical, each.alias_uuids, each.aliases,
        kind=each.kind,
    )  # fmt: skip


def _is_applied(ws: Workspace, each: Correction) -> bool:
    if each.applied_at is not None:
        return True
    entry = rows.find(ws.database, each.request_id)
    return entry is not None and entry.state in (rows.PUBLISHED, rows.RESOLVED)


def _told(found: Corrections, seen: Sequence[Correction], caller: Caller) -> list[Issue]:
    """Return the issues of the file's shape that a caller is told.

    They keep entries from being applied whoever asks, but an entry that cannot be read may be of a
    group that the caller does not see.
    """
    ids = {each.id for each in seen}
    return [i for i in found.issues if caller.partitions is None or i.id is None or i.id in ids]


def _seen(ws: Workspace, found: Corrections, caller: Caller) -> list[Correction]:
    """Return the entries that exist for a caller: those of groups that it sees."""

    def sees(each: Correction) -> bool:
        if caller.partitions is None:
            return True
        if each.type == "same_as":
            return caller.sees(each.group)
        known = revisions.head(ws.database, str(each.edge_uuid)) is not None
        return known and not sight.is_hidden(ws, caller, each.edge_uuid)

    return [each for each in found.entries if sees(each)]


def _circular(entries: Iterable[Correction]) -> list[Correction]:
    """Return the entries whose aliases lead back to themselves."""
    into: dict[tuple[str, str], tuple[str, str]] = {}
    circular = []
    for each in entries:
        if each.canonical is None:
            continue
        final = (each.group, names.lookup_key(each.canonical))
        for alias in each.aliases:
            into[(each.group, names.lookup_key(alias))] = final
        seen = set()
        while final in into and final not in seen:
            seen.add(final)
            final = into[final]
        if final in seen:
            circular.append(each)
    return circular
