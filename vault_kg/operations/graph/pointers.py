"""Edges between groups: each foreign end is named, and bound to what the name means."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from vault_kg.errors import InvalidArgument
from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.index.pending import Pending
from vault_kg.operations import base, checks, drafts, targets
from vault_kg.operations.base import Id, Line, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges, finding, pointing, writing
from vault_kg.operations.graph.edges import End
from vault_kg.operations.graph.pointing import NOWHERE, Bound, Pointer
from vault_kg.operations.graph.request import (
    EntityName,
    GraphRequest,
    GraphWrite,
    GroupId,
    Kind,
    Written,
)
from vault_kg.operations.graph.views import edge_name, pointers_shown
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Plan

ADD = "knowledge_add_cross_group_edge"


class Endpoint(GraphRequest):
    """An entity of the edge's own group by uuid, or one of another group by name."""

    uuid: Id | None = None
    source_group_id: Line | None = None
    endpoint_name: EntityName | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Endpoint:
        named = (self.source_group_id is not None, self.endpoint_name is not None)
        if (self.uuid is not None) == any(named) or any(named) != all(named):
            raise ValueError("give uuid, or source_group_id and endpoint_name")
        return self


class AddCrossGroupEdge(GraphWrite):
    """An edge of one group with an end in another one."""

    name: EntityName = Field(description="The predicate.")
    source: Endpoint
    target: Endpoint
    fact: Text = Field(min_length=1)
    source_kind: Kind | None = Field(None, description="Pins a named source to a kind.")
    target_kind: Kind | None = Field(None, description="Pins a named target to a kind.")
    group_id: GroupId = DEFAULT_PARTITION
    valid_at: Line | None = None
    relation_type: base.Name | None = None


class CrossGroupEdge(Written):
    """The edge, with where its pointers lead."""

    uuid: str
    created: bool
    name: str
    group_id: str
    source_node_uuid: str = Field(description="Empty where it is not bound.")
    target_node_uuid: str = Field(description="Empty where it is not bound.")
    fact: str
    cross_group_pointers: dict[str, Any]


@operation("write", CrossGroupEdge, toolset="graph")
def knowledge_add_cross_group_edge(
    ws: Workspace, request: AddCrossGroupEdge, caller: Caller
) -> CrossGroupEdge:
    """Record an edge of one group whose ends may lie in others, each foreign end by its name.

    A name that means nothing yet, or several entities, is kept unbound or ambiguous and never
    guessed: such an edge is in no read until knowledge_rebind_pointers finds the one it means.
    """
    result = writing.carry_out(ws, caller, ADD, request, lambda: _plan_add(ws, request, caller))
    return CrossGroupEdge(**result)


def _plan_add(ws: Workspace, request: AddCrossGroupEdge, caller: Caller) -> Plan:
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    source, src = _end(ws, caller, group, request.source, request.source_kind, "source")
    target, dst = _end(ws, caller, group, request.target, request.target_kind, "target")
    pointers = {end: b.stated for end, b in (("from", src), ("to", dst)) if b is not None}
    standing = _same_edge(ws, group, request, (source, target), pointers)
    if standing is not None:
        result = _told(ws, request, standing, (source, target)) | {"created": False}
        return writing.nothing(group, result)
    evidence = writing.retained(ws, caller, group, ADD, request)
    change = edges.draft(
        ws, group, (source, target), request.name, request.fact,
        relation_type=request.relation_type, valid_at=request.valid_at, attributes=None,
        evidence=[evidence.citation], pointers=pointers,
    )  # fmt: skip
    warnings = drafts.validate(ws, caller, change, pending=Pending(evidence.text))
    result = {
        "uuid": change.record_id, "created": True, "warnings": warnings,
        **_said(request, (source, target)),
        "cross_group_pointers": {
            side: _shown(b) for side, b in (("src", src), ("dst", dst)) if b is not None
        },
    }  # fmt: skip
    receipt = drafts.receipt_of(change, **writing.answer(result))
    return Plan(group, receipt, (*writing.retaining(ws, evidence), change), drafts.label_of(change))


