"""What words find: every passage, and the scores of those that can come first.

To score a passage takes ten times as long as to find it, and most of what is found holds common
words only, which say next to nothing. BM25 bounds what a word can give. So the rarest words are
scored alone first; where enough answers get more by them than all the other words could give, none
without a rare word can be among the first, and only the rest is scored whole. This is the bound of
MaxScore (H. Turtle, J. Flood: Query evaluation: strategies and optimizations, 1995). Where the rare
words tell too little, FTS5 orders everything. The scores are its own, whichever way was taken.
"""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from vault_kg.index import fts
from vault_kg.index.kept import Kept
from vault_kg.index.query import alternatives, to_exclusion, to_match

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_kg.index.query import Query
    from vault_kg.index.scope import Flags, Ints, Scope
    from vault_kg.state.database import Database

    Floats = np.ndarray[Any, np.dtype[np.float64]]

FEW: Final = 2_000
"""So many passages are scored without asking which of them could come first."""

MAX_COUNTS: Final = 10_000

_LEAST_RARITY: Final = 1e-6
"""What FTS5 takes for a word that stands in more than half of all passages."""

_EQUAL: Final = 1e-8
"""Scores as near as this, relative to the best, may be equal where they are fused."""


class Scored(NamedTuple):
    """Passages by key, with the record and the score of each."""

    passages: Ints
    records: Ints
    scores: Floats

    def where(self, chosen: Flags | Ints) -> Scored:
        """Return some of them."""
        return Scored(self.passages[chosen], self.records[chosen], self.scores[chosen])

    def joined(self, more: Scored | None) -> Scored:
        """Return these and others, by key."""
        if more is None or not len(more.passages):
            return self
        all_of = Scored(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))
        return all_of.where(np.argsort(all_of.passages, kind="stable"))

    def best(self, per_record: bool) -> Scored:
        """Return the best passage of each record; its passages stand next to each other."""
        first = np.flatnonzero(np.diff(self.records, prepend=-1))
        if not per_record or not len(first):
            return self
        lengths = np.diff(first, append=len(self.records))
        tops = np.repeat(np.maximum.reduceat(self.scores, first), lengths)
        places = np.flatnonzero(self.scores == tops)
        return self.where(places[np.flatnonzero(np.diff(self.records[places], prepend=-1))])


class _Part(NamedTuple):
    """A term of the query: its expression, the passages that match it, and the most it can give."""

    match: str
    passages: int
    bound: float


def words(
    db: Database, query: Query, allowed: Scope, depth: int, also: Ints, *, per_record: bool
) -> tuple[int, Scored]:
    """Return how many answers the words of a query find, and those that can come first.

    Args:
        db: the state.
        query: as it was read.
        allowed: which passages may answer.
        depth: so many answers are scored, if there are as many, and all that equal the last.
        also: passages that are scored in any case, where words find them; of a record all or none.
        per_record: take each record once, by its best passage.
    """
    match = to_match(query)
    every = matching(db, match) if match else np.empty(0, np.int64)
    passing, records = allowed.within(every)
    found, records = every[passing], records[passing]
    total = int(np.count_nonzero(np.bincount(records))) if per_record else len(found)
    if match is None or not total:
        return 0, Scored(found, records, np.empty(0))
    if len(found) <= FEW or len(found) < len(every) // 2:
        among = found if len(found) < len(every) // 2 else None
        return total, _scores(db, match, allowed, among).best(per_record)
    asked = _Asked(db, query, match, allowed, min(depth, total), len(found), per_record)
    first = _by_rare_words(asked, also) or _by_order(asked, also)
    return total, first.best(per_record)


def matching(db: Database, match: str) -> Ints:
    """Return the key of every passage that an expression matches, rising.

    They come as one text: a row for each would take longer than finding them.
    """
    text = db.value(
        "SELECT group_concat(rowid, ' ') FROM passage_fts WHERE passage_fts MATCH ?", (match,)
    )
    return np.fromstring(text or "", np.int64, sep=" ")


def scores(
    db: Database, match: str, *, among: Ints | None = None, take: int | None = None
) -> tuple[Ints, Floats]:
    """Return the passages that an expression matches, by key, and their BM25 scores.

    Args:
        db: the state.
        match: an expression that `query.to_match` built.
        among: only these; no other is scored.
        take: only so many, those with the highest scores.
    """
    sql = f"SELECT rowid, {fts.SCORE} AS score FROM passage_fts WHERE passage_fts MATCH ?"
    values: list[str | int] = [match]
    if among is not None:  # the + keeps FTS5 from looking for each of them by itself
        sql += " AND +rowid IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(among.tolist()))
    if take is not None:
        sql = f"SELECT * FROM ({sql} ORDER BY score DESC LIMIT ?) ORDER BY rowid"
        values.append(take)
    rows = db.rows(sql, values)
    pairs = np.fromiter(chain.from_iterable(rows), np.float64, 2 * len(rows))
    return pairs[::2].astype(np.int64), pairs[1::2].copy()


