"""Queries: text in, words out, and never a syntax error."""

from __future__ import annotations

import time
from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index import fts
from vault_kg.index.needles import needles
from vault_kg.index.query import MAX_NEEDLES, Query, parse_query, term_needles, to_match
from vault_kg.records.words import index_text


@pytest.fixture(scope="module")
def table() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    tokenizer = " ".join(f"'{part}'" if " " in part else part for part in fts.TOKENIZER)
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(words, grams, tokenize="{tokenizer}")')
    yield connection
    connection.close()


def finds(table: apsw.Connection, text: str, query: str, *, every: bool = False) -> bool:
    """Say whether a query finds a text that stands alone in the table."""
    match = to_match(parse_query(query), "all" if every else "any")
    if match is None:
        return False
    table.execute("DELETE FROM t")
    table.execute("INSERT INTO t VALUES (?,?)", index_text(text))
    return bool(list(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,))))


def read(text: str) -> tuple[object, ...]:
    query = parse_query(text)
    return query.terms, query.phrases, query.excluded, dict(query.filters)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two words", (("two", "words"), (), (), {})),
        ('"a phrase" word', (("word",), ("a phrase",), (), {})),
        ("“a phrase”", ((), ("a phrase",), (), {})),
        ("keep -drop", (("keep",), (), ("drop",), {})),
        ('keep -"this too"', (("keep",), (), ("this too",), {})),
        ("a-b --flag - x", (("a-b", "--flag", "x"), (), (), {})),
        ("-5 degrees", (("5", "degrees"), (), (), {})),
        ("tag:x type:Person y", (("y",), (), (), {"tag": ("x",), "type": ("Person",)})),
        ('TAG:#x tag:"two words"', ((), (), (), {"tag": ("x", "two words")})),
        ("tag: type:", (("tag", "type"), (), (), {})),
        ('tag:"" x', (("tag", "x"), (), (), {})),
        ("foo:bar tags:x", (("foo:bar", "tags:x"), (), (), {})),
        ("AND OR NOT NEAR", (("AND", "OR", "NOT", "NEAR"), (), (), {})),
        ("Twice twice TWICE", (("Twice",), (), (), {})),
        ("(Ada's), \"", (("Ada",), (), (), {})),
        ("C++, C#. v1.2.3!", (("C++", "C#", "v1.2.3"), (), (), {})),
        ("双向链接，用法", (("双向链接", "用法"), (), (), {})),
        ("", ((), (), (), {})),
        ("\" ' * ^ ( ) : - +", ((), (), (), {})),
    ],
)
def test_a_query_is_read_as_words_phrases_exclusions_and_filters(
    text: str, expected: tuple[object, ...]
) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The quick brown fox", "fox"),
        ("The quick brown foxes", "FOX"),
        ("Łódź", "łódź"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "ærøskøbing"),
        ("Ærøskøbing", "aeroskobing"),
        ("наука", "НАУКА"),
        ("naïve", "nai\u0308ve"),
        ("nai\u0308ve", "naïve"),
        ("nai\u0308ve", "naive"),
        ("naive", "naïve"),
        ("São Paulo", '"sao paulo"'),
        ("東京都", "東京都"),
        ("東京都", "京都"),
        ("東京都", "東"),
        ("東京都", "都"),
        ("这里有双向链接的用法", "链接"),
        ("这里有双向链接的用法", "双向"),
        ("这里有双向链接的用法", '"双向链接"'),
        ("リンクの使い方", "使い方"),
        ("ﾊﾝｶｸ", "ハンカク"),
        ("서울에서 만나요", "서울"),
        ("서울에서 만나요", "서"),
        ("กรุงเทพมหานคร", "เทพ"),
        ("កម្ពុជា", "ពុជា"),
        ("كِتَاب", "كتاب"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("release v1.2.3 today", "v1.2.3"),
        ("call foo_bar now", "foo_bar"),
        ("call foo_bar now", "bar"),
        ("in C++, fast", "C++"),
        ("in C++17, fast", "C++"),
        ("in C# too", "C#"),
        ("from a-b", "a-b"),
        ("the --flag", "--flag"),
        ("runs .NET", ".net"),
        ("see src/main.rs", "src/main.rs"),
        ("see src/main.rs", "main.rs"),
        ("Ada O'Brien", "O'Brien's"),
        ("l’amour", "amour"),
        ("launch 🚀", "🚀"),
        ("a cat", "cats/dogs"),
        ("long-term plan", "long term"),
        ("a long term", "long-term"),
        ("what is the", "what is the"),
        ("x²", "x2"),
    ],
)
def test_a_text_is_found_by_a_word_inside_it(table: apsw.Connection, text: str, query: str) -> None:
    assert finds(table, text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("plain c, and x + y", "C++"),
        ("東京都", "京東"),
        ("v1.2.4", "v1.2.3"),
        ("some text", "zxqv wvkj"),
        ("phrase a", '"a phrase"'),
        ("a b", "the"),
        ("keep drop", "keep -drop"),
        ("keep 東京都", "keep -京都"),
        ("keep this too", 'keep -"this too"'),
        ("only phrases count", '"not there" phrases'),
        ("cat", "-cat"),
        ("anything", ""),
        ("the cat", "the dog"),
    ],
)
def test_what_was_not_asked_for_is_not_found(table: apsw.Connection, text: str, query: str) -> None:
    assert not finds(table, text, query)


