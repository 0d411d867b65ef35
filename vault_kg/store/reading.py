"""Reading a folder that cannot be written: its state lies elsewhere, and serves for reading only.

Such a *reading state* begins as a copy of the vault's own, with its guards and history, and gets
the content of a new copy when that has changed: in one transaction, so that whoever has it open goes
on. One that stays open looks for what was withdrawn, superseded or merged (`has_changed`). Of a
folder that is no vault it begins empty. It is kept true to the files by scans like any other.
Nothing is written through it: no request, and nothing to Git. What reads note of their use lasts
until the next copy.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path

from vault_kg.errors import Busy, Unavailable, WriteFailed
from vault_kg.state import copying, journal, settings
from vault_kg.state.copying import remove_database
from vault_kg.state.database import Database
from vault_kg.store.lane import LOCK, Lane

OTHER_PLACE = (
    "To read and search it as it is, use --state FOLDER: a folder outside of it that you can "
    "write to"
)
"""What to do where a vault cannot be written."""

REMADE = "it is made anew"
"""What becomes of a reading state that is lost; nobody is to recover one."""

_READS, _COPIED, _DECIDED = "reads_folder", "copied_state", "copied_decisions"
_DERIVED = (".f32", ".i8", ".steps")
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
        Busy: a process that reads the folder kept the lane of its state.
    """
    if _is_current(root, own, where):
        _sweep(where)
        return
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        if not can_write(where.parent):
            raise PermissionError(f"{where.parent} cannot be written")
        with Lane(where.parent / LOCK).hold():
            _remove_unfinished(where)
            if not _is_current(root, own, where):
                remake(root, own, where, vault_id)
    except OSError as error:
        raise WriteFailed(
            f"{where} cannot be made: {error.strerror or error}. Give --state a folder that you "
            "can write to",
            path=str(where),
        ) from error


def has_changed(database: Database, own: Path) -> bool:
    """Say whether the vault's own state says other things of records than its copy began with.

    Args:
        database: the reading state.
        own: where the vault's own state lies.
    """
    stamp = _stamp(own)
    if not stamp or settings.get(database, _COPIED) == stamp:
        return False
    found = copying.decided(own)
    return found is None or found != settings.get(database, _DECIDED)


def remake(
    root: Path,
    own: Path,
    where: Path,
    vault_id: str | None,
    prepare: Callable[[Database], None] = lambda _: None,
) -> None:
    """Make a reading state anew; whoever calls holds its lane.

    Args:
        root: the folder to read.
        own: where the vault's own state lies.
        where: the reading state.
        vault_id: the vault's id; None for a folder that is no vault.
        prepare: what is to be done to the new content before anybody sees it.

    Raises:
        Unavailable: the own state cannot be copied.
        OSError: the new one cannot be written.
    """
    unfinished = where.with_name(f"{where.name}.{os.getpid()}.making")
    try:
        stamp = _stamp(own)
        if stamp:
            copying.copy(own, unfinished)
        database = Database(unfinished, create=True, remedy=REMADE)
        try:
            mark(database, root, stamp, vault_id)
            prepare(database)
            database.checkpoint()
        finally:
            database.close()
        if where.is_file():
            copying.bring_into(unfinished, where)
        else:
            remove_database(where)  # the logs of one that was moved away
            unfinished.replace(where)
        _forget_derived(where.parent)
    finally:
        remove_database(unfinished)


def _is_current(root: Path, own: Path, where: Path) -> bool:
    """Say whether there is a reading state, of what the vault's own state is like."""
    known, stamp = _known(root, where), _stamp(own)
    return known is not None and (known == stamp or not stamp)


def _known(root: Path, where: Path) -> str | None:
    """Return the stamp of what a reading state is a copy of; None where there is no such state."""
    if not where.is_file():
        return None
    database = Database(where, remedy=REMADE)
    try:
        reads = settings.get(database, _READS)
        if reads is None or _name(Path(reads)) != _name(root):
            raise Unavailable(
                f"{where} is for reading {reads}; use another --state", path=str(where)
            )
        return settings.get(database, _COPIED) or ""
    finally:
        database.close()


def _name(root: Path) -> str:
    """Return a folder's one name, however it was spelled, as text that a database takes."""
    return os.fsencode(root.resolve()).decode("utf-8", "backslashreplace")


def _forget_derived(folder: Path) -> None:
    """Remove the files of vectors that were derived from the copy before."""
    for file in folder.glob("vectors-*"):
        if file.suffix in _DERIVED:
            with contextlib.suppress(OSError):  # a reader has it open, on a system that minds
                file.unlink()


def _unfinished(where: Path) -> list[Path]:
    """Return what processes that were making a reading state have beside it."""
    ours = re.compile(re.escape(where.name) + r"\.\d+\.making(-wal|-shm|-journal)?")
    return [file for file in where.parent.glob("*.making*") if ours.fullmatch(file.name)]


def _remove_unfinished(where: Path) -> None:
    """Remove what processes left that were killed: who holds the lane is the only one making."""
    for file in _unfinished(where):
        file.unlink(missing_ok=True)


def _sweep(where: Path) -> None:
    """Remove what killed processes left, unless somebody is at work."""
    if _unfinished(where):
        with contextlib.suppress(OSError, Busy, WriteFailed), Lane(where.parent / LOCK).hold(0):
            _remove_unfinished(where)


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
    settings.put(database, _READS, _name(root))
    settings.put(database, _COPIED, stamp)
    settings.put(database, _DECIDED, copying.decided_in(database))


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
