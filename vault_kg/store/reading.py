"""Reading a folder that cannot be written: its state lies elsewhere, and serves for reading only.

Such a *reading state* begins as a copy of the vault's own, with its guards and history, and is made
anew when that has changed; of a folder that is no vault it begins empty. It is kept true to the
files by scans like any other. Nothing is written through it: no request, and nothing to Git.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from vault_kg.errors import Unavailable, WriteFailed
from vault_kg.state import copying, journal, settings
from vault_kg.state.copying import remove_database
from vault_kg.state.database import Database

OTHER_PLACE = (
    "To read and search it as it is, use --state FOLDER: a folder outside of it that you can "
    "write to"
)
"""What to do where a vault cannot be written."""

_READS, _COPIED = "reads_folder", "copied_state"
_EFFECTIVE = os.access in os.supports_effective_ids


def can_write(path: Path) -> bool:
    """Say whether this account may make files in a folder; or write a file, and beside it."""
    if path.is_dir():
        return os.access(path, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE)
    return can_write(path.parent) and os.access(path, os.W_OK, effective_ids=_EFFECTIVE)


def can_read(path: Path) -> bool:
    """Say whether a file is there that this account may read."""
    return os.access(path, os.R_OK, effective_ids=_EFFECTIVE)


def is_reading(database: Database) -> bool:
    """Say whether a state serves for reading only."""
    return settings.get(database, _READS) is not None


def make(root: Path, own: Path, where: Path, vault_id: str | None) -> None:
    """Make the reading state of a folder, or make it anew where the vault's own has changed.

    Args:
        root: the folder to read.
        own: where the vault's own state lies.
        where: the reading state.
        vault_id: the vault's id; None for a folder that is no vault.

    Raises:
        Unavailable: it is the reading state of another folder, or the own state cannot be copied.
        WriteFailed: it cannot be written.
    """
    stamp = _stamp(own)
    known = _known(root, where)
    if known is not None and (known == stamp or not stamp):
        return
    unfinished = where.with_name(f"{where.name}.{os.getpid()}.making")
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        if stamp:
            copying.copy(own, unfinished)
        database = Database(unfinished, create=True)
        try:
            mark(database, root, stamp, vault_id)
            database.checkpoint()
        finally:
            database.close()
        remove_database(where)
        unfinished.replace(where)
    except OSError as error:
        raise WriteFailed(
            f"{where} cannot be made: {error.strerror or error}. Give --state a folder that you "
            "can write to",
            path=str(where),
        ) from error
    finally:
        remove_database(unfinished)


def _known(root: Path, where: Path) -> str | None:
    """Return the stamp of what a reading state is a copy of; None where there is no such state."""
    if not where.is_file():
        return None
    database = Database(where)
    try:
        reads = settings.get(database, _READS)
        if reads != str(root):
            raise Unavailable(
                f"{where} is for reading {reads}; use another --state", path=str(where)
            )
        return settings.get(database, _COPIED) or ""
    finally:
        database.close()


def mark(database: Database, root: Path, stamp: str = "", vault_id: str | None = None) -> None:
    """Make a state one for reading: nothing in it is left to be carried out.

    Args:
        database: the state.
        root: the folder that it reads.
        stamp: of the state that it is a copy of, if it is one.
        vault_id: the vault's id; the one in the state, or a new one, where None.
    """
    for entry in journal.unfinished(database):
        journal.set_state(database, entry.seq, journal.ABANDONED)
    mine = vault_id or settings.get(database, "vault_id") or f"va_{secrets.token_hex(12)}"
    settings.put(database, "vault_id", mine)
    settings.put(database, _READS, str(root))
    settings.put(database, _COPIED, stamp)


def _stamp(own: Path) -> str:
    """Return what tells whether a state has changed since; empty where there is none."""
    found = [_size_and_time(path) for path in (own, Path(f"{own}-wal"))]
    return " ".join(found) if found[0] else ""


def _size_and_time(path: Path) -> str:
    try:
        seen = path.stat()
    except FileNotFoundError:
        return ""
    return f"{seen.st_size}:{seen.st_mtime_ns}"
