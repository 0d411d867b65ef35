"""What only a person decides: conflicts, and merges that are declined."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from vault_kg.errors import InvalidArgument, InvalidRecord, LifecycleRefused, NotFound
from vault_kg.index import catalog
from vault_kg.operations import drafts, sight, targets
from vault_kg.operations.base import (
    Id,
    Model,
    Reason,
    Receipt,
    Request,
    RequestId,
    Text,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import (
    FrontMatterError,
    Remove,
    Value,
    edit,
    parse,
)
from vault_kg.state import conflicts, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.conflicts import Conflict
from vault_kg.state.guards import Guard
from vault_kg.state.merges import Contribution, Merge
from vault_kg.store import files
from vault_kg.store.plan import Change, Plan

Choice = Literal["keep_disk", "apply_proposed", "merged"]


class Review(Write):
    """A person's choice in a conflict."""

    conflict_id: Id
    choice: Choice
    reason: Reason
    merged: Text | None = Field(None, description="The whole file, for the choice merged.")

    @model_validator(mode="after")
    def _bytes_for_merged(self) -> Review:
        if (self.choice == "merged") != (self.merged is not None):
            raise ValueError("give merged (the whole file) with the choice merged, and only then")
        return self


class ShowConflict(Request):
    """Look at a conflict."""

    conflict_id: Id


class ConflictView(Model):
    """The three versions of a file; null where there is none."""

    id: str
    path: str
    record: str | None = None
    operation: str
    actor: str
    reason: str | None = None
    original: str | None = None
    proposed: str | None = None
    displaced: str | None = None
    found_at: str
    resolved_at: str | None = None
    choice: str | None = None


class Decline(Write):
    """Say that two pages are not one."""

    request_id: RequestId = Field(
        default_factory=lambda: f"decline-{secrets.token_hex(12)}",
        description="Give one to retry safely: the same id and arguments give the same answer.",
    )

    first: Id
    second: Id
    reason: Reason


class Declined(Model):
    """A pair that will not be proposed again."""

    first: str
    second: str
    reason: str


@operation("read", ConflictView)
def knowledge_conflict(ws: Workspace, request: ShowConflict, caller: Caller) -> ConflictView:
    """Show a conflict.

    The original, the proposed and the displaced text of a file, and whose request it was. Only a
    person resolves it.
    """
    conflict = _conflict(ws, caller, request.conflict_id)
    entry = rows.get(ws.database, conflict.seq)
    assert entry is not None
    return ConflictView(
        id=conflict.id, path=conflict.path, record=conflict.record_id, operation=entry.operation,
        actor=entry.actor, reason=entry.reason, original=_shown(conflict.original),
        proposed=_shown(conflict.proposed), displaced=_shown(conflict.displaced),
        found_at=conflict.found_at, resolved_at=conflict.resolved_at, choice=conflict.choice,
    )  # fmt: skip


@operation("review", Receipt)
def knowledge_review(ws: Workspace, request: Review, caller: Caller) -> Receipt:
    """Resolve a conflict.

    Keep what is on disk, apply what was proposed, or give the merged file. All three versions
    stay in the record's history or in the conflict.
    """
    return ws.write(caller, "knowledge_review", request, lambda: _plan_review(ws, request, caller))


@operation("review", Declined)
def knowledge_decline_merge(ws: Workspace, request: Decline, caller: Caller) -> Declined:
    """Remember that two pages are not one thing, so that they are not proposed again."""
    ws.write(caller, "knowledge_decline_merge", request, lambda: _plan_decline(ws, request, caller))
    first, second = sorted((request.first, request.second))
    return Declined(first=first, second=second, reason=request.reason)


def _plan_decline(ws: Workspace, request: Decline, caller: Caller) -> Plan:
    heads = [targets.known(ws, caller, i) for i in (request.first, request.second)]
    if request.first == request.second or any(head.kind != "page" for head in heads):
        raise InvalidArgument("give two different pages; only pages are proposed to be merged")
    first, second = sorted(heads, key=lambda head: head.record_id)
    pair = merges.Declined(
        first.record_id, second.record_id, request.reason, caller.actor, ws.now()
    )
    if (pair.first, pair.second) in merges.declined(ws.database):
        return Plan(first.partition, {"targetId": pair.first, "changed": False})
    titles = [
        row.title for head in (first, second) for row in catalog.by_id(ws.database, head.record_id)
    ]
    label = " is not ".join(titles) if first.partition == second.partition else ""
    receipt = {"targetId": pair.first, "reason": request.reason, "changed": True}
    return Plan(first.partition, receipt, label=label, declines=(pair,), reason=request.reason)


