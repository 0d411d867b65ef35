"""A model's vectors as arrays: exact, and coarse for a first pass over all of them.

The `vec0` table is the store. Files beside it hold its rows in the same order: as they are, and as
whole numbers of one byte a dimension, a quarter of what has to be read to look at every row. These
are mapped into memory; of the exact ones only what is asked for is read. How far a coarse product
can be off is known, so that what the first pass leaves out cannot be among the nearest (`nearest`).

A row number never changes its vector, so files are only ever extended; their name is that of the
table, and their last row must be its last row, so that they are never the files of another state.
"""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import simsimd

from vault_kg.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Matrix = np.ndarray[Any, np.dtype[np.float32]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]
    Bytes = np.ndarray[Any, np.dtype[np.int8]]

_STEPS: Final = 127
"""Steps of a coarse number on either side of 0."""

_CHUNK: Final = 4_096

_ROUNDED: Final = 1e-5
"""What float32 products may be off by themselves."""


@dataclass(frozen=True)
class Stored:
    """The vectors of a model, each a row."""

    exact: Callable[[Ints], Matrix]
    """Returns the rows at some places, counted from 0."""
    coarse: Bytes
    steps: Matrix
    """What one step of each coarse row is worth, and how far it is from its exact row."""
    off: float
    """The most that a coarse row is from its exact one (Euclidean length)."""

    def __len__(self) -> int:
        return len(self.coarse)

    def products(self, query: Matrix) -> tuple[Matrix, float]:
        """Return about the product of a unit vector with each row, and the most they are off.

        By Cauchy-Schwarz, with e what rounding left of either: |q·v - q'·v'| <= |e_v| + |e_q| |v'|.
        """
        coarse, ((step, off),) = _rounded(query[np.newaxis])
        products = np.empty((1, len(self)), np.float32)
        simsimd.cdist(coarse, self.coarse, metric="dot", out=products, out_dtype="float32")
        products[0] *= self.steps[:, 0]
        products[0] *= step
        return products[0], self.off + float(off) * (1 + self.off) + _ROUNDED


def in_memory(vectors: Iterable[bytes], dimension: int) -> Stored:
    """Return vectors that no file holds."""
    exact = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, dimension)
    coarse, steps = _rounded(exact)
    return Stored(exact.__getitem__, coarse, steps, _most_off(steps))