def test_all_words_can_be_asked_for(table: apsw.Connection) -> None:
    assert finds(table, "red fox", "red fox", every=True)
    assert not finds(table, "red dog", "red fox", every=True)
    assert finds(table, "red dog", "red fox")


def test_stop_words_count_only_where_nothing_else_was_asked() -> None:
    assert parse_query("what is the plan").telling_terms == ("plan",)
    assert parse_query("to be or not to be").telling_terms == ("not",)
    assert parse_query("what is it").telling_terms == ("what", "is", "it")
    assert parse_query('the "big plan"').telling_terms == ()


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '""',
        '"""',
        "'",
        "\x00",
        'a\x00"b',
        "a-b\x00c",
        "\ud800 x\udfff",
        "NEAR(a b, 2)",
        "a NEAR/2 b",
        "col:x {a b}:c ^x *",
        "title:x body : y",
        '- -- --- -"',
        'tag:" type:""',
        "(((((",
        "🚀👩‍👩‍👧🇩🇪",
        "\ue02b c\ue02b\ue02b \U000ff680",
        "a" * 10_000,
        "漢" * 10_000,
        "word " * 2_000,
        " ".join(f"w{n}" for n in range(2_000)),
        " ".join(f"漢{chr(0x4E00 + n)}字" for n in range(2_000)),
        '"a b" ' * 1_000,
        '-"a b" -c ' * 1_000,
        "/".join(["part"] * 1_000),
        "a-" * 5_000,
        "กรุงเทพมหานคร" * 500,
        "\u0301" * 100,
        "'" * 10_000,
        '"' * 10_001,
        "((" * 5_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_text_is_a_query_like_any_other(table: apsw.Connection, text: str) -> None:
    started = time.process_time()
    query = parse_query(text)
    for mode in ("any", "all"):
        match = to_match(query, mode)
        if match is not None:
            list(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)))
    assert time.process_time() - started < 2


SIGNS = [*'"*^():-+{}/\n\x00\ud800\ue02b', " ", " -", "AND", "OR", "NOT", "NEAR(", "tag:", "type:"]
PARTS = ["a", "b1", "C++", "東京", "é", "🚀", "ไทย", "'s"]
SYNTAX = st.lists(
    st.one_of(st.sampled_from([*SIGNS, *PARTS]), st.text(st.characters(), max_size=5)), max_size=12
).map("".join)


@settings(max_examples=1500, deadline=None)
@given(SYNTAX)
def test_no_text_is_a_syntax_error(table: apsw.Connection, text: str) -> None:
    for mode in ("any", "all"):
        match = to_match(parse_query(text), mode)
        if match is not None:
            list(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)))


