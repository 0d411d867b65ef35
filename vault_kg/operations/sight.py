"""What exists for a caller who sees some partitions, where one record names another.

A relationship is there for a caller who sees both its ends, a claim for one who sees its owner. Of
what else a record names, what the caller does not see is left out. Prose is never changed: what
somebody wrote in a visible file is visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vault_kg.index import catalog
from vault_kg.index.parsed import partition_of
from vault_kg.operations import targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.model import Record
from vault_kg.state import revisions
from vault_kg.state.revisions import Revision

VEIL = "(hidden)"
"""What stands for the id of something hidden in a text that we made."""


def is_hidden(ws: Workspace, caller: Caller, uid: str | None) -> bool:
    """Say whether an id is of a record, note or source that does not exist for the caller."""
    return _lies_hidden(ws, caller, uid) or stands_on_hidden(ws, caller, uid)


def known(ws: Workspace, caller: Caller, record_id: str) -> Revision:
    """Return the standing revision of a record that exists for the caller and is not blocked.

    Raises:
        NotFound: no such record for this caller, or none of what it is about.
        ConflictBlocked: a conflict of it waits for a person.
    """
    head = targets.known(ws, caller, record_id)
    if stands_on_hidden(ws, caller, record_id):
        raise targets.not_found(record_id)
    return head


def stands_on_hidden(ws: Workspace, caller: Caller, record_id: str | None) -> bool:
    """Say whether a record, as it stands, is about something hidden."""
    if record_id is None or caller.partitions is None:
        return False
    return any(
        _lies_hidden(ws, caller, about)
        for row in catalog.by_id(ws.database, record_id)
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
        raise targets.not_found(record.id)
    return replace(
        record,
        entities=seen(ws, caller, record.entities),
        dependencies=seen(ws, caller, record.dependencies),
        supersedes=next(iter(seen(ws, caller, filter(None, [record.supersedes]))), None),
        evidence=tuple(e for e in record.evidence if not is_hidden(ws, caller, e.source)),
    )


def is_about_hidden(ws: Workspace, caller: Caller, record: Record) -> bool:
    """Say whether a record, as it stands or stood, is about something hidden."""
    return any(
        _lies_hidden(ws, caller, uid) for uid in (record.owner, record.from_id, record.to_id)
    )


def seen(ws: Workspace, caller: Caller, uids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids without those of what is hidden."""
    return tuple(uid for uid in uids if not is_hidden(ws, caller, uid))


def veiled(ws: Workspace, caller: Caller, text: str) -> str:
    """Return a text that we made without the ids of what is hidden."""
    if caller.partitions is None:
        return text
    return ids.replaced(text, lambda uid: VEIL if is_hidden(ws, caller, uid) else uid)


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
