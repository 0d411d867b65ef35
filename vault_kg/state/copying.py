"""Copying a state that may not be written, not even its log; and removing one with its logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from vault_kg.errors import Unavailable

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
    connection = apsw.Connection(f"file:{quote(str(state))}?{how}", flags=flags)
    try:
        connection.execute("PRAGMA user_version")
        yield connection
    finally:
        connection.close()


def remove_database(path: Path) -> None:
    """Remove a database with its logs: a stale one would be played into the next."""
    for suffix in ("", *_LOGS):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
