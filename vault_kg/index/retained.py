"""Whether the bytes of retained sources are still there as they were retained.

A file is read only where its stamp is not the one with which it was read last. What was seen is kept
in the state, so that asking again costs one look at each file's name.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import astuple

from vault_kg.errors import Busy, WriteFailed
from vault_kg.index.catalog import SOURCE_COLUMNS
from vault_kg.state.database import Database
from vault_kg.store import files, sources
from vault_kg.store.files import RACY_NS, Stamp
from vault_kg.store.sources import Source
from vault_kg.store.vault import Vault

CHANGED, MISSING = "source_changed", "source_missing"
TABLE = """
    CREATE TABLE retained (
        path     TEXT PRIMARY KEY,
        sha256   TEXT NOT NULL,
        size     INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        inode    INTEGER NOT NULL,
        whole    INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
"""

_Seen = tuple[str, str, int, int, int, int, int]


def faults(vault: Vault) -> Iterator[tuple[Source, str]]:
    """Yield the sources whose file was changed or is gone, by path, each with its code."""
    known = {row[0]: row[1:] for row in vault.database.rows("SELECT * FROM retained")}
    seen: list[_Seen] = []
    found: list[tuple[Source, str]] = []
    for values in vault.database.rows(f"SELECT {SOURCE_COLUMNS} FROM source ORDER BY path"):
        source = Source(*values)
        stamp = files.stamp(vault.root, source.path)
        if stamp is None:
            found.append((source, MISSING))
            continue
        there = known.get(source.path)
        if there is not None and there[:-1] == (source.sha256, *astuple(stamp)):
            whole = bool(there[-1])
        else:
            whole = _is_whole(vault, source, stamp, seen)
        if not whole:
            found.append((source, CHANGED))
    _remember(vault.database, seen)
    yield from found


def _is_whole(vault: Vault, source: Source, stamp: Stamp, seen: list[_Seen]) -> bool:
    looked_at = time.time_ns()
    try:
        whole = sources.verify(vault.root, source)[1]
    except OSError:
        return False  # not read, and so not known: the next look tries again
    if max(stamp.mtime_ns, stamp.ctime_ns) < looked_at - RACY_NS:
        seen.append((source.path, source.sha256, *astuple(stamp), int(whole)))
    return whole


def _remember(db: Database, seen: list[_Seen]) -> None:
    """Keep what was seen; where that cannot be now, the files are read again the next time."""
    if seen:
        with contextlib.suppress(Busy, WriteFailed), db.write():
            db.executemany("INSERT OR REPLACE INTO retained VALUES (?,?,?,?,?,?,?)", seen)
