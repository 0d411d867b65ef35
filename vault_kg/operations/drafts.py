"""New and changed record files: from a request's values to bytes, a path and a journal change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from vault_kg.errors import InvalidArgument, InvalidRecord
from vault_kg.index.parsed import stem
from vault_kg.index.pending import Pending, PendingRecord
from vault_kg.index.validate import World, check
from vault_kg.operations.base import EvidenceItem
from vault_kg.operations.caller import Caller
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids, model, names
from vault_kg.records.frontmatter import (
    Document,
    FrontMatterError,
    Remove,
    Value,
    edit,
    new_document,
    parse,
)
from vault_kg.records.model import Problem
from vault_kg.records.yaml_scalars import same
from vault_kg.store import files, paths
from vault_kg.store.plan import Change, Plan

Draft = tuple[Change, list[str]]
"""A new record's file, validated, and its warnings."""

TITLE_FROM_TEXT = 80
MAX_FOLDER_BYTES = 200


def new_record_id(ws: Workspace, kind: str) -> str:
    """Return a fresh id at the workspace's time."""
    return ids.new_id(kind, int(ws.clock().timestamp() * 1000))


def create(
    ws: Workspace,
    partition: str,
    kind: str,
    record_id: str,
    folder: str,
    values: Mapping[str, Value],
    body: str,
    pending: Pending | None = None,
    supersedes: str | None = None,
) -> Change:
    """Return the change that makes a new record file.

    Args:
        ws: the opened vault.
        partition: where the record goes.
        kind: page, claim or relationship.
        record_id: its new id.
        folder: its folder inside the partition.
        values: front matter beyond the envelope; None is left out.
        body: the text; its outer blank lines are put in order.
        pending: what the same plan creates besides; this record is added to it.
        supersedes: the record whose place it takes.
    """
    pending = pending or Pending()
    at = ws.now()
    title = str(values["title"])
    front: dict[str, Value] = {"format": model.FORMAT, "id": record_id, "kind": kind, "revision": 1}
    front |= {key: value for key, value in values.items() if value not in (None, [], {})}
    front["title"] = title
    front |= {"lifecycle": "active", "recorded_at": at, "updated_at": at}
    front |= {"supersedes": supersedes} if supersedes else {}
    path = free_path(ws, f"{partition}/{folder}", names.slug(title, record_id), record_id, pending)
    with _as_a_file(path):
        content = new_document(front, as_body(body))
    named = values.get("type")
    made = PendingRecord(kind, str(named) if named is not None else None, path, partition)
    pending.add(record_id, made)
    return Change(path, None, content, record_id, kind, 1, "active", partition)


def revise(
    ws: Workspace,
    target: Target,
    changes: Mapping[str, Value | Remove],
    body: str | None = None,
    lifecycle: str | None = None,
) -> Change | None:
    """Return the change of an existing record, or None where nothing would change.

    A lifecycle that changes is a revision also where the file says so already.

    Args:
        ws: the opened vault.
        target: the record as it stands.
        changes: front matter keys to set or remove; revision and time are added.
        body: the whole new body, exactly; None leaves it.
        lifecycle: the lifecycle that the new revision has, if it changes.
    """
    document = target.document
    wanted = {k: v for k, v in changes.items() if _differs(document, k, v)}
    stays = lifecycle in (None, target.head.lifecycle)
    if stays and not wanted and body in (None, document.body):
        return None
    revision = target.head.revision + 1
    stamped: dict[str, Value | Remove] = {
        **wanted, "id": target.row.id, "revision": revision, "updated_at": ws.now(),
    }  # fmt: skip
    with _as_a_file(target.row.path):
        content = edit(document, stamped)
    if body is not None:
        content = content[: len(content) - len(document.body.encode())] + body.encode()
        _check_size(target.row.path, content)
    return Change(
        target.row.path,
        target.content,
        content,
        target.row.id,
        target.row.kind,
        revision,
        lifecycle or target.head.lifecycle,
        target.row.partition,
    )


def lifecycle_change(
    ws: Workspace, caller: Caller, reason: str, request_id: str
) -> dict[str, Value]:
    """Return the `lifecycle_change` of front matter: who changed the lifecycle of a record, and why."""
    return {"reason": reason, "at": ws.now(), "actor": caller.actor, "request_id": request_id}


def new_body(document: Document, text: str) -> str:
    """Return a body that replaces a document's: in its line endings, or untouched if it says the same."""
    current = document.body.replace("\r\n", "\n")
    if as_body(text).strip("\n") == current.strip("\n"):
        return document.body
    return as_body(text).replace("\n", document.newline)


