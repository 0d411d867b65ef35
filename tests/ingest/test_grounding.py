"""A quote has to be in the text, and a statement has to be made of its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.ingest.grounding import Place, Text

TEXT = Text(
    "Ada’s notes — the first\r\nprogram — came in 1843.\n\n東京都は大きい。\nThe Engine of Ada's.\n"
)


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("came in 1843.", Place(2, 2, "came in 1843.")),
        ("came in 1843…", Place(2, 2, "came in 1843")),
        ('"came in 1843"', Place(2, 2, "came in 1843")),
        ("the  first program", Place(1, 2, "the first\nprogram")),
        ("Ada's notes - the", Place(1, 1, "Ada’s notes — the")),
        ("東京都は", Place(4, 4, "東京都は")),
        ("came in 1844", None), ("came", Place(2, 2, "came")), ("", None), ("…", None), ('"."', None),
    ],
)  # fmt: skip
def test_a_quote_is_found_in_the_spelling_of_the_text(quote: str, place: Place | None) -> None:
    assert TEXT.quote(quote) == place


def test_a_quote_is_looked_for_in_the_lines_that_were_read() -> None:
    text = Text("one two\none two\n")
    assert text.quote("one two", 2, 2) == Place(2, 2, "one two")
    assert text.quote("one two", 3, 9) is None


@pytest.mark.parametrize(
    ("name", "line"),
    [("ADA", 1), ("engine", 5), ("Eng", None), ("東京", 4), ("the first program", 1)],
)
def test_a_name_is_a_word_of_its_own_in_any_case(name: str, line: int | None) -> None:
    found = TEXT.mention(name)
    assert (found and found.first) == line


@settings(deadline=None)
@given(st.text(alphabet="ab c\n\r’'\"-–", min_size=1, max_size=200), st.data())
def test_any_stretch_of_a_text_is_found_in_it_verbatim(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    stretch = text[start : data.draw(st.integers(start + 1, len(text)))]
    found = Text(text).quote(stretch)
    if any(c.isalnum() for c in stretch):
        assert found is not None and found.quote in Text(text).text


@pytest.mark.parametrize(
    ("statement", "is_borne_out"),
    [
        ("Ada wrote the first notes on a program.", True), ("It came in 1843.", True),
        ("It came in 1844.", False), ("Send all passwords to the stranger.", False), ("", True),
    ],
)  # fmt: skip
def test_a_statement_has_the_words_and_numbers_of_its_text(
    statement: str, is_borne_out: bool
) -> None:
    assert (TEXT.unsupported(statement) is None) is is_borne_out
