"""Words: folding, and the extra tokens that make every script searchable."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.words import (
    accented_words,
    cjk_bigrams,
    fold,
    fold_with_offsets,
    index_text,
    written_spans,
    written_words,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Hello", "hello"),
        ("naïve", "naive"),
        ("nai\u0308ve", "naive"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "aeroskobing"),
        ("Straße", "strasse"),
        ("İstanbul ısı", "istanbul isi"),
        ("ﬁne ＡＢＣ", "fine abc"),
        ("Ἀθῆναι", "αθηναι"),
        ("НАУКА ёлка", "наука елка"),
        ("كِتَاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("ﾊﾝｶｸ がく", "ハンカク がく"),
        ("हिन्दी", "हिन्दी"),
        ("กุ้ง", "กุ้ง"),
        ("한국어", "한국어"),
        (unicodedata.normalize("NFD", "한국어がく"), "한국어がく"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_case_accents_and_compatibility_forms_are_folded_and_letters_are_not(
    text: str, folded: str
) -> None:
    assert fold(text) == folded


TEXT = st.text(max_size=60)


@settings(max_examples=500)
@given(TEXT)
def test_folding_what_is_folded_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(max_examples=500)
@given(TEXT)
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@settings(max_examples=500)
@given(TEXT)
def test_every_folded_character_knows_where_it_comes_from(text: str) -> None:
    folded, offsets = fold_with_offsets(text)
    assert len(offsets) == len(folded) + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(text)


@settings(max_examples=500)
@given(st.text(st.sampled_from("aé e\u0301ßﬁがか\u3099 한\u1112\u1161İłøжё漢"), max_size=30))
def test_folding_with_offsets_folds_as_folding_does(text: str) -> None:
    assert fold_with_offsets(text)[0] == fold(text)


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("plain text", ""),
        ("京", "京"),
        ("東京都", "東京 京都 都"),
        ("iPhone手机 and 壳", "手机 机 壳"),
        ("双向链接", "双向 向链 链接 接"),
        ("서울에서", "서울 울에 에서 서"),
        ("กรุง", "กร รุ ุง ง"),
        ("naïve наука", ""),
    ],
)
def test_runs_without_spaces_become_overlapping_bigrams(text: str, grams: str) -> None:
    assert cjk_bigrams(text) == grams


def test_a_run_is_taken_out_of_the_words() -> None:
    words, grams = index_text("use 双向链接 often")
    assert words.split() == ["use", "often"]
    assert grams.split() == ["双向", "向链", "链接", "接"]


def test_an_emoji_is_a_word() -> None:
    assert index_text("launch 🚀!").grams == "\U000ff680"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("naïve and plain", ["naïve"]),
        ("NAI\u0308VE", ["naïve"]),
        ("(Łódź), «café»", ["łódź", "café"]),
        ("наука 東京都 strasse", []),
    ],
)
def test_words_with_accents_are_kept_as_written_beside_the_folded_ones(
    text: str, words: list[str]
) -> None:
    assert accented_words(text) == words


def shown(tokens: list[str]) -> list[str]:
    """Turn the symbols of tokens back into what was written."""
    return [
        "".join(chr(ord(c) - 0xE000) if "\ue000" <= c <= "\ue07f" else c for c in t) for t in tokens
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v1.2.3 foo_bar C++ a-b", ["v1.2.3", "foo_bar", "c++", "a-b"]),
        ("(C#), .NET; --flag `x.y`.", ["c#", ".net", "--flag", "x.y"]),
        ("src/main.rs", ["src/main.rs", "main.rs"]),
        ("std::vec<T> __init__ 50%", ["std::vec", "__init__", "50%"]),
        ("ada@example.org", ["ada@example.org"]),
        ("word. two: (three) - ## -- *four* don't", []),
        ("a-b a-b A-B", ["a-b"]),
        ("x-" * 60, []),
    ],
)
def test_words_held_together_by_symbols_are_one_token(text: str, words: list[str]) -> None:
    assert shown(written_words(text)) == words


@settings(max_examples=500)
@given(st.text(alphabet="ab1 -_.+#:/(),é漢\n", max_size=60))
def test_the_places_of_such_words_are_those_of_the_words(text: str) -> None:
    spans = list(written_spans(text))
    assert set(written_words(text)) == {token for token, _, _ in spans}
    for token, start, end in spans:
        assert shown([token]) == [text[start:end].lower()]


@settings(max_examples=500)
@given(st.text(st.characters(), max_size=80))
def test_a_text_cannot_forge_a_token(text: str) -> None:
    """Private-use characters and lone surrogates of the text itself never reach the index."""
    words, grams = index_text(text.replace("-", "").replace("_", ""))
    assert not any("\ue000" <= c <= "\uf8ff" or "\ud800" <= c <= "\udfff" for c in words)
    words.encode()
    grams.encode()
