"""What stands in for a record that was merged or corrected, and which records mean another one."""

from __future__ import annotations

from collections.abc import Iterable

from vault_kg.state import guards, merges, revisions
from vault_kg.state.database import Database

AbsorbedBy = dict[str, list[str]]
"""For each page, the pages that were merged into it, one hop."""


def current(db: Database, record_id: str) -> str | None:
    """Follow merges and corrections to the active record that stands in for one now.

    Returns:
        The id at the end, the id itself where it is active, or None where nothing stands for it.
    """
    seen: set[str] = set()
    following: str | None = record_id
    while following is not None and following not in seen:
        seen.add(following)
        way = merges.way(db, following)
        if way is None:
            return None
        final = way[-1]
        guarded = guards.of(db, final)
        if guards.WITHDRAWN in guarded:
            return None
        if guards.SUPERSEDED not in guarded:
            head = revisions.head(db, final)
            return final if head is not None and head.lifecycle == "active" else None
        following = guarded[guards.SUPERSEDED].successor
    return None


def absorbed_by(db: Database) -> AbsorbedBy:
    """Return which pages were merged into which, one hop."""
    found: AbsorbedBy = {}
    for absorbed, survivor in sorted(merges.targets(db).items()):
        found.setdefault(survivor, []).append(absorbed)
    return found


def with_absorbed(ids: Iterable[str], absorbed: AbsorbedBy) -> list[str]:
    """Return ids and every page that was merged into one of them, through any chain."""
    found = list(dict.fromkeys(ids))
    known = set(found)
    for record_id in found:  # grows as it is walked
        new = [other for other in absorbed.get(record_id, ()) if other not in known]
        known.update(new)
        found += new
    return found
