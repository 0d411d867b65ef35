"""Records and sources that are known and have no file in the index: where they were, what is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import catalog, ignoring
from vault_kg.index.parsed import BROKEN, RECORD, from_git, is_source_descriptor
from vault_kg.records import ids
from vault_kg.state import revisions
from vault_kg.state.database import Database
from vault_kg.store import files
from vault_kg.store.sources import DESCRIPTOR

GONE, IGNORED, NO_RECORD = "missing", "ignored", "record_lost_front_matter"
NO_DESCRIPTOR, INVALID_SOURCE = "source_missing", "invalid_source"
_WITHOUT_ROW = "SELECT record_id FROM revision EXCEPT SELECT id FROM record"


@dataclass(frozen=True)
class Lost:
    """A record without a file, or a source without a descriptor."""

    id: str
    path: str
    """Where it stood last."""
    partition: str
    reason: Reason


class Reason(NamedTuple):
    """Why no file is the record, as a finding says it."""

    code: str
    message: str
    hint: str


def everything(db: Database, root: Path) -> Iterator[Lost]:
    """Yield each record that is lost, by path.

    One that was withdrawn is told of only where what its file holds is found as a note: nobody looks
    for it, and its text must not come back unnoticed. A file that cannot be read says so itself.
    """
    for record, path, partition, kind, withdrawn in db.rows(
        "SELECT record_id, r.path, partition, file.kind, EXISTS (SELECT 1 FROM guard "
        "WHERE guard.record_id = r.record_id AND guard.kind = 'withdrawn') "
        "FROM revision AS r LEFT JOIN file ON file.path = r.path "
        f"WHERE record_id IN ({_WITHOUT_ROW}) "
        "AND revision = (SELECT max(revision) FROM revision WHERE record_id = r.record_id) "
        "ORDER BY r.path, record_id"
    ):
        if kind == BROKEN or (withdrawn and kind in (None, RECORD)):
            continue
        yield Lost(record, path, partition, _reason(root, record, path, kind))


def records(db: Database) -> Iterator[str]:
    """Yield the ids of all records that no file of the index is, those that cannot be read too.

    Those that were withdrawn are left out: nobody looks for them.
    """
    withdrawn = "SELECT record_id FROM guard WHERE kind = 'withdrawn'"
    for (record,) in db.rows(f"{_WITHOUT_ROW} EXCEPT {withdrawn} ORDER BY 1"):
        yield record


def at(db: Database, root: Path, path: str) -> Lost | None:
    """Return the record that a file was before it read as a note, None where it was none."""
    head = revisions.head_at_path(db, path)
    if head is None or catalog.by_id(db, head.record_id):
        return None
    why = reason(db, root, head.record_id, path)
    return Lost(head.record_id, path, head.partition, why)


def of_sources(db: Database, root: Path) -> Iterator[Lost]:
    """Yield each source that the journal knows and whose descriptor is not to be found, by path.

    One whose descriptor is gone is told of only while a record cites it: it may have been deleted.
    A descriptor that cannot be read says so itself.
    """
    cited = "SELECT 1 FROM citation WHERE source = ? LIMIT 1"
    for found in _without_descriptor(db, root):
        code = found.reason.code
        if code == IGNORED or (code == NO_DESCRIPTOR and db.row(cited, (found.id,))):
            yield found


def source(db: Database, root: Path, source_id: str) -> Lost | None:
    """Return why a source has no descriptor, None where nothing is known of it."""
    return next((f for f in _without_descriptor(db, root) if f.id == source_id), None)


def _without_descriptor(db: Database, root: Path) -> Iterator[Lost]:
    for path, said, hint in db.rows(
        "SELECT path, message, hint FROM (SELECT DISTINCT path FROM journal_file WHERE path GLOB ?) "
        "LEFT JOIN finding USING (path) "
        "WHERE path NOT IN (SELECT descriptor FROM source) ORDER BY path",
        (f"*/sources/*/{DESCRIPTOR}",),
    ):
        if not is_source_descriptor(path):
            continue
        partition, _, sha256, _ = path.split("/")
        source_id = ids.source_id(partition, sha256)
        nothing = f"so that nothing finds the source {source_id}"
        if said is not None:
            why = Reason(INVALID_SOURCE, f"{path}: {said}, {nothing}", hint)
        elif files.stamp(root, path) is not None:
            left_out = ignored(root, path, nothing)
            if left_out is None:
                continue  # the next look takes it in
            why = left_out
        else:
            why = Reason(NO_DESCRIPTOR, f"{path} is gone, {nothing}", from_git(path))
        yield Lost(source_id, path, partition, why)


def reason(db: Database, root: Path, record: str, path: str) -> Reason:
    """Return why a record that stood at a path has no file."""
    return _reason(root, record, path, db.value("SELECT kind FROM file WHERE path = ?", (path,)))


def ignored(
    root: Path, path: str, so_that: str = "so that nothing finds what it holds"
) -> Reason | None:
    """Return why a path is left out of the vault, None where it is not."""
    found = ignoring.reason(root, path)
    if found is None:
        return None
    return Reason(
        IGNORED,
        f"{found} leaves {path} out of the vault, {so_that}",
        f"remove that line of {found.path}, or make it narrower",
    )


def _reason(root: Path, record: str, path: str, kind: str | None) -> Reason:
    bring_back = f"bring it back with `vault-kg restore {record}`"
    if kind == RECORD:
        said = "its file holds another record by now; deletion is not withdrawal"
        return Reason(GONE, said, f"{bring_back}, into a file of its own")
    stamp = files.stamp(root, path)
    if kind not in (None, BROKEN) and stamp is not None:
        what = "is empty" if stamp.size == 0 else "has lost its front matter, and reads as a note"
        kept = "" if stamp.size == 0 else "; the text that stands there is kept beside it"
        return Reason(NO_RECORD, f"the file of this record {what}", f"{bring_back}{kept}")
    left_out = ignored(root, path) if stamp is not None else None
    return left_out or Reason(
        GONE,
        "the file is gone; deletion is not withdrawal",
        f"{bring_back}, or restore and withdraw it",
    )