class _Asked(NamedTuple):
    """What is asked of FTS5: the first `depth` of the passages `found` to be allowed."""

    db: Database
    query: Query
    match: str
    allowed: Scope
    depth: int
    found: int
    per_record: bool

    def least(self, scored: Scored) -> float | None:
        """Return the score of the last of the first answers, None where there are not as many."""
        best = scored.best(self.per_record).scores
        if len(best) < self.depth:
            return None
        return float(np.partition(best, len(best) - self.depth)[len(best) - self.depth])


def _by_rare_words(asked: _Asked, also: Ints) -> Scored | None:
    """Return the first answers by what their rare words give, or None where that tells too little."""
    if asked.query.phrases:
        return None
    unwanted = to_exclusion(asked.query)
    without = f" NOT ({unwanted})" if unwanted else ""
    for rare, rest in _splits(asked.db, asked.query, len(asked.allowed.passages)):
        count = sum(part.passages for part in rare)
        if count > asked.found // 3:
            return None
        if count < asked.depth:
            continue
        match = f"({' OR '.join(part.match for part in rare)}){without}"
        partial = _scores(asked.db, match, asked.allowed)
        least, given = asked.least(partial), sum(part.bound for part in rest)
        if least is not None:
            least -= _EQUAL * float(partial.scores.max())
            if least > given:
                among = np.union1d(partial.passages[partial.scores >= least - given], also)
                scored = _scores(asked.db, asked.match, asked.allowed, among)
                return scored.where((scored.scores >= least) | np.isin(scored.passages, also))
    return None


def _by_order(asked: _Asked, also: Ints) -> Scored:
    """Return the first answers as FTS5 orders them, which scores everything but hands over little.

    Those with the score of the last one may not all have been handed over, so they do not count.
    """
    take = 4 * asked.depth
    while take < asked.found // 4:
        passages, scored = scores(asked.db, asked.match, take=take)
        least = float(scored.min()) * (1 + _EQUAL)
        if scored.max() <= least:  # all alike: more of them would say no more
            break
        ordered = _allowed(passages, scored, asked.allowed)
        certain = ordered.where(ordered.scores > least)
        if asked.least(certain) is not None:
            missing = np.setdiff1d(also, certain.passages)
            more = _scores(asked.db, asked.match, asked.allowed, missing) if len(missing) else None
            return certain.joined(more)
        take *= 4
    return _scores(asked.db, asked.match, asked.allowed)


def _splits(db: Database, query: Query, passages: int) -> Iterator[tuple[list[_Part], list[_Part]]]:
    """Yield the terms apart, the rarest one and the others first, until but one is left."""
    parts = [_part(db, group, passages) for group in alternatives(query)]
    parts.sort(key=lambda part: (-part.bound, part.match))
    for size in range(1, len(parts)):
        yield parts[:size], parts[size:]


def _part(db: Database, group: list[str], passages: int) -> _Part:
    counts = [_count(db, needle) for needle in group]
    rarities = (max(math.log((passages - n + 0.5) / (n + 0.5)), _LEAST_RARITY) for n in counts)
    return _Part(f"({' OR '.join(group)})", sum(counts), fts.BOUND * sum(rarities))


def _scores(db: Database, match: str, allowed: Scope, among: Ints | None = None) -> Scored:
    return _allowed(*scores(db, match, among=among), allowed)


def _allowed(passages: Ints, found: Floats, allowed: Scope) -> Scored:
    passing, records = allowed.within(passages)
    return Scored(passages, records, found).where(passing)


def _count(db: Database, match: str) -> int:
    """Return how many passages an expression matches; kept while nothing is written."""
    known = _counts.get(db)
    if match not in known:
        if len(known) >= MAX_COUNTS:
            known.clear()
        sql = "SELECT count(*) FROM passage_fts WHERE passage_fts MATCH ?"
        known[match] = int(db.value(sql, (match,)))
    return known[match]


def _no_counts(_: Database) -> dict[str, int]:
    return {}


_counts = Kept(_no_counts)
