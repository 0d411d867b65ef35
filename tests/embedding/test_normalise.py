from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tests.embedding.reference_model import _clean
from vault_kg.embedding.normalise import normalise


def test_case_and_accents_fold_where_the_vocabulary_has_neither() -> None:
    assert normalise("Ünïcödé CAFÉ", uncased=True) == "unicode cafe"
    assert normalise("Ünïcödé CAFÉ", uncased=False) == "Ünïcödé CAFÉ"


def test_a_korean_syllable_keeps_all_its_letters() -> None:
    assert normalise("한", uncased=True) == "\u1112\u1161\u11ab"


def test_a_greek_capital_becomes_the_letter_inside_words_also_at_the_end() -> None:
    assert normalise("ΟΔΟΣ ὁδός", uncased=True) == "οδοσ οδος"


def test_invisible_and_broken_characters_go_and_any_space_is_a_space() -> None:
    assert normalise("a\u200bb\u00a0c\u2028d\te\ud800f\ufffdg\0h", uncased=True) == "ab c d efgh"


@given(st.text())
def test_it_is_the_published_rule_for_every_text(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", "".join(_without_ideograph_space(c) for c in text))
    bare = (char for char in decomposed if unicodedata.category(char) != "Mn")
    published = "".join(char.lower() for char in bare)
    assert normalise(text, uncased=True).split() == published.split()


def _without_ideograph_space(char: str) -> str:
    cleaned = _clean(char)
    return cleaned if cleaned in ("", " ") else char
