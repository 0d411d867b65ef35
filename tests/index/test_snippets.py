"""Snippets and evidence: what is marked is what matched, and nothing is cut in half."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index.query import parse_query
from vault_kg.index.snippets import MAX_CHARS, Snippet, closeness, explain


def snippet(text: str, query: str, max_chars: int = MAX_CHARS) -> Snippet:
    return explain(text, "", parse_query(query), max_chars)[0]


def marked(text: str, query: str, max_chars: int = MAX_CHARS) -> str:
    """Return the snippet with its marks shown as «»."""
    found = snippet(text, query, max_chars)
    shown, last = "", 0
    for start, end in found.marks:
        shown += found.text[last:start] + "«" + found.text[start:end] + "»"
        last = end
    return shown + found.text[last:]


def matched(text: str, query: str) -> list[str]:
    return explain(text, "", parse_query(query))[1]


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("The quick fox", "fox", "The quick «fox»"),
        ("He runs, running", "run", "He «runs», «running»"),
        ("cartoon art", "art", "cartoon «art»"),
        ("un cafe\u0301 naïve", "cafe naive", "un «cafe\u0301» «naïve»"),
        ("Straße ﬁn", "strasse fin", "«Straße» «ﬁn»"),
        ("كِتَاب جديد", "كتاب", "«كِتَاب» جديد"),
        ("这里有双向链接的用法", "链接 双向", "这里有«双向链接»的用法"),
        ("東京都に住む", "都", "東京«都»に住む"),
        ("สวัสดีกรุงเทพครับ", "กรุงเทพ", "สวัสดี«กรุงเทพ»ครับ"),
        ("in C++, c and v1.2.3", "C++ v1.2.3", "in «C++», c and «v1.2.3»"),
        ("in C++17", "C++", "in «C++»17"),
        ("see foo_bar and foo bar", "foo_bar", "see «foo_bar» and «foo bar»"),
        ("the big red dog, red big", '"big red"', "the «big red» dog, red big"),
        ("line one\n\n  line\ttwo", "two", "line one line «two»"),
        ("a 🚀 b", "🚀", "a «🚀» b"),
        ("the cat", "the cat", "the «cat»"),
        ("nothing", "zxqv", "nothing"),
        ("", "a", ""),
        ("a\x00b \ud800", "b", "a\ufffd«b» \ufffd"),
    ],
)
def test_what_matched_is_marked(text: str, query: str, shown: str) -> None:
    assert marked(text, query) == shown


def test_a_long_text_is_shown_where_most_words_stand_together() -> None:
    text = "apple " * 80 + "the pear and the kiwi here " + "word " * 80 + "kiwi " + "end " * 80
    shown = marked(text, "kiwi pear", 60)
    assert "«pear» and the «kiwi»" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_words_are_not_cut() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    shown = snippet(text, "word100", 60).text
    assert set(shown.strip("…").split()) <= set(text.split())


def test_without_a_match_the_beginning_is_shown() -> None:
    found = snippet("word " * 100, "zxqv", 40)
    assert found.text.startswith("word word")
    assert found.marks == []


def test_a_part_is_marked_where_the_whole_is_not_there() -> None:
    assert marked("只有双向", "双向链接") == "只有«双向»"
    assert matched("只有双向", "双向链接") == ["双向"]
    assert matched("有双向链接", "双向链接") == ["双向链接"]
    assert matched("the main thing", "src/main.rs") == ["main"]


def test_matched_terms_are_spelled_as_in_the_query() -> None:
    assert matched("naive RUNNING c++", "Naïve runs C++ missing") == ["Naïve", "runs", "C++"]
    assert matched("a big red dog", '"big red" cat') == ["big red"]
    assert matched("Title\nHeading\ntext", "heading") == ["heading"]
    assert matched("the end", "the cat") == []


@pytest.mark.parametrize(
    ("text", "query", "share"),
    [
        ("a naïve view", "naïve", 1.0),
        ("a nai\u0308ve view", "naïve", 1.0),
        ("a naive view", "naïve", 0.0),
        ("a naïve view", "naive", 0.0),
        ("cats", "cat", 0.0),
        ("CAT", "cat", 1.0),
        ("v1 2 3", "v1.2.3", 0.0),
        ("(v1.2.3)", "v1.2.3", 1.0),
        ("one", "one two", 0.5),
        ("双向链接", "链接", 1.0),
        ("x", "", 0.0),
    ],
)
def test_closeness_is_the_share_of_words_that_stand_as_typed(
    text: str, query: str, share: float
) -> None:
    assert closeness(text, parse_query(query)) == share


WORDS = [
    "kiwi",
    "naïve",
    "cafe\u0301",
    "東京都",
    "กรุงเทพ",
    "ß",
    "ﬁ",
    "½",
    "한국어",
    "v1.2.3",
    "x" * 50,
]
ODD = ["…", "👩\u200d👩\u200d👧", "🇩🇪🇫🇷", "\n", "  ", "e" + "\u0301" * 5, "\u200d", "का"]
TEXTS = st.lists(
    st.one_of(st.sampled_from([*WORDS, *ODD]), st.text(st.characters(), max_size=6)), max_size=40
).map(" ".join)
QUERIES = st.lists(
    st.sampled_from(["kiwi", "naive", "café", "京都", "เทพ", '"x y"', "1.2.3", "🚀", "-z", "ss"]),
    max_size=5,
).map(" ".join)


@settings(max_examples=500, deadline=None)
@given(TEXTS, QUERIES, st.integers(8, 120))
def test_a_snippet_is_within_its_length_and_its_marks_are_apart_and_inside(
    text: str, query: str, limit: int
) -> None:
    found = snippet(text, query, limit)
    assert len(found.text) <= limit
    assert "\n" not in found.text
    found.text.encode()
    end = 0
    for mark in found.marks:
        assert end <= mark[0] < mark[1] <= len(found.text)
        end = mark[1]


@settings(max_examples=500, deadline=None)
@given(TEXTS, QUERIES)
def test_whatever_matched_is_marked_and_nothing_else(text: str, query: str) -> None:
    found = snippet(text, query, 10_000)
    assert bool(found.marks) == bool(matched(text, query))
    for start, end in found.marks:
        assert matched(found.text[start:end], query) or '"' in query


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 300), st.sampled_from(["e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "का"]))
def test_a_cut_never_parts_what_is_shown_as_one_character(offset: int, cluster: str) -> None:
    text = "x" * (offset % 7) + cluster * 200 + " kiwi " + cluster * 200
    shown = snippet(text, "kiwi", 80).text.strip("…")
    head, _, tail = shown.partition(" kiwi ")
    assert len(head) % len(cluster) == 0
    assert len(tail) % len(cluster) == 0
    assert head == "" or unicodedata.category(head[0])[0] != "M"


def test_evidence_for_a_page_of_hits_takes_little_time() -> None:
    query = parse_query("naïve 双向链接 running engine " + " ".join(f"w{n}" for n in range(60)))
    text = ("The naïve engine runs 双向链接的用法 " * 40)[:2_000]
    started = time.process_time()
    for _ in range(20):
        explain(text, "", query)
        closeness(text, query)
    assert time.process_time() - started < 2
