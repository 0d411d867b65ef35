"""Exporting the journal: one JSON line for each change, in the words of records and never of SQL.

Each line has what changed whole (the text of each file), so that the export can be read, compared
and taken in without this program. What cannot be exported is a failure, never left out silently.
"""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument, NotFound, Unavailable, WriteFailed
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, marks, writing
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import guards, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.journal import Entry, FileRow
from vault_kg.store import files

FORMAT = "knowledge-journal-v1"
FOLDER = "journal-export"
EVENTS, MARKS = "events.jsonl", "marks.jsonl"
_CHUNK = 200


class Dump(GraphRequest):
    """What is exported, and where to."""

    group_id: Line | None = Field(None, description="Only this group; all where left out.")
    target_dir: Line | None = Field(
        None, description="A folder that is new or empty; .vault-kg/journal-export if left out."
    )


class Dumped(GraphModel):
    """What was exported."""

    success: bool
    events: int
    nodes_dumped: int = Field(description="Revisions of pages and claims.")
    edges_dumped: int = Field(description="Revisions of relationships.")
    files_written: int
    target_dir: str
    skipped: list[dict[str, Any]] = Field(description="Contents that are nowhere any more.")


@operation("admin", Dumped, toolset="graph")
def knowledge_dump_wal(ws: Workspace, request: Dump, caller: Caller) -> Dumped:
    """Export the journal as JSON lines of what changed, with the marks.

    The folder appears when it is complete. A content that cannot be found is named in skipped, and
    success is false.
    """
    if request.group_id is not None:
        finding.group_to_write(caller, request.group_id)
    target = _target(ws, request.target_dir)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            told = _write(ws, caller, request.group_id, partial)
            if target.exists():
                target.rmdir()
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise WriteFailed(f"{target} cannot be written: {error}", path=str(target)) from error
    return Dumped(**told, files_written=2, target_dir=str(target))


def _target(ws: Workspace, given: str | None) -> Path:
    target = Path(given) if given else ws.vault.private / FOLDER
    if not target.is_absolute():
        target = ws.vault.root / target
    try:
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"target_dir cannot be used: {error}", field="target_dir") from error
    if taken:
        raise InvalidArgument(
            f"{target} is there and not an empty folder; give a new one", field="target_dir"
        )
    return target


def _write(ws: Workspace, caller: Caller, group: str | None, folder: Path) -> dict[str, Any]:
    counts = {"events": 0, "nodes_dumped": 0, "edges_dumped": 0}
    skipped: list[dict[str, Any]] = []
    total = rows.last_seq(ws.database)
    with (folder / EVENTS).open("w", encoding="utf-8") as out:
        for event in events(ws, caller, group, skipped):
            out.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
            counts["events"] += 1
            kinds = [record["kind"] for record in event["records"]]
            counts["edges_dumped"] += kinds.count("relationship")
            counts["nodes_dumped"] += len(kinds) - kinds.count("relationship")
            caller.report(event["seq"], total, "exporting")
    with (folder / MARKS).open("w", encoding="utf-8") as out:
        for name in [group] if group else _groups(ws, caller):
            for mark, value in sorted(marks.every(ws, name).items()):
                line = {"group_id": name, "name": mark, **asdict(value)}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
    return counts | {"success": not skipped, "skipped": skipped}


def events(
    ws: Workspace, caller: Caller, group: str | None, skipped: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield what each published entry changed in a group, or in all that the caller sees.

    Args:
        ws: the opened vault.
        caller: who exports.
        group: only what changed there.
        skipped: gets a line for each content that is not found.
    """

    def wanted(partition: str) -> bool:
        return caller.sees(partition) and group in (None, partition)

    after = 0
    while entries := rows.published(ws.database, after, _CHUNK):
        if caller.cancelled():
            raise writing.cancelled()
        for entry in entries:
            event = _event(ws, entry, skipped, wanted)
            if event is not None:
                yield event
        after = entries[-1].seq


def _event(
    ws: Workspace, entry: Entry, skipped: list[dict[str, Any]], wanted: Any
) -> dict[str, Any] | None:
    made = [r for r in revisions.of_seq(ws.database, entry.seq) if wanted(r.partition)]
    if not made and not wanted(entry.partition):
        return None
    changed = {file.path: file for file in rows.files(ws.database, entry.seq)}
    removed = {path for path, file in changed.items() if file.after_hash is None}
    records = []
    for revision in made:
        content = None if revision.path in removed else ws.bytes_of(revision)
        if content is None and revision.path not in removed:
            skipped.append({"seq": entry.seq, "path": revision.path, "hash": revision.hash})
        records.append(
            {
                "id": revision.record_id, "kind": revision.kind, "revision": revision.revision,
                "lifecycle": revision.lifecycle, "group_id": revision.partition,
                "path": revision.path, "hash": revision.hash, **_content(content),
            }
        )  # fmt: skip
    paths = {revision.path for revision in made}
    set_guards = guards.of_request(ws.database, entry.request_id)
    others = [f for p, f in changed.items() if p not in paths and wanted(_group_of(entry, f))]
    return {
        "format": FORMAT, "seq": entry.seq, "at": entry.published_at or entry.accepted_at,
        "group_id": entry.partition, "operation": entry.operation, "actor": entry.actor,
        "request_id": entry.request_id, "reason": entry.reason, "records": records,
        "files": [_file(ws, entry, file, skipped) for file in others],
        "guards": [asdict(g) for g in set_guards if wanted(g.partition)],
        "merges": [
            asdict(m) for m in merges.of_seq(ws.database, entry.seq) if wanted(m.partition)
        ],
        "unmerged": merges.undone_by(ws.database, entry.seq), "commit": entry.commit_id,
    }  # fmt: skip


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


def _groups(ws: Workspace, caller: Caller) -> list[str]:
    from vault_kg.index import graph_rows

    return [name for name in graph_rows.groups(ws.database) if caller.sees(name)]
