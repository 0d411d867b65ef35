"""Withdrawing records: the change and the guard of each, which go into one plan."""

from __future__ import annotations

from vault_kg.operations import drafts
from vault_kg.operations.caller import Caller
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.state.guards import WITHDRAWN, Guard
from vault_kg.store.plan import Change


def withdrawal(
    ws: Workspace, caller: Caller, target: Target, reason: str, request_id: str
) -> tuple[Change, Guard]:
    """Return the change and the guard that withdraw an active record."""
    changes: dict[str, Value | Remove] = {
        "lifecycle": "withdrawn",
        "lifecycle_change": drafts.lifecycle_change(ws, caller, reason, request_id),
    }
    change = drafts.revise(ws, target, changes, lifecycle="withdrawn")
    assert change is not None, "its lifecycle changes"
    return change, guard(ws, caller, target.row.id, target.row.partition, reason, request_id)


def guard(
    ws: Workspace, caller: Caller, record_id: str, partition: str, reason: str, request_id: str
) -> Guard:
    """Return the guard that keeps a record withdrawn, whatever becomes of its file."""
    return Guard(record_id, WITHDRAWN, partition, None, reason, caller.actor, request_id, ws.now())
