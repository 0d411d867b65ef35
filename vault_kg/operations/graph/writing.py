"""Carrying a graph change out, or rehearsing it: one plan, one journal entry, one answer."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from vault_kg.index import catalog
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import MADE_UP, GraphWrite
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Value
from vault_kg.store import sources
from vault_kg.store.plan import Change, Plan
from vault_kg.store.sources import Source

ASSERTION = "application/x-assertion"
MAX_LISTED = 5_000
"""So many items of one list are kept in an answer; its count is true beyond that too."""


class _Nothing(Exception):
    """What was asked for stands already, and nobody gave an id to ask again with."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


def carry_out(
    ws: Workspace,
    caller: Caller,
    operation: str,
    request: GraphWrite,
    plan: Callable[[], Plan],
    *,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Carry out a change once, or only say what it would do.

    Args:
        ws: the opened vault.
        caller: who asks.
        operation: the operation's name.
        request: its arguments.
        plan: validates against what stands and says what will be done; its receipt's `result` is
            the answer.
        dry_run: plan it and change nothing.
    """
    if dry_run:
        return {**ws.rehearse(request, plan).receipt["result"], "changed": False}

    removed: list[str] = []

    def unless_nothing() -> Plan:
        planned = plan()
        removed[:] = [change.path for change in planned.changes if change.after is None]
        if request.request_id.startswith(MADE_UP) and not _has_effect(planned):
            raise _Nothing(planned.receipt["result"])
        return planned

    try:
        receipt = ws.write(caller, operation, request, unless_nothing)
    except _Nothing as nothing:
        return {**nothing.result, "changed": False}
    if removed:
        _remove_empty_folders(ws, removed)
    return {
        **(receipt.result or {}),
        "changed": receipt.changed,
        "request_id": receipt.request_id,
        "git": receipt.git,
    }


def answer(result: dict[str, Any], changed: bool = True) -> dict[str, Any]:
    """Return the receipt of a plan that answers with a result."""
    return {"changed": changed, "result": result}


def nothing(group: str, result: dict[str, Any]) -> Plan:
    """Return the plan of a request that changes nothing."""
    return Plan(group, answer(result, changed=False))


@dataclass(frozen=True)
class Evidence:
    """The source that a direct assertion is cited as: the request itself, with its actor."""

    source: Source
    content: bytes

    @property
    def citation(self) -> dict[str, Value]:
        """The citation of it in front matter."""
        return {"source": self.source.id}

    @property
    def text(self) -> dict[str, str]:
        """What it says, by its id."""
        return {self.source.id: self.content.decode()}


def retained(
    ws: Workspace, caller: Caller, group: str, operation: str, request: GraphWrite
) -> Evidence:
    """Return the evidence that an assertion retains; the same words of the same actor are one."""
    arguments = request.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude=_NOT_ASSERTED
    )
    said = {
        "operation": operation,
        "actor": caller.actor,
        "group_id": group,
        "arguments": arguments,
    }
    content = (json.dumps(said, ensure_ascii=False, indent=2) + "\n").encode()
    source = sources.describe(
        content, group, "assertion.json", ws.now(), media_type=ASSERTION, attribution=caller.actor
    )
    return Evidence(source, content)


_NOT_ASSERTED = {"request_id", "expected_vault_id", "group_id"}


def retaining(ws: Workspace, evidence: Evidence) -> tuple[Change, ...]:
    """Return the changes that retain a source; none where it is retained already."""
    known = catalog.source(ws.database, evidence.source.id) is not None
    return () if known else sources.changes(evidence.source, evidence.content)


def _remove_empty_folders(ws: Workspace, removed: list[str]) -> None:
    """Remove the folders inside a partition that held only what was removed."""
    with ws.lane.hold():
        for path in removed:
            for folder in list(PurePosixPath(path).parents)[:-2]:
                with contextlib.suppress(OSError):  # not empty, or gone already
                    ws.vault.root.joinpath(folder).rmdir()


def _has_effect(plan: Plan) -> bool:
    return bool(
        plan.changes or plan.guards or plan.merges or plan.undo_merge or plan.resolves or plan.moves
    )
