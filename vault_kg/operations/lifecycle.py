"""Correcting, withdrawing and resuming: explicit changes of a record's lifecycle."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vault_kg.errors import InvalidArgument, InvalidRecord, LifecycleRefused, NotFound
from vault_kg.index import successors
from vault_kg.operations import checks, drafts, sight, statements, superseding, targets
from vault_kg.operations.base import (
    Fenced,
    Id,
    Impact,
    Line,
    Model,
    Reason,
    Receipt,
    Request,
    RequestId,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.impact import depends_on, impact_of
from vault_kg.operations.registry import operation
from vault_kg.operations.statements import SaveClaim, SaveRelationship
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.state import conflicts, guards
from vault_kg.state import journal as rows
from vault_kg.state.guards import WITHDRAWN, Guard
from vault_kg.store import files
from vault_kg.store.plan import Change, Plan


class ClaimReplacement(SaveClaim):
    """A complete claim."""

    kind: Literal["claim"]
    request_id: RequestId = Field("-", exclude=True)


class RelationshipReplacement(SaveRelationship):
    """A complete relationship."""

    kind: Literal["relationship"]
    request_id: RequestId = Field("-", exclude=True)


Replacement = Annotated[ClaimReplacement | RelationshipReplacement, Field(discriminator="kind")]


class Correct(Fenced):
    """Replace a claim or relationship that turned out to be wrong."""

    reason: Reason
    expected_ontology_fingerprint: Line
    replacement: Replacement = Field(
        description="Complete, of the same kind: {kind: claim, claimKind, statement, owner, evidence, "
        "…} or {kind: relationship, type, from, to, fact, evidence, …}."
    )


class Withdraw(Fenced):
    """Retract a record."""

    reason: Reason


class Resume(Request):
    """Finish an accepted request."""

    request_id: RequestId


class Resumed(Model):
    """Where a request stands."""

    state: Literal["published", "conflicted", "resolved"]
    receipt: Receipt | None = None
    conflicts: list[str] | None = None


class AskImpact(Request):
    """What would an operation leave unresolved?"""

    id: Id
    operation: Literal["withdraw", "correct", "merge"] = "withdraw"


@operation("write", Receipt)
def knowledge_correct(ws: Workspace, request: Correct, caller: Caller) -> Receipt:
    """Replace a wrong claim or relationship by a complete one of the same kind.

    The original keeps its content and evidence and becomes superseded; both change together. The
    receipt's impact lists what still stands on the original. Pages are changed with
    knowledge_save_page.
    """
    return ws.write(
        caller, "knowledge_correct", request, lambda: _plan_correct(ws, request, caller)
    )


@operation("write", Receipt, destructive=True)
def knowledge_withdraw(ws: Workspace, request: Withdraw, caller: Caller) -> Receipt:
    """Retract one page, claim or relationship for good.

    It and what stands on it leave default reads. Nothing is deleted and nothing cascades; there
    is no way back but a new record. To replace a wrong claim use knowledge_correct.
    """
    return ws.write(
        caller, "knowledge_withdraw", request, lambda: _plan_withdraw(ws, request, caller)
    )


@operation("write", Resumed)
def knowledge_resume(ws: Workspace, request: Resume, caller: Caller) -> Resumed:
    """Finish an accepted request after a crash or a lost answer, and retry its Git commit.

    Gives the receipt, or says that a conflict waits for a person.
    """
    with ws.lane.hold():
        ws.journal.finish_accepted()
    entry = rows.find(ws.database, request.request_id)
    if entry is None or not caller.sees(entry.partition):
        raise NotFound(
            f"no request {request.request_id!r} was accepted; send it again",
            request_id=request.request_id,
        )
    ws.outbox.drain()
    if entry.state == rows.PUBLISHED:
        return Resumed(state="published", receipt=ws.receipt(entry.seq))
    waiting = [c.id for c in conflicts.of_entry(ws.database, entry.seq)]
    state: Literal["conflicted", "resolved"] = (
        "conflicted" if entry.state == rows.CONFLICTED else "resolved"
    )
    return Resumed(state=state, conflicts=waiting)


@operation("read", Impact)
def knowledge_impact(ws: Workspace, request: AskImpact, caller: Caller) -> Impact:
    """Show what a withdrawal, correction or merge would leave unresolved, changing nothing."""
    sight.known(ws, caller, request.id)
    return impact_of(ws, caller, request.id)


def lifecycle_change(
    ws: Workspace, request: Fenced, reason: str, caller: Caller
) -> dict[str, Value]:
    """Return the `lifecycle_change` that an operation writes into a record."""
    return {
        "reason": reason,
        "at": ws.now(),
        "actor": caller.actor,
        "request_id": request.request_id,
    }


def _plan_correct(ws: Workspace, request: Correct, caller: Caller) -> Plan:
    target = targets.load(ws, caller, request.id)
    _check_correctable(ws, target, request)
    targets.check_fence(target, request)
    checks.check_ontology(ws, target.row.partition, request.expected_ontology_fingerprint)
    draft, warnings = _replacement(ws, request, caller, target)
    original, replacement, guard = superseding.supersede(
        ws, caller, target, draft, request.reason, request.request_id
    )
    receipt = drafts.receipt_of(
        original,
        replacementId=draft.record_id,
        reason=request.reason,
        impact=impact_of(ws, caller, request.id).model_dump(mode="json"),
        warnings=warnings or None,
    )
    return Plan(
        target.row.partition, receipt, (original, replacement), target.row.title, (guard,),
        reason=request.reason,
    )  # fmt: skip


def _check_correctable(ws: Workspace, target: Target, request: Correct) -> None:
    row = target.row
    if row.kind == "page":
        raise InvalidArgument(
            f"{row.id} is a page; change it with knowledge_save_page or knowledge_edit_body",
            id=row.id,
        )
    if row.lifecycle != "active":
        successor = successors.current(ws.database, row.id)
        raise LifecycleRefused(
            f"{row.id} is {row.lifecycle} and cannot be corrected"
            + (f"; correct {successor} instead" if successor else "; record what holds anew"),
            id=row.id,
            lifecycle=row.lifecycle,
            successor=successor,
        )
    if not row.valid:
        raise InvalidRecord(
            f"{row.id} has validation findings ({row.path}); withdraw it, or mend it in an editor first",
            id=row.id,
            path=row.path,
        )
    if request.replacement.kind != row.kind:
        raise InvalidArgument(
            f"{row.id} is a {row.kind}; its replacement must be one too, not a "
            f"{request.replacement.kind}",
            id=row.id,
        )
    if request.replacement.partition not in (None, row.partition):
        raise InvalidArgument(
            f"{row.id} lies in the partition {row.partition!r}, and so must its replacement",
            id=row.id,
            field="replacement.partition",
        )


def _replacement(
    ws: Workspace, request: Correct, caller: Caller, target: Target
) -> tuple[Change, list[str]]:
    replacement = request.replacement
    if replacement.partition is None:
        replacement = replacement.model_copy(update={"partition": target.row.partition})
    named = _references(replacement)
    standing = depends_on(ws, request.id, named)
    if standing:
        raise InvalidRecord(
            f"the replacement names {standing}, which is the original or stands on it; a replacement "
            "must hold without what it replaces",
            id=standing,
        )
    if isinstance(replacement, ClaimReplacement):
        return statements.draft_claim(ws, replacement, caller)
    return statements.draft_relationship(ws, replacement, caller)


def _references(replacement: ClaimReplacement | RelationshipReplacement) -> set[str]:
    named = set(replacement.dependencies or [])
    if isinstance(replacement, ClaimReplacement):
        return named | {replacement.owner, *(replacement.entities or [])}
    return named | {replacement.from_, replacement.to}


def _plan_withdraw(ws: Workspace, request: Withdraw, caller: Caller) -> Plan:
    try:
        target = targets.load(ws, caller, request.id)
    except InvalidRecord:
        return _plan_unreadable(ws, request, caller)
    if target.row.lifecycle == "withdrawn":
        raise LifecycleRefused(
            f"{request.id} is withdrawn already, and stays so; what holds after all is recorded anew",
            id=request.id,
            lifecycle="withdrawn",
        )
    if target.row.lifecycle == "merged":
        raise LifecycleRefused(
            f"{request.id} was merged into {target.row.successor}; withdraw that page, or unmerge first",
            id=request.id,
            lifecycle="merged",
            successor=target.row.successor,
        )
    targets.check_fence(target, request)
    changes: dict[str, Value | Remove] = {
        "lifecycle": "withdrawn",
        "lifecycle_change": lifecycle_change(ws, request, request.reason, caller),
    }
    change = drafts.revise(ws, target, changes, lifecycle="withdrawn")
    assert change is not None, "its lifecycle changes"
    return _withdrawal(ws, request, caller, change, target.row.title)


def _plan_unreadable(ws: Workspace, request: Withdraw, caller: Caller) -> Plan:
    """Withdraw a record whose front matter cannot be read: the guard alone says so, not the file."""
    head = targets.known(ws, caller, request.id)
    content = targets.bytes_at(ws, head.path) or b""
    targets.check_versions(
        request,
        {"id": head.record_id, "revision": head.revision, "hash": files.content_hash(content)},
    )
    if WITHDRAWN in guards.of(ws.database, request.id):
        raise LifecycleRefused(
            f"{request.id} is withdrawn already, and stays so; what holds after all is recorded anew",
            id=request.id,
            lifecycle="withdrawn",
        )
    change = Change(
        head.path, content, content, head.record_id, head.kind, head.revision + 1, "withdrawn",
        head.partition,
    )  # fmt: skip
    return _withdrawal(ws, request, caller, change, head.path)


def _withdrawal(
    ws: Workspace, request: Withdraw, caller: Caller, change: Change, label: str
) -> Plan:
    guard = Guard(
        request.id, WITHDRAWN, change.partition, None, request.reason, caller.actor,
        request.request_id, ws.now(),
    )  # fmt: skip
    impact = impact_of(ws, caller, request.id).model_dump(mode="json")
    receipt = drafts.receipt_of(change, reason=request.reason, impact=impact)
    return Plan(change.partition, receipt, (change,), label, (guard,), reason=request.reason)
