"""A bounded rebuild: a group as it stood at an earlier position of the journal, as a new entry.

What a request made since then leaves the working tree, and what one changed gets its bytes of then
as its next revision. History keeps all of it. Left as they stand are: what was withdrawn,
superseded or merged since, because guards and merges are not taken back; what a person has edited
since; and what these need to stand on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_kg.errors import UnsafePath
from vault_kg.index import catalog, episodes, graph_rows
from vault_kg.operations import steps
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.deletion import removals
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import FrontMatterError, edit, parse
from vault_kg.state import conflicts, rebuilds, revisions
from vault_kg.state.revisions import Revision
from vault_kg.store import files, sources
from vault_kg.store.plan import Change

ACTIVE = "active"
_STEP = 100


@dataclass
class Bounded:
    """What a bound does: changes, and what is told of them."""

    changes: list[Change] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    rolled_back: list[dict[str, Any]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    lost: list[dict[str, Any]] = field(default_factory=list)


def bound(ws: Workspace, caller: Caller, group: str, to_seq: int) -> Bounded:
    """Work out what a group's bound does; the caller holds the lane, and the index is up to date.

    Args:
        ws: the opened vault.
        caller: who rebuilds.
        group: the group.
        to_seq: the entry after which nothing counts.
    """
    told = Bounded()
    seen = {i: h for i, h in revisions.heads(ws.database).items() if caller.sees(h.partition)}
    now = {record_id: head for record_id, head in seen.items() if head.partition == group}
    then = {h.record_id: h for h in revisions.heads_at(ws.database, to_seq)}
    later = {record_id: head for record_id, head in now.items() if head.seq > to_seq}
    kept = _kept(ws, later, then, to_seq)
    going = {i for i, h in later.items() if i not in then and h.lifecycle != "withdrawn"} - set(
        kept
    )
    rolled = set(later) & set(then) - set(kept)
    kept |= _needed(ws, going, seen.keys() - going - rolled)
    going -= set(kept)
    for number, record_id in enumerate(sorted(going | rolled)):
        if number % _STEP == 0:
            steps.step(caller, number, len(going | rolled), "records")
        if record_id in going:
            _leave_out(ws, now[record_id], told)
        else:
            put(ws, now[record_id], then[record_id], told)
    told.kept += [item(ws, now[i]) | {"why": why} for i, why in sorted(kept.items())]
    _leave_sources_out(ws, group, to_seq, seen.keys() - going - rolled, told)
    return told


def put(ws: Workspace, head: Revision, wanted: Revision, told: Bounded) -> None:
    """Give a record the bytes of another of its revisions, as its next one.

    Args:
        ws: the opened vault.
        head: what stands.
        wanted: the revision whose bytes it gets.
        told: gets the change, or why there is none.
    """
    content = ws.bytes_of(wanted)
    if content is None:
        told.lost.append({"seq": wanted.seq, "path": wanted.path, "hash": wanted.hash})
        return
    rows = catalog.by_id(ws.database, head.record_id)
    path = rows[0].path if rows else head.path
    there = present(ws, path)
    if len(rows) > 1 or (not rows and there is not None):
        why = "several files carry its id" if rows else "another file has its place"
        told.kept.append(item(ws, head) | {"why": why})
        return
    revision = head.revision + 1
    try:
        again = edit(parse(content), {"revision": revision, "updated_at": ws.now()})
    except FrontMatterError:
        told.kept.append(item(ws, head) | {"why": "its earlier file cannot be read"})
        return
    told.changes.append(
        Change(
            path, there, again, head.record_id, head.kind, revision, wanted.lifecycle,
            head.partition,
        )
    )  # fmt: skip
    told.rolled_back.append(item(ws, head))


def present(ws: Workspace, path: str) -> bytes | None:
    """Return the bytes at a path, or None; something that is no plain file counts as empty."""
    try:
        return files.read(ws.vault.root, path, sources.MAX_SOURCE_BYTES)
    except UnsafePath:
        return b""


def _kept(
    ws: Workspace, later: dict[str, Revision], then: dict[str, Revision], to_seq: int
) -> dict[str, str]:
    """Return the records that stay as they stand although they changed, each with the reason."""
    kept: dict[str, str] = {}

    def keep(ids: Iterable[str], why: str) -> None:
        for record_id in later.keys() & ids:
            kept.setdefault(record_id, why)

    for record_id in later.keys() & then.keys():
        before, after = then[record_id].lifecycle, later[record_id].lifecycle
        if after != ACTIVE:
            keep([record_id], f"it is {after}, which stays so")
        elif before != ACTIVE:
            keep([record_id], f"it was {before} then, and is active again")
    keep(rebuilds.edited_since(ws.database, to_seq), "a person has edited it since")
    keep(conflicts.blocked(ws.database), "a conflict of it waits for a person")
    merged = rebuilds.merged_since(ws.database, to_seq)
    merged += [(survivor, absorbed) for absorbed, survivor in merged]
    known = then.keys() & {record_id for record_id, _ in merged}
    keep(known | _reached(known, merged), "it was part of a merge since")
    replacements = _reached(then, rebuilds.superseded(ws.database)) - then.keys()
    keep(replacements, "it replaces a record that stays superseded")
    return kept


def _reached(start: Collection[str], pairs: Sequence[tuple[str, str]]) -> set[str]:
    """Return what pairs lead to, step by step."""
    following: dict[str, list[str]] = {}
    for first, second in pairs:
        following.setdefault(first, []).append(second)
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        for record_id in following.get(waiting.pop(), ()):
            if record_id not in reached:
                reached.add(record_id)
                waiting.append(record_id)
    return reached


def _needed(ws: Workspace, going: Collection[str], staying: Collection[str]) -> dict[str, str]:
    """Return what would go and something that stays as it is stands on."""
    pairs = graph_rows.standing_on(ws.database, going)
    needed = _reached(staying, [pair for pair in pairs if pair[0] in staying or pair[0] in going])
    return dict.fromkeys(needed, "a record that stays stands on it")


def _leave_out(ws: Workspace, head: Revision, told: Bounded) -> None:
    """Take a record's file out of the working tree; no guard, so that it can come back."""
    rows = catalog.by_id(ws.database, head.record_id)
    for row in rows:
        content = present(ws, row.path)
        if content is None:
            continue
        told.changes.append(
            Change(row.path, content, None, head.record_id, head.kind, partition=head.partition)
        )
    if rows:
        told.left_out.append(item(ws, head))


def _leave_sources_out(
    ws: Workspace, group: str, to_seq: int, staying: Collection[str], told: Bounded
) -> None:
    """Take out the sources that were retained since, unless a record that stays cites them."""
    appeared = rebuilds.appeared_since(ws.database, sources.folder(group, ""), to_seq)
    found = [
        source
        for source in episodes.every(ws.database, episodes.Wanted(groups=[group]))
        if f"{sources.folder(group, source.sha256)}/{sources.DESCRIPTOR}" in appeared
    ]
    citing = graph_rows.citing(ws.database, {source.id for source in found})
    cited = {
        citation["source"]
        for each in citing
        if each.row.id in staying
        for citation in each.stated.get("evidence", ())
    }
    for source in found:
        if source.id not in cited:
            told.changes += removals(ws, source)
            told.sources.append(source.id)


def item(ws: Workspace, head: Revision) -> dict[str, Any]:
    """Return what is told of a record."""
    rows = catalog.by_id(ws.database, head.record_id)
    name = rows[0].title if rows else head.path
    return {"uuid": head.record_id, "kind": head.kind, "name": name}
