"""The connection to `state.sqlite`: one per thread, WAL mode, numbered forward migrations.

APSW is used because its wheel carries a current SQLite that can load extensions. `synchronous=FULL`
holds for everything: what a caller was told is on disk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakSet

import apsw

from vault_kg.errors import Busy, Unavailable, WriteFailed

APPLICATION_ID = 0x564B4731  # "VKG1"
BUSY_TIMEOUT_MS = 30_000
RECOVER = "run `vault-kg recover`"
"""What to do where a state is lost; ends a sentence that says so."""

_AT_ONCE = 500
"""Values that a query is run for at a time."""

Row = tuple[Any, ...]
Parameters = Sequence[Any] | Mapping[str, Any]


def connect(
    path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, how: str = ""
) -> apsw.Connection:
    """Open a database file, whatever bytes its path has.

    APSW takes a path as UTF-8, and SQLite any bytes where they are escaped in a URI
    (https://www.sqlite.org/uri.html).

    Args:
        path: the file.
        flags: SQLite's, for opening.
        how: parameters of the URI, as `mode=ro`.
    """
    root = "//" if path.is_absolute() else ""  # an empty host: a path may begin with two slashes
    uri = f"file:{root}{quote(os.fsencode(path))}{how and '?'}{how}"
    return apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI)


class Database:
    """`state.sqlite`, opened or created at a path.

    Connections are made per thread and live as long as it; `close` closes all that are left.
    """

    def __init__(self, path: Path, *, create: bool = False, remedy: str = RECOVER) -> None:
        """Open the database and bring its layout up to date.

        Args:
            path: the database file.
            create: make the file where there is none.
            remedy: what to do where it is lost; ends a sentence that says so.

        Raises:
            Unavailable: no such file, not our database, or a layout newer than this version.
        """
        self.path = path
        self._remedy = remedy
        self._local = threading.local()
        self._all: WeakSet[apsw.Connection] = WeakSet()
        """APSW closes a connection that nobody refers to, as when its thread has ended."""
        self._guard = threading.Lock()
        self._file: tuple[int, int] | None = None
        self.rolled_back = 0
        """How many write transactions came to nothing."""
        if not create and not path.is_file():
            raise Unavailable(f"{path} does not exist", path=str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._prepare()
        self._file = _identity(path)

    @property
    def connection(self) -> apsw.Connection:
        """The connection of the current thread."""
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._connect()
        return found

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for connection in list(self._all):
                connection.close()
            self._all.clear()
        self._local = threading.local()

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Return all rows of a query."""
        return list(self.connection.execute(sql, parameters))

    def among(self, sql: str, wanted: Collection[Any]) -> list[Row]:
        """Return all rows of a query with `IN ({})`, for any number of values to be among.

        They come in no order: a query is run for so many values at a time.
        """
        found: list[Row] = []
        values = list(wanted)
        for start in range(0, len(values), _AT_ONCE):
            part = values[start : start + _AT_ONCE]
            found += self.rows(sql.format(",".join("?" * len(part))), part)
        return found

    def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        """Return the first row of a query, or None."""
        return next(iter(self.connection.execute(sql, parameters)), None)

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(sql, parameters)
        return row[0] if row else None

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run one statement and return how many rows it changed."""
        self.connection.execute(sql, parameters)
        return self.connection.changes()

    def executemany(self, sql: str, many: Iterable[Parameters]) -> None:
        """Run one statement for each set of parameters."""
        self.connection.executemany(sql, many)

    def check_present(self) -> None:
        """Refuse to go on with a file that is no more there: what it says would be lost.

        Raises:
            Unavailable: it was removed or replaced since it was opened.
        """
        if self._file is not None and _identity(self.path) != self._file:
            raise Unavailable(
                f"the state of this vault ({self.path}) was removed or replaced while it was open. "
                f"Nothing was changed. Open the vault again; if the state is gone, {self._remedy}",
                path=str(self.path),
            )

    @contextmanager
    def write(self) -> Iterator[None]:
        """Run the block as one write transaction; joins one that is already open in this thread.

        Raises:
            WriteFailed: the disk is full or refuses.
            Busy: another process kept the database locked for the whole time-out.
            Unavailable: the file was removed or replaced since it was opened.
        """
        if self.connection.in_transaction:
            yield
            return
        self.check_present()
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                self.rolled_back += 1
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError) as error:
            raise WriteFailed(
                f"the state could not be written: {error}; nothing was acknowledged. "
                "Free some space or mend the permissions, then repeat the request",
                path=str(self.path),
            ) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Busy(f"{self.path} is locked by another process; try again") from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Run the block so that all its reads see one state of the database."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move everything from the write-ahead log into the database file."""
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, target: Path) -> None:
        """Copy the database to a new file with SQLite's online backup, never by copying files."""
        destination = connect(target)
        try:
            with destination.backup("main", self.connection, "main") as copy:
                while not copy.done:
                    copy.step(1024)
        finally:
            destination.close()

    def _connect(self) -> apsw.Connection:
        try:
            connection = connect(self.path)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY")
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise Unavailable(
                f"{self.path} is damaged ({error}). Put a backup in its place, or move it away and "
                f"{self._remedy}",
                path=str(self.path),
            ) from error
        except (apsw.ReadOnlyError, apsw.CantOpenError) as error:
            raise Unavailable(
                f"{self.path} cannot be written ({error}). Mend the permissions of its folder. To "
                "only read and search the vault, use --state FOLDER: a folder outside of it that "
                "you can write to",
                path=str(self.path),
            ) from error
        except apsw.Error as error:
            raise Unavailable(
                f"{self.path} cannot be opened: {error}", path=str(self.path)
            ) from error
        with self._guard:
            self._all.add(connection)
        return connection

    def _prepare(self) -> None:
        try:
            if self.value("PRAGMA journal_mode") != "wal":
                self.execute("PRAGMA journal_mode=WAL")
            if self.value("PRAGMA user_version") != len(_migrations()):
                self._migrate()
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise Unavailable(
                f"{self.path} is not a healthy SQLite database: {error}. Move it aside and "
                f"{self._remedy}",
                path=str(self.path),
            ) from error

    def _migrate(self) -> None:
        scripts = _migrations()
        with self.write():
            version = int(self.value("PRAGMA user_version"))
            if version > len(scripts):
                raise Unavailable(
                    f"{self.path} was written by a newer vault-kg (layout {version}, this version "
                    f"knows {len(scripts)}); update vault-kg"
                )
            for script in scripts[version:]:
                self.execute(script)
            self.execute(f"PRAGMA application_id={APPLICATION_ID}")
            self.execute(f"PRAGMA user_version={len(scripts)}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _migrations() -> list[str]:
    """Return the migration scripts in the order of their numbers."""
    global _SCRIPTS
    if _SCRIPTS is None:
        folder = resources.files("vault_kg.state") / "migrations"
        found = sorted(
            (f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name
        )
        _SCRIPTS = [f.read_text(encoding="utf-8") for f in found]
    return _SCRIPTS


_SCRIPTS: list[str] | None = None
