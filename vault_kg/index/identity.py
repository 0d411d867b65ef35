"""Who a changed file is: an edit, a new record, a moved one, a copy, or a deletion.

Identity comes from the `id` line, never from the path, and the line is not obeyed where it was
changed by hand. What a person did in files is told to the journal as changes and moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.index.parsed import RECORD, SOURCE, Looked, Parsed, parse_file, partition_of
from vault_kg.index.walk import ONTOLOGY
from vault_kg.records.model import Problem, Record
from vault_kg.state import guards, revisions
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.merges import Merge
from vault_kg.state.revisions import Revision
from vault_kg.store import files, sources
from vault_kg.store.journal import EDITOR
from vault_kg.store.plan import Change


@dataclass
class Observed:
    """What a person did: file changes with their revisions, and moves without one."""

    changes: dict[str, Change] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    parsed: dict[str, Parsed] = field(default_factory=dict)
    """Files that are not who they say they are, as they are to be taken."""


def observe(db: Database, root: Path, looked: dict[str, Looked], gone: Iterable[str]) -> Observed:
    """Say what changed files mean.

    Args:
        db: the state.
        root: the vault's folder.
        looked: changed files as they are now.
        gone: files that were there and are not.
    """
    return _Observer(db, root, looked).run(gone)


def as_known(db: Database, parsed: Parsed, there: Revision | None) -> Parsed:
    """Return what an accepted file is to be taken for: the record that stands at its path.

    Args:
        db: the state.
        parsed: the file.
        there: what stands at its path, if anything does.
    """
    if parsed.record is None or there is None or there.record_id == parsed.record.id:
        return parsed
    return parsed if revisions.head(db, parsed.record.id) else _named(parsed, there.record_id)


def _named(parsed: Parsed, record_id: str) -> Parsed:
    """Return a file whose id was changed by hand as the record that it was, with the finding."""
    assert parsed.record is not None
    problem = Problem(
        "id_edited",
        f"the file says id: {parsed.record.id}; it is {record_id}",
        (parsed.document.lines.get("id") if parsed.document else None) or 1,
        f"restore the line `id: {record_id}`, or move the text to a new file",
        "warning",
    )
    record = replace(parsed.record, id=record_id)
    return replace(parsed, record=record, problems=(*parsed.problems, problem))


class _Observer:
    def __init__(self, db: Database, root: Path, looked: dict[str, Looked]) -> None:
        self._db = db
        self._root = root
        self._looked = looked
        self._found = Observed()
        self._new: set[str] = set()

    def run(self, gone: Iterable[str]) -> Observed:
        for path, file in self._looked.items():
            if file.parsed.kind == RECORD:
                self._record(path, file)
            elif file.parsed.kind == SOURCE:
                self._source(path, file)
            elif path.rpartition("/")[2] == ONTOLOGY:
                self._plain(path, file)
        left = set(gone)
        for path in left:
            if rows.last_hash(self._db, path) is not None:
                self._found.changes.setdefault(path, Change(path, None, None))
        for path in sorted(left):
            self._copy_left(path, left)
        return self._found

    def _record(self, path: str, file: Looked) -> None:
        record = file.parsed.record
        assert record is not None
        head = revisions.head(self._db, record.id)
        there = self._replaced(path, record.id)
        if head is None:
            if there is not None:
                self._renamed(path, file, there)
            elif record.id in self._new:
                self._plain(path, file)
            else:
                self._new.add(record.id)
                self._first_seen(path, file, record)
        elif head.path == path:
            self._edited(path, file, head)
        elif self._id_on_disk(head.path) != record.id:
            self._moved(path, file, head)
        elif there is not None:
            self._renamed(path, file, there)
        else:
            self._plain(path, file)  # a copy: both are listed, neither is looked up

    def _replaced(self, path: str, record_id: str) -> Revision | None:
        """Return the other record whose only file this one is, until it was saved over."""
        there = revisions.head_at_path(self._db, path)
        if there is None or there.record_id == record_id or self._lives_elsewhere(there):
            return None
        return there if rows.last_hash(self._db, path) is not None else None

    def _copy_left(self, path: str, gone: set[str]) -> None:
        """Where a deleted file has a copy with its id, take the copy for the file, moved."""
        head = revisions.head_at_path(self._db, path)
        if head is None or self._is_looked_at(head.record_id):
            return
        copies = self._db.rows(
            "SELECT path FROM record WHERE id = ? AND path <> ? ORDER BY path",
            (head.record_id, path),
        )
        copy = next((found for (found,) in copies if found not in gone), None)
        if copy is None or self._id_on_disk(copy) != head.record_id:
            return
        content = files.read(self._root, copy)
        stamp = files.stamp(self._root, copy)
        if content is not None and stamp is not None:
            parsed = parse_file(copy, content)
            self._moved(copy, Looked(content, parsed, files.content_hash(content), stamp), head)

    def _renamed(self, path: str, file: Looked, there: Revision) -> None:
        """Take a file whose id was changed by hand for the record that it was."""
        self._found.parsed[path] = _named(file.parsed, there.record_id)
        self._edited(path, file, there)

    def _edited(self, path: str, file: Looked, head: Revision) -> None:
        if file.hash != head.hash:
            self._revise(path, file, head.record_id, head.revision + 1, head.lifecycle)
        else:
            self._plain(path, file)

    def _moved(self, path: str, file: Looked, head: Revision) -> None:
        if file.hash != head.hash or partition_of(path) != head.partition:
            self._revise(path, file, head.record_id, head.revision + 1, head.lifecycle)
        else:
            self._plain(path, file)
            self._found.moves.append((head.record_id, path))
        if files.stamp(self._root, head.path) is None and rows.last_hash(self._db, head.path):
            self._found.changes.setdefault(head.path, Change(head.path, None, None))

    def _revise(
        self, path: str, file: Looked, record_id: str, revision: int, lifecycle: str
    ) -> None:
        assert file.parsed.record is not None
        self._found.changes[path] = Change(
            path, None, file.content, record_id, file.parsed.record.kind, revision, lifecycle,
            partition_of(path),
        )  # fmt: skip

    def _plain(self, path: str, file: Looked) -> None:
        """Commit a file as it is, unless Git has just these bytes of it."""
        if rows.last_hash(self._db, path) != file.hash:
            self._found.changes[path] = Change(
                path, None, file.content, partition=partition_of(path)
            )

    def _source(self, path: str, file: Looked) -> None:
        assert file.parsed.source is not None
        self._plain(path, file)
        source = file.parsed.source
        content, verified = sources.verify(self._root, source)
        if verified and content is not None and rows.last_hash(self._db, source.path) is None:
            self._found.changes[source.path] = Change(
                source.path, None, content, partition=source.partition
            )

    def _first_seen(self, path: str, file: Looked, record: Record) -> None:
        """Take in a record that the state does not know: an inactive one is believed, guarded."""
        guarded = guards.of(self._db, record.id)
        known = next((k for k in (guards.WITHDRAWN, guards.SUPERSEDED) if k in guarded), None)
        half_said = record.lifecycle == "merged" and not _is_whole_merge(record)
        stated = "active" if half_said else record.lifecycle
        self._revise(path, file, record.id, record.revision, known or stated)
        if known is not None or stated == "active":
            return
        change = record.lifecycle_change or {}
        partition, reason = partition_of(path), str(change.get("reason") or "stated by its file")
        at = str(change.get("at") or record.updated_at)
        if record.merged_into and stated == "merged":
            self._found.merges.append(
                Merge(partition, record.id, record.merged_into, reason, at, record.revision, 1)
            )
            return
        self._found.guards.append(
            Guard(
                record.id, record.lifecycle, partition, record.superseded_by, reason,
                str(change.get("actor") or EDITOR), str(change.get("request_id") or "-"), at,
            )
        )  # fmt: skip

    def _lives_elsewhere(self, head: Revision) -> bool:
        found = self._db.row(
            "SELECT 1 FROM record WHERE id = ? AND path <> ?", (head.record_id, head.path)
        )
        return found is not None or self._is_looked_at(head.record_id)

    def _is_looked_at(self, record_id: str) -> bool:
        return any(
            f.parsed.record is not None and f.parsed.record.id == record_id
            for f in self._looked.values()
        )

    def _id_on_disk(self, path: str) -> str | None:
        known = self._looked.get(path)
        if known is None:
            try:
                content = files.read(self._root, path)
            except (UnsafePath, OSError):
                return None
            parsed = parse_file(path, content) if content is not None else None
        else:
            parsed = known.parsed
        return parsed.record.id if parsed is not None and parsed.record is not None else None


def _is_whole_merge(record: Record) -> bool:
    """Say whether a file states a merge as an operation would: of a page, into another record."""
    return record.kind == "page" and bool(record.merged_into)
