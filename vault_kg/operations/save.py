"""Creating and changing pages, claims and relationships."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import Field, model_validator

from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    ReservedEdgeType,
    StaleOntology,
)
from vault_kg.index import successors
from vault_kg.operations import drafts, targets
from vault_kg.operations.base import (
    Evidence,
    Fenced,
    Hash,
    Id,
    Ids,
    Line,
    Lines,
    Mapping,
    Model,
    Name,
    Partition,
    Positive,
    Receipt,
    Text,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import REMOVE, Document, Remove, Value
from vault_kg.records.model import Problem
from vault_kg.records.ontology import pascal_case, snake_case
from vault_kg.records.yaml_scalars import Instant
from vault_kg.store import paths
from vault_kg.store.journal import Change, Plan

Origin = Literal["user", "agent", "source", "inference"]
Confidence = Field(None, ge=0, le=1, description="From 0 to 1.")


class SavePage(Write):
    """Create a page (type and title), or change one (id and both fences)."""

    id: Id | None = Field(None, description="The page to change; leave out to create one.")
    expected_revision: Positive | None = None
    expected_hash: Hash | None = None
    type: Name | None = Field(None, description="Page type from knowledge_ontology.")
    title: Line | None = None
    summary: Text | None = Field(None, description="One headline, at most 300 characters.")
    body: Text | None = Field(None, description="Markdown.")
    fields: Mapping | None = Field(None, description="Typed by the ontology; null clears one.")
    aliases: Lines | None = None
    tags: Lines | None = None
    dependencies: Ids | None = None
    evidence: Evidence | None = None
    touches: Lines | None = Field(None, description="Paths that the page speaks of.")
    partition: Partition | None = None
    expected_ontology_fingerprint: Line | None = None

    @model_validator(mode="after")
    def _is_create_or_change(self) -> SavePage:
        if self.id is None:
            if self.type is None or self.title is None:
                raise ValueError("to create a page give type and title; to change one give its id")
            if self.expected_revision is not None or self.expected_hash is not None:
                raise ValueError(
                    "expectedRevision and expectedHash belong to a change; give the id"
                )
        elif self.expected_revision is None or self.expected_hash is None:
            raise ValueError("to change a page give expectedRevision and expectedHash with its id")
        return self


class BodyEdit(Model):
    """One replacement; `find` must occur exactly once."""

    find: Text = Field(min_length=1)
    replace: Text


class EditBody(Fenced):
    """Replace exact passages of a record's body."""

    edits: list[BodyEdit] = Field(min_length=1, max_length=500)


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
    statement: Text = Field(min_length=1)
    owner: Id = Field(description="The page that it is about.")
    entities: Ids | None = Field(None, description="Other pages that it names.")
    expires_at: Line | None = None


class SaveRelationship(Common):
    """Record one relationship between two pages."""

    type: Name | None = Field(None, description="From knowledge_ontology.")
    from_: Id = Field(alias="from")
    to: Id
    fact: Text = Field(min_length=1, description="The relationship as one sentence.")


@operation("write", Receipt)
def knowledge_save_page(ws: Workspace, request: SavePage, caller: Caller) -> Receipt:
    """Create a page, or change one that you have looked at.

    Omitted = unchanged, null = cleared, a list that is sent replaces the one that stands. Bodies
    are better changed with knowledge_edit_body.
    """
    return ws.write(caller, "knowledge_save_page", request, lambda: _plan_page(ws, request, caller))


@operation("write", Receipt)
def knowledge_edit_body(ws: Workspace, request: EditBody, caller: Caller) -> Receipt:
    """Change passages of a page's body.

    Each find must occur exactly once, and nothing else of the file changes.
    """
    return ws.write(caller, "knowledge_edit_body", request, lambda: _plan_edit(ws, request, caller))


@operation("write", Receipt)
def knowledge_save_claim(ws: Workspace, request: SaveClaim, caller: Caller) -> Receipt:
    """Record one statement about a page, with the retained source that it comes from.

    It never replaces another claim; to replace one, use knowledge_correct.
    """

    def plan() -> Plan:
        change, warnings = draft_claim(ws, request, caller)
        return created(change, warnings)

    return ws.write(caller, "knowledge_save_claim", request, plan)


@operation("write", Receipt)
def knowledge_save_relationship(
    ws: Workspace, request: SaveRelationship, caller: Caller
) -> Receipt:
    """Record one relationship between two pages, with the retained source that it comes from.

    Several may join the same pages.
    """

    def plan() -> Plan:
        change, warnings = draft_relationship(ws, request, caller)
        return created(change, warnings)

    return ws.write(caller, "knowledge_save_relationship", request, plan)


def created(change: Change, warnings: list[str]) -> Plan:
    """Return the plan that creates one record."""
    receipt = drafts.receipt_of(change, warnings=warnings or None)
    return Plan(change.partition, receipt, (change,), drafts.label_of(change))


