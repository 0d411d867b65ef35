"""Passages: divided at headings and blocks, never too long, nothing lost."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.blocks import read_layout
from vault_kg.records.passages import (
    Passage,
    estimate_tokens,
    passage_hash,
    split_passages,
)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def texts(body: str, **options: int) -> list[str]:
    return [passage.text for passage in split_passages(body, **options)]  # type: ignore[arg-type]


def paths(body: str, title: str = "") -> list[tuple[str, ...]]:
    return [passage.heading_path for passage in split_passages(body, title=title)]


def test_each_section_is_a_passage_under_its_headings() -> None:
    body = "intro\n\n# A\n\na\n\n## B\n\nb\n\n# C\nc\n"
    assert split_passages(body, first_line=5) == [
        Passage((), "intro", 5, 5, 0),
        Passage(("A",), "# A\n\na", 7, 9, 1),
        Passage(("A", "B"), "## B\n\nb", 11, 13, 2),
        Passage(("C",), "# C\nc", 15, 16, 3),
    ]


def test_a_heading_with_nothing_but_deeper_ones_below_goes_with_them() -> None:
    assert split_passages("# A\n\n## B\n\ntext\n") == [
        Passage(("A", "B"), "# A\n\n## B\n\ntext", 1, 5, 0)
    ]


def test_an_empty_section_is_still_found() -> None:
    assert texts("# A\n## Empty\n## Full\ntext") == ["# A\n## Empty", "## Full\ntext"]


def test_levels_may_be_skipped() -> None:
    assert paths("# A\na\n### B\nb\n## C\nc") == [("A",), ("A", "B"), ("A", "C")]


def test_a_heading_that_repeats_the_title_is_no_part_of_the_path() -> None:
    assert paths("# Ada  Lovelace\na\n## Life\nb", title="ada lovelace") == [(), ("Life",)]


def test_a_hash_in_a_fence_begins_no_passage() -> None:
    assert len(split_passages("# A\n```\n# no\n```\nafter")) == 1


def test_headings_in_quotes_and_items_begin_no_passage() -> None:
    assert len(split_passages("a\n\n> # b\n\n- # c\n")) == 1


def test_short_paragraphs_share_a_passage_and_long_ones_begin_another() -> None:
    paragraph = "word " * 60
    passages = split_passages("\n\n".join([paragraph.strip()] * 20))
    assert [p.text.count("\n\n") + 1 for p in passages] == [7, 7, 6]


@pytest.mark.parametrize(
    "block",
    ["```py\n" + "x = f(1)\n" * 30 + "```", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20],
    ids=["fence", "table"],
)
def test_a_fence_or_table_that_fits_stays_whole(block: str) -> None:
    filler = "word " * 250
    assert any(block.strip() in text for text in texts(f"{filler}\n\n{block}\n\n{filler}"))


def test_a_long_fence_is_cut_between_lines() -> None:
    body = "```\n" + "".join(f"line number {n}\n" for n in range(400)) + "```"
    passages = split_passages(body)
    assert len(passages) > 3
    assert "\n".join(p.text for p in passages) == body


def test_a_long_paragraph_is_cut_after_a_sentence() -> None:
    body = "One two three four five six seven. " * 200
    assert all(text.endswith("seven.") for text in texts(body))


def test_a_long_chinese_line_is_cut_after_a_sentence() -> None:
    passages = texts("今天天气很好我们去公园。" * 200)
    assert len(passages) > 4
    assert all(text.endswith("。") for text in passages)


def test_a_line_of_a_megabyte_without_spaces_is_cut() -> None:
    started = time.process_time()
    passages = split_passages("a" * 1_000_000)
    assert time.process_time() - started < 5
    assert all(estimate_tokens(p.text) <= 400 for p in passages)
    assert {(p.start_line, p.end_line) for p in passages} == {(1, 1)}
    assert "".join(p.text for p in passages) == "a" * 1_000_000


def test_a_cut_never_parts_a_letter_from_its_accent() -> None:
    passages = texts("e\u0301" * 3000)
    assert len(passages) > 5
    assert all(text.startswith("e") for text in passages)


def test_a_heading_waits_for_the_first_piece_of_a_long_block() -> None:
    first = split_passages("# A\n\n" + "word " * 2000)[0]
    assert first.text.startswith("# A\n\nword")


def test_a_very_long_heading_is_clipped_in_the_path_and_not_in_the_text() -> None:
    passages = split_passages("# " + "word " * 2000 + "\ntext")
    assert max(len(p.heading_path[0]) for p in passages) == 200
    assert squeezed("".join(p.text for p in passages)) == squeezed("# " + "word " * 2000 + "text")


@pytest.mark.parametrize("body", ["", "\n\n", "  \n\t\n"])
def test_a_blank_text_has_no_passage(body: str) -> None:
    assert split_passages(body) == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_do_not_matter(end: str) -> None:
    body = "# A\n\na\nb\n\n## B\n\nc\n"
    assert split_passages(body.replace("\n", end)) == split_passages(body)


BODIES = st.lists(
    st.one_of(
        st.sampled_from(
            ["# h", "## h", "```", "> q", "- a", "", "", "a | b", "--|--", "<div>", "===", "---"]
        ),
        st.text(st.characters(codec="utf-8"), max_size=40),
        st.integers(1, 80).map(lambda n: "word. " * n),
        st.integers(1, 200).map(lambda n: "漢字" * n),
    ),
    max_size=12,
).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(BODIES, st.integers(10, 400))
def test_nothing_is_lost_and_no_passage_is_too_long(body: str, limit: int) -> None:
    passages = split_passages(body, max_tokens=limit)
    assert squeezed("".join(p.text for p in passages)) == squeezed(body)
    assert all(estimate_tokens(p.text) <= limit for p in passages)
    assert [p.ordinal for p in passages] == list(range(len(passages)))


@settings(max_examples=400, deadline=None)
@given(BODIES, st.integers(10, 400))
def test_a_passage_stands_on_its_lines_and_every_line_is_in_one(body: str, limit: int) -> None:
    lines = read_layout(body).lines
    covered: set[int] = set()
    last = 1
    for passage in split_passages(body, max_tokens=limit):
        assert last <= passage.start_line <= passage.end_line
        assert passage.text in "\n".join(lines[passage.start_line - 1 : passage.end_line])
        covered.update(range(passage.start_line, passage.end_line + 1))
        last = passage.end_line
    assert all(number in covered for number, line in enumerate(lines, 1) if line.strip())


def test_a_character_of_chinese_is_about_a_token_and_a_word_of_english_is_one() -> None:
    assert estimate_tokens("漢" * 100) == pytest.approx(100, abs=5)
    assert estimate_tokens("word " * 100) == pytest.approx(95, abs=10)
    assert estimate_tokens("") == 0


def test_the_hash_speaks_for_title_headings_and_text() -> None:
    base = passage_hash("t", ("a", "b"), "x")
    assert base == passage_hash("t", ["a", "b"], "x")
    others = [
        ("u", ("a", "b"), "x"),
        ("t", ("a b",), "x"),
        ("t", ("a",), "x"),
        ("t", ("a", "b"), "y"),
    ]
    assert len({base, *(passage_hash(*other) for other in others)}) == 5
    assert len(base) == 32
