"""Recording claims and relationships, each with the source that it comes from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vault_kg.errors import ReservedEdgeType
from vault_kg.index.pending import Pending
from vault_kg.operations import checks, drafts, targets
from vault_kg.operations.base import (
    Evidence,
    Id,
    Ids,
    Line,
    Lines,
    Name,
    Partition,
    Receipt,
    Said,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.drafts import Draft
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import Value
from vault_kg.records.ontology import snake_case
from vault_kg.records.yaml_scalars import Instant
from vault_kg.store.plan import Plan

Origin = Literal["user", "agent", "source", "inference"]
Confidence = Field(None, ge=0, le=1, description="From 0 to 1.")


class Common(Write):
    """What claims and relationships have in common."""

    evidence: Evidence = Field(min_length=1, description="At least one citation.")
    title: Line | None = None
    confidence: float | None = Confidence
    origin: Origin = "agent"
    valid_from: Line | None = None
    valid_until: Line | None = None
    dependencies: Ids | None = None
    tags: Lines | None = None
    partition: Partition | None = None
    expected_ontology_fingerprint: Line | None = None


class SaveClaim(Common):
    """Record one statement about a page."""

    claim_kind: Name = Field(description="fact, preference, decision, … from knowledge_ontology.")
    statement: Said
    owner: Id = Field(description="The page that it is about.")
    entities: Ids | None = Field(None, description="Other pages that it names.")
    expires_at: Line | None = None


class SaveRelationship(Common):
    """Record one relationship between two pages."""

    type: Name | None = Field(None, description="From knowledge_ontology.")
    from_: Id = Field(alias="from")
    to: Id
    fact: Said = Field(description="The relationship as one sentence.")


@operation("write", Receipt)
def knowledge_save_claim(ws: Workspace, request: SaveClaim, caller: Caller) -> Receipt:
    """Record one statement about a page, with the retained source that it comes from.

    It never replaces another claim; to replace one, use knowledge_correct.
    """

    def plan() -> Plan:
        return drafts.created(draft_claim(ws, request, caller))

    return ws.write(caller, "knowledge_save_claim", request, plan)


@operation("write", Receipt)
def knowledge_save_relationship(
    ws: Workspace, request: SaveRelationship, caller: Caller
) -> Receipt:
    """Record one relationship between two pages, with the retained source that it comes from.

    Several may join the same pages.
    """

    def plan() -> Plan:
        return drafts.created(draft_relationship(ws, request, caller))

    return ws.write(caller, "knowledge_save_relationship", request, plan)


def draft_claim(
    ws: Workspace, request: SaveClaim, caller: Caller, pending: Pending | None = None
) -> Draft:
    """Return the file of a new claim; it may refer to what the same plan creates."""
    pending = pending or Pending()
    checks.check_references(ws, caller, "owner", [request.owner], pending=pending)
    checks.check_references(ws, caller, "entities", request.entities, pending=pending)
    checks.check_references(ws, caller, "dependencies", request.dependencies, pending=pending)
    owner = pending.records.get(request.owner) or targets.known(ws, caller, request.owner)
    partition = checks.partition_to_write(request.partition or owner.partition, caller)
    checks.check_ontology(ws, partition, request.expected_ontology_fingerprint)
    declared = ws.ontology(partition).claim_kind(request.claim_kind)
    record_id = drafts.new_record_id(ws, "claim")
    values: dict[str, Value] = {
        "title": _title(request.title, request.statement, record_id),
        "claim_kind": declared.name if declared else snake_case(request.claim_kind),
        "owner": request.owner,
        "entities": list(request.entities or []),
        "expires_at": _date(request.expires_at),
        **_common(request),
    }
    folder = f"claims/{drafts.folder_stem(owner.path, request.owner)}"
    change = drafts.create(
        ws, partition, "claim", record_id, folder, values, request.statement, pending
    )
    return change, drafts.validate(ws, caller, change, pending=pending)


def draft_relationship(
    ws: Workspace, request: SaveRelationship, caller: Caller, pending: Pending | None = None
) -> Draft:
    """Return the file of a new relationship; it may refer to what the same plan creates."""
    pending = pending or Pending()
    checks.check_references(ws, caller, "from", [request.from_], pending=pending)
    checks.check_references(ws, caller, "to", [request.to], pending=pending)
    checks.check_references(ws, caller, "dependencies", request.dependencies, pending=pending)
    source = pending.records.get(request.from_) or targets.known(ws, caller, request.from_)
    partition = checks.partition_to_write(request.partition or source.partition, caller)
    checks.check_ontology(ws, partition, request.expected_ontology_fingerprint)
    declared = ws.ontology(partition).relationship_type(request.type) if request.type else None
    if declared is not None and declared.reserved:
        raise ReservedEdgeType(
            f"{declared.name} is written by the extractor only, from links and structured fields; use "
            "another type that knowledge_ontology lists, such as relates_to",
            type=declared.name,
        )
    name = declared.name if declared else snake_case(request.type) if request.type else None
    record_id = drafts.new_record_id(ws, "relationship")
    values: dict[str, Value] = {
        "title": _title(request.title, request.fact, record_id),
        "type": name,
        "from": request.from_,
        "to": request.to,
        **_common(request),
    }
    folder = f"relationships/{(name or 'untyped').replace('_', '-')}"
    change = drafts.create(
        ws, partition, "relationship", record_id, folder, values, request.fact, pending
    )
    return change, drafts.validate(ws, caller, change, pending=pending)


def _common(request: Common) -> dict[str, Value]:
    return {
        "origin": request.origin,
        "confidence": request.confidence,
        "valid_from": _date(request.valid_from),
        "valid_until": _date(request.valid_until),
        "dependencies": list(request.dependencies or []),
        "tags": list(request.tags or []),
        "evidence": drafts.evidence_values(request.evidence),
    }


def _date(text: str | None) -> Instant | None:
    return Instant(text) if text is not None else None


def _title(given: str | None, text: str, record_id: str) -> str:
    return (
        given.strip() if given and names.is_visible(given) else drafts.title_from(text, record_id)
    )