def _conflict(ws: Workspace, caller: Caller, conflict_id: str) -> Conflict:
    found = conflicts.get(ws.database, conflict_id)
    entry = rows.get(ws.database, found.seq) if found else None
    seen = found is not None and entry is not None and caller.sees(entry.partition)
    if found is None or not seen or sight.stands_on_hidden(ws, caller, found.record_id):
        raise NotFound(
            f"there is no conflict {conflict_id}; knowledge_conflicts lists those that wait",
            conflict_id=conflict_id,
        )
    return found


def _plan_review(ws: Workspace, request: Review, caller: Caller) -> Plan:
    chosen = _conflict(ws, caller, request.conflict_id)
    if chosen.resolved_at is not None:
        raise LifecycleRefused(
            f"{chosen.id} was resolved with {chosen.choice} already; change the record itself now",
            conflict_id=chosen.id,
        )
    entry = rows.get(ws.database, chosen.seq)
    assert entry is not None
    all_of_it = conflicts.of_entry(ws.database, chosen.seq)
    ws.indexer.observe(ws.journal, [c.path for c in all_of_it])
    receipt: dict[str, object] = {"targetId": chosen.record_id, "choice": request.choice}
    resolves = tuple(c.id for c in all_of_it)
    if request.choice == "keep_disk":
        receipt |= {"path": chosen.path, "reason": request.reason}
        return Plan(entry.partition, receipt, reason=request.reason, resolves=resolves)
    made = {r["path"]: r for r in entry.effects["revisions"]}
    changed = []
    for conflict in all_of_it:
        content = conflict.proposed
        if conflict.id == chosen.id and request.merged is not None:
            content = request.merged.encode()
        changed.append(_reapplied(ws, conflict, content, made.get(conflict.path)))
    effects = entry.effects
    mine = next(c for c, v in zip(changed, all_of_it, strict=True) if v.id == chosen.id)
    return Plan(
        entry.partition,
        entry.effects["receipt"] | drafts.receipt_of(mine) | receipt | {"reason": request.reason},
        tuple(changed),
        effects["label"],
        guards=tuple(Guard(**g) for g in effects["guards"]),
        lifts=tuple((lift[0], lift[1]) for lift in effects.get("lifts", ())),
        merges=tuple(_as_made_now(Merge(**m), changed) for m in effects["merges"]),
        contributions=tuple(Contribution(**c) for c in effects["contributions"]),
        undo_merge=effects["undo_merge"],
        reason=request.reason,
        resolves=resolves,
    )


def _as_made_now(merge: Merge, changed: list[Change]) -> Merge:
    """Return a merge with the revisions that it makes now, over what was edited meanwhile."""
    made = {change.record_id: change.revision for change in changed}
    return replace(
        merge,
        absorbed_revision=made.get(merge.absorbed, merge.absorbed_revision),
        survivor_revision=made.get(merge.survivor, merge.survivor_revision),
    )


def _reapplied(
    ws: Workspace, conflict: Conflict, content: bytes | None, made: dict[str, str] | None
) -> Change:
    """Return the change that puts a version over what is on disk now, as the next revision."""
    path = conflict.path
    present = files.read(ws.vault.root, path)
    if content is None or made is None:
        return Change(path, present, content, conflict.record_id)
    record_id = str(made["record_id"])
    head = revisions.head(ws.database, record_id)
    if head is None and present is not None and conflict.original is None:
        folder, _, name = path.rpartition("/")
        path = drafts.free_path(ws, folder, name.removesuffix(".md"), record_id)
        present = None
    revision = head.revision + 1 if head else 1
    try:
        document = parse(content)
    except FrontMatterError as error:
        raise InvalidRecord(f"line {error.line}: {error.reason}", line=error.line) from None
    protected: dict[str, Value | Remove] = {
        "id": record_id, "revision": revision, "lifecycle": str(made["lifecycle"]),
        "updated_at": ws.now(),
    }  # fmt: skip
    stamped = edit(document, protected)
    return Change(
        path, present, stamped, record_id, str(made["kind"]), revision, str(made["lifecycle"]),
        str(made["partition"]),
    )  # fmt: skip


def _shown(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", errors="replace")