def draft_claim(ws: Workspace, request: SaveClaim, caller: Caller) -> tuple[Change, list[str]]:
    """Return the file of a new claim, validated, and its warnings."""
    check_references(ws, caller, "owner", [request.owner])
    check_references(ws, caller, "entities", request.entities)
    check_references(ws, caller, "dependencies", request.dependencies)
    owner = targets.known(ws, caller, request.owner)
    partition = _partition(request.partition or owner.partition, caller)
    check_ontology(ws, partition, request.expected_ontology_fingerprint)
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
    change = drafts.create(ws, partition, "claim", record_id, folder, values, request.statement)
    return change, drafts.validate(ws, caller, change)


def draft_relationship(
    ws: Workspace, request: SaveRelationship, caller: Caller
) -> tuple[Change, list[str]]:
    """Return the file of a new relationship, validated, and its warnings."""
    check_references(ws, caller, "from", [request.from_])
    check_references(ws, caller, "to", [request.to])
    check_references(ws, caller, "dependencies", request.dependencies)
    source = targets.known(ws, caller, request.from_)
    partition = _partition(request.partition or source.partition, caller)
    check_ontology(ws, partition, request.expected_ontology_fingerprint)
    declared = ws.ontology(partition).relationship_type(request.type) if request.type else None
    if declared is not None and declared.reserved:
        raise ReservedEdgeType(
            f"{declared.name} is written by the extractor only, from links and structured fields",
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
    change = drafts.create(ws, partition, "relationship", record_id, folder, values, request.fact)
    return change, drafts.validate(ws, caller, change)


def check_references(
    ws: Workspace,
    caller: Caller,
    name: str,
    ids: list[str] | None,
    stand: Collection[str] = (),
) -> None:
    """Refuse references that do not name eligible records; those that `stand` may stay."""
    for record_id in ids or []:
        targets.check_reference(ws, caller, name, record_id, stands=record_id in stand)


def check_ontology(ws: Workspace, partition: str, expected: str | None) -> None:
    """Refuse a stale vocabulary fence, and structured writes under a broken `ontology.yaml`."""
    ontology = ws.ontology(partition)
    if ontology.broken:
        issue = next(i for i in ontology.issues if i.level == "error")
        raise InvalidRecord(
            f"ontology.yaml:{issue.line or 1}: {issue.message}. Mend it before structured writes",
            path="ontology.yaml",
            line=issue.line,
        )
    if expected is not None and expected != ontology.fingerprint:
        raise StaleOntology(
            "the vocabulary is not the one that you looked at; call knowledge_ontology again",
            current=ontology.fingerprint,
        )


def _plan_page(ws: Workspace, request: SavePage, caller: Caller) -> Plan:
    if request.id is None:
        check_references(ws, caller, "dependencies", request.dependencies)
        return _create_page(ws, request, caller)
    return _change_page(ws, request, request.id, caller)


def _create_page(ws: Workspace, request: SavePage, caller: Caller) -> Plan:
    partition = _partition(request.partition or paths.DEFAULT_PARTITION, caller)
    check_ontology(ws, partition, request.expected_ontology_fingerprint)
    ontology = ws.ontology(partition)
    declared = ontology.page_type(request.type)
    name = declared.name if declared else pascal_case(request.type or "")
    fields, _ = ontology.check_fields(name, request.fields or {})
    record_id = drafts.new_record_id(ws, "page")
    values: dict[str, Value] = {
        "title": request.title,
        "type": name,
        "summary": request.summary,
        "aliases": list(request.aliases or []),
        "tags": list(request.tags or []),
        "fields": fields,
        "touches": list(request.touches or []),
        "dependencies": list(request.dependencies or []),
        "evidence": drafts.evidence_values(request.evidence or []),
    }
    folder = ontology.folder(name).strip("/")
    change = drafts.create(ws, partition, "page", record_id, folder, values, request.body or "")
    return created(change, drafts.validate(ws, caller, change))


def _change_page(ws: Workspace, request: SavePage, record_id: str, caller: Caller) -> Plan:
    target = editable(ws, caller, record_id, ("page",))
    targets.check_fence(target, request)
    check_ontology(ws, target.row.partition, request.expected_ontology_fingerprint)
    if request.partition not in (None, target.row.partition):
        raise InvalidArgument("a page does not change its partition; move its file instead")
    check_references(
        ws, caller, "dependencies", request.dependencies, stand=target.record.dependencies
    )
    body = _sent_body(request, target.document)
    change = drafts.revise(ws, target, _page_changes(ws, request, target), body)
    if change is None:
        return Plan(target.row.partition, drafts.unchanged(target))
    warnings = drafts.validate(ws, caller, change, standing_problems(ws, caller, target))
    receipt = drafts.receipt_of(change, warnings=warnings or None)
    return Plan(target.row.partition, receipt, (change,), target.row.title)


def editable(
    ws: Workspace, caller: Caller, record_id: str, kinds: tuple[str, ...]
) -> targets.Target:
    """Return a record whose text may be changed: of these kinds, and active."""
    target = targets.load(ws, caller, record_id)
    if target.row.kind not in kinds:
        raise InvalidArgument(
            f"{record_id} is a {target.row.kind}; replace it with knowledge_correct, which keeps the "
            "original",
            id=record_id,
        )
    if target.row.lifecycle != "active":
        raise LifecycleRefused(
            f"{record_id} is {target.row.lifecycle} and stays as it is"
            + (
                f"; see {successor}"
                if (successor := successors.current(ws.database, record_id))
                else ""
            ),
            id=record_id,
            lifecycle=target.row.lifecycle,
            successor=successor,
        )
    return target


def standing_problems(ws: Workspace, caller: Caller, target: targets.Target) -> list[Problem]:
    """Return what is wrong with a record as it stands: an edit is not refused for that."""
    from vault_kg.index import validate
    from vault_kg.records.model import read_record

    _, problems = read_record(target.document)
    world = validate.World(ws.vault, ws.ontology(target.row.partition), caller.sees)
    return problems + validate.check(target.record, world)


def _page_changes(
    ws: Workspace, request: SavePage, target: targets.Target
) -> dict[str, Value | Remove]:
    changes: dict[str, Value | Remove] = {}
    sent = request.model_fields_set
    ontology = ws.ontology(target.row.partition)
    if "title" in sent:
        if not request.title:
            raise InvalidArgument("a page's title cannot be cleared", field="title")
        changes["title"] = request.title
    if "type" in sent:
        declared = ontology.page_type(request.type)
        name = declared.name if declared else pascal_case(request.type or "") or None
        changes["type"] = name if name else REMOVE
    if "summary" in sent:
        changes["summary"] = request.summary if request.summary else REMOVE
    for key in ("aliases", "tags", "dependencies", "touches"):
        if key in sent:
            values = getattr(request, key)
            changes[key] = list(values) if values else REMOVE
    if "evidence" in sent:
        changes["evidence"] = (
            drafts.evidence_values(request.evidence) if request.evidence else REMOVE
        )
    if "fields" in sent:
        changes["fields"] = _fields(ws, request, target) or REMOVE
    return changes


def _fields(ws: Workspace, request: SavePage, target: targets.Target) -> dict[str, Value]:
    """Lay the sent fields over those that stand; a null clears one, `fields: null` clears all."""
    if request.fields is None:
        return {}
    ontology = ws.ontology(target.row.partition)
    checked, _ = ontology.check_fields(request.type or target.record.type, request.fields)
    merged = {**target.record.fields, **checked}
    cleared = {name for name, value in request.fields.items() if value is None}
    return {name: value for name, value in merged.items() if name not in cleared}


def _sent_body(request: SavePage, document: Document) -> str | None:
    if "body" not in request.model_fields_set:
        return None
    return drafts.new_body(document, request.body or "")


def _plan_edit(ws: Workspace, request: EditBody, caller: Caller) -> Plan:
    target = editable(ws, caller, request.id, ("page",))
    targets.check_fence(target, request)
    change = drafts.revise(ws, target, {}, _edited(target.document, request.edits))
    if change is None:
        return Plan(target.row.partition, drafts.unchanged(target))
    return Plan(target.row.partition, drafts.receipt_of(change), (change,), target.row.title)


def _edited(document: Document, edits: list[BodyEdit]) -> str:
    """Apply edits to a body; where it has CRLF line endings, a find with newlines means those."""
    body = document.body
    for number, step in enumerate(edits, 1):
        find, replace = step.find, step.replace
        if find not in body:
            find = find.replace("\r\n", "\n").replace("\n", document.newline)
        if document.newline not in replace:
            replace = replace.replace("\n", document.newline)
        count = _occurrences(body, find)
        if count != 1:
            raise InvalidArgument(
                f"edit {number}: the text to find occurs {count} times; give a passage that occurs "
                "exactly once",
                edit=number,
                occurrences=count,
            )
        body = body.replace(find, replace)
    return body


def _occurrences(text: str, find: str) -> int:
    """Count where a text occurs, overlapping places too."""
    count, at = 0, text.find(find)
    while at >= 0:
        count, at = count + 1, text.find(find, at + 1)
    return count


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
    return given.strip() if given and given.strip() else drafts.title_from(text, record_id)


def _partition(name: str, caller: Caller) -> str:
    paths.check_partition(name)
    if not caller.sees(name):
        raise InvalidArgument(f"there is no partition {name!r} for this caller", partition=name)
    return name
