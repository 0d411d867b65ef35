"""What answers a query, in order: records or passages with their scores, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from vault_kg.index.scope import Flags, Ints
    from vault_kg.state.database import Database

    Floats = np.ndarray[Any, np.dtype[np.float64]]


class Hit(NamedTuple):
    """One passage that answers a query, and why."""

    passage: int
    record: int
    score: float
    bm25: float | None
    similarity: float | None
    named: bool


@dataclass
class Ranked:
    """What answers a query: records, or passages where those are asked for."""

    total: int
    """How many answers there are."""
    units: Ints
    """The key of each answer that can be among the first, as many as were asked for."""
    records: Ints
    passages: Ints
    """The passage of it that is shown."""
    words: Floats
    """Its score by words, 0 where they do not occur."""
    bm25: Floats
    """That of the passage shown, NaN where the words do not occur."""
    similarity: Floats
    """That of its nearest passage, NaN where it is not known."""
    named: Flags
    scores: Floats
    depth: int
    """So many answers are in their order; those below may not be here."""

    def page(self, db: Database, start: int, limit: int) -> list[Hit]:
        """Return a part of the answers in order; equal ones go by id, path and place."""
        if start >= self.total:
            return []
        assert start + limit <= self.depth or len(self.units) == self.total, "asked for too few"
        falling = -np.round(self.scores, 9)
        order = np.argsort(falling, kind="stable")
        end = min(start + limit, len(self.units))
        first = int(np.searchsorted(falling[order], falling[order[start]], "left"))
        last = int(np.searchsorted(falling[order], falling[order[end - 1]], "right"))
        tied = order[first:last].tolist()
        names = _names(db, {int(self.records[n]) for n in tied})
        tied.sort(key=lambda n: (falling[n], names[int(self.records[n])], int(self.passages[n])))
        return [self._hit(n) for n in tied[start - first : end - first]]

    def _hit(self, n: int) -> Hit:
        return Hit(
            int(self.passages[n]), int(self.records[n]), float(self.scores[n]),
            _known(self.bm25[n]), _known(self.similarity[n]), bool(self.named[n]),
        )  # fmt: skip


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _names(db: Database, keys: set[int]) -> dict[int, tuple[str, str]]:
    rows = db.among("SELECT key, id, path FROM record WHERE key IN ({})", keys)
    return {key: (record_id, path) for key, record_id, path in rows}
