"""Files that a walk or a look could not read, as findings that go once they can be."""

from __future__ import annotations

from vault_kg.index import catalog
from vault_kg.index.walk import Listing
from vault_kg.state.database import Database


def note(db: Database, listing: Listing) -> None:
    """Keep what a walk could not read, and forget what it can read by now."""
    known = {
        path
        for (path,) in db.rows(
            "SELECT DISTINCT path FROM finding WHERE code IN ('unreadable', 'symlink')"
        )
    }
    if not listing.problems and not known:
        return
    with db.write():
        for path in known - set(listing.problems):
            catalog.put_findings(db, path, catalog.WALK, ())
        for path, problem in listing.problems.items():
            catalog.put_findings(db, path, catalog.WALK, [problem])


def are_there(db: Database) -> bool:
    """Say whether there are any."""
    return bool(db.row("SELECT 1 FROM finding WHERE phase = ?", (catalog.WALK,)))
