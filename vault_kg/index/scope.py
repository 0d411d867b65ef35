"""Which passages a filter lets through, as arrays that follow what is written.

A search looks at every passage that matches, so that filters hold before anything is counted or
cut. Asking SQLite for the record of each of them costs more than finding them; a look into an array
costs next to nothing. After a write only the records that it changed are asked for again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from vault_kg.index import chosen, row_log

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from vault_kg.index.chosen import Chosen
    from vault_kg.index.listing import Filter
    from vault_kg.index.row_log import Mark
    from vault_kg.state.database import Database, Row

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


@dataclass(frozen=True)
class _Whole:
    """Every passage by rising key, and the record of each."""

    seen: Mark
    passages: Ints
    records: Ints


@dataclass
class _Known:
    """What a connection knows: every passage, and what filters let through that were asked for."""

    whole: _Whole
    chosen: OrderedDict[tuple[object, ...], Chosen] = field(default_factory=OrderedDict)
    scopes: dict[tuple[object, ...], tuple[Ints, Scope]] = field(default_factory=dict)
    """Those of them that are worked out for these passages, with their records."""


_known: WeakKeyDictionary[apsw.Connection, _Known] = WeakKeyDictionary()


def of(db: Database, wanted: Filter) -> Scope:
    """Return the scope of a filter."""
    with db.snapshot():
        end = row_log.mark(db)
        known = _known.get(db.connection)
        if known is None:
            known = _known[db.connection] = _Known(_every_passage(db, end))
        if known.whole.seen != end:
            known.whole = _followed(db, known.whole, end)
            known.scopes.clear()
        return _scope(db, known, wanted, end)


def integers(numbers: Iterable[int]) -> Ints:
    """Return numbers as an array."""
    return np.fromiter(numbers, np.int64)


def _scope(db: Database, known: _Known, wanted: Filter, end: Mark) -> Scope:
    name = chosen.name(wanted)
    now = known.chosen[name] = chosen.of(db, wanted, known.chosen.get(name), end)
    known.chosen.move_to_end(name)
    if len(known.chosen) > MAX_SCOPES:
        dropped, _ = known.chosen.popitem(last=False)
        known.scopes.pop(dropped, None)
    of_records, scope = known.scopes.get(name, (None, None))
    if scope is None or of_records is not now.records:
        scope = _flagged(known.whole, now.records)
        known.scopes[name] = now.records, scope
    return scope


def _flagged(whole: _Whole, records: Ints) -> Scope:
    wanted = np.isin(whole.records, records)
    return Scope(whole.passages, whole.records, wanted, int(np.count_nonzero(wanted)))


def _followed(db: Database, whole: _Whole, end: Mark) -> _Whole:
    """Return every passage: those of changed records are asked for again."""
    changed = row_log.since(db, whole.seen)
    if changed is None:
        return _every_passage(db, end)
    passages, records = _pairs(
        db.among("SELECT key, record FROM passage WHERE record IN ({})", changed.records)
    )
    stay = ~np.isin(whole.records, integers(changed.records))
    return _ordered(
        end,
        np.concatenate((whole.passages[stay], passages)),
        np.concatenate((whole.records[stay], records)),
    )


def _every_passage(db: Database, end: Mark) -> _Whole:
    return _ordered(end, *_pairs(db.rows("SELECT key, record FROM passage")))


def _pairs(rows: list[Row]) -> tuple[Ints, Ints]:
    pairs = integers(chain.from_iterable(rows)).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _ordered(seen: Mark, passages: Ints, records: Ints) -> _Whole:
    order = np.argsort(passages, kind="stable")
    return _Whole(seen, passages[order], records[order])
