"""Vectors of passages: kept by sqlite-vec under content hash and model, scanned as one matrix.

The `vec0` table of a model is the store. Beside it lies a derived file with the same rows in the same
order, mapped into memory, because one product over it is the fastest exact scan there is at these
sizes. A row number never changes its vector, so the file is only ever extended. Another model, or
other passage rules, is another set of rows: nothing is mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.records.passages import PASSAGE_RULES_VERSION
from vault_kg.state.database import Database

if TYPE_CHECKING:
    import numpy as np

    from vault_kg.embedding.client import Embedder

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

BATCH = 256
NARROW = 4_000
"""Up to so many passages behind a filter are scored one by one; more are scanned and then filtered."""

_JOIN = "FROM passage JOIN record ON record.key = passage.record"

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS embedding_model (
        id          INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE,
        dimension   INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS embedding (
        model  INTEGER NOT NULL,
        hash   BLOB NOT NULL,
        number INTEGER,
        PRIMARY KEY (model, hash)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX IF NOT EXISTS embedding_number ON embedding (model, number)
        WHERE number IS NOT NULL;
"""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Similar:
    """A passage near a query: its key, its record's key and the cosine similarity."""

    passage: int
    record: int
    similarity: float


@dataclass(frozen=True)
class Coverage:
    """How much of the vault has vectors of a model. `failed` passages could not be embedded."""

    ready: int
    pending: int
    failed: int


