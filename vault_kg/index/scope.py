"""Which passages a filter lets through, as arrays that are kept while the database stands still.

A search looks at every passage that matches, so that filters hold before anything is counted or
cut. Asking SQLite for the record of each of them costs more than finding them; a look into an array
costs next to nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_kg.index.eligibility import FOREVER
from vault_kg.index.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_kg.index.listing import Filter
    from vault_kg.state.database import Database

    Ints = np.ndarray[Any, np.dtype[np.int64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

MAX_SCOPES = 16


@dataclass(frozen=True)
class Scope:
    """The passages of a vault by rising key, the record of each, and whether a filter has it."""

    passages: Ints
    records: Ints
    wanted: Flags
    size: int
    """How many passages the filter lets through."""

    def within(self, passages: Ints) -> tuple[Flags, Ints]:
        """Say which of these passages the filter lets through, and give the record of each."""
        places = self._places(passages)
        return self.wanted[places], self.records[places]

    def _places(self, passages: Ints) -> Ints:
        """Return where passages stand: keys without a gap are their own index."""
        if not len(self.passages):
            return passages
        first = int(self.passages[0])
        if int(self.passages[-1]) - first + 1 == len(self.passages):
            return passages - first
        return np.searchsorted(self.passages, passages)

    def without(self, records: Ints) -> Scope:
        """Return the scope without some records."""
        wanted = self.wanted & ~np.isin(self.records, records)
        return Scope(self.passages, self.records, wanted, int(np.count_nonzero(wanted)))

    def of_records(self, records: Ints) -> Ints:
        """Return the wanted passages of some records."""
        return self.passages[self.wanted & np.isin(self.records, records)]


@dataclass
class _Whole:
    """Every passage, and the scopes that were asked for with the times between which they hold."""

    passages: Ints
    records: Ints
    scopes: OrderedDict[tuple[object, ...], tuple[str, str, Scope]] = field(
        default_factory=OrderedDict
    )


def of(db: Database, wanted: Filter) -> Scope:
    """Return the scope of a filter."""
    whole = _whole.get(db)
    condition, values = wanted.condition()
    name = (condition, *sorted((key, value) for key, value in values.items() if key != "now"))
    known = whole.scopes.get(name)
    if known is None or not known[0] <= wanted.now < known[1]:
        until, scope = _work_out(db, whole, wanted.now, condition, values)
        known = whole.scopes[name] = (wanted.now, until, scope)
        if len(whole.scopes) > MAX_SCOPES:
            whole.scopes.popitem(last=False)
    whole.scopes.move_to_end(name)
    return known[2]


def integers(numbers: Iterable[int]) -> Ints:
    """Return numbers as an array."""
    return np.fromiter(numbers, np.int64)


def _work_out(
    db: Database, whole: _Whole, now: str, condition: str, values: dict[str, Any]
) -> tuple[str, Scope]:
    """Return a scope, and the time at which a record in it may stop being eligible."""
    rows = db.rows(f"SELECT key, eligible_until FROM record WHERE {condition}", values)
    until = min((end for _, end in rows if end is not None and end > now), default=FOREVER)
    wanted = np.isin(whole.records, integers(key for key, _ in rows))
    return until, Scope(whole.passages, whole.records, wanted, int(np.count_nonzero(wanted)))


def _every_passage(db: Database) -> _Whole:
    rows = db.rows("SELECT key, record FROM passage")
    pairs = integers(chain.from_iterable(rows)).reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return _Whole(pairs[:, 0].copy(), pairs[:, 1].copy())


_whole = Kept(_every_passage)
