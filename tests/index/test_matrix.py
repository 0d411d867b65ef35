"""Coarse vectors: how far they are off is known, and the files are those of the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index import matrix
from vault_kg.index.matrix import Files


def unit(seed: int, rows: int, dimension: int, spread: float = 1.0) -> np.ndarray:
    """Return random unit vectors; with a spread above 1 a few dimensions hold most of them."""
    found = np.random.default_rng(seed).standard_normal((rows, dimension))
    found *= spread ** -np.arange(dimension)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 16, 384]), st.sampled_from([1.0, 1.01, 2.0])
)
@settings(max_examples=60, deadline=None)
def test_no_product_is_further_off_than_is_said(seed: int, dimension: int, spread: float) -> None:
    exact = unit(seed, 200, dimension, spread)
    query = unit(seed + 1, 1, dimension, spread)[0]
    stored = matrix.in_memory([row.tobytes() for row in exact], dimension)
    products, off = stored.products(query)
    assert np.abs(products - exact @ query).max() <= off
    assert off < 0.04 or dimension < 384 or spread > 1


def test_a_vector_of_nothing_is_as_it_is(tmp_path: Path) -> None:
    stored = matrix.in_memory([bytes(64), unit(1, 1, 16).tobytes()], 16)
    products, _ = stored.products(unit(1, 1, 16)[0])
    assert products[0] == 0.0 and products[1] == pytest.approx(1.0, abs=0.1)


def mapped(folder: Path, vectors: np.ndarray) -> matrix.Stored:
    """Map the files of vectors, as `Vectors` does."""
    files = Files(folder, "s", vectors.shape[1])
    rows = [row.tobytes() for row in vectors]
    if not files.are_of(len(rows), lambda number: rows[number - 1]):
        files.forget()
    return files.map(len(rows), lambda after: iter(rows[after:]))


def test_files_are_extended_and_say_the_same_as_the_memory(tmp_path: Path) -> None:
    vectors = unit(1, 10_000, 24)
    for rows in (1, 4_096, 10_000):
        stored = mapped(tmp_path, vectors[:rows])
        expected = matrix.in_memory([row.tobytes() for row in vectors[:rows]], 24)
        assert len(stored) == rows and stored.off == expected.off
        places = np.random.default_rng(rows).permutation(rows)[:3_000]
        assert np.array_equal(stored.exact(places), vectors[places])
        assert np.array_equal(stored.exact(places[:0]), vectors[:0])
        assert np.array_equal(stored.coarse, expected.coarse)
        assert np.array_equal(stored.steps, expected.steps)


@pytest.mark.parametrize("kind", ["f32", "i8", "steps"])
@pytest.mark.parametrize("damage", ["gone", "shorter", "torn", "other"])
def test_a_damaged_file_is_made_again(tmp_path: Path, kind: str, damage: str) -> None:
    vectors = unit(2, 50, 24)
    mapped(tmp_path, vectors)
    file = tmp_path / f"vectors-s.{kind}"
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "other":
        file.write_bytes(b"\1" * len(whole))
    else:
        width = len(whole) // 50
        file.write_bytes(whole[: 20 * width + (1 if damage == "torn" else 0)])
    stored = mapped(tmp_path, vectors)
    assert file.read_bytes() == whole
    assert np.array_equal(stored.exact(np.arange(50)), vectors)
    products, off = stored.products(vectors[7])
    assert np.abs(products - vectors @ vectors[7]).max() <= off


def test_files_of_other_tables_are_removed(tmp_path: Path) -> None:
    vector = unit(1, 1, 8)[0].tobytes()
    for stamp in ("s", "other"):
        Files(tmp_path, stamp, 8).map(1, lambda after: iter([vector][after:]))
    Files(tmp_path, "s", 8).forget_others()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "vectors-s.f32", "vectors-s.i8", "vectors-s.steps",
    ]  # fmt: skip


def test_files_of_a_state_that_was_restored_are_made_again(tmp_path: Path) -> None:
    """The state went back to 100 rows and on to 150 others; the files were at 120."""
    vectors, others = unit(3, 120, 24), unit(4, 50, 24)
    mapped(tmp_path, vectors)
    for expected in (vectors[:100], np.vstack((vectors[:100], others))):
        stored = mapped(tmp_path, expected)
        assert np.array_equal(stored.exact(np.arange(len(expected))), expected)
        products, off = stored.products(expected[7])
        assert np.abs(products - expected @ expected[7]).max() <= off