class Files:
    """The derived files of one model's vectors."""

    def __init__(self, folder: Path, stamp: str, dimension: int) -> None:
        """Name them; they are made when they are needed.

        Args:
            folder: where they lie.
            stamp: of the table; no other table has it.
            dimension: numbers in a vector.
        """
        self._folder = folder
        self._dimension = dimension
        self._exact = folder / f"vectors-{stamp}.f32"
        self._coarse = folder / f"vectors-{stamp}.i8"
        self._steps = folder / f"vectors-{stamp}.steps"

    @property
    def _all(self) -> tuple[Path, ...]:
        return self._exact, self._coarse, self._steps

    def forget_others(self) -> None:
        """Remove the files of other tables."""
        for kind in ("f32", "i8", "steps"):
            for left in self._folder.glob(f"vectors-*.{kind}"):
                if left not in self._all:
                    left.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove the files: they are of a state that was restored since."""
        for file in self._all:
            file.unlink(missing_ok=True)

    def are_of(self, rows: int, vector: Callable[[int], bytes]) -> bool:
        """Whether the last row of each file that a table of so many rows knows is that table's.

        Args:
            rows: how many the table has.
            vector: gives one of them by its number, counted from 1.
        """
        widths = (4 * self._dimension, self._dimension, 8)
        for place, (file, width) in enumerate(zip(self._all, widths, strict=True)):
            number = min(rows, _size(file) // width)
            if number and _read(file, number - 1, width) != _as_kept(vector(number))[place]:
                return False
        return True

    def map(self, rows: int, vectors: Callable[[int], Iterator[bytes]]) -> Stored:
        """Map the files, with rows that they lack written; two processes write the same bytes.

        Args:
            rows: how many there are.
            vectors: gives those after a number.

        Raises:
            OSError: they cannot be written here.
            ValueError: another process made them anew meanwhile.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._exact.touch()
        present = _size(self._exact) // (self._dimension * 4)
        with self._exact.open("r+b") as handle:
            handle.seek(present * self._dimension * 4)
            for vector in vectors(present):
                handle.write(vector)
        self._round(rows)
        shape = (rows, self._dimension)
        steps = np.fromfile(self._steps, np.float32, 2 * rows).reshape(-1, 2)
        return Stored(
            _Rows(self._exact, self._dimension).read,
            np.asarray(np.memmap(self._coarse, np.int8, "r", shape=shape)),
            steps,
            _most_off(steps),
        )

    def _round(self, rows: int) -> None:
        """Extend the coarse rows; read by pieces, so that the exact ones do not fill the memory."""
        self._coarse.touch()
        self._steps.touch()
        present = min(_size(self._coarse) // self._dimension, _size(self._steps) // 8)
        with self._coarse.open("r+b") as coarse_file, self._steps.open("r+b") as steps_file:
            coarse_file.seek(present * self._dimension)
            steps_file.seek(present * 8)
            for start in range(present, rows, _CHUNK):
                count = min(_CHUNK, rows - start) * self._dimension
                exact = np.fromfile(
                    self._exact, np.float32, count, offset=start * self._dimension * 4
                )
                coarse, steps = _rounded(exact.reshape(-1, self._dimension))
                coarse_file.write(coarse.tobytes())
                steps_file.write(steps.tobytes())


class _Rows:
    """A file of exact rows, of which few are read at a time."""

    def __init__(self, file: Path, dimension: int) -> None:
        self._number = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._number)
        self._lock = threading.Lock()
        self._dimension = dimension

    def read(self, places: Ints) -> Matrix:
        """Return the rows at some places, in their order; those side by side are read at once."""
        if not len(places):
            return np.empty((0, self._dimension), np.float32)
        order = np.argsort(places, kind="stable")
        rising = places[order]
        first = np.flatnonzero(np.diff(rising, prepend=rising[0] - 2) != 1)
        lengths = np.diff(first, append=len(rising))
        width = 4 * self._dimension
        with self._lock:
            parts = [
                self._part(place * width, count * width)
                for place, count in zip(rising[first].tolist(), lengths.tolist(), strict=True)
            ]
        found = np.empty((len(places), self._dimension), np.float32)
        found[order] = np.frombuffer(b"".join(parts), np.float32).reshape(-1, self._dimension)
        return found

    def _part(self, start: int, size: int) -> bytes:
        os.lseek(self._number, start, os.SEEK_SET)
        found = os.read(self._number, size)
        while 0 < len(found) < size and (more := os.read(self._number, size - len(found))):
            found += more
        if len(found) != size:
            raise Unavailable("the file of the vectors was cut; ask again")
        return found


def _rounded(exact: Matrix) -> tuple[Bytes, Matrix]:
    """Return rows in whole steps; and for each what a step is worth, and what rounding left."""
    step = (np.abs(exact).max(axis=1, keepdims=True) / _STEPS).astype(np.float32)
    coarse = np.rint(exact / np.maximum(step, np.finfo(np.float32).tiny))
    left = np.linalg.norm(exact - coarse * step, axis=1, keepdims=True)
    return coarse.astype(np.int8), np.hstack((step, left), dtype=np.float32)


def _as_kept(exact: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what each of the files holds of a vector."""
    coarse, steps = _rounded(np.frombuffer(exact, np.float32)[np.newaxis])
    return exact, coarse.tobytes(), steps.tobytes()


def _most_off(steps: Matrix) -> float:
    return float(steps[:, 1].max(initial=0.0))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _read(file: Path, row: int, width: int) -> bytes:
    with file.open("rb") as handle:
        handle.seek(row * width)
        return handle.read(width)
