"""Files that a person has: notes made pages, and records whose file was deleted."""

from __future__ import annotations

import os

from pydantic import Field

from vault_kg.errors import InvalidArgument, InvalidRecord, NotFound
from vault_kg.index import catalog
from vault_kg.index.parsed import parse_file
from vault_kg.operations import checks, drafts, placing, targets
from vault_kg.operations.base import (
    Id,
    Line,
    Name,
    Receipt,
    Title,
    Write,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import model, names
from vault_kg.records.frontmatter import (
    FrontMatterError,
    Remove,
    Value,
    displaced_block,
    edit,
    parse,
)
from vault_kg.records.ontology import pascal_case
from vault_kg.state.revisions import Revision
from vault_kg.store import paths
from vault_kg.store.plan import Change, Plan


class Adopt(Write):
    """Make a note a page."""

    path: Line
    type: Name = Field("Document", description="The page type that it gets.")
    title: Title | None = None


class Restore(Write):
    """Bring a missing record's file back."""

    id: Id


@operation("write", Receipt)
def knowledge_adopt(ws: Workspace, request: Adopt, caller: Caller) -> Receipt:
    """Make a plain note a page.

    Front matter is added above its text, and the text stays byte for byte. From then on it has an
    id, revisions and history.
    """
    return ws.write(caller, "knowledge_adopt", request, lambda: _plan_adopt(ws, request, caller))


@operation("review", Receipt)
def knowledge_restore(ws: Workspace, request: Restore, caller: Caller) -> Receipt:
    """Bring back the last bytes of a record whose file was deleted, emptied or is no record any more.

    They go into the file that it had. Text that stands there by now is kept beside it; the receipt's
    warnings say where.
    """
    return ws.write(
        caller, "knowledge_restore", request, lambda: _plan_restore(ws, request, caller)
    )


def _plan_adopt(ws: Workspace, request: Adopt, caller: Caller) -> Plan:
    path = request.path.removeprefix("./")
    try:
        paths.resolve(ws.vault.root, path)
    except OSError:
        raise _no_note(path) from None
    ws.indexer.observe(ws.journal, ws.indexer.stale([path]))
    row = catalog.by_path(ws.database, path)
    content = targets.bytes_at(ws, path)
    if row is None or content is None or not caller.sees(row.partition):
        raise _no_note(path)
    if row.kind != "note":
        raise InvalidArgument(
            f"{path} is a record already: {row.id}; change it with knowledge_save_page",
            path=path,
            id=row.id,
        )
    checks.check_ontology(ws, row.partition, None)
    try:
        document = parse(content)
    except FrontMatterError as error:
        raise InvalidRecord(
            f"{path}:{error.line}: {error.reason}. Mend the front matter in an editor first",
            path=path,
            line=error.line,
        ) from None
    fence = displaced_block(document)
    if fence is not None:
        raise InvalidRecord(
            f"{path}:{fence}: blank lines stand before the front matter; remove them, so that the "
            "file does not get a second block",
            path=path,
            line=fence,
        )
    declared = ws.ontology(row.partition).page_type(request.type)
    record_id = drafts.new_record_id(ws, "page")
    at = ws.now()
    added: dict[str, Value | Remove] = {
        "format": model.FORMAT, "id": record_id, "kind": "page", "revision": 1,
        "title": request.title or row.title,
        "type": declared.name if declared else pascal_case(request.type),
        "lifecycle": "active", "recorded_at": at, "updated_at": at,
    }  # fmt: skip
    taken = [k for k in added if k in document.fields and k not in ("title", "type")]
    if taken:
        raise InvalidRecord(
            f"{path} has its own {', '.join(taken)} in the front matter; rename those keys first",
            path=path,
            keys=taken,
        )
    own = {k for k in ("title", "type") if not _is_blank(document.fields.get(k))}
    kept = own - request.model_fields_set
    changes = {k: v for k, v in added.items() if k not in kept}
    change = Change(
        path, content, edit(document, changes), record_id, "page", 1, "active", row.partition
    )
    warnings = drafts.validate(ws, caller, change)
    receipt = drafts.receipt_of(change, warnings=warnings or None)
    return Plan(row.partition, receipt, (change,), row.title)


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not names.is_visible(value))


def _no_note(path: str) -> NotFound:
    return NotFound(
        f"there is no note {path[:200]!r}; give the path of a Markdown file, like notes/idea.md",
        path=path[:200],
    )


def _plan_restore(ws: Workspace, request: Restore, caller: Caller) -> Plan:
    targets.known(ws, caller, request.id)
    ws.indexer.scan(ws.journal)  # a file that was moved is not missing
    head = targets.known(ws, caller, request.id)
    found = catalog.by_id(ws.database, request.id)
    if found:
        raise InvalidArgument(
            f"{request.id} is not missing: it stands in {found[0].path}", id=request.id,
            candidates=[{"id": r.id, "path": r.path} for r in found],
        )  # fmt: skip
    content = ws.bytes_of(head)
    if content is None:
        raise NotFound(
            f"the bytes of {request.id} are neither in the journal nor in Git; bring {head.path} back "
            "from a backup",
            id=request.id,
            path=head.path,
        )
    path, before = head.path, targets.bytes_at(ws, head.path)
    placing.check_seen(ws.vault.root, path)
    if before is not None and _is_anothers(path, before, head):
        folder, _, name = path.rpartition("/")
        path = drafts.free_path(
            ws, folder, names.slug(name.removesuffix(".md"), head.record_id), head.record_id
        )
        before = None
    change = Change(
        path, before, content, head.record_id, head.kind, head.revision, head.lifecycle,
        head.partition,
    )  # fmt: skip
    moves = ((head.record_id, path),) if path != head.path else ()
    if before is None or not before.strip():
        return Plan(head.partition, drafts.receipt_of(change), (change,), path, moves=moves)
    beside = _free_beside(ws, path)
    keeping = Change(beside, None, before, partition=head.partition)
    said = f"the text that stood in {path} is kept in {beside}; nothing but the name of it changed"
    receipt = drafts.receipt_of(change, warnings=[said])
    return Plan(head.partition, receipt, (keeping, change), path)


def _is_anothers(path: str, content: bytes, head: Revision) -> bool:
    """Say whether a file is a record of its own, or a broken one that does not name this record."""
    there = parse_file(path, content)
    names_it = head.record_id.encode() in content
    return there.record is not None or (there.marks_record and not names_it)


def _free_beside(ws: Workspace, path: str) -> str:
    number = 1
    while os.path.lexists(ws.vault.root / f"{path}.replaced-{number}"):
        number += 1
    return f"{path}.replaced-{number}"
