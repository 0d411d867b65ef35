"""The passages nearest to a query: the exact answer, filters first.

Every vector is looked at, coarsely; what may be near is then compared exactly, so that the answer
is that of an exact scan. Of a passage with several vectors the nearest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vault_kg.index.scope import integers

if TYPE_CHECKING:
    from vault_kg.index.matrix import Stored
    from vault_kg.index.scope import Ints, Scope
    from vault_kg.state.database import Database

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

NARROW = 2_000
"""Up to so many passages behind a filter are scored one by one; else all are, then filtered."""

DIGITS = 6
"""Of a similarity: what float32 products tell, whichever way they were worked out."""

_CHUNK = 5_000


class Similar(NamedTuple):
    """A passage near a query: its key, its record's key and the cosine similarity."""

    passage: int
    record: int
    similarity: float


class Compared:
    """A query's vector set against the vectors of a vault."""

    def __init__(self, db: Database, model: int, stored: Stored, query: Matrix) -> None:
        """Set a unit vector against unit vectors."""
        self._db = db
        self._model = model
        self._stored = stored
        self._query = query

    def nearest(self, limit: int, scope: Scope, floor: float | None = None) -> list[Similar]:
        """Return the nearest passages among those that a filter lets through.

        Args:
            limit: about how many; of equally near ones all are returned, or none.
            scope: what the filter lets through.
            floor: leave out what is less similar.
        """
        if scope.size <= NARROW:
            found = self.similarities(scope.passages[scope.wanted].tolist())
        else:
            found = self._scan(limit, scope)
        kept = sorted((-near, key) for key, near in found.items() if floor is None or near >= floor)
        if len(kept) > limit:
            kept = _cut(kept, limit)
        _, records = scope.within(integers(key for _, key in kept))
        return [
            Similar(key, record, -near)
            for (near, key), record in zip(kept, records.tolist(), strict=True)
        ]

    def similarities(self, passages: Iterable[int]) -> dict[int, float]:
        """Return the similarity of each of these passages that has a vector."""
        numbers = self._numbers("passage.key", list(passages))
        near = self._exactly(integers(number - 1 for _, number in numbers)).tolist()
        return _best((key, one) for (key, _), one in zip(numbers, near, strict=True))

    def vectors(self, passages: list[int]) -> tuple[list[int], Matrix]:
        """Return the keys of those passages that have vectors, and each vector."""
        numbers = self._numbers("passage.key", passages)
        rows = self._stored.exact(integers(number - 1 for _, number in numbers))
        return [key for key, _ in numbers], rows

    def _scan(self, limit: int, scope: Scope) -> dict[int, float]:
        """Compare what looks nearest until enough pass the filter that no other row can be near.

        A row that was not compared looks no nearer than `least`, and is at most `off` nearer.
        """
        products, off = self._stored.products(self._query)
        take = min(len(products), 4 * limit + 50)
        while take:
            least = np.partition(products, len(products) - take)[len(products) - take]
            places = np.flatnonzero(products >= least)
            near = self._exactly(places)
            if take < len(products):
                places, near = places[near > least + off], near[near > least + off]
            found = self._passing(places, near, scope)
            if len(found) > limit or take == len(products):
                return found
            take = min(len(products), take * 4)
        return {}

    def _exactly(self, places: Ints) -> Matrix:
        """Return the similarity of some rows."""
        similarities: Matrix = self._stored.exact(places) @ self._query
        return similarities

    def _passing(self, places: Ints, near: Matrix, scope: Scope) -> dict[int, float]:
        """Return the passages of rows that a filter lets through, with their similarity."""
        of = dict(zip((places + 1).tolist(), near.tolist(), strict=True))
        pairs = self._numbers("vector.number", list(of))
        passing, _ = scope.within(integers(key for key, _ in pairs))
        return _best(
            (key, of[number])
            for (key, number), passes in zip(pairs, passing.tolist(), strict=True)
            if passes
        )

    def _numbers(self, column: str, among: list[int]) -> list[tuple[int, int]]:
        """Return (passage, number) where a column has one of these values.

        A vector that was added since the others were taken has a higher number than theirs.
        A `+` keeps SQLite from walking all numbers of the model where the hash is known already.
        """
        by_number = column == "vector.number"
        first, second = ("vector", "passage") if by_number else ("passage", "vector")
        number = "vector.number" if by_number else "+vector.number"
        found: list[tuple[int, int]] = []
        for start in range(0, len(among), _CHUNK):
            marks = ",".join(map(str, among[start : start + _CHUNK]))
            found += self._db.rows(
                f"SELECT passage.key, vector.number FROM {first} CROSS JOIN {second} "
                "WHERE vector.hash = passage.hash AND vector.model = ? "
                f"AND {number} <= ? AND {column} IN ({marks})",
                (self._model, len(self._stored)),
            )
        return found


def nearest_records(
    compared: Compared,
    texts: Matrix,
    parts: Sequence[int],
    scope: Scope,
    limit: int,
    floor: float,
) -> list[list[tuple[int, float]]]:
    """Return the records nearest to each of several texts, the most similar first.

    Each part of a text counts by the passage of the record that is nearest to it; the similarity
    of text and record is the mean over the text's parts.

    Args:
        compared: the vectors of the vault; its own query does not matter.
        texts: the vectors of all parts of all texts, one row each.
        parts: how many of those rows each text has.
        scope: what the filter lets through.
        limit: how many records for each text.
        floor: leave out what is less similar.
    """
    keys, vectors = compared.vectors(scope.passages[scope.wanted].tolist())
    if not keys:
        return [[] for _ in parts]
    _, of = scope.within(integers(keys))
    order = np.argsort(of, kind="stable")
    records, starts = np.unique(of[order], return_index=True)
    products = vectors[order] @ texts.T
    best = np.maximum.reduceat(products, starts, axis=0)
    ends = np.cumsum(parts)
    found = []
    for end, count in zip(ends, parts, strict=True):
        near = best[:, end - count : end].mean(axis=1)
        scored = [
            (int(records[k]), round(float(near[k]), DIGITS)) for k in np.argsort(-near)[:limit]
        ]
        found.append([one for one in scored if one[1] >= floor])
    return found


def _best(pairs: Iterable[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for key, near in pairs:
        near = round(near, DIGITS)
        if near > found.get(key, -2.0):
            found[key] = near
    return found


def _cut(ordered: list[tuple[float, int]], limit: int) -> list[tuple[float, int]]:
    """Take about `limit` of the nearest; of equal ones all or, where they are too many, none."""
    last = ordered[limit - 1][0]
    longer = [one for one in ordered if one[0] <= last]
    return longer if len(longer) <= 2 * limit else [one for one in ordered if one[0] < last]
