"""The outline: which lines are headings, and what they are called."""

from __future__ import annotations

import pytest

from vault_kg.records.markdown import Heading, outline, plain_text


def headings(text: str) -> list[tuple[int, str, int]]:
    return [tuple(heading) for heading in outline(text)]  # type: ignore[misc]


def test_atx_and_setext_headings_have_level_text_and_line() -> None:
    text = "# One\n\ntext\n\nTwo\n===\n\nThree\nfour\n---\n\n###### Six ##\n"
    assert headings(text) == [
        (1, "One", 1),
        (1, "Two", 5),
        (2, "Three four", 8),
        (6, "Six", 12),
    ]


def test_lines_are_those_of_the_file() -> None:
    assert outline("# a\n", first_line=8) == [Heading(1, "a", 8)]


def test_a_hash_in_code_is_no_heading() -> None:
    text = (
        "# Setup\n\n```sh\n# install\nmake\n```\n\n    # indented\n\n````\n```\n# x\n````\n## Use\n"
    )
    assert headings(text) == [(1, "Setup", 1), (2, "Use", 14)]


def test_a_hash_in_a_comment_or_html_is_no_heading() -> None:
    assert headings("<!--\n# a\n\n# b\n-->\n<div>\n# c\n</div>\n\n# d") == [(1, "d", 10)]


def test_headings_in_quotes_and_lists_divide_nothing() -> None:
    assert headings("> # a\n\n- # b\n\n# c") == [(1, "c", 5)]


def test_a_tag_is_no_heading() -> None:
    assert headings("#tag\n#\n####### seven") == [(1, "", 2)]


def test_a_table_row_and_a_rule_are_no_setext_heading() -> None:
    assert headings("a | b\n--|--\n===\n\ntext\n\n---\n") == []


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("plain", "plain"),
        ("*a* **b** `c_d` ~~e~~", "a b c_d e"),
        ("[text](url) ![alt](img.png)", "text alt"),
        ("[[Note]] and [[Note|shown]]", "Note and shown"),
        ("a \\* b &amp; c", "a * b & c"),
        ("  spaced\n out ", "spaced out"),
        ("日本語の**見出し**です", "日本語の見出しです"),
    ],
)
def test_a_headings_text_has_no_markup(source: str, shown: str) -> None:
    assert plain_text(source) == shown
    assert headings(f"# {' '.join(source.split())}") == [(1, shown, 1)]
