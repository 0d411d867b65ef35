"""kg_put_edge and kg_delete_edge: relationships, each with the request that stated it as evidence."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index import catalog, nodes
from vault_kg.index.nodes import Node
from vault_kg.maintain import (
    finding,
    guarding,
    levels,
    naming,
    notes,
    sessions,
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
    Relation,
    SessionId,
    Told,
)
from vault_kg.maintain.sessions import Session
from vault_kg.operations import checks, drafts, targets, withdrawing
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import assertions, edges
from vault_kg.operations.graph import writing as evidence
from vault_kg.operations.graph.edges import End
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology import snake_case
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import kg_sessions, tiers, usage
from vault_kg.store.plan import Plan

PUT, DELETE = "kg_put_edge", "kg_delete_edge"
INSTANCE_OF = "instance_of"
_KEY = "edge"


class PutEdge(Ask):
    """An edge as it shall be."""

    session_id: SessionId = SESSION
    level: Level = Field(description="Where it lies; an edge of a project may join user nodes.")
    from_: NodeId = Field(alias="from")
    to: NodeId
    rel: Relation = Field(description="What joins them, like instance-of.")
    notes: Notes | None = Field(None, description="All of them; left out they stay.")


class DeleteEdge(Ask):
    """The edge to delete."""

    session_id: SessionId = SESSION
    from_: NodeId = Field(alias="from")
    to: NodeId
    rel: Relation


class _Stated(Change):
    """An edge as it was stated; kept as its evidence."""

    from_: str = Field(alias="from")
    to: str
    rel: str
    notes: list[str] | None = None


class Joined(Told):
    """The edge that was written."""

    from_: str = Field(serialization_alias="from")
    to: str
    rel: str
    level: str
    record: str
    created: bool
    changed: bool


class Parted(Told):
    """Whether there was such an edge."""

    state: Literal["deleted", "not found"]
    level: str | None = None


class _Place(NamedTuple):
    """An edge that is meant: its level and its ends."""

    partition: str
    source: Node
    target: Node


@operation("write", Joined, toolset=TOOLSET)
def kg_put_edge(ws: Workspace, request: PutEdge, caller: Caller) -> Joined:
    """Join two nodes, or bring an edge up to date; identity is (from, to, rel).

    Ends are found in the level itself, then, for a project, in the user's level. Files go into a
    node's touches.
    """
    session = sessions.resume(ws, caller, request.session_id)
    partition = session.partition(request.level)
    for end in (request.from_, request.to):
        if "/" in end or end.startswith("~"):
            raise InvalidArgument(
                f"{end!r} is a path; an edge joins two nodes. Add the path to the node's touches "
                "with kg_put_node",
                field="from" if end == request.from_ else "to",
            )
    given = {"notes": notes.cleaned(request.notes)} if request.notes is not None else {}
    stated = _Stated(from_=request.from_, to=request.to, rel=request.rel, **given)
    joining = _Joining(session, partition, stated)
    receipt = writing.carry_out(session, PUT, stated, joining.plan)
    return joining.finish(changed=receipt is not None)


@operation("write", Parted, toolset=TOOLSET, destructive=True)
def kg_delete_edge(ws: Workspace, request: DeleteEdge, caller: Caller) -> Parted:
    """Withdraw one edge, named by its ends and relation; says deleted or not found."""
    session = sessions.resume(ws, caller, request.session_id)
    change = _Stated(from_=request.from_, to=request.to, rel=request.rel)
    gone: list[_Place] = []

    def plan(request_id: str) -> Plan | None:
        for place in _places(session, request.from_, request.to):
            standing = _standing(ws, place, request.rel)
            if standing is not None:
                target = targets.load(ws, caller, standing)
                reason = f"deleted as edge {request.from_} → {request.rel} → {request.to}"
                made, guard = withdrawing.withdrawal(ws, caller, target, reason, request_id)
                gone[:] = [place]
                receipt = drafts.receipt_of(made, reason=reason)
                return Plan(
                    place.partition, receipt, (made,), target.row.title, (guard,), reason=reason
                )
        return None

    writing.carry_out(session, DELETE, change, plan)
    said = f"{request.from_} → {request.rel} → {request.to}"
    if not gone:
        return Parted(state="not found", text=writing.said(session, f"not found: {said}"))
    level = levels.level_of(gone[0].partition)
    session.used(gone[0].partition)
    return Parted(
        state="deleted", level=level, text=writing.said(session, f"deleted: {said} [{level}]")
    )


class _Joining:
    """One kg_put_edge under way."""

    def __init__(self, session: Session, partition: str, stated: _Stated) -> None:
        self._session, self._partition, self._stated = session, partition, stated
        self._place: _Place | None = None
        self._record = ""
        self._created = False

    def plan(self, _request_id: str) -> Plan | None:
        """Say what will be done, under the lane."""
        ws, caller, stated = self._session.ws, self._session.caller, self._stated
        within = _within(self._session, self._partition)
        source = finding.node(self._session, stated.from_, within)
        target = finding.node(self._session, stated.to, within)
        if source.id == target.id:
            raise InvalidArgument(f"{source.name} cannot be joined to itself", field="to")
        self._place = _Place(self._partition, source, target)
        checks.partition_to_write(self._partition, caller)
        checks.check_ontology(ws, self._partition, None)
        kept = evidence.retained(ws, caller, self._partition, PUT, stated)
        standing = _standing(ws, self._place, stated.rel)
        fact = edges.sentence(_end(source), stated.rel, _end(target))
        if standing is None:
            change = edges.draft(
                ws, self._partition, (_end(source), _end(target)), stated.rel,
                _with_notes(f"\n{fact}\n", stated.notes).strip("\n"),
                relation_type=_type(ws, self._place, stated.rel), valid_at=None, attributes=None,
                evidence=[kept.citation],
            )  # fmt: skip
            self._created, self._record = True, str(change.record_id)
            return assertions.created(ws, caller, change, kept, _KEY, {})
        self._record = standing
        edge = targets.load(ws, caller, standing)
        if stated.notes is None:
            return None
        body = _with_notes(edge.document.body, stated.notes, edge.document.newline)
        if body == edge.document.body:
            return None
        if notes.read(edge.record.body):
            guarding.check_edge(self._session, standing, edge, edge.record.body.strip())
        return assertions.revised(ws, caller, edge, {}, body, kept, _KEY, {})

    def finish(self, *, changed: bool) -> Joined:
        """Note what the write was, and say it."""
        ws, session = self._session.ws, self._session
        assert self._place is not None, "the plan was made"
        _, source, target = self._place
        if changed:
            revisions = nodes.revisions_of(ws.database, [self._record])
            kg_sessions.saw(ws.database, session.id, revisions, full=True, via="write")
            _bring_back(session, (source, target))
            if self._created and snake_case(self._stated.rel) == INSTANCE_OF:
                _credit_recurrence(session, source, target)
            session.used(self._partition)
        names = [naming.called(ws, end, self._partition) for end in (source, target)]
        level = levels.level_of(self._partition)
        verb = "Created" if self._created else "Updated" if changed else "Unchanged:"
        text = f"{verb} {names[0]} → {self._stated.rel} → {names[1]} [{level}]."
        return Joined(
            from_=names[0], to=names[1], rel=self._stated.rel, level=level, record=self._record,
            created=self._created, changed=changed, text=writing.said(session, text),
        )  # fmt: skip


def _within(session: Session, partition: str) -> list[str]:
    """Return where the ends of an edge of a level are looked for."""
    joins_user = partition.startswith(levels.PROJECT_PREFIX) and session.caller.sees(levels.USER)
    return [partition, levels.USER] if joins_user else [partition]


def _places(session: Session, source: str, target: str) -> list[_Place]:
    """Return what an edge named by its ends may mean, in each level."""
    searched = [*reversed(session.levels)]
    if session.caller.sees(levels.MAINTAIN):
        searched.append(levels.MAINTAIN)
    found = []
    for partition in searched:
        within = _within(session, partition)
        ends = [finding.maybe(session, name, within) for name in (source, target)]
        if ends[0] is not None and ends[1] is not None:
            found.append(_Place(partition, ends[0], ends[1]))
    return found


def _standing(ws: Workspace, place: _Place, rel: str) -> str | None:
    return edges.standing(ws, place.partition, place.source.id, rel, place.target.id, None)


def _end(node: Node) -> End:
    return End(node.id, node.name)


def _with_notes(body: str, given: list[str] | None, newline: str = "\n") -> str:
    return body if given is None else notes.replaced(body, given, newline)


def _type(ws: Workspace, place: _Place, rel: str) -> str | None:
    """Return the declared type of a relation, where its ends may have it; else it is a name only."""
    ontology = ws.ontology(place.partition)
    declared = ontology.relationship_type(rel)
    if declared is None or declared.reserved:
        return rel if declared is not None else None
    types = [_page_type(ws, end.id) for end in (place.source, place.target)]
    return None if ontology.allows_endpoints(declared.name, *types) else declared.name


def _page_type(ws: Workspace, record_id: str) -> str:
    found = catalog.kind_and_type(ws.database, record_id)
    return (found[1] if found else None) or ROOT_TYPE


def _bring_back(session: Session, ends: tuple[Node, Node]) -> None:
    """Bring archived ends back into view, and lost ones among the archived: an edge vouches for them."""
    archived = [end for end in ends if end.tier == tiers.ARCHIVED]
    tending.promote(session.ws, archived)
    for end in ends:
        tending.rescue(session.ws, end)


def _credit_recurrence(session: Session, case: Node, lesson: Node) -> None:
    """Endorse a lesson for a case that is younger than it, once, at the time of the case."""
    db = session.ws.database
    is_younger = case.recorded_at > lesson.recorded_at
    if is_younger and not usage.has_credit(db, lesson.id, "recurrence", case.id):
        usage.credit(
            db, usage.Credit(lesson.id, session.id, "recurrence", 1, case.id, case.recorded_at)
        )
