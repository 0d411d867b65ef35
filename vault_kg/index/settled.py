"""The files whose history a vault keeps, and of which nothing waits for Git."""

from __future__ import annotations

from vault_kg.index.parsed import RECORD, SOURCE
from vault_kg.state.database import Database


def paths(db: Database) -> list[str]:
    """Return the paths of records and descriptors of which nothing waits for Git, in order."""
    return [
        path
        for (path,) in db.rows(
            "SELECT path FROM file WHERE kind IN (?, ?) EXCEPT SELECT path FROM journal_file "
            "WHERE seq IN (SELECT seq FROM git_outbox) ORDER BY path",
            (RECORD, SOURCE),
        )
    ]
