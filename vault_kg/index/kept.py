"""What was worked out from the database, kept until anything in it changes.

SQLite says whether another connection wrote (`data_version`) and how much this one did
(`total_changes`), and our own count whether that was taken back, so that nothing that is kept here
can be stale, whoever writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from vault_kg.state.database import Database

T = TypeVar("T")


class Kept(Generic[T]):
    """A value for each connection, worked out anew once the database has changed."""

    def __init__(self, work_out: Callable[[Database], T]) -> None:
        self._work_out = work_out
        self._values: WeakKeyDictionary[apsw.Connection, tuple[tuple[int, int, int], T]] = (
            WeakKeyDictionary()
        )

    def get(self, db: Database) -> T:
        """Return the value as of the transaction that is open, or of now."""
        changes = db.connection.total_changes(), db.rolled_back
        now = (int(db.value("PRAGMA data_version")), *changes)
        known = self._values.get(db.connection)
        if known is None or known[0] != now:
            known = self._values[db.connection] = (now, self._work_out(db))
        return known[1]
