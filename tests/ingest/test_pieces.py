"""A long document is divided at headings and sentences, and nothing of it is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index.validate import text_lines
from vault_kg.ingest.pieces import MAX_CHARS, divide

SENTENCE = "The committee met in the library and wrote its minutes down with care. "


def test_a_text_that_fits_is_one_piece_as_it_is() -> None:
    text = "# One\r\n\r\nWords.\r\n"
    assert divide(text) == [(text, 1, 3)]


def test_a_blank_text_has_no_piece() -> None:
    assert divide(" \n\n") == []


def test_sections_are_kept_together_and_lines_are_those_of_the_document() -> None:
    text = "".join(f"# Part {n}\n\n{SENTENCE * 20}\n\n" for n in range(40))
    found = divide(text)
    lines = text_lines(text)
    assert len(found) > 5
    for piece in found:
        assert len(piece.text) <= MAX_CHARS and piece.text.startswith("# Part")
        assert lines[piece.first - 1].startswith("# Part")
        assert piece.text.endswith(lines[piece.last - 1].strip())


def test_one_long_line_is_cut_at_sentences() -> None:
    found = divide(SENTENCE * 400)
    assert len(found) > 1 and all(piece[1:] == (1, 1) for piece in found)
    assert all(piece.text.rstrip().endswith("care.") for piece in found)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abc 。.#\n", max_size=400), max_size=30), st.integers(500, 4_000))
def test_every_word_is_in_a_piece(parts: list[str], most: int) -> None:
    text = "\n\n".join(parts)
    found = divide(text, most)
    bare = "".join("".join(piece.text.split()) for piece in found)
    for line in text_lines(text):
        assert "".join(line.split()) in bare
    assert [piece.first for piece in found] == sorted(piece.first for piece in found)
