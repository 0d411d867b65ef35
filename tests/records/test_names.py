"""Names: spellings of one name are equal, and any title becomes a file name that is safe anywhere."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_kg.records import ids, names

TITLES = st.one_of(
    st.text(max_size=80),
    st.text(
        alphabet='aAéÉßıİſΣςσ-_. /\\:*?"<>|#[]()ﬁ①Ⅳ数东中ا 🎉\u200b\u200e\u202e\u0301\n\t\0',
        max_size=40,
    ),
    st.sampled_from(["CON", "con.txt", "nul", "LPT1", "COM9.md", "..", ".", "", "index", "ReadMe"]),
    st.text(min_size=100, max_size=400),
)
IDS = st.builds(ids.new_id, st.just("page"), st.integers(0, (1 << 48) - 1))
DEVICES = {"con", "prn", "aux", "nul"} | {f"{n}{d}" for n in ("com", "lpt") for d in range(1, 10)}


# Slugs


@given(TITLES, IDS)
@example("İ" * 61, "pg_" + "0" * 26)
@example("ﷺ" * 60, "pg_" + "0" * 26)
@example("a" * 59 + "\u0301" * 10, "pg_" + "0" * 26)
def test_a_slug_is_a_safe_file_stem_on_every_platform(title: str, record_id: str) -> None:
    stem = names.slug(title, record_id)
    assert stem and stem == stem.strip(" .-")
    assert all(unicodedata.category(c)[0] in "LNM" or c == "-" for c in stem)
    assert stem.partition(".")[0].casefold() not in DEVICES
    assert stem.casefold() not in {"index", "readme", "source"}
    assert stem == unicodedata.normalize("NFC", stem)
    assert len(stem) <= names.MAX_SLUG + 9 and len(f"{stem}.md".encode()) <= 200
    assert "--" not in stem


@given(TITLES, IDS)
def test_a_slug_is_the_same_for_the_same_title(title: str, record_id: str) -> None:
    assert names.slug(title, record_id) == names.slug(title, record_id)


@given(TITLES, IDS)
def test_a_slug_of_a_slug_is_itself_or_already_apart(title: str, record_id: str) -> None:
    stem = names.slug(title, record_id)
    assert names.slug(stem, record_id) == stem


@given(st.text(max_size=60), IDS)
def test_letters_stay_readable(title: str, record_id: str) -> None:
    letters = [
        c for c in unicodedata.normalize("NFKC", title).lower() if unicodedata.category(c)[0] == "L"
    ]
    stem = names.slug(title, record_id)
    if letters:
        assert unicodedata.normalize("NFC", letters[0])[0] in stem or any(
            c in stem for c in unicodedata.normalize("NFC", "".join(letters))
        )
    elif not any(unicodedata.category(c)[0] in "NM" for c in unicodedata.normalize("NFKC", title)):
        assert stem == names.short(record_id)


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Q3 Report", "q3-report"), ("Q3-Report", "q3-report"), ("q3 report!", "q3-report"),
        ("Łódź", "łódź"), ("東京都", "東京都"), ("محمد", "محمد"), ("naïve", "naïve"),
        ("nai\u0308ve", "naïve"), ("a/b\\c", "a-b-c"), ("../../etc/passwd", "etc-passwd"),
    ],
)  # fmt: skip
def test_slugs_read_like_their_titles(title: str, stem: str) -> None:
    assert names.slug(title, "pg_" + "0" * 26) == stem


# Free stems


@given(st.lists(st.tuples(TITLES, IDS), max_size=12, unique_by=lambda pair: pair[1]))
def test_a_free_stem_never_collides_on_any_file_system(pairs: list[tuple[str, str]]) -> None:
    taken: set[str] = set()
    for title, record_id in pairs:
        stem = names.free_stem(names.slug(title, record_id), record_id, taken)
        assert names.file_key(stem) not in taken
        assert len(f"{stem}.md".encode()) <= 255
        taken.add(names.file_key(stem))


@given(TITLES, IDS)
def test_a_stem_whose_every_variant_is_taken_still_gets_a_free_one(
    title: str, record_id: str
) -> None:
    stem, taken = names.slug(title, record_id), set[str]()
    for _ in range(6):
        free = names.free_stem(stem, record_id, taken)
        assert names.file_key(free) not in taken
        taken.add(names.file_key(free))


@given(st.text(max_size=30))
def test_file_keys_are_equal_for_what_a_file_system_may_take_for_one_name(text: str) -> None:
    key = names.file_key(text)
    for form in ("NFC", "NFD"):
        assert names.file_key(unicodedata.normalize(form, text)) == key
        assert names.file_key(unicodedata.normalize(form, text).casefold()) == key


# Comparisons


@given(st.text(max_size=60))
def test_lookup_keys_fold_form_case_and_white_space_and_are_settled(text: str) -> None:
    key = names.lookup_key(text)
    assert names.lookup_key(key) == key
    assert names.lookup_key(f"  {text}\t\n") == key
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert names.lookup_key(unicodedata.normalize(form, text)) == key
    assert names.lookup_key(text.casefold()) == key
    assert "  " not in key and key == key.strip()


@given(st.text(max_size=60))
def test_title_keys_fold_punctuation_too_and_are_settled(text: str) -> None:
    key = names.title_key(text)
    assert names.title_key(key) == key
    if any(c.isalnum() for c in key):
        assert names.title_key(text.replace(" ", " - ")) == key
    assert names.title_key(unicodedata.normalize("NFD", text)) == key


@given(st.text(max_size=40), st.text(max_size=40))
def test_equal_lookup_keys_have_equal_title_keys(first: str, second: str) -> None:
    if names.lookup_key(first) == names.lookup_key(second):
        assert names.title_key(first) == names.title_key(second)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("GPT-4", "GPT 4", True), ("NASA", "nasa", True), ("Ada  L.", "ada l", True),
        ("ADR 2018", "ADR 2019", False), ("UK", "USA", False), ("IBM", "IBM Corp", False),
        ("straße", "STRASSE", True), ("Résumé", "Resume", False), ("!!!", "???", False),
    ],
)  # fmt: skip
def test_title_keys_propose_what_a_reader_would(first: str, second: str, same: bool) -> None:
    assert (names.title_key(first) == names.title_key(second)) == same


@pytest.mark.parametrize(
    ("alias", "namespaced"),
    [
        ("email:ada@example.org", True), ("wikidata:q7259", True), ("x:1", True),
        ("Ada: a life", False), ("https://example.org", False), ("12:30", False), (":x", False),
        ("email:", False), ("no colon", False),
    ],
)  # fmt: skip
def test_an_alias_is_namespaced_where_it_names_an_identity(alias: str, namespaced: bool) -> None:
    assert names.is_namespaced(names.lookup_key(alias)) == namespaced
