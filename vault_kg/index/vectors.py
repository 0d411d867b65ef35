"""Vectors of passages: kept by sqlite-vec under content hash and model.

The `vec0` table of a model is the store; derived files beside it are what is scanned (`matrix`).
Another model, or other rules of what is embedded, is another set of rows: nothing is mixed.

A passage of more than half a page has a vector for each part of it: a small model tells what a few
sentences are about, and hardly what a page is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vault_kg.index import coverage, matrix, vector_models
from vault_kg.index.nearest import Compared
from vault_kg.index.vector_models import load_extension
from vault_kg.records.passages import PASSAGE_RULES_VERSION, split_passages
from vault_kg.state.database import Database

if TYPE_CHECKING:
    from vault_kg.embedding.client import Embedder
    from vault_kg.index.coverage import Coverage
    from vault_kg.index.listing import Filter

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

PART_TOKENS = 200
"""The most tokens that one vector stands for."""

BATCH = 256

_PENDING = """
    NOT EXISTS (SELECT 1 FROM vector WHERE vector.model = :model AND vector.hash = passage.hash)
"""

Progress = Callable[[int, int], None]


class _Pending(NamedTuple):
    """A passage without vectors: the texts of its parts."""

    hash: bytes
    parts: list[str]


class Vectors:
    """The vectors of one model in one vault."""

    def __init__(self, db: Database, fingerprint: str, dimension: int, folder: Path) -> None:
        """Stand for a model's vectors.

        Args:
            db: the state.
            fingerprint: of the model; the rules of what is embedded are added here.
            dimension: numbers in a vector.
            folder: where the derived files lie.
        """
        self._db = db
        self._dimension = dimension
        self._folder = folder
        self._fingerprint = f"{fingerprint}/{PASSAGE_RULES_VERSION}/{PART_TOKENS}"
        self._register()

    def coverage(self) -> Coverage:
        """Count passages by whether they have their vectors."""
        return coverage.of(self._db, self._model.number)

    def compare(self, query: Matrix) -> Compared:
        """Set a normalised query vector against the vectors of the vault."""
        return Compared(self._db, self._model.number, self._all(), query)

    def embed_pending(
        self,
        embedder: Embedder,
        progress: Progress | None = None,
        stopped: Callable[[], bool] = lambda: False,
        wanted: Filter | None = None,
    ) -> int:
        """Embed every passage that has no vector yet; never under the write lane.

        Args:
            embedder: the model.
            progress: called with (done, total) passages.
            stopped: asked between batches.
            wanted: only passages of these records.

        Returns:
            How many passages were embedded.
        """
        total = self.pending(wanted)
        done = 0
        for batch in self._batches(wanted):
            if stopped():
                break
            texts = [text for one in batch for text in one.parts]
            told = partial(_tell, progress, done, len(batch), total) if progress else None
            made = embedder.embed_passages(texts, **({"on_progress": told} if told else {}))
            self._store(batch, made.vectors, set(made.failed))
            done += len(batch)
            if progress:
                progress(min(done, total), total)
        return done

    def pending(self, wanted: Filter | None = None) -> int:
        """Return how many different passages, of some records or all, have no vector."""
        condition, values = _pending_of(wanted)
        return int(
            self._db.value(
                "SELECT count(DISTINCT passage.hash) FROM passage JOIN record "
                f"ON record.key = passage.record WHERE {condition}",
                values | {"model": self._model.number},
            )
        )

    def forget_others(self) -> None:
        """Drop the vectors of other models, once this one covers the vault."""
        vector_models.forget_others(self._db, self._model)
        self._files.forget_others()

    def _register(self) -> None:
        """Learn which table is ours: it is another one where a process dropped the last."""
        self._model = vector_models.registered(self._db, self._fingerprint, self._dimension)
        self._files = matrix.Files(self._folder, self._model.stamp, self._dimension)
        self._stored: matrix.Stored | None = None

    def _batches(self, wanted: Filter | None) -> Iterator[list[_Pending]]:
        """Yield what has no vector, until a whole round finds nothing."""
        found = True
        while found:
            found, after = False, b""
            while batch := self._pending(after, wanted):
                found, after = True, batch[-1].hash
                yield batch

    def _pending(self, after: bytes, wanted: Filter | None) -> list[_Pending]:
        condition, values = _pending_of(wanted)
        rows = self._db.rows(
            "SELECT passage.hash, record.title, passage.heading, passage.text "
            "FROM passage JOIN record ON record.key = passage.record "
            f"WHERE passage.hash > :after AND {condition} "
            "GROUP BY passage.hash ORDER BY passage.hash LIMIT :batch",
            values | {"after": after, "model": self._model.number, "batch": BATCH},
        )
        return [
            _Pending(content, embedded_texts(title, heading, text))
            for content, title, heading, text in rows
        ]

    def _store(self, batch: Sequence[_Pending], vectors: Matrix, failed: set[int]) -> None:
        """Write the vectors of some passages, unless another process was first."""
        load_extension(self._db)
        with self._db.write():
            self._register()
            number, index = self._last(), 0
            for content, parts in batch:
                known = self._db.row(
                    "SELECT 1 FROM vector WHERE model = ? AND hash = ?",
                    (self._model.number, content),
                )
                for part in range(len(parts)):
                    if not known:
                        number += index not in failed
                        kept = number if index not in failed else None
                        self._insert(content, part, kept, vectors[index])
                    index += 1

    def _insert(self, content: bytes, part: int, number: int | None, vector: Matrix) -> None:
        self._db.execute(
            "INSERT INTO vector VALUES (?, ?, ?, ?)", (self._model.number, content, part, number)
        )
        if number is not None:
            self._db.execute(
                f"INSERT INTO {self._model.table} (rowid, vector) VALUES (?, ?)",
                (number, vector.astype("<f4").tobytes()),
            )

    def _last(self) -> int:
        """Return the highest number; there are vectors of 1 to it."""
        return int(
            self._db.value(
                "SELECT coalesce(max(number), 0) FROM vector WHERE model = ?", (self._model.number,)
            )
        )

    def _all(self) -> matrix.Stored:
        """Return the vectors by number; the mapping is kept until there are more."""
        rows = self._last()
        if self._stored is None or len(self._stored) != rows:
            load_extension(self._db)
            self._stored = self._mapped(rows) if rows else matrix.in_memory((), self._dimension)
        return self._stored

    def _mapped(self, rows: int) -> matrix.Stored:
        try:
            if not self._files.are_of(rows, self._vector):
                self._files.forget()
            return self._files.map(rows, self._vectors)
        except (OSError, ValueError):  # no room, not our folder, or made anew by another process
            return matrix.in_memory(self._vectors(0), self._dimension)

    def _vectors(self, after: int) -> Iterator[bytes]:
        """Yield vectors by number, those after a number."""
        for (vector,) in self._db.connection.execute(
            f"SELECT vector FROM {self._model.table} WHERE rowid > ? ORDER BY rowid", (after,)
        ):
            yield vector

    def _vector(self, number: int) -> bytes:
        found: bytes = self._db.value(
            f"SELECT vector FROM {self._model.table} WHERE rowid = ?", (number,)
        )
        return found


def _pending_of(wanted: Filter | None) -> tuple[str, dict[str, Any]]:
    """Return the SQL condition on passages without vectors, and its parameters but the model."""
    if wanted is None:
        return _PENDING, {}
    condition, values = wanted.condition()
    return f"{_PENDING} AND {condition}", values


def _tell(progress: Progress, before: int, batch: int, total: int, done: int, texts: int) -> None:
    """Tell how many passages are done while a batch of them is embedded, part by part."""
    progress(min(before + batch * done // max(texts, 1), total), total)


def embedded_texts(title: str, heading: str, text: str) -> list[str]:
    """Return what is embedded for a passage: each part of it, behind its place in the document."""
    place = " > ".join(part for part in (title, *heading.split("\n")) if part)
    parts = split_passages(text, max_tokens=PART_TOKENS)
    return [f"{place}\n{part.text}" for part in parts] or [place]
