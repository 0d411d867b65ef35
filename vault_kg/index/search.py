"""Hybrid search: words and meaning, fused, with the evidence of every hit.

Every passage that matches is looked at, so that filters hold before anything is counted or cut and
the total is true; those that can come first are scored. A record's score by words is the BM25 of
its best passage; the records at the head gain by how exactly the words stand there as typed. Its
score by meaning is the similarity of its nearest passage. Each is taken relative to the best of the
query, and the two are added with weights chosen on one part of LoCoMo and reported on the other
(docs/benchmarks.md). The sum orders the hits of one query and means nothing beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from vault_kg.index import listing, scope, scoring
from vault_kg.index.query import to_exclusion
from vault_kg.index.ranked import Ranked
from vault_kg.index.scope import integers
from vault_kg.index.shown import passages
from vault_kg.index.snippets import CLOSENESS_BONUS, closeness

if TYPE_CHECKING:
    from vault_kg.index.listing import Filter
    from vault_kg.index.nearest import Compared, Similar
    from vault_kg.index.query import Query
    from vault_kg.index.scope import Ints, Scope
    from vault_kg.state.database import Database

    Floats = np.ndarray[Any, np.dtype[np.float64]]

Mode = Literal["hybrid", "text", "semantic"]

SEMANTIC_WEIGHT: Final = 0.3
ALIKE: Final = 0.4
"""Similarities are taken relative to the best one, but to no less: below it nothing is alike."""

NEAREST: Final = 200
"""How many passages meaning may bring in, and how many answers found by words it may move."""

HEAD: Final = 50
"""How many answers are looked at for how exactly the words stand in them."""

EXACT_NAME: Final = 2.0
"""Added to the score of a record whose title or alias is the query: it always comes first."""

MAX_NAME: Final = 300
DEPTH: Final = 200
"""How many answers are put in order where it is not said how many will be looked at."""

MAX_COMPARED: Final = 5_000
"""Where the answers at the head have more passages, only those that are shown are compared."""


def rank(
    db: Database,
    query: Query,
    wanted: Filter,
    compared: Compared | None,
    *,
    mode: Mode = "hybrid",
    per_record: bool = True,
    floor: float | None = None,
    weight: float = SEMANTIC_WEIGHT,
    depth: int = DEPTH,
) -> Ranked:
    """Rank what answers a query.

    Args:
        db: the state.
        query: as it was read.
        wanted: which records may answer.
        compared: the query's vector set against those of the vault; None without a model.
        mode: which halves count.
        per_record: take each record once, by its best passage.
        floor: leave out what is found by meaning alone and is less similar.
        weight: how much meaning counts, from 0 to 1.
        depth: how many of the first answers will be looked at.
    """
    with db.snapshot():
        allowed = _without_excluded(db, query, scope.of(db, wanted))
        near = _near(query, compared, allowed, mode, floor)
        named = _named(db, query, wanted)
        reach = max(depth, 2 * (NEAREST if compared is not None else HEAD) + 1)
        found = _by_words(db, query, allowed, near, named, mode, per_record, reach)
        if compared is not None and mode != "text":
            found = _with(found, [(one.passage, one.record) for one in near], per_record)
            _compare(found, compared, allowed, per_record)
        found = _with_named(db, found, named, per_record)
        weight = 1.0 if mode == "semantic" else weight if _any_known(found.similarity) else 0.0
        _fuse(found, weight)
        _raise_exact(db, found, query)
        _fuse(found, weight)
    return found


def _without_excluded(db: Database, query: Query, allowed: Scope) -> Scope:
    """Take out the records in which an excluded word stands, wherever it does."""
    unwanted = to_exclusion(query)
    if unwanted is None:
        return allowed
    _, records = allowed.within(scoring.matching(db, unwanted))
    return allowed.without(records)


def _near(
    query: Query, compared: Compared | None, allowed: Scope, mode: Mode, floor: float | None
) -> list[Similar]:
    """Return what meaning finds; where a phrase must stand, it adds nothing to words."""
    if compared is None or mode == "text" or (query.phrases and mode == "hybrid"):
        return []
    return compared.nearest(NEAREST, allowed, floor)


def _by_words(
    db: Database, query: Query, allowed: Scope, near: list[Similar], named: Ints, mode: Mode,
    per_record: bool, depth: int,
) -> Ranked:  # fmt: skip
    """Return what words find: that which meaning may move, or a name raise, is scored as well."""
    also = allowed.of_records(np.union1d(named, integers(one.record for one in near)))
    if mode == "semantic":
        none = np.empty(0, np.int64)
        return _ranked(0, none, none, none, np.empty(0), np.empty(0), depth)
    total, (passages, records, scores) = scoring.words(
        db, query, allowed, depth, also, per_record=per_record
    )
    units = records if per_record else passages
    return _ranked(total, units, records, passages, scores, scores, depth)


def _ranked(
    total: int, units: Ints, records: Ints, passages: Ints, words: Floats, bm25: Floats, depth: int
) -> Ranked:
    count = len(units)
    return Ranked(
        total, units, records, passages, words, bm25, np.full(count, np.nan),
        np.zeros(count, bool), np.zeros(count), depth,
    )  # fmt: skip


def _with(found: Ranked, more: Iterable[tuple[int, int]], per_record: bool) -> Ranked:
    """Add (passage, record) pairs, the first of each answer, that are not there yet."""
    new: dict[int, tuple[int, int]] = {}
    for passage, record in more:
        new.setdefault(record if per_record else passage, (record, passage))
    units = integers(new)
    absent = units[~np.isin(units, found.units)].tolist()
    if not absent:
        return found
    records, passages = zip(*(new[unit] for unit in absent), strict=True)
    return _ranked(
        found.total + len(absent),
        np.concatenate((found.units, integers(absent))),
        np.concatenate((found.records, integers(records))),
        np.concatenate((found.passages, integers(passages))),
        np.concatenate((found.words, np.zeros(len(absent)))),
        np.concatenate((found.bm25, np.full(len(absent), np.nan))),
        found.depth,
    )


def _compare(found: Ranked, compared: Compared, allowed: Scope, per_record: bool) -> None:
    """Work out how near the answers are that words put first, and those that words did not find."""
    chosen = np.union1d(highest(found.words, NEAREST), np.flatnonzero(np.isnan(found.bm25)))
    passages = allowed.of_records(found.records[chosen]) if per_record else found.units[chosen]
    if len(passages) > MAX_COMPARED:
        passages = found.passages[chosen]
    similar = compared.similarities(passages.tolist())
    _, records = allowed.within(integers(similar))
    nearest: dict[int, float] = {}
    for (passage, similarity), record in zip(similar.items(), records.tolist(), strict=True):
        unit = record if per_record else passage
        nearest[unit] = max(similarity, nearest.get(unit, -1.0))
    for place, unit in zip(chosen.tolist(), found.units[chosen].tolist(), strict=True):
        found.similarity[place] = nearest.get(unit, np.nan)


def _named(db: Database, query: Query, wanted: Filter) -> Ints:
    """Return the records that the whole query is the name of."""
    text = query.raw.strip()
    if not text or len(text) > MAX_NAME:
        return np.empty(0, np.int64)
    return integers(row.key for row in listing.named(db, text, wanted))


def _with_named(db: Database, found: Ranked, keys: Ints, per_record: bool) -> Ranked:
    """Mark the records that the query names; they are answers, found or not."""
    absent = keys[~np.isin(keys, found.records)].tolist()
    similarity = found.similarity
    found = _with(found, _first_passages(db, absent), per_record)
    found.similarity[: len(similarity)] = similarity
    found.named = np.isin(found.records, keys)
    return found


def _fuse(found: Ranked, weight: float) -> None:
    meaning = np.maximum(np.nan_to_num(found.similarity), 0.0)
    found.scores = (
        (1 - weight) * _relative(found.words)
        + weight * _relative(meaning, ALIKE)
        + EXACT_NAME * found.named
    )


def _relative(scores: Floats, least: float = 0.0) -> Floats:
    best = scores.max(initial=least)
    return scores / best if best > 0 else scores


def _raise_exact(db: Database, found: Ranked, query: Query) -> None:
    """Raise the answers at the head in which the words stand as they were typed."""
    head = highest(np.where(found.words > 0, found.scores, 0.0), HEAD).tolist()
    texts = passages(db, [int(found.passages[n]) for n in head])
    titles = _titles(db, [int(found.records[n]) for n in head])
    for n in head:
        heading, _, _, text = texts[int(found.passages[n])]
        words = "\n".join((titles[int(found.records[n])], heading, text))
        found.words[n] *= 1 + CLOSENESS_BONUS * closeness(words, query)


def highest(values: Floats, count: int) -> Ints:
    """Return where the highest values above 0 stand, about as many as asked.

    Which of several equal values are among them must not depend on their places: all of them are,
    or where they are too many, none.
    """
    least = (
        np.partition(values, len(values) - count)[len(values) - count] if len(values) > count else 0
    )
    chosen = np.flatnonzero((values >= least) & (values > 0))
    return chosen if len(chosen) <= 2 * count else np.flatnonzero(values > least)


def _any_known(values: Floats) -> bool:
    return not np.isnan(values).all()


def _titles(db: Database, keys: list[int]) -> dict[int, str]:
    return dict(db.among("SELECT key, title FROM record WHERE key IN ({})", keys))


def _first_passages(db: Database, keys: list[int]) -> list[tuple[int, int]]:
    """Return (passage, record) of the first passage of each record."""
    return db.among(
        "SELECT min(key), record FROM passage WHERE record IN ({}) GROUP BY record", keys
    )
