"""Correcting, withdrawing and resuming: explicit changes of a record's lifecycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.errors import InvalidArgument, InvalidRecord, NotFound
from vault_kg.index.catalog import Row
from vault_kg.operations import (
    checks,
    drafts,
    statements,
    superseding,
    targets,
    withdrawing,
)
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
    operation: Literal["withdraw", "correct", "merge"] | None = Field(
        None, description="Refuse, as that operation would, a record that it is not for."
    )


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
        return Resumed(state="published", receipt=ws.receipt(entry.seq, caller))
    waiting = [c.id for c in conflicts.of_entry(ws.database, entry.seq)]
    state: Literal["conflicted", "resolved"] = (
        "conflicted" if entry.state == rows.CONFLICTED else "resolved"
    )
    return Resumed(state=state, conflicts=waiting)


@operation("read", Impact)
def knowledge_impact(ws: Workspace, request: AskImpact, caller: Caller) -> Impact:
    """Show what a withdrawal, correction or merge would leave unresolved, changing nothing.

    With operation, a record that it would refuse is refused here, too.
    """
    head = targets.known(ws, caller, request.id)
    if request.operation is not None:
        row = targets.one_row(ws, request.id, head)
        _APPLIES[request.operation](ws, caller, row)
    return impact_of(ws, caller, request.id)


def _plan_correct(ws: Workspace, request: Correct, caller: Caller) -> Plan:
    target = targets.load(ws, caller, request.id)
    checks.check_correctable(ws, caller, target.row)
    _check_replacement(target.row, request)
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


def _check_replacement(row: Row, request: Correct) -> None:
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
    checks.check_withdrawable(ws, caller, target.row)
    targets.check_fence(target, request)
    change, guard = withdrawing.withdrawal(ws, caller, target, request.reason, request.request_id)
    return _withdrawal(ws, request, caller, change, guard, target.row.title)


_APPLIES: dict[str, Callable[[Workspace, Caller, Row], None]] = {
    "withdraw": checks.check_withdrawable,
    "correct": checks.check_correctable,
    "merge": checks.check_mergeable,
}


def _plan_unreadable(ws: Workspace, request: Withdraw, caller: Caller) -> Plan:
    """Withdraw a record whose front matter cannot be read: the guard alone says so, not the file."""
    head = targets.known(ws, caller, request.id)
    content = targets.bytes_at(ws, head.path) or b""
    targets.check_versions(
        request,
        {"id": head.record_id, "revision": head.revision, "hash": files.content_hash(content)},
    )
    if WITHDRAWN in guards.of(ws.database, request.id):
        raise checks.withdrawn(request.id)
    change = Change(
        head.path, content, content, head.record_id, head.kind, head.revision + 1, "withdrawn",
        head.partition,
    )  # fmt: skip
    guard = withdrawing.guard(
        ws, caller, request.id, change.partition, request.reason, request.request_id
    )
    return _withdrawal(ws, request, caller, change, guard, head.path)


def _withdrawal(
    ws: Workspace, request: Withdraw, caller: Caller, change: Change, guard: Guard, label: str
) -> Plan:
    impact = impact_of(ws, caller, request.id).model_dump(mode="json")
    receipt = drafts.receipt_of(change, reason=request.reason, impact=impact)
    return Plan(change.partition, receipt, (change,), label, (guard,), reason=request.reason)
