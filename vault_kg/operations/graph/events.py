"""What each entry of the journal changed, as a caller sees it, in the words of records."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from vault_kg.errors import NotFound, Unavailable
from vault_kg.operations import asof, sight, steps
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import guards, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.journal import Entry, FileRow
from vault_kg.state.revisions import Revision
from vault_kg.store import files

FORMAT = "knowledge-journal-v1"
_CHUNK = 200


def published(
    ws: Workspace, caller: Caller, group: str | None, skipped: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield what each published entry changed in a group, or in all that the caller sees.

    Args:
        ws: the opened vault.
        caller: who exports.
        group: only what changed there.
        skipped: gets a line for each content that is not found.
    """
    after = 0
    while entries := rows.published(ws.database, after, _CHUNK):
        if caller.cancelled():
            raise steps.cancelled()
        for entry in entries:
            event = _event(_View(ws, caller, group), entry, skipped)
            if event is not None:
                yield event
        after = entries[-1].seq


@dataclass(frozen=True)
class _View:
    """What of the journal an export shows."""

    ws: Workspace
    caller: Caller
    group: str | None

    def wants(self, partition: str) -> bool:
        return self.caller.sees(partition) and self.group in (None, partition)

    def hides(self, uid: str | None) -> bool:
        return sight.is_hidden(self.ws, self.caller, uid)

    def hides_revision(self, revision: Revision, content: bytes | None) -> bool:
        """Say whether a record is about something hidden, as it stands or stood."""
        if self.caller.partitions is None:
            return False
        record = asof.record_in(content)
        about = record is not None and sight.is_about_hidden(self.ws, self.caller, record)
        return about or self.hides(revision.record_id)

    def text(self, content: bytes | None) -> dict[str, str | None]:
        """Return the content of a record's file, without the ids of what is hidden."""
        said = _content(content)
        text = said["text"]
        return said | {"text": text and sight.veiled(self.ws, self.caller, text)}


def _event(view: _View, entry: Entry, skipped: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return what an entry changed, or None where nothing of it is to be seen."""
    db = view.ws.database
    every = revisions.of_seq(db, entry.seq)
    made = [revision for revision in every if view.wants(revision.partition)]
    if not made and not view.wants(entry.partition):
        return None
    changed = {file.path: file for file in rows.files(db, entry.seq)}
    removed = {path for path, file in changed.items() if file.after_hash is None}
    records = []
    for revision in made:
        content = view.ws.bytes_of(revision)
        if view.hides_revision(revision, content):
            continue
        if revision.path in removed:
            content = None
        elif content is None:
            skipped.append({"seq": entry.seq, "path": revision.path, "hash": revision.hash})
        records.append(
            {
                "id": revision.record_id, "kind": revision.kind, "revision": revision.revision,
                "lifecycle": revision.lifecycle, "group_id": revision.partition,
                "path": revision.path, "hash": revision.hash, **view.text(content),
            }
        )  # fmt: skip
    if every and not records and view.caller.partitions is not None:
        return None
    paths = {revision.path for revision in made}
    others = [
        file
        for path, file in changed.items()
        if path not in paths
        and view.wants(_group_of(entry, file))
        and not view.hides(file.record_id)
    ]
    return {
        "format": FORMAT, "seq": entry.seq, "at": entry.published_at or entry.accepted_at,
        "group_id": entry.partition, "operation": entry.operation, "actor": entry.actor,
        "request_id": entry.request_id, "reason": entry.reason, "records": records,
        "files": [_file(view.ws, entry, file, skipped) for file in others],
        **_decisions(view, entry), "commit": entry.commit_id,
    }  # fmt: skip


def _decisions(view: _View, entry: Entry) -> dict[str, Any]:
    """Return what an entry decided of records, besides their files."""
    db = view.ws.database
    return {
        "guards": [
            asdict(guard) | {"successor": None if view.hides(guard.successor) else guard.successor}
            for guard in guards.of_request(db, entry.request_id)
            if view.wants(guard.partition) and not view.hides(guard.record_id)
        ],
        "merges": [
            asdict(merge)
            for merge in merges.of_seq(db, entry.seq)
            if view.wants(merge.partition)
            and not (view.hides(merge.absorbed) or view.hides(merge.survivor))
        ],
        "unmerged": [page for page in merges.undone_by(db, entry.seq) if not view.hides(page)],
        "declined": [
            pair
            for pair in entry.effects.get("declines", ())
            if not (view.hides(pair["first"]) or view.hides(pair["second"]))
        ],
    }


def _file(
    ws: Workspace, entry: Entry, file: FileRow, skipped: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a file that is no record: a source, an ontology, or one that was removed."""
    content = file.after
    if content is None and file.after_hash is not None:
        content = from_git(ws, entry, file)
        if content is None:
            skipped.append({"seq": entry.seq, "path": file.path, "hash": file.after_hash})
    return {"path": file.path, "hash": file.after_hash, **_content(content)}


def from_git(ws: Workspace, entry: Entry, file: FileRow) -> bytes | None:
    """Return the bytes that an entry gave a file, as its commit has them, or None."""
    try:
        content = ws.history.read_file(entry.commit_id, file.path) if entry.commit_id else None
    except (NotFound, Unavailable):
        return None
    return content if content is None or files.content_hash(content) == file.after_hash else None


def _content(content: bytes | None) -> dict[str, str | None]:
    """Return a content as text, or where it is none in base64; both null where there is none."""
    if content is None:
        return {"text": None, "base64": None}
    try:
        return {"text": content.decode(), "base64": None}
    except UnicodeDecodeError:
        return {"text": None, "base64": base64.b64encode(content).decode()}


def _group_of(entry: Entry, file: FileRow) -> str:
    parts = file.path.split("/")
    return parts[0] if len(parts) > 2 else entry.partition
