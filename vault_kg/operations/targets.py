"""The records that a request names: found exactly, looked at freshly, and checked against fences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from vault_kg.errors import (
    Ambiguous,
    ConflictBlocked,
    InvalidRecord,
    MergedReference,
    MissingFile,
    StaleHash,
    StaleRevision,
    VaultError,
)
from vault_kg.index import catalog, lost
from vault_kg.index.catalog import Row
from vault_kg.index.pending import Pending
from vault_kg.operations import sight
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import merge_markers
from vault_kg.records.frontmatter import Document, FrontMatterError, parse
from vault_kg.records.model import Record, read_record
from vault_kg.state import conflicts, merges, revisions
from vault_kg.state.revisions import Revision
from vault_kg.store import files


@dataclass(frozen=True)
class Target:
    """A record as it stands: its row, its standing revision, and its file."""

    row: Row
    head: Revision
    content: bytes
    document: Document
    record: Record
    hidden: frozenset[str] = frozenset()
    """What it depends on that its caller does not see."""


def load(ws: Workspace, caller: Caller, record_id: str) -> Target:
    """Return a record to be changed; the caller holds the lane.

    Raises:
        NotFound: no such record for this caller.
        MissingFile: its file is gone.
        Ambiguous: two files carry its id.
        InvalidRecord: its front matter cannot be read.
        ConflictBlocked: a conflict of it waits for a person.
    """
    head = known(ws, caller, record_id)
    if ws.indexer.stale([head.path]):
        ws.indexer.observe(ws.journal, [head.path])
        head = known(ws, caller, record_id)
    row = one_row(ws, record_id, head)
    content = bytes_at(ws, row.path)
    if content is None:
        raise missing(ws, head)
    document, record = read(row.path, content, head)
    hidden = {i for i in record.dependencies if not _is_seen(ws, caller, i)}
    return Target(row, head, content, document, record, frozenset(hidden))


def known(ws: Workspace, caller: Caller, record_id: str) -> Revision:
    """Return the standing revision of a record that exists for this caller and is not blocked.

    Raises:
        NotFound: no such record for this caller, or none of what it is about.
        ConflictBlocked: a conflict of it waits for a person.
    """
    head = revisions.head(ws.database, record_id)
    hidden = head is None or not caller.sees(head.partition)
    if head is None or hidden or sight.stands_on_hidden(ws, caller, record_id):
        raise sight.not_found(record_id)
    check_not_blocked(ws, record_id)
    return head


def _is_seen(ws: Workspace, caller: Caller, record_id: str) -> bool:
    if caller.partitions is None:
        return True
    head = revisions.head(ws.database, record_id)
    return head is None or caller.sees(head.partition)


def check_not_blocked(ws: Workspace, record_id: str) -> None:
    """Refuse a record whose conflict waits for a person."""
    blocking = conflicts.blocking(ws.database, record_id)
    if blocking:
        raise ConflictBlocked(
            f"{record_id} is in conflict {blocking}: somebody edited its file while a request was "
            f"being written. A person has to choose first, with `vault-kg review {blocking}`",
            conflict_id=blocking,
            id=record_id,
        )


def one_row(ws: Workspace, record_id: str, head: Revision) -> Row:
    """Return the one catalog row of a record."""
    found = catalog.by_id(ws.database, record_id)
    if not found:
        raise absent(ws, head)
    if len(found) > 1:
        raise Ambiguous(
            f"{record_id} stands in {len(found)} files: {', '.join(r.path for r in found)}. Delete "
            "the copy, or give it a new id",
            id=record_id,
            candidates=[{"id": r.id, "path": r.path, "title": r.title} for r in found],
        )
    return found[0]


def bytes_at(ws: Workspace, path: str) -> bytes | None:
    """Return the bytes of a file of the vault, or None where there is none.

    Raises:
        UnsafePath: it is not a regular file, or too large.
        InvalidRecord: the disk refuses to read it.
    """
    try:
        return files.read(ws.vault.root, path)
    except OSError as error:
        raise InvalidRecord(
            f"{path} cannot be read: {error.strerror}. Mend its permissions", path=path
        ) from None


def read(path: str, content: bytes, head: Revision | None = None) -> tuple[Document, Record]:
    """Parse a record's file.

    Raises:
        InvalidRecord: it cannot be read as a record; says the line, and of a known record what
            stands, so that it can be withdrawn as it is.
    """
    try:
        document = parse(content)
    except FrontMatterError as error:
        raise _unreadable(path, content, error.line, error.reason, head) from None
    record, problems = read_record(document)
    if record is None:
        line, reason = problems[0].line or 1, problems[0].message
        if not document.has_front_matter and merge_markers.line_in(document.body) == 1:
            line, reason = 1, merge_markers.REASON
        raise _unreadable(path, content, line, reason, head)
    return document, record


def _unreadable(
    path: str, content: bytes, line: int, reason: str, head: Revision | None
) -> InvalidRecord:
    current = head and {
        "id": head.record_id, "revision": head.revision, "hash": files.content_hash(content),
        "lifecycle": head.lifecycle, "path": path,
    }  # fmt: skip
    in_git = reason == merge_markers.REASON
    mend = merge_markers.HINT if in_git else "mend the front matter in an editor"
    return InvalidRecord(
        f"{path}:{line}: {reason}. {mend[0].upper()}{mend[1:]}",
        path=path,
        line=line,
        current=current,
    )


class Fence(Protocol):
    """The two expectations that a change of a record carries."""

    expected_revision: Any
    expected_hash: Any


def check_fence(target: Target, fence: Fence) -> None:
    """Refuse a stale fence, saying what stands now.

    Raises:
        StaleRevision, StaleHash: with `data.current`.
    """
    current: dict[str, Any] = {
        "id": target.row.id,
        "revision": target.head.revision,
        "hash": target.row.hash,
        "lifecycle": target.row.lifecycle,
        "title": target.row.title,
        "path": target.row.path,
    }
    if target.row.kind == "page":
        record = target.record
        current |= {
            "summary": record.summary, "aliases": list(record.aliases), "tags": list(record.tags),
            "fields": dict(record.fields),
            "dependencies": [i for i in record.dependencies if i not in target.hidden],
            "touches": list(record.touches),
        }  # fmt: skip
    check_versions(fence, current)


def check_versions(fence: Fence, current: dict[str, Any]) -> None:
    """Refuse a fence that is not the `revision` and `hash` of what stands."""
    if fence.expected_revision != current["revision"]:
        raise StaleRevision(
            f"{current['id']} is at revision {current['revision']}, not {fence.expected_revision}; "
            "look at it again and decide anew",
            current=current,
        )
    if fence.expected_hash != current["hash"]:
        raise StaleHash(
            f"{current['id']} has other content than you looked at; look at it again",
            current=current,
        )


def check_reference(
    ws: Workspace,
    caller: Caller,
    name: str,
    record_id: str,
    *,
    stands: bool = False,
    pending: Pending | None = None,
) -> None:
    """Refuse a reference in a write that does not name an eligible record.

    Args:
        ws: the opened vault.
        caller: who writes.
        name: the key that holds the reference.
        record_id: what it names.
        stands: the record names it already; only a merged page is refused then.
        pending: what the same plan creates besides, and may be named.

    Raises:
        MergedReference: it names a merged page; says the survivor.
        InvalidRecord: unknown, or not eligible.
    """
    if pending is not None and record_id in pending.records:
        return
    head = revisions.head(ws.database, record_id)
    rows = catalog.by_id(ws.database, record_id)
    seen = head is not None and bool(rows) and caller.sees(head.partition)
    if not seen and not stands:
        if head is not None and not sight.is_hidden(ws, caller, record_id):
            why = absent(ws, head)
            raise InvalidRecord(f"{name}: {why.message}", field=name, id=record_id)
        raise InvalidRecord(
            f"{name}: {record_id} does not exist; look it up with knowledge_lookup",
            field=name,
            id=record_id,
        )
    way = merges.way(ws.database, record_id)
    if way != [record_id] and seen:
        survivor = way[-1] if way else None
        raise MergedReference(
            f"{name}: {record_id} was merged into {survivor}; name that page instead"
            if survivor
            else f"{name}: {record_id} is merged in a cycle or too long a chain; see diagnostics",
            field=name,
            id=record_id,
            survivor=survivor,
        )
    if not stands and not any(row.current(ws.now()) for row in rows):
        raise InvalidRecord(
            f"{name}: {record_id} is {rows[0].lifecycle} or hidden by what it stands on; "
            "knowledge_get says why",
            field=name,
            id=record_id,
        )


def absent(ws: Workspace, head: Revision) -> VaultError:
    """Return why a record that the catalog lacks cannot be shown: its file is broken, or missing."""
    why = lost.reason(ws.database, ws.vault.root, head.record_id, head.path)
    there = bytes_at(ws, head.path)
    if there is not None and why.code == lost.GONE:
        try:
            read(head.path, there, head)
        except InvalidRecord as error:
            return error
    return missing(ws, head)


def missing(ws: Workspace, head: Revision) -> MissingFile:
    """Return the error for a record that has no file, or one that is left out or no record."""
    why = lost.reason(ws.database, ws.vault.root, head.record_id, head.path)
    restore = f"`vault-kg restore {head.record_id}` brings the last bytes back"
    if why.code == lost.IGNORED:
        said = f"but {why.message}. To see it again, {why.hint}"
    elif why.code == lost.NO_RECORD:
        said = f"but {why.message}: {head.path}. {restore}"
    else:
        said = (
            f"but its file {head.path} is gone. {restore}; a file that was moved is found by "
            "`vault-kg reindex`"
        )
    return MissingFile(
        f"{head.record_id} is known at revision {head.revision}, {said}",
        id=head.record_id,
        path=head.path,
        revision=head.revision,
    )
