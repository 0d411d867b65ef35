"""The stamp that the index has of each file, and by it which files may have changed.

A file saved shortly before it was read may be saved again with the same stamp: its stamp proves
nothing, and it is read once more (Git calls such an entry racily clean).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from vault_kg.index.looking import Asked, Same
from vault_kg.index.walk import Listing
from vault_kg.state.database import Database
from vault_kg.store.files import RACY_NS, Stamp


def compare(db: Database, listing: Listing) -> tuple[list[Asked], list[str]]:
    """Return the files of a walk that may have changed, what others stand on first; and those gone."""
    known = {
        path: (Stamp(size, mtime, ctime, inode), seen, content_hash)
        for path, size, mtime, ctime, inode, seen, content_hash in db.rows(
            "SELECT path, size, mtime_ns, ctime_ns, inode, seen_ns, hash FROM file"
        )
    }
    changed: list[Asked] = []
    for path, stamp in listing.files.items():
        there = known.get(path)
        if there is None or there[0] != stamp or _is_racy(stamp, there[1]):
            changed.append((path, there[2] if there else None))
    changed.sort(key=lambda one: ("/sources/" not in one[0], "/pages/" not in one[0], one[0]))
    gone = [path for path in known if path not in listing.files and listing.complete(path)]
    return changed, gone


def differs(db: Database, path: str, stamp: Stamp | None) -> bool:
    """Say whether a file may not be what the index saw; `stamp` is None where there is none."""
    row = db.row(
        "SELECT size, mtime_ns, ctime_ns, inode, seen_ns FROM file WHERE path = ?", (path,)
    )
    if row is None or stamp is None:
        return row is not None or stamp is not None
    return Stamp(*row[:4]) != stamp or _is_racy(stamp, row[4])


def is_known(db: Database, path: str) -> bool:
    """Say whether the index has a file."""
    return db.row("SELECT 1 FROM file WHERE path = ?", (path,)) is not None


def hashes(db: Database, paths: Sequence[str]) -> dict[str, str]:
    """Return the hash that the index has of each of these files that it knows."""
    return dict(db.among("SELECT path, hash FROM file WHERE path IN ({})", paths))


def restamp(db: Database, path: str, found: Same) -> None:
    """Note when the bytes that the index knows were seen last, and with which stamp."""
    db.execute(
        "UPDATE file SET size=?, mtime_ns=?, ctime_ns=?, inode=?, seen_ns=? WHERE path=?",
        (*astuple(found.stamp), found.seen_ns, path),
    )


def _is_racy(stamp: Stamp, seen_ns: int) -> bool:
    return stamp.mtime_ns > seen_ns - RACY_NS
