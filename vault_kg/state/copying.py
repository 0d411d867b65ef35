"""Copying a state that may not be written, not even its log; putting one in place; removing one."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from vault_kg.errors import Busy, Unavailable, WriteFailed
from vault_kg.state.database import BUSY_TIMEOUT_MS, Database, connect

_LOGS = ("-wal", "-shm", "-journal")
_DECIDED = (
    "SELECT record_id, kind, successor FROM guard ORDER BY record_id, kind",
    "SELECT id, absorbed, survivor, undone_by FROM merge ORDER BY id",
    "SELECT id, resolved_at FROM conflict ORDER BY id",
)


def copy(state: Path, target: Path) -> None:
    """Copy a state to a new file, without writing anything beside the state.

    Raises:
        Unavailable: it cannot be read.
        OSError: the copy cannot be written.
    """
    try:
        with _opened(state) as source:
            destination = connect(target)
            try:
                with destination.backup("main", source, "main") as step:
                    step.step()
            finally:
                destination.close()
    except apsw.CantOpenError:
        # There is a log, and not its index, which every writer has: so there is no writer.
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{state}{suffix}", f"{target}{suffix}")
    except apsw.Error as error:
        raise Unavailable(f"{state} cannot be copied: {error}", path=str(state)) from error


def decided(state: Path) -> str | None:
    """Return what tells whether a state says other things of records than it did.

    That is a digest of its guards, merges and conflicts; None where it cannot be read without being
    copied.
    """
    try:
        with _opened(state) as source:
            return _digest(source)
    except apsw.Error:
        return None


def decided_in(database: Database) -> str:
    """Return the same of a state that is open."""
    return _digest(database.connection)


def _digest(connection: apsw.Connection) -> str:
    digest = hashlib.sha256()
    for query in _DECIDED:
        for row in connection.execute(query):
            digest.update(f"{row!r}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


@contextmanager
def _opened(state: Path) -> Iterator[apsw.Connection]:
    """Open a state for reading; with a log that holds something, a writer may be at work."""
    log = Path(f"{state}-wal")
    how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    connection = connect(state, apsw.SQLITE_OPEN_READONLY, how)
    try:
        connection.execute("PRAGMA user_version")
        yield connection
    finally:
        connection.close()


def bring_into(source: Path, target: Path) -> None:
    """Give a database the content of another, in one transaction: those who have it open go on.

    Both are in WAL mode and have pages of one size, as every state has.

    Raises:
        Busy: another process kept the target locked for the whole time-out.
        WriteFailed: the target cannot be written.
    """
    origin, destination = connect(source), connect(target)
    try:
        destination.set_busy_timeout(BUSY_TIMEOUT_MS)
        with destination.backup("main", origin, "main") as step:
            step.step()
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Busy(f"{target} is locked by another process; try again") from error
    except apsw.Error as error:
        raise WriteFailed(f"{target} cannot be written: {error}", path=str(target)) from error
    finally:
        destination.close()
        origin.close()


def remove_database(path: Path) -> None:
    """Remove a database with its logs: a stale one would be played into the next."""
    for suffix in ("", *_LOGS):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
