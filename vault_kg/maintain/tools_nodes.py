"""kg_put_node and kg_delete_node: a page made, changed, or withdrawn, in one request each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index import nodes
from vault_kg.index.nodes import Node
from vault_kg.maintain import (
    finding,
    guarding,
    levels,
    notes,
    nudges,
    places,
    sessions,
    survey,
    tending,
    writing,
)
from vault_kg.maintain.request import (
    SESSION,
    TOOLSET,
    Ask,
    Change,
    Level,
    NodeId,
    Notes,
    SessionId,
    Told,
)
from vault_kg.maintain.sessions import Session
from vault_kg.operations import checks, drafts, namesakes, targets, withdrawing
from vault_kg.operations.base import Lines, Receipt, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names, slugs
from vault_kg.records.frontmatter import REMOVE, Remove, Value
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import kg_sessions, tiers, usage
from vault_kg.store.plan import Plan

PUT, DELETE = "kg_put_node", "kg_delete_node"


class PutNode(Ask):
    """A node as it shall be."""

    session_id: SessionId = SESSION
    level: Level
    id: NodeId = Field(description="Three to five words that name the subject, no date.")
    gist: Text = Field(min_length=1, description="One headline, at most 300 characters.")
    notes: Notes | None = Field(None, description="All of them; left out they stay.")
    touches: Lines | None = Field(None, description="All paths; left out they stay.")


class _Put(Change):
    """A node as the journal keeps what was asked."""

    level: str
    id: str
    gist: str
    notes: list[str] | None = None
    touches: list[str] | None = None


class Placed(Told):
    """The node that was written."""

    id: str
    record: str
    created: bool
    changed: bool
    revision: int
    warnings: list[str] = Field(default_factory=list)


class DeleteNode(Ask):
    """The node to delete."""

    session_id: SessionId = SESSION
    id: NodeId


class _Delete(Change):
    """A deletion as the journal keeps what was asked."""

    id: str


class Deleted(Told):
    """What was deleted."""

    id: str
    record: str
    level: str
    edges_deleted: int


@operation("write", Placed, toolset=TOOLSET)
def kg_put_node(ws: Workspace, request: PutNode, caller: Caller) -> Placed:
    """Write a node: make it, or change the one that stands.

    A list that is left out stays, one that is sent replaces. A write over what this session has not
    read as it stands is refused with the node; merge and send again.
    """
    session = sessions.resume(ws, caller, request.session_id)
    putting = _Putting(session, request)
    receipt = writing.carry_out(session, PUT, putting.change, putting.plan)
    return putting.finish(receipt)


@operation("write", Deleted, toolset=TOOLSET, destructive=True)
def kg_delete_node(ws: Workspace, request: DeleteNode, caller: Caller) -> Deleted:
    """Withdraw a node and every edge at it; for what is wrong and cannot be mended.

    Its file and history stay. It must have been read in full as it stands.
    """
    session = sessions.resume(ws, caller, request.session_id)
    change = _Delete(id=request.id)
    gone: list[tuple[Node, int]] = []

    def plan(request_id: str) -> Plan:
        found = _anywhere(session, request.id)
        target = targets.load(ws, caller, found.id)
        guarding.check_node(session, found, target, whole=True)
        reason = f"deleted as node {found.name}"
        edges = [e for e in nodes.edges_at(ws.database, [found.id]) if caller.sees(e.partition)]
        loaded = [target, *(targets.load(ws, caller, edge.id) for edge in edges)]
        made = [withdrawing.withdrawal(ws, caller, one, reason, request_id) for one in loaded]
        gone[:] = [(found, len(edges))]
        receipt = drafts.receipt_of(made[0][0], reason=reason)
        return Plan(
            found.partition, receipt, tuple(change for change, _ in made), target.row.title,
            tuple(guard for _, guard in made), reason=reason,
        )  # fmt: skip

    writing.carry_out(session, DELETE, change, plan)
    found, edges = gone[0]
    text = f"Deleted {found.name} [{levels.level_of(found.partition)}] and {edges} edge(s) at it."
    return Deleted(
        id=found.name, record=found.id, level=levels.level_of(found.partition),
        edges_deleted=edges, text=writing.said(session, text),
    )  # fmt: skip


def _anywhere(session: Session, name: str) -> Node:
    """Return a node of any level, the memory of maintenance last."""
    searched = [*reversed(session.levels)]
    if session.caller.sees(levels.MAINTAIN):
        searched.append(levels.MAINTAIN)
    return finding.node(session, name, searched)


class _Putting:
    """One kg_put_node under way."""

    def __init__(self, session: Session, request: PutNode) -> None:
        self._session, self._request = session, request
        self._partition = session.partition(request.level)
        self._gist = slugs.one_line(request.gist)
        self._notes = None if request.notes is None else notes.cleaned(request.notes)
        if not self._gist:
            raise InvalidArgument("gist is empty; say in one line what the node is", field="gist")
        given: dict[str, Any] = {"level": request.level, "id": request.id, "gist": self._gist}
        lists = {"notes": self._notes, "touches": request.touches}
        self.change = _Put(**given, **{k: v for k, v in lists.items() if v is not None})
        self._before: Node | None = None
        self._withdrawn: list[str] = []
        self._whole = False
        self._longer = False

    def plan(self, _request_id: str) -> Plan | None:
        """Say what will be done, under the lane."""
        self._before = finding.maybe(self._session, self._request.id, [self._partition])
        return self._create() if self._before is None else self._revise(self._before)

    def _create(self) -> Plan:
        ws, session, request = self._session.ws, self._session, self._request
        places.check_new_id(request.id)
        places.check_no_capture(session, self._partition, request.id)
        checks.partition_to_write(self._partition, session.caller)
        checks.check_ontology(ws, self._partition, None)
        folder = f"{self._partition}/{ws.ontology(self._partition).folder(ROOT_TYPE).strip('/')}"
        room = places.make_room(ws, folder, request.id)
        values: dict[str, Value] = {
            "title": slugs.title_of(request.id), "type": ROOT_TYPE, "summary": self._gist,
            "touches": list(request.touches or []),
        }  # fmt: skip
        change = drafts.create(
            ws, self._partition, "page", drafts.new_record_id(ws, "page"),
            folder.partition("/")[2], values, "",
        )  # fmt: skip
        content = change.after or b""
        if self._notes:
            content += notes.replaced("", self._notes).encode()
        change = replace(
            change, path=f"{folder}/{request.id}.md", before=room.before, after=content
        )
        drafts.validate(ws, session.caller, change)
        self._withdrawn = namesakes.withdrawn(ws, session.caller, change)
        self._whole = True
        receipt = drafts.receipt_of(change)
        return Plan(
            self._partition, receipt, (*room.changes, change), str(values["title"]),
            moves=room.moves,
        )  # fmt: skip

    def _revise(self, found: Node) -> Plan | None:
        ws, session, request = self._session.ws, self._session, self._request
        target = checks.editable(ws, session.caller, found.id, ("page",))
        standing = notes.read(target.record.body)
        loses = (self._notes is not None and bool(standing)) or (
            request.touches is not None and bool(target.record.touches)
        )
        guarding.check_node(session, found, target, whole=loses)
        changes: dict[str, Value | Remove] = {"summary": self._gist}
        if request.touches is not None:
            changes["touches"] = list(request.touches) or REMOVE
        body = None
        if self._notes is not None:
            body = notes.replaced(target.document.body, self._notes, target.document.newline)
            self._longer = len(self._notes) > len(standing)
        known = kg_sessions.seen(ws.database, session.id, found.id)
        sent_all = self._notes is not None and request.touches is not None
        self._whole = sent_all or bool(known and known.full)
        change = drafts.revise(ws, target, changes, body)
        if change is None:
            return None
        drafts.validate(
            ws, session.caller, change, checks.standing_problems(ws, session.caller, target)
        )
        return Plan(self._partition, drafts.receipt_of(change), (change,), target.row.title)

    def finish(self, receipt: Receipt | None) -> Placed:
        """Note what the write was, and say it."""
        session = self._session
        now = finding.node(session, self._request.id, [self._partition])
        self._note_use(now, receipt)
        created = self._before is None
        warnings = [*self._withdrawn, *nudges.of(session, now, created=created)]
        verb = "Created" if created else "Updated" if receipt else "Unchanged:"
        level = levels.level_of(self._partition)
        text = f"{verb} {now.name} [{level}], revision {now.revision}."
        if self._before is not None and self._request.id not in (now.name, now.id):
            warnings = [f"{self._request.id} was renamed; the node is {now.name}", *warnings]
        lines = [f"NOTE: {warning}." for warning in warnings]
        return Placed(
            id=now.name, record=now.id, created=created, changed=receipt is not None,
            revision=now.revision, warnings=warnings, text=writing.said(session, text, *lines),
        )  # fmt: skip

    def _note_use(self, now: Node, receipt: Receipt | None) -> None:
        ws, session, before = self._session.ws, self._session, self._before
        if receipt is None:
            return
        db = ws.database
        kg_sessions.saw(db, session.id, {now.id: now.revision}, full=self._whole, via="write")
        if before is None or before.touches != now.touches:
            survey.check_touches_of(ws, now)
        if before is None:
            tiers.taken(db, self._partition, names.file_key(self._request.id))
        elif before.gist != now.gist:
            usage.rewritten(db, now.id, now.revision, ws.now())
        if session.maintenance:
            if before is not None:
                at = tending.written_at(before, usage.use_of(db, now.id))
                usage.written_quietly(db, now.id, at, now.revision)
            return
        session.used(self._partition)
        tending.promote(ws, [now])
        if self._longer and nudges.is_by_another(session, now):
            usage.credit(db, usage.Credit(now.id, session.id, "case", 1, "write", ws.now()))
