"""Rebuilding a group from its part of the journal: what is gone from the working tree comes back.

Every entry is read through, from the journal's own bytes or from Git, and what cannot be read is a
failure in the answer. Nothing that stands is written over, and nothing that was withdrawn or removed
on purpose comes back. What a bounded rebuild left out or rolled back comes back with an unbounded
one, and with nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from vault_kg.index import catalog
from vault_kg.operations import sight, steps
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import bounding, events, finding, journal_admin, writing
from vault_kg.operations.graph.bounding import Bounded
from vault_kg.operations.graph.request import GraphModel, GraphWrite, GroupId, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import rebuilds, revisions
from vault_kg.state.rebuilds import Bound
from vault_kg.store import sources
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Change, Plan

REBUILD = "knowledge_rebuild_from_wal"
_STEP = 100

Position = Annotated[int, Field(ge=0, le=1 << 53, strict=True)]


class Rebuild(GraphWrite):
    """The group to rebuild."""

    group_id: GroupId = DEFAULT_PARTITION
    from_seq: Position = Field(0, description="Entries from here on are checked.")
    to_seq: Position | None = Field(
        None, description="Leave out what requests did after this entry."
    )
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


class Moved(GraphModel):
    """A record that the rebuild changed, or left although it changed since the bound."""

    uuid: str
    kind: str
    name: str
    why: str | None = None


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
    rolled_forward: int = Field(description="Records that have again what a bound took from them.")
    left_out: list[Moved] = Field(
        description="Made after the bound; an unbounded rebuild restores it."
    )
    left_out_count: int
    rolled_back: list[Moved] = Field(description="Changed after the bound; as it was then.")
    rolled_back_count: int
    kept: list[Moved] = Field(description="Changed since, and left as it stands; why.")
    kept_count: int
    sources_left_out: int
    failed: list[Failed]
    indices_built: bool


@operation("admin", Rebuilt, toolset="graph", destructive=True)
def knowledge_rebuild_from_wal(ws: Workspace, request: Rebuild, caller: Caller) -> Rebuilt:
    """Read a group's journal through, bring back what is missing of it, and derive the index anew.

    With to_seq, what requests made after that entry leaves the working tree, and what they changed
    is as it was, until a rebuild without to_seq brings it back. Withdrawals, supersessions and
    merges stay, as do a person's edits; kept says so. Without to_seq, files that stand are left as
    they are. An entry that cannot be read is a failure.
    """
    group = finding.group_to_write(caller, request.group_id)
    failed: list[dict[str, Any]] = []
    last = request.to_seq if request.to_seq is not None else rows.last_seq(ws.database)
    asked = range(request.from_seq, last + 1)
    read = 0
    for number, event in enumerate(events.published(ws, caller, group, failed)):
        if number % _STEP == 0:
            steps.step(caller, event["seq"], rows.last_seq(ws.database), "reading the journal")
        read += event["seq"] in asked
    failed = [item for item in failed if item["seq"] in asked]
    result = writing.carry_out(
        ws, caller, REBUILD, request, lambda: _plan(ws, caller, group, request.to_seq),
        dry_run=request.dry_run,
    )  # fmt: skip
    if not request.dry_run:
        journal_admin.rebuild(ws, caller, stands=_written(group, result["changed"]))
    lost = [*failed, *(item for item in result.pop("lost") if item not in failed)]
    return Rebuilt(
        **result, success=not lost, dry_run=request.dry_run, group_id=group,
        from_seq=request.from_seq, mutations_replayed=read, failed=lost,
        indices_built=not request.dry_run,
    )  # fmt: skip


def _written(group: str, changed: bool) -> str:
    """Say what is written already, for a caller who takes back deriving the index anew."""
    if not changed:
        return steps.NOTHING_CHANGED
    return (
        f"the group {group!r} is rebuilt; only the index was not derived anew, which "
        "knowledge_build_indices does"
    )


def _plan(ws: Workspace, caller: Caller, group: str, to_seq: int | None) -> Plan:
    ws.indexer.scan(ws.journal)  # a file that was moved is not missing
    bounds = rebuilds.bounded(ws.database, REBUILD, group)
    entries = [each.seq for each in bounds]
    removed = rebuilds.removed_by(ws.database, entries)
    if to_seq is None:
        told, forward = Bounded(), _roll_forward(ws, group, entries)
        stays_out: set[str] = set()
    else:
        told, forward = bounding.bound(ws, caller, group, _within(bounds, to_seq)), Bounded()
        stays_out = removed
    touched = {c.record_id for c in (*told.changes, *forward.changes) if c.record_id}
    lost = [*told.lost, *forward.lost]
    records = _records(ws, caller, group, touched, stays_out, lost, told.kept)
    others = _sources(ws, caller, group, removed - stays_out, lost)
    result: dict[str, Any] = {
        "to_seq": to_seq,
        "records_restored": len(records),
        "files_restored": len(others),
        "rolled_forward": len(forward.rolled_back),
        "sources_left_out": len(told.sources),
        "lost": lost,
    }
    for name, items in (
        ("left_out", told.left_out), ("rolled_back", told.rolled_back),
        ("kept", [*told.kept, *forward.kept]),
    ):  # fmt: skip
        seen = [each for each in items if not sight.is_hidden(ws, caller, each["uuid"])]
        result |= {name: seen[: writing.MAX_LISTED], f"{name}_count": len(seen)}
    changes = (*others, *records, *forward.changes, *told.changes)
    if not changes:
        return writing.nothing(group, result)
    label = f"the group {group}" + ("" if to_seq is None else f" up to {to_seq}")
    return Plan(group, writing.answer(result), changes, label)


def _within(bounds: Sequence[Bound], to_seq: int) -> int:
    """Return the position that a bound means where earlier ones took a part of what it includes."""
    for each in reversed(bounds):
        if to_seq < each.seq:
            to_seq = min(to_seq, each.to_seq)
    return to_seq


def _roll_forward(ws: Workspace, group: str, bounds: Collection[int]) -> Bounded:
    """Give records what they had before bounded rebuilds, unless they were changed since."""
    told = Bounded()
    for head in rebuilds.made_by(ws.database, bounds):
        latest = rebuilds.last_but(ws.database, head.record_id, bounds)
        if head.partition != group or latest is None:
            continue
        bounding.put(ws, head, latest, told)
    return told


def _records(
    ws: Workspace,
    caller: Caller,
    group: str,
    touched: Collection[str],
    stays_out: Collection[str],
    lost: list[dict[str, Any]],
    kept: list[dict[str, Any]],
) -> list[Change]:
    """Return the changes that bring back the files of records that are gone.

    Not those of `touched` records, which have their change, nor the paths in `stays_out`.
    """
    found = []
    heads = [head for head in revisions.heads(ws.database).values() if head.partition == group]
    for number, head in enumerate(heads):
        if number % _STEP == 0:
            steps.step(caller, number, len(heads), "records")
        if head.lifecycle == "withdrawn" or head.record_id in touched or head.path in stays_out:
            continue
        if catalog.by_id(ws.database, head.record_id):
            continue
        if _stands(ws, head.path):
            kept.append(bounding.item(ws, head) | {"why": "another file has its place"})
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


def _sources(
    ws: Workspace, caller: Caller, group: str, again: Collection[str], lost: list[dict[str, Any]]
) -> list[Change]:
    """Return the changes that bring back the files of sources that are gone.

    Those in `again` were removed by a bounded rebuild, and come back all the same.
    """
    found = []
    known = rows.last_files(ws.database, sources.folder(group, ""))
    for number, (seq, path, content_hash) in enumerate(known):
        if number % _STEP == 0:
            steps.step(caller, number, len(known), "sources")
        if (content_hash is None and path not in again) or _stands(ws, path):
            continue
        if content_hash is None:
            seq = rebuilds.last_content(ws.database, path) or seq
        entry = rows.get(ws.database, seq)
        file = next(f for f in rows.files(ws.database, seq) if f.path == path)
        content = file.after
        if content is None and entry is not None:
            content = events.from_git(ws, entry, file)
        if content is None:
            lost.append({"seq": seq, "path": path, "hash": file.after_hash})
        else:
            found.append(Change(path, None, content, partition=group))
    return found


def _stands(ws: Workspace, path: str) -> bool:
    """Say whether anything has this name; whatever it is, it is not written over."""
    return bounding.present(ws, path) is not None
