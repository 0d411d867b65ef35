"""Copying a state that may not be written, not even its log; putting one in place; removing one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from vault_kg.errors import Busy, Unavailable, WriteFailed
from vault_kg.state.database import BUSY_TIMEOUT_MS

_LOGS = ("-wal", "-shm", "-journal")


def copy(state: Path, target: Path) -> None:
    """Copy a state to a new file, without writing anything beside the state.

    Raises:
        Unavailable: it cannot be read.
        OSError: the copy cannot be written.
    """
    try:
        with _opened(state) as source:
            destination = apsw.Connection(str(target))
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


@contextmanager
def _opened(state: Path) -> Iterator[apsw.Connection]:
    """Open a state for reading; with a log that holds something, a writer may be at work."""
    log = Path(f"{state}-wal")
    how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(os.fsencode(state))}?{how}", flags=flags)
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
    origin, destination = apsw.Connection(str(source)), apsw.Connection(str(target))
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
