"""What exists for a caller who sees some partitions, where one record names another.

A relationship is there for a caller who sees both its ends, a claim for one who sees its owner. Of
what else a record names, what the caller does not see is left out. Prose is never changed: what
somebody wrote in a visible file is visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vault_kg.errors import NotFound
from vault_kg.index import catalog
from vault_kg.index.parsed import partition_of
from vault_kg.operations import asof
from vault_kg.operations.base import Receipt
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.model import Record
from vault_kg.state import revisions

VEIL = "(hidden)"
"""What stands for the id of something hidden in a text that we made."""


def is_hidden(ws: Workspace, caller: Caller, uid: str | None) -> bool:
    """Say whether an id is of a record, note or source that does not exist for the caller."""
    return _lies_hidden(ws, caller, uid) or stands_on_hidden(ws, caller, uid)


def stands_on_hidden(ws: Workspace, caller: Caller, record_id: str | None) -> bool:
    """Say whether a record, as it stands or last stood, is about something hidden."""
    if record_id is None or caller.partitions is None:
        return False
    found = catalog.by_id(ws.database, record_id)
    if not found:  # its file is gone, or cannot be read
        head = revisions.head(ws.database, record_id)
        record = asof.record_in(ws.bytes_of(head)) if head is not None else None
        return record is not None and is_about_hidden(ws, caller, record)
    return any(
        _lies_hidden(ws, caller, about)
        for row in found
        for about in (row.owner, row.from_id, row.to_id)
    )


def as_seen(ws: Workspace, caller: Caller, record: Record) -> Record:
    """Return a record, as it stands or stood, without what it names that is hidden.

    Raises:
        NotFound: it is about something hidden; for this caller there is no such record.
    """
    if caller.partitions is None:
        return record
    if is_about_hidden(ws, caller, record):
        raise not_found(record.id)
    return replace(
        record,
        entities=seen(ws, caller, record.entities),
        dependencies=seen(ws, caller, record.dependencies),
        supersedes=shown(ws, caller, record.supersedes),
        superseded_by=shown(ws, caller, record.superseded_by),
        merged_into=shown(ws, caller, record.merged_into),
        evidence=tuple(e for e in record.evidence if not is_hidden(ws, caller, e.source)),
    )


def is_about_hidden(ws: Workspace, caller: Caller, record: Record) -> bool:
    """Say whether a record, as it stands or stood, is about something hidden."""
    return any(
        _lies_hidden(ws, caller, uid) for uid in (record.owner, record.from_id, record.to_id)
    )


def receipt(ws: Workspace, caller: Caller, given: Receipt) -> Receipt:
    """Return a receipt without what it says of things hidden."""
    if caller.partitions is None:
        return given
    given = given.model_copy(update={"replacement_id": shown(ws, caller, given.replacement_id)})
    if given.impact is None:
        return given
    items = [item for item in given.impact.items if not is_hidden(ws, caller, item.id)]
    if len(items) == len(given.impact.items):
        return given
    impact = given.impact.model_copy(update={"items": items, "total": len(items)})
    return given.model_copy(update={"impact": impact})


def shown(ws: Workspace, caller: Caller, uid: str | None) -> str | None:
    """Return an id, or None where it is of something hidden."""
    return None if is_hidden(ws, caller, uid) else uid


def seen(ws: Workspace, caller: Caller, uids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids without those of what is hidden."""
    return tuple(uid for uid in uids if not is_hidden(ws, caller, uid))


def veiled(ws: Workspace, caller: Caller, text: str) -> str:
    """Return a text that we made without the ids of what is hidden."""
    if caller.partitions is None:
        return text
    return ids.replaced(text, lambda uid: VEIL if is_hidden(ws, caller, uid) else uid)


def not_found(record_id: str) -> NotFound:
    """Return the error for an id that does not exist for a caller."""
    what_next = (
        "a plain note is made a record with knowledge_adopt"
        if ids.is_note(record_id)
        else "knowledge_lookup finds one by title, alias or path"
    )
    return NotFound(f"there is no record {record_id}; {what_next}", id=record_id)


def _lies_hidden(ws: Workspace, caller: Caller, uid: str | None) -> bool:
    """Say whether something lies in a partition that the caller does not see."""
    if uid is None or caller.partitions is None:
        return False
    partition = _partition(ws, uid)
    return partition is not None and not caller.sees(partition)


def _partition(ws: Workspace, uid: str) -> str | None:
    """Return where something lies, or None where nothing is known under this id."""
    if ids.is_note(uid):
        return partition_of(uid.removeprefix(ids.NOTE_PREFIX))
    head = revisions.head(ws.database, uid)
    if head is not None:
        return head.partition
    source = catalog.source(ws.database, uid)
    return source.partition if source is not None else None
