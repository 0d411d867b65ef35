"""kg_rename_node: a page's file gets another name, and everything that names the page stays with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index import nodes
from vault_kg.index.nodes import Node
from vault_kg.index.parsed import partition_of
from vault_kg.maintain import (
    finding,
    following,
    guarding,
    levels,
    nudges,
    places,
    renaming,
    sessions,
    tending,
    writing,
)
from vault_kg.maintain import request as wire
from vault_kg.maintain.following import Following
from vault_kg.maintain.renaming import Links, Moved
from vault_kg.maintain.sessions import Session
from vault_kg.operations import checks, drafts
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names, slugs
from vault_kg.records.frontmatter import Remove, Value, edit
from vault_kg.state import kg_sessions, tiers, usage
from vault_kg.store.plan import Change, Plan

RENAME = "kg_rename_node"
MAX_NAMED = 20


class RenameNode(wire.Ask):
    """The node and its new id."""

    session_id: wire.SessionId = wire.SESSION
    old_id: wire.NodeId
    new_id: wire.NodeId = Field(description="Three to five words that name the subject, no date.")
    level: wire.Level | None = None


class _Rename(wire.Change):
    """A rename as the journal keeps what was asked."""

    old_id: str
    new_id: str


class Renamed(wire.Told):
    """What the rename carried."""

    id: str
    record: str
    level: str
    revision: int
    edges: int = Field(description="Edges that name the node, in all levels that the caller sees.")
    links_carried: int
    links_left: list[str] = Field(
        description="Links by the old path that stay, in notes and statements, as file: target."
    )
    warnings: list[str] = Field(default_factory=list)


@dataclass
class _Done:
    """A rename as it was planned."""

    found: Node
    links: Links
    following: Following
    whole: bool
    edges: int


@operation("write", Renamed, toolset=wire.TOOLSET)
def kg_rename_node(ws: Workspace, request: RenameNode, caller: Caller) -> Renamed:
    """Give a node another id; edges, endorsements, history and links stay with it, in every level.

    Titles and files that were made of the old id follow it, and links by path in pages.
    Refused where the new id is taken, or where an edge or link would come to mean another node. The
    node must have been read as it stands.
    """
    session = sessions.resume(ws, caller, request.session_id)
    within = [session.partition(request.level)] if request.level is not None else None
    done: list[_Done] = []

    def plan(_request_id: str) -> Plan | None:
        found = finding.node(session, request.old_id, within)
        if found.name == request.new_id:
            raise InvalidArgument(f"{found.name} has that id already", field="new_id")
        target = checks.editable(ws, caller, found.id, ("page",))
        known = kg_sessions.seen(ws.database, session.id, found.id)
        guarding.check_node(session, found, target, whole=False)
        _check_name(session, found, request.new_id)
        moved = _moved(target, request.new_id)
        links = renaming.foresee(ws, moved)
        _check_links(session, links, request.new_id)
        beside = nodes.edges_at(ws.database, [found.id])
        shown = sum(caller.sees(edge.partition) for edge in beside)
        leads_there = partial(renaming.leads_there, ws, moved)
        follows = following.of_links(ws, caller, moved, target, links.broken, leads_there)
        follows.changes += following.of_edges(ws, caller, moved, beside)
        done[:] = [_Done(found, links, follows, bool(known and known.full), shown)]
        return _plan(ws, target, moved, links, follows)

    writing.carry_out(session, RENAME, _Rename(old_id=request.old_id, new_id=request.new_id), plan)
    return _finish(session, request.new_id, done[0])


def _check_name(session: Session, found: Node, name: str) -> None:
    places.check_new_id(name)
    taken = nodes.named(session.ws.database, found.partition, names.file_key(name))
    others = [one for one in taken if one.id != found.id]
    if others:
        raise InvalidArgument(
            f"{name!r} is a node of {levels.level_of(found.partition)} already "
            f"({others[0].gist[:100]}); merge the two, or choose another id",
            field="new_id",
            id=others[0].id,
        )
    places.check_no_capture(session, found.partition, name, found.id)


def _check_links(session: Session, links: Links, name: str) -> None:
    """Refuse a rename that makes links of files that the caller sees mean another page."""
    captured = [one for one in links.captured if session.caller.sees(partition_of(one[0]))]
    if captured:
        said = [f"[[{target}]] in {path}" for path, target in captured]
        raise InvalidArgument(
            f"{name!r} would change what {len(said)} link(s) mean: {'; '.join(said[:5])}. Choose "
            "another id",
            captured=said,
        )


def _moved(target: Target, name: str) -> Moved:
    row = target.row
    folder, _, file = row.path.rpartition("/")
    old = file.removesuffix(".md")
    title = target.record.title
    derived = title == slugs.title_of(old)
    return Moved(
        row.id, row.partition, row.path, f"{folder}/{name}.md", title,
        slugs.title_of(name) if derived else title, target.record.aliases, old,
    )  # fmt: skip


def _plan(ws: Workspace, target: Target, moved: Moved, links: Links, follows: Following) -> Plan:
    """Return the plan that takes the file from its old path to the new one, as its next revision."""
    revision = target.head.revision + 1
    changes: dict[str, Value | Remove] = {
        "id": moved.id, "revision": revision, "updated_at": ws.now(), "title": moved.new_title,
    }  # fmt: skip
    if links.aliases:
        changes["aliases"] = [*moved.aliases, *links.aliases]
    content = edit(target.document, changes)
    if follows.own_body is not None:
        head = len(content) - len(target.document.body.encode())
        content = content[:head] + follows.own_body.encode()
    folder, _, file = moved.new_path.rpartition("/")
    only_case = names.file_key(file) == names.file_key(moved.path.rpartition("/")[2])
    room = places.Room() if only_case else places.make_room(ws, folder, file.removesuffix(".md"))
    there = Change(
        moved.new_path, room.before, content, moved.id, "page", revision, target.head.lifecycle,
        moved.partition,
    )  # fmt: skip
    gone = Change(moved.path, target.content, None, partition=moved.partition)
    receipt = drafts.receipt_of(there, reason=f"renamed from {moved.old_name}")
    return Plan(
        moved.partition, receipt, (*room.changes, gone, there, *follows.changes), moved.new_title,
        moves=room.moves, reason=f"renamed from {moved.old_name}",
    )  # fmt: skip


def _finish(session: Session, name: str, done: _Done) -> Renamed:
    ws, db, before = session.ws, session.ws.database, done.found
    now = nodes.of_ids(db, [before.id])[before.id]
    keys = (names.file_key(before.slug), names.file_key(name))
    tiers.renamed(db, before.partition, keys, before.id, ws.now())
    kg_sessions.saw(db, session.id, {now.id: now.revision}, full=done.whole, via="write")
    _see_what_followed(session, done.following)
    at = tending.written_at(before, usage.use_of(db, before.id))
    usage.written_quietly(db, now.id, at, now.revision)  # a name is no use of what it names
    session.used(before.partition)
    broken = [
        f"{path}: {target}"
        for path, target in done.links.broken
        if session.caller.sees(partition_of(path))
        and (path, target) not in done.following.rewritten
    ]
    links = [*done.links.carried, *done.following.rewritten]
    carried = sum(session.caller.sees(partition_of(path)) for path, _ in links)
    level = levels.level_of(before.partition)
    warnings = nudges.of(session, now, created=False)
    lines = [
        f"Renamed {before.name} → {now.name} [{level}]; {done.edges} edge(s) and {carried} link(s) "
        "carried.",
        *(f"NOTE: {warning}." for warning in warnings),
    ]
    if broken:
        shown = "; ".join(broken[:MAX_NAMED])
        lines.append(f"NOTE: {len(broken)} link(s) by the old path could not be carried: {shown}")
    return Renamed(
        id=now.name, record=now.id, level=level, revision=now.revision, edges=done.edges,
        links_carried=carried, links_left=broken[:MAX_NAMED], warnings=warnings,
        text=writing.said(session, *lines),
    )  # fmt: skip


def _see_what_followed(session: Session, follows: Following) -> None:
    """Count as read what had been read and changed only by the new id; no use of a page is made."""
    db = session.ws.database
    for record_id, revision in follows.revisions().items():
        known = kg_sessions.seen(db, session.id, record_id)
        if known is not None and known.revision == revision - 1:
            kg_sessions.saw(db, session.id, {record_id: revision}, full=known.full, via=known.via)
        if record_id in follows.written:
            usage.written_quietly(db, record_id, follows.written[record_id], revision)
