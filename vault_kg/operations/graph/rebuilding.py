"""Rebuilding a group from its part of the journal: what is gone from the working tree comes back.

Every entry is read through, from the journal's own bytes or from Git, and what cannot be read is a
failure in the answer. Nothing that stands is written over, and nothing that was withdrawn or removed
on purpose comes back.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from vault_kg.errors import Unavailable, UnsafePath
from vault_kg.index import catalog
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import dump, finding, journal_admin, writing
from vault_kg.operations.graph.request import GraphModel, GraphWrite, GroupId, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import revisions
from vault_kg.store import files, sources
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Change, Plan

REBUILD = "knowledge_rebuild_from_wal"
_STEP = 100


class Rebuild(GraphWrite):
    """The group to rebuild."""

    group_id: GroupId = DEFAULT_PARTITION
    from_seq: int = Field(0, ge=0, strict=True, description="Entries from here on are checked.")
    to_seq: int | None = Field(None, ge=0, strict=True, description="Not possible yet.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")
    force_clear: bool = Field(False, description="Not needed: nothing that stands is in the way.")

    @model_validator(mode="after")
    def _in_order(self) -> Rebuild:
        if self.to_seq is not None and self.to_seq < self.from_seq:
            raise ValueError("to_seq must not be less than from_seq")
        return self


class Failed(GraphModel):
    """A content that is neither in the journal nor in Git."""

    seq: int
    path: str
    hash: str | None


class Rebuilt(Written):
    """What was, or would be, brought back; false where any entry could not be read."""

    success: bool
    dry_run: bool
    group_id: str
    from_seq: int
    to_seq: int | None
    mutations_replayed: int = Field(description="Entries of the group that were read through.")
    records_restored: int
    files_restored: int = Field(description="Files of sources.")
    failed: list[Failed]
    indices_built: bool


@operation("admin", Rebuilt, toolset="graph", destructive=True)
def knowledge_rebuild_from_wal(ws: Workspace, request: Rebuild, caller: Caller) -> Rebuilt:
    """Read a group's journal through, bring back what is missing of it, and derive the index anew.

    Files that stand are left as they are, and what was withdrawn or removed on purpose stays so. An
    entry that cannot be read is a failure. Only up to the end: a bound (to_seq) is refused.
    """
    group = finding.group_to_write(caller, request.group_id)
    if request.to_seq is not None:
        raise Unavailable(
            "a rebuild up to an earlier position is not part of this version; nothing was changed. "
            "knowledge_get and knowledge_records read any earlier revision and position",
            missing="to_seq",
            rpc_code=-32000,
        )
    failed: list[dict[str, Any]] = []
    read = sum(event["seq"] >= request.from_seq for event in dump.events(ws, caller, group, failed))
    failed = [item for item in failed if item["seq"] >= request.from_seq]
    result = writing.carry_out(
        ws, caller, REBUILD, request, lambda: _plan(ws, caller, group), dry_run=request.dry_run
    )
    if not request.dry_run:
        journal_admin.rebuild(ws, caller)
    lost = [*failed, *(item for item in result.pop("lost") if item not in failed)]
    return Rebuilt(
        **result, success=not lost, dry_run=request.dry_run, group_id=group,
        from_seq=request.from_seq, to_seq=None, mutations_replayed=read, failed=lost,
        indices_built=not request.dry_run,
    )  # fmt: skip


def _plan(ws: Workspace, caller: Caller, group: str) -> Plan:
    ws.indexer.scan(ws.journal)  # a file that was moved is not missing
    lost: list[dict[str, Any]] = []
    records = _records(ws, caller, group, lost)
    others = _sources(ws, caller, group, lost)
    result = {
        "records_restored": len(records),
        "files_restored": len(others),
        "lost": lost,
    }
    if not records and not others:
        return writing.nothing(group, result)
    return Plan(group, writing.answer(result), (*others, *records), f"the group {group}")


def _records(ws: Workspace, caller: Caller, group: str, lost: list[dict[str, Any]]) -> list[Change]:
    """Return the changes that bring back the files of records that are gone."""
    found = []
    heads = [head for head in revisions.heads(ws.database).values() if head.partition == group]
    for number, head in enumerate(heads):
        if number % _STEP == 0:
            writing.step(caller, number, len(heads), "records")
        if head.lifecycle == "withdrawn" or catalog.by_id(ws.database, head.record_id):
            continue
        if _stands(ws, head.path):
            continue
        content = ws.bytes_of(head)
        if content is None:
            lost.append({"seq": head.seq, "path": head.path, "hash": head.hash})
            continue
        found.append(
            Change(
                head.path, None, content, head.record_id, head.kind, head.revision,
                head.lifecycle, group,
            )
        )  # fmt: skip
    return found


def _sources(ws: Workspace, caller: Caller, group: str, lost: list[dict[str, Any]]) -> list[Change]:
    """Return the changes that bring back the files of sources that are gone."""
    found = []
    known = rows.last_files(ws.database, sources.folder(group, ""))
    for number, (seq, path, content_hash) in enumerate(known):
        if number % _STEP == 0:
            writing.step(caller, number, len(known), "sources")
        if content_hash is None or _stands(ws, path):
            continue
        entry = rows.get(ws.database, seq)
        file = next(f for f in rows.files(ws.database, seq) if f.path == path)
        content = file.after
        if content is None and entry is not None:
            content = dump.from_git(ws, entry, file)
        if content is None:
            lost.append({"seq": seq, "path": path, "hash": content_hash})
        else:
            found.append(Change(path, None, content, partition=group))
    return found


def _stands(ws: Workspace, path: str) -> bool:
    """Say whether anything has this name; whatever it is, it is not written over."""
    try:
        return files.read(ws.vault.root, path, sources.MAX_SOURCE_BYTES) is not None
    except UnsafePath:
        return True
