"""Vectors of passages: kept by sqlite-vec under content hash and model, scanned as one matrix.

The `vec0` table of a model is the store. Beside it lies a derived file with the same rows in the
same order, mapped into memory, because one product over it is the fastest exact scan there is at
these sizes. A row number never changes its vector, so the file is only ever extended; its name and
its last row are those of the table, so that it is never the file of another state. Another model,
or other passage rules, is another set of rows: nothing is mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vault_kg.errors import Unavailable
from vault_kg.index.kept import Kept
from vault_kg.index.scope import integers
from vault_kg.records.passages import PASSAGE_RULES_VERSION
from vault_kg.state.database import Database

if TYPE_CHECKING:
    from vault_kg.embedding.client import Embedder
    from vault_kg.index.scope import Scope

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

BATCH = 256
NARROW = 2_000
"""Up to so many passages behind a filter are scored one by one; else all are, then filtered."""

DIGITS = 6
"""Of a similarity: what float32 products tell, whichever way they were worked out."""

_CHUNK = 5_000

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS embedding_model (
        id          INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE,
        dimension   INTEGER NOT NULL,
        stamp       TEXT NOT NULL
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


class Similar(NamedTuple):
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
        self._model, stamp = self._register(f"{fingerprint}/{PASSAGE_RULES_VERSION}")
        self._table = f"passage_vec_{self._model}"
        self._file = folder / f"vectors-{stamp}.f32"
        self._mapped: Matrix | None = None
        self._coverage = Kept(self._count)

    def coverage(self) -> Coverage:
        """Count passages by whether they have a vector."""
        return self._coverage.get(self._db)

    def compare(self, query: Matrix) -> Compared:
        """Set a normalised query vector against the vectors of the vault."""
        return Compared(self._db, self._model, self._matrix(), query)

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
        for batch in self._batches():
            if stopped():
                break
            made = embedder.embed_passages([text for _, text in batch])
            self._store([content for content, _ in batch], made.vectors, set(made.failed))
            done += len(batch)
            if progress:
                progress(min(done, total), total)
        return done

    def forget_others(self) -> None:
        """Drop the vectors of other models, once this one covers the vault."""
        others = self._db.rows("SELECT id FROM embedding_model WHERE id <> ?", (self._model,))
        if others:
            load_extension(self._db)
            with self._db.write():
                for (other,) in others:
                    self._db.execute(f"DROP TABLE IF EXISTS passage_vec_{other}")
                    self._db.execute("DELETE FROM embedding WHERE model = ?", (other,))
                    self._db.execute("DELETE FROM embedding_model WHERE id = ?", (other,))
        for left in self._file.parent.glob("vectors-*.f32"):
            if left != self._file:
                left.unlink(missing_ok=True)

    def _register(self, fingerprint: str) -> tuple[int, str]:
        known = self._known(fingerprint)
        if known is not None:
            return known
        load_extension(self._db)
        with self._db.write():
            known = self._known(fingerprint)  # another process may have been first
            if known is None:
                known = self._add_model(fingerprint)
        return known

    def _add_model(self, fingerprint: str) -> tuple[int, str]:
        self._db.execute(_SCHEMA)
        added = self._db.row(
            "INSERT INTO embedding_model (fingerprint, dimension, stamp) "
            "VALUES (?, ?, lower(hex(randomblob(8)))) RETURNING id, stamp",
            (fingerprint, self._dimension),
        )
        assert added is not None, "an insertion returns its row"
        self._db.execute(
            f"CREATE VIRTUAL TABLE passage_vec_{added[0]} USING "
            f"vec0(vector float[{self._dimension}])"
        )
        return int(added[0]), str(added[1])

    def _known(self, fingerprint: str) -> tuple[int, str] | None:
        if not self._db.row("SELECT 1 FROM sqlite_schema WHERE name = 'embedding_number'"):
            return None
        found = self._db.row(
            "SELECT id, stamp FROM embedding_model WHERE fingerprint = ?", (fingerprint,)
        )
        return (int(found[0]), str(found[1])) if found is not None else None

    def _count(self, db: Database) -> Coverage:
        row = db.row(
            "SELECT count(*), count(embedding.hash), count(embedding.number) FROM passage "
            "LEFT JOIN embedding ON embedding.model = ? AND embedding.hash = passage.hash",
            (self._model,),
        )
        passages, tried, ready = row or (0, 0, 0)
        return Coverage(ready, passages - tried, tried - ready)

    def _count_pending(self) -> int:
        return int(
            self._db.value(
                "SELECT count(DISTINCT hash) FROM passage WHERE NOT EXISTS (SELECT 1 "
                "FROM embedding WHERE model = ? AND embedding.hash = passage.hash)",
                (self._model,),
            )
        )

    def _batches(self) -> Iterator[list[tuple[bytes, str]]]:
        """Yield (hash, text) of what has no vector, until a whole round finds nothing."""
        found = True
        while found:
            found, after = False, b""
            while batch := self._pending(after):
                found, after = True, batch[-1][0]
                yield batch

    def _pending(self, after: bytes) -> list[tuple[bytes, str]]:
        rows = self._db.rows(
            "SELECT passage.hash, record.title, passage.heading, passage.text "
            "FROM passage JOIN record ON record.key = passage.record WHERE passage.hash > ? "
            "AND NOT EXISTS (SELECT 1 FROM embedding WHERE model = ? "
            "AND embedding.hash = passage.hash) "
            "GROUP BY passage.hash ORDER BY passage.hash LIMIT ?",
            (after, self._model, BATCH),
        )
        return [
            (content, embedded_text(title, heading, text)) for content, title, heading, text in rows
        ]

    def _store(self, hashes: Sequence[bytes], vectors: Matrix, failed: set[int]) -> None:
        load_extension(self._db)
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
        """Return the vectors by number; the mapping is kept until there are more."""
        rows = int(
            self._db.value(
                "SELECT coalesce(max(number), 0) FROM embedding WHERE model = ?", (self._model,)
            )
        )
        mapped = self._mapped
        if mapped is not None and len(mapped) == rows:
            return mapped
        if rows == 0:
            return np.empty((0, self._dimension), np.float32)
        load_extension(self._db)
        try:
            self._extend_file(rows)
            mapped = np.memmap(self._file, np.float32, "r", shape=(rows, self._dimension))
            if mapped[-1].tobytes() != self._vector(rows):
                self._file.unlink()  # of a state that was restored since
                self._extend_file(rows)
                mapped = np.memmap(self._file, np.float32, "r", shape=(rows, self._dimension))
        except OSError:  # no room, or not our folder: the table itself will do
            mapped = np.frombuffer(b"".join(v for _, v in self._vectors(0)), np.float32)
            mapped = mapped.reshape(-1, self._dimension)
        self._mapped = mapped
        return mapped

    def _extend_file(self, rows: int) -> None:
        """Write rows that the file lacks; two processes that do so write the same bytes."""
        width = self._dimension * 4
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.touch()
        present = self._file.stat().st_size // width
        if present >= rows:
            return
        with self._file.open("r+b") as handle:
            handle.seek(present * width)
            for _, vector in self._vectors(present):
                handle.write(vector)

    def _vectors(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield (number, vector) by number; numbers have no gaps."""
        return iter(
            self._db.connection.execute(
                f"SELECT rowid, vector FROM {self._table} WHERE rowid > ? ORDER BY rowid", (after,)
            )
        )

    def _vector(self, number: int) -> bytes:
        found: bytes = self._db.value(
            f"SELECT vector FROM {self._table} WHERE rowid = ?", (number,)
        )
        return found


