"""Exporting the journal: one JSON line for each change, in the words of records and never of SQL.

Each line has what changed whole (the text of each file), so that the export can be read, compared
and taken in without this program. What cannot be exported is a failure, never left out silently.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidArgument, WriteFailed
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import events, finding, marks
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows

FOLDER, DEFAULT = "exports", "journal"
ALLOWED = "VAULT_KG_EXPORTS"
"""The environment variable that names one more folder to export into, or several, as a PATH does."""
EVENTS, MARKS = "events.jsonl", "marks.jsonl"


class Dump(GraphRequest):
    """What is exported, and where to."""

    group_id: Line | None = Field(None, description="Only this group; all where left out.")
    target_dir: Line | None = Field(
        None,
        description="A new or empty folder in .vault-kg/exports, by its name there or its whole "
        "path, or within the folder that the operator names in VAULT_KG_EXPORTS; "
        ".vault-kg/exports/journal if left out.",
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


@operation("admin", Dumped, toolset="graph", on_reading=True)
def knowledge_dump_wal(ws: Workspace, request: Dump, caller: Caller) -> Dumped:
    """Export the journal as JSON lines of what changed, with the marks, into the export folder.

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
    """Return the folder to export into.

    Raises:
        InvalidArgument: it is outside of where exports may go, or taken.
        WriteFailed: it is the vault's, which is open for reading only.
    """
    own = ws.vault.private / FOLDER
    target = own / (given or DEFAULT)
    others = [Path(name) for name in os.environ.get(ALLOWED, "").split(os.pathsep) if name]
    try:
        within = [p for p in (own, *others) if _is_inside(target, p)]
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"target_dir cannot be used: {error}", field="target_dir") from error
    if not within:
        raise InvalidArgument(
            f"{target} is no place for exports; give a folder in {own}, or have the operator name "
            f"another one in {ALLOWED}",
            field="target_dir",
        )
    if target.resolve().is_relative_to(ws.vault.root.resolve()):
        ws.vault.check_writable()
    if taken:
        raise InvalidArgument(
            f"{target} is there and not an empty folder; give a new one", field="target_dir"
        )
    return target


def _is_inside(target: Path, folder: Path) -> bool:
    """Say whether a path lies below a folder, links followed."""
    return folder.resolve() in target.resolve().parents


def _write(ws: Workspace, caller: Caller, group: str | None, folder: Path) -> dict[str, Any]:
    counts = {"events": 0, "nodes_dumped": 0, "edges_dumped": 0}
    skipped: list[dict[str, Any]] = []
    total = rows.last_seq(ws.database)
    with (folder / EVENTS).open("w", encoding="utf-8") as out:
        for event in events.published(ws, caller, group, skipped):
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


def _groups(ws: Workspace, caller: Caller) -> list[str]:
    from vault_kg.index import graph_rows

    return [name for name in graph_rows.groups(ws.database) if caller.sees(name)]