def _end(
    ws: Workspace, caller: Caller, group: str, given: Endpoint, kind: str | None, side: str
) -> tuple[End, Bound | None]:
    """Return an end of a new edge, and its pointer where it is a foreign one."""
    if given.uuid is not None:
        if kind is not None:
            raise InvalidArgument(
                f"{side}_kind pins a name to a kind; the uuid says which entity it is",
                field=f"{side}_kind",
            )
        return _own_end(ws, caller, group, given.uuid, side), None
    foreign, name = str(given.source_group_id), str(given.endpoint_name)
    if foreign == group:
        raise InvalidArgument(
            f"{side}: {foreign!r} is the edge's own group; give the entity's uuid", field=side
        )
    finding.group_to_write(caller, foreign)
    bound = pointing.bind(ws, Pointer(foreign, name, kind))
    return bound.end, bound


def _own_end(ws: Workspace, caller: Caller, group: str, uuid: str, side: str) -> End:
    row = finding.entity(ws, caller, uuid)
    if row.partition != group:
        raise InvalidArgument(
            f"{side}: {uuid} is in the group {row.partition!r}, not in the edge's own {group!r}; "
            "name it by source_group_id and endpoint_name",
            field=side,
            group_id=row.partition,
        )
    final = finding.entity(ws, caller, finding.final(ws, uuid) or uuid)
    targets.check_reference(ws, caller, side, final.id)
    return End.of(final)


def _same_edge(
    ws: Workspace,
    group: str,
    request: AddCrossGroupEdge,
    ends: tuple[End, End],
    pointers: dict[str, dict[str, Any]],
) -> GraphRow | None:
    """Return the active edge that says the same already, bound or not."""
    wanted = Filter(ws.now(), kinds=("relationship",), partitions=[group], lifecycle="all")
    for each in graph_rows.every(ws.database, Narrow(wanted, pointing=bool(pointers))):
        same = (
            each.row.lifecycle == "active"
            and names.title_key(edge_name(each)) == names.title_key(request.name)
            and names.lookup_key(each.fact) == names.lookup_key(request.fact)
            and _ids(ws, each) == tuple(end.id for end in ends)
        )
        stated = each.stated.get("pointers", {})
        if same and all(_named(stated.get(end)) == _named(p) for end, p in pointers.items()):
            return each
    return None


def _ids(ws: Workspace, each: GraphRow) -> tuple[str | None, ...]:
    ends = (each.row.from_id, each.row.to_id)
    return tuple(finding.final(ws, end or "") for end in ends)


def _named(stated: Any) -> tuple[Any, ...]:
    values = stated if isinstance(stated, dict) else {}
    name = names.lookup_key(str(values.get("name", "")))
    return (values.get("group"), name, values.get("kind"))


def _said(request: AddCrossGroupEdge, ends: tuple[End, End]) -> dict[str, Any]:
    source, target = ("" if end.id == NOWHERE else end.id for end in ends)
    return {
        "name": request.name, "group_id": request.group_id, "source_node_uuid": source,
        "target_node_uuid": target, "fact": request.fact,
    }  # fmt: skip


def _told(
    ws: Workspace, request: AddCrossGroupEdge, standing: GraphRow, ends: tuple[End, End]
) -> dict[str, Any]:
    return {
        "uuid": standing.row.id,
        **_said(request, ends),
        "cross_group_pointers": pointers_shown(ws, standing),
    }


def _shown(bound: Bound) -> dict[str, Any]:
    return {
        "source_group_id": bound.pointer.group,
        "endpoint_name": bound.pointer.name,
        "endpoint_kind": bound.pointer.kind,
        "resolved_uuid": bound.end.id if bound.state == "bound" else None,
        "bound_at_seq": bound.seq,
        "binding_state": bound.state,
    }
