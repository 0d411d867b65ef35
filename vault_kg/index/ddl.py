"""Tables and triggers that make reading faster and change no answer: made where they are lacking.

A vault that was indexed before they existed gets them without being indexed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from vault_kg.state.database import Database


class Objects:
    """Tables and triggers that belong together: all of them stand, or they are made anew."""

    def __init__(self, sql: Mapping[str, str]) -> None:
        """Name them.

        Args:
            sql: what makes each, by its name, in the order in which they are made.
        """
        self._sql = dict(sql)
        self._known: WeakKeyDictionary[apsw.Connection, tuple[tuple[int, int], bool]] = (
            WeakKeyDictionary()
        )

    def stand(self, db: Database) -> bool:
        """Say whether all are there as they are wanted; looked at again when a layout changed."""
        layout = int(db.value("PRAGMA schema_version")), db.rolled_back
        known = self._known.get(db.connection)
        if known is None or known[0] != layout:
            marks = ",".join("?" * len(self._sql))
            there = db.rows(
                f"SELECT name, sql FROM sqlite_schema WHERE name IN ({marks})", list(self._sql)
            )
            known = self._known[db.connection] = layout, dict(there) == self._sql
        return known[1]

    def make(self, db: Database) -> None:
        """Make all anew, empty; joins the caller's transaction."""
        self.drop(db)
        for sql in self._sql.values():
            db.execute(sql)

    def drop(self, db: Database) -> None:
        """Drop those that are there; joins the caller's transaction."""
        for name, sql in self._sql.items():
            kind = sql.split(maxsplit=2)[1]
            db.execute(f"DROP {kind} IF EXISTS {name}")