class Compared:
    """A query's vector set against the vectors of a vault, each product worked out at most once."""

    def __init__(self, db: Database, model: int, matrix: Matrix, query: Matrix) -> None:
        self._db = db
        self._model = model
        self.matrix = matrix
        self._query = query
        self._products: Matrix | None = None

    def nearest(self, limit: int, scope: Scope, floor: float | None = None) -> list[Similar]:
        """Return the nearest passages among those that a filter lets through; the exact answer.

        Args:
            limit: how many passages.
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
        places = [number - 1 for _, number in numbers]
        products = self._products
        found = products[places] if products is not None else self.matrix[places] @ self._query
        return {
            key: round(near, DIGITS) for (key, _), near in zip(numbers, found.tolist(), strict=True)
        }

    def _scan(self, limit: int, scope: Scope) -> dict[int, float]:
        """Take the best rows until enough pass the filter; every better row was looked at."""
        if self._products is None:
            self._products = self.matrix @ self._query
        products = self._products
        take = min(len(products), 2 * limit + 50)
        while True:
            least = np.partition(products, len(products) - take)[len(products) - take]
            best = np.flatnonzero(products >= least)
            pairs = self._numbers("embedding.number", (best + 1).tolist())
            passing, _ = scope.within(integers(key for key, _ in pairs))
            found = {
                key: round(float(products[number - 1]), DIGITS)
                for (key, number), passes in zip(pairs, passing.tolist(), strict=True)
                if passes
            }
            if len(found) > limit or take == len(products):
                return found
            take = min(len(products), take * 4)

    def _numbers(self, column: str, among: list[int]) -> list[tuple[int, int]]:
        """Return (passage, number) where a column has one of these values."""
        first, second = ("embedding", "passage") if column[0] == "e" else ("passage", "embedding")
        found: list[tuple[int, int]] = []
        for start in range(0, len(among), _CHUNK):
            marks = ",".join(map(str, among[start : start + _CHUNK]))
            found += self._db.rows(
                f"SELECT passage.key, embedding.number FROM {first} CROSS JOIN {second} "
                "WHERE embedding.hash = passage.hash AND embedding.model = ? "
                f"AND embedding.number IS NOT NULL AND {column} IN ({marks})",
                (self._model,),
            )
        return found


def _cut(ordered: list[tuple[float, int]], limit: int) -> list[tuple[float, int]]:
    """Take about `limit` of the nearest; of equal ones all or, where they are too many, none."""
    last = ordered[limit - 1][0]
    longer = [one for one in ordered if one[0] <= last]
    return longer if len(longer) <= 2 * limit else [one for one in ordered if one[0] < last]


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return what is embedded for a passage: its place in the document, then itself."""
    place = " > ".join(part for part in (title, *heading.split("\n")) if part)
    return f"{place}\n{text}" if text else place


def load_extension(db: Database) -> None:
    """Load sqlite-vec into this thread's connection, once.

    Raises:
        Unavailable: it is not installed, or cannot be loaded here.
    """
    import apsw

    connection = db.connection
    try:
        connection.execute("SELECT vec_version()").fetchone()
        return
    except apsw.SQLError:
        pass  # not loaded yet
    try:
        import sqlite_vec

        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    except (ImportError, AttributeError, apsw.Error) as error:
        raise Unavailable(
            f"sqlite-vec cannot be loaded, so there is no search by meaning: {error}"
        ) from error
