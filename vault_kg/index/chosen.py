"""Which records a filter lets through, kept, and followed by what is written.

What a filter asks of a record (`listing.Filter.condition`) is in its own row, its tags, the open
conflicts and, of a relationship or claim, in the rows of the pages that it names. So a record is
asked for again where one of these changed, or where its time has come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_kg.index import row_log
from vault_kg.index.eligibility import FOREVER

if TYPE_CHECKING:
    from collections.abc import Collection

    from vault_kg.index.listing import Filter
    from vault_kg.index.row_log import Changed, Mark
    from vault_kg.state.database import Database

    Ints = np.ndarray[Any, np.dtype[np.int64]]

_BLOCKED = "SELECT record_id FROM conflict WHERE resolved_at IS NULL AND record_id IS NOT NULL"


@dataclass(frozen=True)
class Chosen:
    """The records that a filter let through, and the time in which that holds."""

    records: Ints
    """Their keys, in no order."""
    since: str
    until: str
    """When one of them may stop being eligible."""
    seen: Mark
    blocked: frozenset[str]
    """The ids of what waited for a person."""

    def holds(self, now: str) -> bool:
        """Say whether the passing of time changed nothing."""
        return self.since <= now < self.until


def name(wanted: Filter) -> tuple[object, ...]:
    """Return what tells a filter from others, whenever it is asked."""
    condition, values = wanted.condition()
    return (condition, *sorted((key, value) for key, value in values.items() if key != "now"))


def of(db: Database, wanted: Filter, known: Chosen | None, end: Mark) -> Chosen:
    """Return the records that a filter lets through.

    Args:
        db: the state, in a transaction.
        wanted: the filter.
        known: what the same filter let through before.
        end: where the log of changes ends.
    """
    blocked = frozenset(record_id for (record_id,) in db.rows(_BLOCKED))
    if known is None or not known.holds(wanted.now):
        return _anew(db, wanted, end, blocked)
    if (known.seen, known.blocked) == (end, blocked):
        return known
    changed = row_log.since(db, known.seen)
    if changed is None:
        return _anew(db, wanted, end, blocked)
    again = changed.records | _hanging_on(db, wanted, changed, known.blocked ^ blocked)
    return _followed(db, wanted, known, again, end, blocked)


def _anew(db: Database, wanted: Filter, end: Mark, blocked: frozenset[str]) -> Chosen:
    records, until = _asked(db, wanted, "")
    return Chosen(records, wanted.now, until, end, blocked)


def _followed(
    db: Database,
    wanted: Filter,
    known: Chosen,
    again: Collection[int],
    end: Mark,
    blocked: frozenset[str],
) -> Chosen:
    records, until = known.records, known.until
    if again:
        passing, ends = _asked(db, wanted, f" AND record.key IN ({','.join(map(str, again))})")
        stay = ~np.isin(records, np.fromiter(again, np.int64))
        records, until = np.concatenate((records[stay], passing)), min(until, ends)
    return Chosen(records, wanted.now, until, end, blocked)


def _hanging_on(
    db: Database, wanted: Filter, changed: Changed, unblocked: frozenset[str]
) -> set[int]:
    """Return the keys of what is wanted or not by another row that changed."""
    rows = db.among("SELECT key FROM record WHERE id IN ({})", unblocked)
    if wanted.ends_in is not None:
        for column in ("from_id", "to_id", "owner"):
            rows += db.among(f"SELECT key FROM record WHERE {column} IN ({{}})", changed.ids)
    return {key for (key,) in rows}


def _asked(db: Database, wanted: Filter, condition: str) -> tuple[Ints, str]:
    """Return the records that pass, and when one of them may stop being eligible."""
    passing, values = wanted.condition()
    rows = db.rows(f"SELECT key, eligible_until FROM record WHERE {passing}{condition}", values)
    if wanted.lifecycle == "unresolved":  # what is eligible until then may come in at any time
        until = wanted.now
    else:
        until = min((end for _, end in rows if end and end > wanted.now), default=FOREVER)
    return np.fromiter((key for key, _ in rows), np.int64), until
