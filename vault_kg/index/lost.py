"""Records that are known and that no file of the index is: where each was, and what is there now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import ignoring
from vault_kg.index.parsed import BROKEN, RECORD
from vault_kg.state.database import Database
from vault_kg.store import files

GONE, IGNORED, NO_RECORD = "missing", "ignored", "record_lost_front_matter"


@dataclass(frozen=True)
class Lost:
    """A record without a file."""

    record: str
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
        "WHERE record_id IN (SELECT record_id FROM revision EXCEPT SELECT id FROM record) "
        "AND revision = (SELECT max(revision) FROM revision WHERE record_id = r.record_id) "
        "ORDER BY r.path, record_id"
    ):
        if kind == BROKEN or (withdrawn and kind in (None, RECORD)):
            continue
        yield Lost(record, path, partition, _reason(root, record, path, kind))


def reason(db: Database, root: Path, record: str, path: str) -> Reason:
    """Return why a record that stood at a path has no file."""
    return _reason(root, record, path, db.value("SELECT kind FROM file WHERE path = ?", (path,)))


def ignored(root: Path, path: str) -> Reason | None:
    """Return why a path is left out of the vault, None where it is not."""
    found = ignoring.reason(root, path)
    if found is None:
        return None
    return Reason(
        IGNORED,
        f"{found} leaves {path} out of the vault, so that nothing finds what it holds",
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