WORDS = st.one_of(
    st.from_regex(r"[a-zA-Z]{2,8}", fullmatch=True),
    st.text(st.sampled_from("東京都双向链接ひらカナ"), min_size=1, max_size=6),
    st.text(st.sampled_from("กรุงเทพมหานคร"), min_size=1, max_size=8),
    st.text(st.sampled_from("абвгдежзиклмнопрст"), min_size=1, max_size=8),
    st.text(st.sampled_from("éàüñłøaeiou"), min_size=1, max_size=8),
    st.from_regex(r"[a-z]{1,3}([-_./:][a-z0-9]{1,3}){1,3}", fullmatch=True),
)


@settings(max_examples=600, deadline=None)
@given(WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
def test_every_word_of_a_text_finds_it(
    table: apsw.Connection, word: str, before: list[str], after: list[str]
) -> None:
    text = " ".join([*before, word, *after])
    assert finds(table, text, word)
    assert finds(table, text, f'"{word}"')


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("東京都双向链接用法한국어"), min_size=1, max_size=12), st.data())
def test_every_part_of_a_run_without_spaces_finds_it(
    table: apsw.Connection, run: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert finds(table, run, f'"{run[start:end]}"')


def test_a_pasted_page_asks_for_its_longest_words_and_no_more_than_the_limit() -> None:
    text = " ".join([*(f"w{n}" for n in range(500)), "extraordinary"])
    groups = term_needles(parse_query(text))
    assert sum(map(len, groups)) <= MAX_NEEDLES
    assert "extraordinary" in {group[0].label for group in groups}


def test_the_first_alternative_is_the_closest_to_what_was_typed() -> None:
    assert needles("naïve")[0].tokens == ("naïve",)
    assert needles("foo_bar")[0].tokens != ("foo", "bar")


def test_the_same_text_is_the_same_query() -> None:
    assert parse_query("a b") == parse_query("a b") == Query("a b", ("a", "b"))


def finds_typed(table: apsw.Connection, text: str, query: str) -> bool:
    """Say whether what was typed so far finds a text."""
    match = to_match(parse_query(query, as_typed=True))
    table.execute("DELETE FROM t")
    table.execute("INSERT INTO t VALUES (?,?)", index_text(text))
    return match is not None and bool(
        list(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)))
    )


@pytest.mark.parametrize(
    "word",
    ["happiness", "house", "business", "running", "relational", "categories", "generalisation",
     "electricity", "differently", "replacement", "hopefulness", "generalization", "sensibility",
     "operator", "ties", "going", "organizational",
     "Lovelace", "Übergang", "Бернулли", "vault-kg", "src/main.rs", "v1.2.3"],
)  # fmt: skip
def test_every_beginning_of_a_word_finds_it(table: apsw.Connection, word: str) -> None:
    missed = [
        word[:end] for end in range(3, len(word) + 1)
        if word[end - 1].isalnum() and not finds_typed(table, f"On {word} here.", word[:end])
    ]  # fmt: skip
    assert not missed


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("an hour", "hous"),  # whose stem by itself would be `hou`
        ("a plan", "planet"),
        ("a tie", "tied up"),
        ("a stat", "station"),
        ("a hop, an opera", "hopeful"),
        ("an ad", "ada"),
        ("Lovelace", "lovel "),  # a space ends the word
        ("Lovelace", '"lovel"'),
        ("Lovelace", "lovel notes"),  # only the last one
        ("Lovelace", "lo"),
        ("Lovelace", "-lovel"),
    ],
)
def test_what_is_not_half_typed_finds_no_longer_word(
    table: apsw.Connection, text: str, typed: str
) -> None:
    assert not finds_typed(table, text, typed)


def test_a_half_word_changes_nothing_for_scripts_without_spaces() -> None:
    for text in ("東京都", "한국어", "ภาษาไทย"):
        assert to_match(parse_query(text, as_typed=True)) == to_match(parse_query(text))


@given(st.text(max_size=40))
def test_what_is_being_typed_is_never_a_syntax_error(table: apsw.Connection, text: str) -> None:
    match = to_match(parse_query(text, as_typed=True))
    if match is not None:
        list(table.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)))