class Vectors:
    """The vectors of one model in one vault."""

    def __init__(self, db: Database, fingerprint: str, dimension: int, folder: Path) -> None:
        """Stand for a model's vectors.

        Args:
            db: the state.
            fingerprint: of the model; the passage rules are added here.
            dimension: numbers in a vector.
            folder: where the derived matrix lies.
        """
        self._db = db
        self._dimension = dimension
        _load_extension(db)
        self._model = self._register(f"{fingerprint}/{PASSAGE_RULES_VERSION}")
        self._table = f"passage_vec_{self._model}"
        self._file = folder / f"vectors-{self._model}.f32"

    def coverage(self) -> Coverage:
        """Count passages by whether they have a vector."""
        row = self._db.row(
            "SELECT count(embedding.number), sum(embedding.hash IS NULL), "
            "sum(embedding.hash IS NOT NULL AND embedding.number IS NULL) FROM passage "
            "LEFT JOIN embedding ON embedding.model = ? AND embedding.hash = passage.hash",
            (self._model,),
        )
        ready, pending, failed = row or (0, 0, 0)
        return Coverage(int(ready), int(pending or 0), int(failed or 0))

    def embed_pending(
        self,
        embedder: Embedder,
        progress: Progress | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> int:
        """Embed every passage that has no vector yet; never under the write lane.

        Args:
            embedder: the model.
            progress: called with (done, total).
            stopped: asked between batches.

        Returns:
            How many passages were embedded.
        """
        total = self._count_pending()
        done = 0
        while not stopped():
            batch = self._pending(BATCH)
            if not batch:
                break
            texts = [text for _, text in batch]
            made = embedder.embed_passages(texts)
            self._store([content for content, _ in batch], made.vectors, set(made.failed))
            done += len(batch)
            if progress:
                progress(min(done, total), total)
        return done

    def nearest(
        self,
        query: Matrix,
        limit: int,
        where: str,
        parameters: dict[str, Any],
        floor: float | None = None,
    ) -> list[Similar]:
        """Return the nearest passages among those that a filter lets through; the exact answer.

        Args:
            query: a normalised vector.
            limit: how many passages.
            where: a condition on `passage` and `record`.
            parameters: its named values.
            floor: leave out what is less similar.
        """
        matrix = self._matrix()
        if len(matrix) == 0:
            return []
        narrow = self._filtered(where, parameters, NARROW + 1)
        if len(narrow) <= NARROW:
            found = self._score_some(matrix, query, narrow)
        else:
            found = self._scan(matrix, query, limit, where, parameters)
        kept = [s for s in found if floor is None or s.similarity >= floor]
        return sorted(kept, key=lambda s: (-s.similarity, s.passage))[:limit]

    def forget_others(self) -> None:
        """Drop the vectors of other models, once this one covers the vault."""
        others = self._db.rows("SELECT id FROM embedding_model WHERE id <> ?", (self._model,))
        with self._db.write():
            for (other,) in others:
                self._db.execute(f"DROP TABLE IF EXISTS passage_vec_{other}")
                self._db.execute("DELETE FROM embedding WHERE model = ?", (other,))
                self._db.execute("DELETE FROM embedding_model WHERE id = ?", (other,))
        for (other,) in others:
            self._file.with_name(f"vectors-{other}.f32").unlink(missing_ok=True)

    def _register(self, fingerprint: str) -> int:
        known = self._known(fingerprint)
        if known is not None:
            return known
        with self._db.write():
            self._db.execute(_SCHEMA)
            self._db.execute(
                "INSERT OR IGNORE INTO embedding_model (fingerprint, dimension) VALUES (?, ?)",
                (fingerprint, self._dimension),
            )
            made = int(
                self._db.value(
                    "SELECT id FROM embedding_model WHERE fingerprint = ?", (fingerprint,)
                )
            )
            self._db.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS passage_vec_{made} USING "
                f"vec0(vector float[{self._dimension}])"
            )
        return made

    def _known(self, fingerprint: str) -> int | None:
        there = self._db.value("SELECT 1 FROM sqlite_schema WHERE name = 'embedding_number'")
        if there is None:
            return None
        found = self._db.value(
            "SELECT id FROM embedding_model WHERE fingerprint = ?", (fingerprint,)
        )
        return int(found) if found is not None else None

    def _count_pending(self) -> int:
        return int(
            self._db.value(
                "SELECT count(DISTINCT hash) FROM passage WHERE NOT EXISTS (SELECT 1 FROM embedding "
                "WHERE model = ? AND embedding.hash = passage.hash)",
                (self._model,),
            )
        )

    def _pending(self, limit: int) -> list[tuple[bytes, str]]:
        rows = self._db.rows(
            "SELECT passage.hash, record.title, passage.heading, passage.text "
            f"{_JOIN} WHERE NOT EXISTS (SELECT 1 FROM embedding WHERE model = ? "
            "AND embedding.hash = passage.hash) GROUP BY passage.hash LIMIT ?",
            (self._model, limit),
        )
        return [
            (content, embedded_text(title, heading, text)) for content, title, heading, text in rows
        ]

    def _store(self, hashes: Sequence[bytes], vectors: Matrix, failed: set[int]) -> None:
        with self._db.write():
            number = int(
                self._db.value(
                    "SELECT coalesce(max(number), 0) FROM embedding WHERE model = ?", (self._model,)
                )
            )
            for index, content in enumerate(hashes):
                if self._db.value(
                    "SELECT 1 FROM embedding WHERE model = ? AND hash = ?", (self._model, content)
                ):
                    continue
                if index in failed:
                    self._insert(content, None)
                    continue
                number += 1
                self._db.execute(
                    f"INSERT INTO {self._table} (rowid, vector) VALUES (?, ?)",
                    (number, vectors[index].astype("<f4").tobytes()),
                )
                self._insert(content, number)

    def _insert(self, content: bytes, number: int | None) -> None:
        self._db.execute("INSERT INTO embedding VALUES (?, ?, ?)", (self._model, content, number))

    def _matrix(self) -> Matrix:
        import numpy as np

        rows = int(
            self._db.value(
                "SELECT coalesce(max(number), 0) FROM embedding WHERE model = ?", (self._model,)
            )
        )
        if rows == 0:
            return np.empty((0, self._dimension), np.float32)
        self._extend_file(rows)
        return np.memmap(self._file, np.float32, "r", shape=(rows, self._dimension))

    def _extend_file(self, rows: int) -> None:
        """Write rows that the file lacks; two processes that do so write the same bytes."""
        width = self._dimension * 4
        present = self._file.stat().st_size // width if self._file.exists() else 0
        if present >= rows:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.touch()
        with self._file.open("r+b") as handle:
            for number, vector in self._db.connection.execute(
                f"SELECT rowid, vector FROM {self._table} WHERE rowid > ? ORDER BY rowid",
                (present,),
            ):
                handle.seek((number - 1) * width)
                handle.write(vector)

    def _filtered(
        self, where: str, parameters: dict[str, Any], limit: int
    ) -> list[tuple[int, int, int]]:
        rows = self._db.rows(
            "SELECT passage.key, passage.record, embedding.number FROM record "
            "JOIN passage ON passage.record = record.key "
            "JOIN embedding ON embedding.model = :model AND embedding.hash = passage.hash "
            f"WHERE embedding.number IS NOT NULL AND {where} LIMIT :limit",
            parameters | {"model": self._model, "limit": limit},
        )
        return [(key, record, number) for key, record, number in rows]

    def _score_some(
        self, matrix: Matrix, query: Matrix, rows: list[tuple[int, int, int]]
    ) -> list[Similar]:
        if not rows:
            return []
        scores = matrix[[number - 1 for _, _, number in rows]] @ query
        return [
            Similar(key, record, float(score))
            for (key, record, _), score in zip(rows, scores, strict=True)
        ]

    def _scan(
        self, matrix: Matrix, query: Matrix, limit: int, where: str, parameters: dict[str, Any]
    ) -> list[Similar]:
        """Take the best rows until enough pass the filter; every better row was looked at."""
        import numpy as np

        scores = matrix @ query
        take = min(len(scores), 2 * limit + 50)
        while True:
            best = np.argpartition(-scores, take - 1)[:take]
            found = self._passing({int(i) + 1: float(scores[i]) for i in best}, where, parameters)
            if len(found) >= limit or take == len(scores):
                return found
            take = min(len(scores), take * 4)

    def _passing(
        self, scores: dict[int, float], where: str, parameters: dict[str, Any]
    ) -> list[Similar]:
        marks = ",".join(map(str, scores))
        rows = self._db.rows(
            "SELECT passage.key, passage.record, embedding.number FROM embedding "
            "CROSS JOIN passage ON passage.hash = embedding.hash "
            "CROSS JOIN record ON record.key = passage.record "
            f"WHERE embedding.model = :model AND embedding.number IN ({marks}) AND {where}",
            parameters | {"model": self._model},
        )
        return [Similar(key, record, scores[number]) for key, record, number in rows]


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return what is embedded for a passage: its place in the document, then itself."""
    place = " > ".join(part for part in (title, *heading.split("\n")) if part)
    return f"{place}\n{text}" if text else place


def _load_extension(db: Database) -> None:
    """Load sqlite-vec into this thread's connection, once."""
    import apsw
    import sqlite_vec

    connection = db.connection
    try:
        connection.execute("SELECT vec_version()").fetchone()
    except apsw.SQLError:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