def validate(
    ws: Workspace,
    caller: Caller,
    change: Change,
    seen: Sequence[Problem] = (),
    pending: Pending | None = None,
) -> list[str]:
    """Refuse a record that breaks a rule; returns the warnings.

    Args:
        ws: the opened vault.
        caller: who writes; sources that it does not see do not exist.
        change: the file as it would be written.
        seen: problems that stand already; a change is not refused for them.
        pending: what the same plan creates besides.

    Raises:
        InvalidRecord: with `data.problems`.
    """
    assert change.after is not None
    document = parse(change.after)
    record, problems = model.read_record(document)
    if record is not None:
        world = World(ws.vault, ws.ontology(change.partition), caller.sees, pending or Pending())
        problems += check(record, world, document.lines.get)
    known = {(p.code, p.message) for p in seen}
    errors = [p for p in problems if p.severity == "error" and (p.code, p.message) not in known]
    if errors:
        raise InvalidRecord(
            "; ".join(p.message + (f" ({p.hint})" if p.hint else "") for p in errors[:5]),
            problems=[{"code": p.code, "message": p.message, "hint": p.hint} for p in errors[:50]],
        )
    return [p.message for p in problems if p.severity == "warning"]


def free_path(
    ws: Workspace, folder: str, wanted: str, record_id: str, pending: Pending | None = None
) -> str:
    """Return a path for a new file that no other file has on any platform."""
    folder = paths.check_relative(folder)
    long = next((p for p in folder.split("/") if len(p.encode()) > MAX_FOLDER_BYTES), None)
    if long:
        raise InvalidArgument(f"{long[:60]}… is too long for a folder's name; use a shorter name")

    def look() -> list[str]:
        try:
            return os.listdir(paths.resolve(ws.vault.root, folder))  # noqa: PTH208 - names only
        except (FileNotFoundError, NotADirectoryError):
            return []

    taken = (pending or Pending()).taken(folder, look)
    return f"{folder}/{names.free_stem(wanted, record_id, taken)}.md"


def folder_stem(path: str, record_id: str) -> str:
    """Return the folder name that records about the page at a path are filed under."""
    return names.slug(stem(path), record_id)


def title_from(text: str, record_id: str) -> str:
    """Return a short label for a statement: its first words."""
    line = " ".join(text.split())
    if len(line) <= TITLE_FROM_TEXT:
        return line or record_id
    head = line[: TITLE_FROM_TEXT - 1].rpartition(" ")[0] or line[: TITLE_FROM_TEXT - 1]
    return head.rstrip(" ,;:.") + "…"


def evidence_values(items: Iterable[EvidenceItem]) -> list[Value]:
    """Return citations as they stand in front matter."""
    return [item.model_dump(exclude_none=True, by_alias=False) for item in items]


def created(draft: Draft) -> Plan:
    """Return the plan that creates one record."""
    change, warnings = draft
    receipt = receipt_of(change, warnings=warnings or None)
    return Plan(change.partition, receipt, (change,), label_of(change))


def as_body(text: str) -> str:
    """Return a body as files have it: a blank line after the fence, and one newline at the end."""
    plain = text.replace("\r\n", "\n").strip("\n")
    return f"\n{plain}\n" if plain.strip() else ""


def receipt_of(change: Change, **more: Any) -> dict[str, Any]:
    """Return what a receipt says of a record's new file."""
    assert change.after is not None
    return {
        "targetId": change.record_id,
        "revision": change.revision,
        "hash": files.content_hash(change.after),
        "path": change.path,
        **more,
    }


def label_of(change: Change) -> str:
    """Return the title in a new record's file."""
    return str(parse(change.after or b"").fields.get("title") or change.path)


def unchanged(target: Target) -> dict[str, Any]:
    """Return the receipt of a request that changed nothing."""
    return {
        "targetId": target.row.id,
        "revision": target.head.revision,
        "hash": target.row.hash,
        "path": target.row.path,
        "changed": False,
    }


def _check_size(path: str, content: bytes) -> None:
    if len(content) > files.MAX_RECORD_BYTES:
        raise InvalidRecord(f"{path}: would be larger than 10 MB; make it smaller", path=path)


@contextmanager
def _as_a_file(path: str) -> Iterator[None]:
    """Refuse values that no record file can hold."""
    try:
        yield
    except FrontMatterError as error:
        raise InvalidRecord(f"{path}: {error.reason}; make it smaller", path=path) from None
    except ValueError as error:
        raise InvalidRecord(f"{path}: {error}", path=path) from None


def _differs(document: Document, key: str, value: Value | Remove) -> bool:
    if isinstance(value, Remove):
        return key in document.fields
    return key not in document.fields or not same(document.fields[key], value)
