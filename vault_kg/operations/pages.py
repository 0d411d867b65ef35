"""Creating pages, changing them, and replacing passages of their bodies."""

from __future__ import annotations

from pydantic import Field, model_validator

from vault_kg.errors import (
    InvalidArgument,
)
from vault_kg.index import links
from vault_kg.index.pending import Pending
from vault_kg.operations import checks, drafts, namesakes, targets
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
from vault_kg.operations.drafts import Draft
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import REMOVE, Document, Remove, Value
from vault_kg.records.ontology import pascal_case
from vault_kg.store import paths
from vault_kg.store.plan import Plan


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


def _plan_page(ws: Workspace, request: SavePage, caller: Caller) -> Plan:
    if request.id is None:
        change, warnings = draft_page(ws, request, caller)
        return drafts.created((change, [*warnings, *namesakes.withdrawn(ws, caller, change)]))
    return _change_page(ws, request, request.id, caller)


def draft_page(
    ws: Workspace, request: SavePage, caller: Caller, pending: Pending | None = None,
    supersedes: str | None = None,
) -> Draft:  # fmt: skip
    """Return the file of a new page; it may refer to what the same plan creates.

    Args:
        ws: the opened vault.
        request: what it says.
        caller: who writes.
        pending: what the same plan creates besides.
        supersedes: the page whose place it takes.
    """
    pending = pending or Pending()
    checks.check_references(ws, caller, "dependencies", request.dependencies, pending=pending)
    partition = checks.partition_to_write(request.partition or paths.DEFAULT_PARTITION, caller)
    checks.check_ontology(ws, partition, request.expected_ontology_fingerprint)
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
    change = drafts.create(
        ws, partition, "page", record_id, folder, values, request.body or "", pending, supersedes
    )
    return change, drafts.validate(ws, caller, change, pending=pending)


def _change_page(ws: Workspace, request: SavePage, record_id: str, caller: Caller) -> Plan:
    target = checks.editable(ws, caller, record_id, ("page",))
    targets.check_fence(target, request)
    checks.check_ontology(ws, target.row.partition, request.expected_ontology_fingerprint)
    if request.partition not in (None, target.row.partition):
        raise InvalidArgument("a page does not change its partition; move its file instead")
    checks.check_references(
        ws, caller, "dependencies", request.dependencies, stand=target.record.dependencies
    )
    body = _sent_body(request, target.document)
    change = drafts.revise(ws, target, _page_changes(ws, request, target), body)
    if change is None:
        return Plan(target.row.partition, drafts.unchanged(target))
    warnings = drafts.validate(ws, caller, change, checks.standing_problems(ws, caller, target))
    warnings = [*warnings, *_links_left(ws, request, target, caller)]
    receipt = drafts.receipt_of(change, warnings=warnings or None)
    return Plan(target.row.partition, receipt, (change,), target.row.title)


def _links_left(
    ws: Workspace, request: SavePage, target: targets.Target, caller: Caller
) -> list[str]:
    """Say how many records link to a page by a title that it gives up; nobody's text is changed."""
    old = names.lookup_key(target.record.title)
    is_sent = "aliases" in request.model_fields_set
    aliases = (request.aliases or ()) if is_sent else target.record.aliases
    if old in map(names.lookup_key, (request.title or target.record.title, *aliases)):
        return []
    linking = links.linking_to(ws.database, target.row.id, old)
    count = sum(caller.sees(partition) for *_, partition in linking)
    return [f"{count} linked to it as {target.record.title!r}; keep that as an alias"] * bool(count)


def _page_changes(
    ws: Workspace, request: SavePage, target: targets.Target
) -> dict[str, Value | Remove]:
    changes: dict[str, Value | Remove] = {}
    sent = request.model_fields_set
    ontology = ws.ontology(target.row.partition)
    if "title" in sent:
        if not names.is_visible(request.title or ""):
            raise InvalidArgument("a page's title cannot be cleared; give another", field="title")
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
    target = checks.editable(ws, caller, request.id, ("page",))
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
