"""Direct assertion of an entity, with the request itself as its evidence.

What is asserted is found by its identity and brought to what the request says; what equals what
stands changes nothing. What the request leaves out stays, null clears, and attributes that are sent
replace those that stand.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vault_kg.errors import Ambiguous, InvalidArgument, LifecycleRefused
from vault_kg.index.catalog import Row
from vault_kg.index.pending import Pending
from vault_kg.operations import base, checks, drafts, namesakes
from vault_kg.operations.base import Id, Lines, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, writing
from vault_kg.operations.graph.request import EntityName, GraphWrite, GroupId, Kind, Written
from vault_kg.operations.graph.writing import Evidence
from vault_kg.operations.registry import operation
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import REMOVE, Remove, Value
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Change, Plan

ENTITY = "knowledge_assert_entity"


class AssertEntity(GraphWrite):
    """An entity that the caller knows of."""

    name: EntityName
    kind: Kind | None = Field(None, description="Part of the identity; Entity where left out.")
    entity_uuid: Id | None = Field(
        None, description="Exactly this entity of the group; another name renames it."
    )
    group_id: GroupId = DEFAULT_PARTITION
    labels: Lines | None = Field(
        None, description="Kept as tags, but for the kind and what it inherits from."
    )
    summary: Text | None = Field(None, description="One headline; null clears it.")
    attributes: base.Mapping | None = Field(
        None, description="Replace those that stand; null clears them."
    )


class EntityAsserted(Written):
    """Which entity it is now."""

    entity_uuid: str
    created: bool
    kind: str
    embedding_warning: str | None = None


@operation("write", EntityAsserted, toolset="graph")
def knowledge_assert_entity(ws: Workspace, request: AssertEntity, caller: Caller) -> EntityAsserted:
    """Record one entity, or bring it up to date; identity is (group, kind, name).

    The name of a merged entity means what it was merged into. What equals what stands changes
    nothing. What is left out stays, null clears.
    """
    result = writing.carry_out(
        ws, caller, ENTITY, request, lambda: _plan_entity(ws, request, caller)
    )
    return EntityAsserted(**result, embedding_warning=ws.semantics.missing())


def _plan_entity(ws: Workspace, request: AssertEntity, caller: Caller) -> Plan:
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    kind = finding.kind_to_write(ws, group, request.kind)
    evidence = writing.retained(ws, caller, group, ENTITY, request)
    row = _standing_entity(ws, request, caller, group, kind)
    if row is None:
        return _new_entity(ws, request, caller, group, kind, evidence)
    target = checks.editable(ws, caller, row.id, ("page",))
    changes = _entity_changes(ws, request, target)
    extra = {"kind": finding.kind_of(target.row)}
    return revised(ws, caller, target, changes, None, evidence, "entity_uuid", extra)


def _standing_entity(
    ws: Workspace, request: AssertEntity, caller: Caller, group: str, kind: str
) -> Row | None:
    """Return the page that an assertion is of, or None where it is new."""
    if request.entity_uuid is not None:
        return _by_uuid(ws, request, caller, group, kind)
    rows = finding.titled(ws, group, request.name, kind)
    if len(rows) > 1:
        raise finding.ambiguous(request.name, group, rows)
    if rows:
        return rows[0]
    absorbed = finding.absorbed_named(ws, group, request.name, kind)
    return _active(ws, caller, absorbed[0]) if absorbed else None


def _by_uuid(ws: Workspace, request: AssertEntity, caller: Caller, group: str, kind: str) -> Row:
    row = _active(ws, caller, finding.entity(ws, caller, str(request.entity_uuid), group))
    if request.kind is not None and kind != finding.kind_of(row):
        raise InvalidArgument(
            f"{row.id} is a {finding.kind_of(row)}, not a {kind}; a kind does not change",
            uuid=row.id,
            kind=finding.kind_of(row),
        )
    same = finding.titled(ws, group, request.name, finding.kind_of(row))
    others = [other for other in same if other.id != row.id]
    if request.name != row.title and others:
        raise Ambiguous(
            f"{others[0].id} is called {request.name!r} already; merge them, or give another name",
            reason="name_taken",
            name=request.name,
            group_id=group,
            candidates=[{"uuid": other.id, "kind": finding.kind_of(other)} for other in others],
        )
    return row


def _active(ws: Workspace, caller: Caller, row: Row) -> Row:
    """Return what a page means now, merges followed.

    Raises:
        LifecycleRefused: nothing active stands for it.
    """
    final = finding.final(ws, row.id)
    if final is None:
        raise LifecycleRefused(
            f"{row.id} is merged in a circle or too long a chain; diagnostics names it", uuid=row.id
        )
    found = finding.entity(ws, caller, final)
    if found.lifecycle != "active":
        raise LifecycleRefused(
            f"{final} is {found.lifecycle} and stays so; assert a new entity without the uuid",
            uuid=final,
            lifecycle=found.lifecycle,
        )
    return found


def _new_entity(
    ws: Workspace, request: AssertEntity, caller: Caller, group: str, kind: str, evidence: Evidence
) -> Plan:
    ontology = ws.ontology(group)
    fields, _ = ontology.check_fields(kind, request.attributes or {})
    record_id = drafts.new_record_id(ws, "page")
    values: dict[str, Value] = {
        "title": request.name,
        "type": kind,
        "summary": request.summary or None,
        "tags": list(_extra_labels(ws, request, group, kind)),
        "fields": fields,
        "evidence": [evidence.citation],
    }
    folder = ontology.folder(kind).strip("/")
    change = drafts.create(ws, group, "page", record_id, folder, values, "")
    return created(ws, caller, change, evidence, "entity_uuid", {"kind": kind})


def _entity_changes(
    ws: Workspace, request: AssertEntity, target: Target
) -> dict[str, Value | Remove]:
    sent, record = request.model_fields_set, target.record
    kind = finding.kind_of(target.row)
    changes: dict[str, Value | Remove] = {}
    if request.entity_uuid is not None and request.name != record.title:
        changes["title"] = request.name
    if "summary" in sent:
        changes["summary"] = request.summary or REMOVE
    if "attributes" in sent:
        ontology = ws.ontology(target.row.partition)
        fields, _ = ontology.check_fields(kind, request.attributes or {})
        changes["fields"] = fields or REMOVE
    known = {names.lookup_key(tag) for tag in record.tags}
    labels = _extra_labels(ws, request, target.row.partition, kind)
    added = [label for label in labels if names.lookup_key(label) not in known]
    if added:
        changes["tags"] = [*record.tags, *added]
    return changes


def _extra_labels(ws: Workspace, request: AssertEntity, group: str, kind: str) -> list[str]:
    """Return the labels that are neither the kind nor inherited by it."""
    known = {names.lookup_key(label) for label in (*ws.ontology(group).labels(kind), ROOT_TYPE)}
    given = {names.lookup_key(label): label.strip() for label in request.labels or ()}
    return [label for key, label in given.items() if key and key not in known]


def created(
    ws: Workspace,
    caller: Caller,
    change: Change,
    evidence: Evidence,
    key: str,
    extra: dict[str, Any],
) -> Plan:
    """Return the plan that makes a record with its evidence; its id is answered under `key`."""
    warnings = drafts.validate(ws, caller, change, pending=Pending(evidence.text))
    warnings += namesakes.withdrawn(ws, caller, change)
    result = {key: change.record_id, "created": True, "warnings": warnings, **extra}
    receipt = drafts.receipt_of(change, **writing.answer(result))
    changes = (*writing.retaining(ws, evidence), change)
    return Plan(change.partition, receipt, changes, drafts.label_of(change))


def revised(
    ws: Workspace,
    caller: Caller,
    target: Target,
    changes: dict[str, Value | Remove],
    body: str | None,
    evidence: Evidence,
    key: str,
    extra: dict[str, Any],
) -> Plan:
    """Return the plan that brings a record up to date, or that changes nothing."""
    result: dict[str, Any] = {key: target.row.id, "created": False, "warnings": [], **extra}
    if drafts.revise(ws, target, changes, body) is None:
        return Plan(
            target.row.partition,
            drafts.unchanged(target) | writing.answer(result, changed=False),
        )
    standing = [] if body is not None else [c.to_value() for c in target.record.evidence]
    cited = [c for c in standing if c != evidence.citation]
    changes = {**changes, "evidence": [*cited, evidence.citation]}
    change = drafts.revise(ws, target, changes, body)
    assert change is not None, "its evidence changes"
    result["warnings"] = drafts.validate(
        ws, caller, change, checks.standing_problems(ws, caller, target), Pending(evidence.text)
    )
    receipt = drafts.receipt_of(change, **writing.answer(result))
    made = (*writing.retaining(ws, evidence), change)
    return Plan(target.row.partition, receipt, made, target.row.title)
