"""What files say that a recovered history does not: told, and where it hides a record, believed.

A withdrawal, correction or merge that never reached Git is still written in its file. It is taken
at its word, since the other mistake would make a retracted record current again, and is reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_kg.errors import UnsafePath, legible
from vault_kg.records.model import Record
from vault_kg.state import guards, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry
from vault_kg.state.merges import Merge
from vault_kg.state.revisions import Revision
from vault_kg.store import files, untold
from vault_kg.store.plan import Plan

if TYPE_CHECKING:
    from vault_kg.store.git import History

OPERATION = "recover"
ACTOR = "vault-kg"


@dataclass
class Told:
    """What the files added, and what they say that no commit proves."""

    guards: int = 0
    merges: int = 0
    unproven: list[str] = field(default_factory=list)


def compare(root: Path, database: Database, history: History) -> Told:
    """Compare every record file with what was recovered of it.

    Of a file that a person committed as it is, that commit tells all but its lifecycle.

    Args:
        root: the vault's folder.
        database: the recovered state; guards and merges that only files tell of are added.
        history: the vault's Git history.
    """
    head = history.resolve("HEAD")
    return _Comparison(root, database, dict(history.list_files(head)) if head else {}).run()


class _Comparison:
    def __init__(self, root: Path, database: Database, in_git: dict[str, str]) -> None:
        self._root = root
        self._in_git = in_git
        self._db = database
        self._heads = revisions.heads(database)
        self._guarded = guards.lifecycles(database)
        self._merged = merges.targets(database)
        self._told = Told()
        self._guards: list[Guard] = []
        self._merges: list[Merge] = []

    def run(self) -> Told:
        for path in _markdown(self._root):
            content = self._read(path)
            if content is None or rows.last_hash(self._db, path) == files.content_hash(content):
                continue  # Git has just these bytes
            record = untold.record_in(content)
            if record is not None:
                self._look(path, record, self._in_git.get(path) == files.blob_id(content))
        if self._guards or self._merges:
            self._write()
        return self._told

    def _read(self, path: str) -> bytes | None:
        try:
            return files.read(self._root, path)
        except (UnsafePath, OSError):
            return None

    def _look(self, path: str, record: Record, in_git: bool) -> None:
        head = self._heads.get(record.id)
        if head is None:
            if not in_git or record.lifecycle != "active":
                self._say(f"{path}: no commit tells of {record.id}; it is taken in as it stands")
            return
        standing = self._guarded.get(record.id) or (
            "merged" if record.id in self._merged else "active"
        )
        if record.lifecycle != "active" and standing == "active":
            self._believe(path, record, head)
        elif not in_git:
            self._say(
                f"{path} is not what the history has of {record.id} (revision {head.revision}); it "
                "is taken in as an edit"
            )

    def _believe(self, path: str, record: Record, head: Revision) -> None:
        change = record.lifecycle_change or {}
        reason = str(change.get("reason") or "stated by its file")
        at = str(change.get("at") or record.updated_at)
        if record.lifecycle == "merged" and record.merged_into:
            merge = Merge(
                head.partition, record.id, record.merged_into, reason, at, head.revision + 1, 1
            )
            self._merges.append(merge)
        elif record.lifecycle in (guards.WITHDRAWN, guards.SUPERSEDED):
            guard = Guard(
                record.id, record.lifecycle, head.partition, record.superseded_by, reason,
                str(change.get("actor") or ACTOR), str(change.get("request_id") or "-"), at,
            )  # fmt: skip
            self._guards.append(guard)
        self._say(
            f"{path}: only the file says that {record.id} is {record.lifecycle}, no commit does; "
            "it is believed"
        )

    def _say(self, text: str) -> None:
        self._told.unproven.append(text)

    def _write(self) -> None:
        """Record what was believed as one entry, so that Git tells of it from now on."""
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        number = rows.last_seq(self._db) + 1
        effects = Plan(
            "", {}, label="what only files told", guards=tuple(self._guards),
            merges=tuple(self._merges),
        ).effects()  # fmt: skip
        entry = Entry(
            0, f"{OPERATION}-{number}", OPERATION, "", ACTOR, None, "", "{}",
            rows.dump(effects), rows.ACCEPTED, at, None, None, None,
        )  # fmt: skip
        with self._db.write():
            seq = rows.add(self._db, entry, [])
            for guard in self._guards:
                guards.add(self._db, guard)
            for merge in self._merges:
                merges.add(self._db, Merge(**{**asdict(merge), "seq": seq}), [])
            rows.set_receipt(self._db, seq, rows.PUBLISHED, {"publishedAt": at, "actor": ACTOR}, at)
            rows.queue_commit(self._db, seq)
        self._told.guards, self._told.merges = len(self._guards), len(self._merges)


def _markdown(root: Path) -> Iterator[str]:
    """Yield the vault's Markdown files; hidden folders hold none of ours, nor do odd names."""
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name).relative_to(root).as_posix()
            if name.lower().endswith(".md") and legible(path) == path:  # else it is not UTF-8
                yield path
