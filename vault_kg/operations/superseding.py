"""Replacing a record by a new one: the original stays, superseded and guarded, and names its successor."""

from __future__ import annotations

from typing import NamedTuple

from vault_kg.operations import drafts
from vault_kg.operations.caller import Caller
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Remove, Value, edit, parse
from vault_kg.state.guards import SUPERSEDED, Guard
from vault_kg.store.plan import Change


class Supersession(NamedTuple):
    """What replacing a record does: all of it goes into one plan."""

    original: Change
    replacement: Change
    guard: Guard


def supersede(
    ws: Workspace, caller: Caller, target: Target, draft: Change, reason: str, request_id: str
) -> Supersession:
    """Return what makes a new record the successor of an active one.

    Args:
        ws: the opened vault.
        caller: who replaces it.
        target: the record as it stands.
        draft: the new record's file.
        reason: why.
        request_id: the request's.
    """
    assert draft.record_id is not None and draft.after is not None, "a draft is of a new record"
    changes: dict[str, Value | Remove] = {
        "lifecycle": "superseded",
        "superseded_by": draft.record_id,
        "lifecycle_change": drafts.lifecycle_change(ws, caller, reason, request_id),
    }
    original = drafts.revise(ws, target, changes, lifecycle="superseded")
    assert original is not None, "the lifecycle of an active record changes"
    content = edit(parse(draft.after), {"supersedes": target.row.id})
    replacement = Change(
        draft.path, None, content, draft.record_id, draft.kind, 1, "active", draft.partition
    )
    guard = Guard(
        target.row.id, SUPERSEDED, target.row.partition, draft.record_id, reason, caller.actor,
        request_id, ws.now(),
    )  # fmt: skip
    return Supersession(original, replacement, guard)
