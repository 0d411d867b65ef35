"""Direct assertion of a fact between two entities, with the request itself as its evidence."""

from __future__ import annotations

from pydantic import Field

from vault_kg.errors import NotFound
from vault_kg.index.catalog import Row
from vault_kg.operations import base, checks, drafts, targets
from vault_kg.operations.base import Line, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges, finding, writing
from vault_kg.operations.graph.assertions import created, revised
from vault_kg.operations.graph.edges import End
from vault_kg.operations.graph.request import EntityName, GraphWrite, GroupId, Kind, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import REMOVE, Remove, Value
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Plan

RELATIONSHIP = "knowledge_assert_relationship"


class AssertRelationship(GraphWrite):
    """A fact that the caller knows of, between two entities of one group."""

    source_name: EntityName
    target_name: EntityName
    predicate: EntityName
    source_kind: Kind | None = None
    target_kind: Kind | None = None
    group_id: GroupId = DEFAULT_PARTITION
    fact: Text | None = Field(
        None, description="The fact as a sentence; made of the three names where it is new."
    )
    attributes: base.Mapping | None = Field(
        None, description="Replace those that stand; null clears them."
    )
    valid_at: Line | None = Field(None, description="Since when it holds; null clears it.")
    relation_type: base.Name | None = Field(
        None, description="From knowledge_ontology; null clears it."
    )


class RelationshipAsserted(Written):
    """Which edge it is now."""

    edge_uuid: str
    created: bool
    embedding_warning: str | None = None


@operation("write", RelationshipAsserted, toolset="graph")
def knowledge_assert_relationship(
    ws: Workspace, request: AssertRelationship, caller: Caller
) -> RelationshipAsserted:
    """Record one fact between two entities of a group; identity is (source, predicate, target).

    Both entities must exist: knowledge_assert_entity makes one, knowledge_add_cross_group_edge
    joins groups. What equals what stands changes nothing. What is left out stays, null clears.
    """
    result = writing.carry_out(
        ws, caller, RELATIONSHIP, request, lambda: _plan_edge(ws, request, caller)
    )
    return RelationshipAsserted(**result, embedding_warning=ws.semantics.missing())


def _plan_edge(ws: Workspace, request: AssertRelationship, caller: Caller) -> Plan:
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    source = _endpoint(ws, group, request.source_name, request.source_kind)
    target = _endpoint(ws, group, request.target_name, request.target_kind)
    evidence = writing.retained(ws, caller, group, RELATIONSHIP, request)
    standing = edges.standing(ws, group, source.id, request.predicate, target.id, request.fact)
    if standing is None:
        ends = (End.of(source), End.of(target))
        change = edges.draft(
            ws, group, ends, request.predicate,
            request.fact or edges.sentence(ends[0], request.predicate, ends[1]),
            relation_type=request.relation_type, valid_at=request.valid_at,
            attributes=request.attributes, evidence=[evidence.citation],
        )  # fmt: skip
        return created(ws, caller, change, evidence, "edge_uuid", {})
    edge = targets.load(ws, caller, standing)
    changes, body = _edge_changes(ws, request, edge)
    return revised(ws, caller, edge, changes, body, evidence, "edge_uuid", {})


def _endpoint(ws: Workspace, group: str, name: str, kind: str | None) -> Row:
    found = finding.one_entity(ws, group, name, kind)
    if found is None:
        of_kind = f" of the kind {kind}" if kind else ""
        raise NotFound(
            f"the group {group!r} has no entity {name!r}{of_kind}; assert it first with "
            "knowledge_assert_entity, or join groups with knowledge_add_cross_group_edge",
            name=name,
            group_id=group,
        )
    return found


def _edge_changes(
    ws: Workspace, request: AssertRelationship, edge: Target
) -> tuple[dict[str, Value | Remove], str | None]:
    sent = request.model_fields_set
    changes: dict[str, Value | Remove] = {}
    if "relation_type" in sent:
        name = edges.type_to_write(ws, edge.row.partition, request.relation_type)
        changes["type"] = name or REMOVE
        if edge.record.predicate is None and name != edge.row.type:
            changes["predicate"] = request.predicate
    if "valid_at" in sent:
        changes["valid_from"] = edges.instant(request.valid_at) or REMOVE
    if "attributes" in sent:
        changes["fields"] = edges.valued(request.attributes) or REMOVE
    body = drafts.new_body(edge.document, request.fact) if request.fact else None
    return changes, None if body == edge.document.body else body
