"""The connection to `graph.sqlite`: quick to write, and made anew where it is of no use.

Nothing in it is true by itself: a power cut may cost the last writes, which the next indexing makes
again. A file that is damaged, or of another layout, is emptied rather than mended.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw

from vault_kg.errors import Unavailable, WriteFailed
from vault_kg.extract.backends import schema
from vault_kg.state.database import Database

MMAP_BYTES = 256 << 20
CACHE_KB = 64_000


class GraphDatabase(Database):
    """`graph.sqlite`, one connection a thread."""

    def __init__(self, path: Path) -> None:
        """Open the database, or make it.

        Raises:
            Unavailable: it cannot be made.
        """
        try:
            super().__init__(path, create=True)
        except (Unavailable, apsw.NotADBError, apsw.CorruptError) as error:
            reason = error.__cause__ if isinstance(error, Unavailable) else error
            if not isinstance(reason, apsw.NotADBError | apsw.CorruptError):
                raise
            self.close()
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            super().__init__(path, create=True)
        except (OSError, WriteFailed) as error:
            raise Unavailable(f"{path} cannot be made: {error}", path=str(path)) from error

    def check_present(self) -> None:
        """Do nothing: a file that was deleted is made anew by whoever opens it next."""

    def present(self) -> bool:
        """Say whether the file is still the one that was opened."""
        with contextlib.suppress(OSError):
            found = self.path.stat()
            return (found.st_dev, found.st_ino) == self._file
        return False

    def _connect(self) -> apsw.Connection:
        connection = super()._connect()
        connection.execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=OFF")
        connection.execute(f"PRAGMA mmap_size={MMAP_BYTES}; PRAGMA cache_size=-{CACHE_KB}")
        return connection

    def _prepare(self) -> None:
        if self.value("PRAGMA journal_mode") != "wal":
            self.execute("PRAGMA journal_mode=WAL")
        if self.value("PRAGMA user_version") == schema.VERSION:
            return
        with self.write():
            if self.value("PRAGMA user_version") == schema.VERSION:
                return
            self._drop_all()
            self.execute(schema.TABLES)
            self.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
            self.execute(f"PRAGMA user_version={schema.VERSION}")

    def _drop_all(self) -> None:
        tables = self.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
        )
        for (name,) in tables:
            self.execute(f'DROP TABLE IF EXISTS "{name}"')
