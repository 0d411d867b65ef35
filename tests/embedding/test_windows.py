from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.embedding import windows

lengths = st.lists(st.integers(0, 600), max_size=200)


@given(lengths)
def test_every_window_is_in_one_batch_and_no_batch_is_too_large(lengths: list[int]) -> None:
    groups = windows.batches(lengths, tokens=256, windows=8)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) <= 8
        assert len(group) == 1 or sum(lengths[index] for index in group) <= 256


@given(lengths)
def test_batches_hold_windows_of_like_length(lengths: list[int]) -> None:
    groups = windows.batches(lengths, tokens=256, windows=8)
    order = [lengths[index] for group in groups for index in group]
    assert order == sorted(lengths)


@given(lengths, st.integers(1, 900))
def test_runs_are_neighbours_in_order(lengths: list[int], most: int) -> None:
    groups = windows.runs(lengths, most)
    assert [index for group in groups for index in group] == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or sum(lengths[index] for index in group) <= most


@given(st.integers(0, 5000), st.integers(1, 300), st.integers(0, 20))
def test_no_token_of_a_long_text_is_left_out(size: int, room: int, prefix_size: int) -> None:
    prefix = np.arange(-prefix_size, 0, dtype=np.int32)
    body = np.arange(size, dtype=np.int32)
    parts = windows.split(np.concatenate([prefix, body]), prefix, room + prefix_size)
    assert all(len(part) <= room + prefix_size for part in parts)
    assert all(np.array_equal(part[:prefix_size], prefix) for part in parts)
    assert np.array_equal(np.concatenate([part[prefix_size:] for part in parts]), body)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.text(max_size=50), st.integers(0, 8))
def test_the_pieces_of_a_huge_text_make_it_up(unit: str, power: int) -> None:
    text = unit * 10**power if len(unit) * 10**power < 1_000_000 else unit * 1000
    assert "".join(windows.pieces(text)) == text
    assert all(len(piece) <= windows.PIECE_CHARS for piece in windows.pieces(text))


def test_a_huge_text_is_split_at_white_space() -> None:
    words = "word " * 50_000
    assert all(piece.strip().startswith("word") for piece in windows.pieces(words))
    assert all(len(piece.replace("word", "").strip()) == 0 for piece in windows.pieces(words))


def test_a_row_of_zeros_stays_when_rows_get_length_one() -> None:
    rows = windows.unit(np.array([[3, 4], [0, 0]], np.float32))
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0, 0]])
