"""Links and tags: what is one, what is not, and how it is taken apart."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.blocks import read_layout
from vault_kg.records.links import (
    Link,
    Tag,
    extract_links,
    extract_references,
)


def targets(text: str) -> list[str]:
    return [link.target for link in extract_links(text)]


def tags(text: str) -> list[str]:
    return [tag.name for tag in extract_references(text).tags]


def only(text: str) -> Link:
    (link,) = extract_links(text)
    return link


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Ada]]", Link("wikilink", "Ada", None, None, None, 1)),
        ("[[Ada Lovelace|her]]", Link("wikilink", "Ada Lovelace", None, None, "her", 1)),
        ("[[a/b#Notes|n]]", Link("wikilink", "a/b", "Notes", None, "n", 1)),
        ("[[note#^b1]]", Link("wikilink", "note", None, "b1", None, 1)),
        ("[[#Here]]", Link("wikilink", "", "Here", None, None, 1)),
        ("[[A#B#C]]", Link("wikilink", "A", "B#C", None, None, 1)),
        ("[[ spaced  | x ]]", Link("wikilink", "spaced", None, None, "x", 1)),
        ("![[pic.png|100x20]]", Link("embed", "pic.png", None, None, "100x20", 1)),
        ("![[note#^b]]", Link("embed", "note", None, "b", None, 1)),
        ("[[数学/双向链接]]", Link("wikilink", "数学/双向链接", None, None, None, 1)),
        ("[t](b.md)", Link("markdown", "b.md", None, None, "t", 1)),
        ("[t](a%20b.md#The%20end)", Link("markdown", "a b.md", "The end", None, "t", 1)),
        ("[t](<a b (1).md>)", Link("markdown", "a b (1).md", None, None, "t", 1)),
        ("[t](a(1).md 'title')", Link("markdown", "a(1).md", None, None, "t", 1)),
        ('[t]( b.md "ti)tle" )', Link("markdown", "b.md", None, None, "t", 1)),
        ("[t](#sec)", Link("markdown", "", "sec", None, "t", 1)),
        ("[](b.md)", Link("markdown", "b.md", None, None, None, 1)),
        ("![a](p.png)", Link("embed", "p.png", None, None, "a", 1)),
        ("[t](%D0%BD%D0%B0.md)", Link("markdown", "на.md", None, None, "t", 1)),
        ("[t](100%.md)", Link("markdown", "100%.md", None, None, "t", 1)),
        ("[t](%FF.md)", Link("markdown", "%FF.md", None, None, "t", 1)),
        ("[t](a%23b.md)", Link("markdown", "a#b.md", None, None, "t", 1)),
        ("[t](a\\(b.md)", Link("markdown", "a(b.md", None, None, "t", 1)),
        ("[t](a&amp;b.md)", Link("markdown", "a&b.md", None, None, "t", 1)),
        ("[two\nlines](b.md)", Link("markdown", "b.md", None, None, "two lines", 1)),
        ("[ref]: other/note.md 'x'", Link("markdown", "other/note.md", None, None, "ref", 1)),
        ("[ref]: <a b.md>", Link("markdown", "a b.md", None, None, "ref", 1)),
    ],
)
def test_a_link_is_taken_apart(text: str, link: Link) -> None:
    assert only(text) == link


def test_a_pipe_escaped_for_a_table_separates_the_alias() -> None:
    link = only("| a | b |\n|---|---|\n| [[Ada\\|her]] | x |")
    assert (link.target, link.alias, link.line) == ("Ada", "her", 3)


@pytest.mark.parametrize(
    "text",
    [
        "```\n[[x]] #tag [a](b.md)\n```",
        "~~~\n[[x]] #tag [a](b.md)\n~~~",
        "````\n```\n[[x]] #tag\n```\n[a](b.md)\n````",
        "```\n[[x]] #tag",
        "    [[x]] #tag [a](b.md)",
        "- a\n\n      [[x]] #tag",
        "`[[x]] #tag [a](b.md)`",
        "``a ` [[x]] #tag``",
        "two `line\n[[x]] #tag` span",
        "> ```\n> [[x]] #tag\n> ```",
        "<!-- [[x]] #tag [a](b.md) -->",
        "text <!-- [[x]]\n#tag --> text",
        "<!--\n\n[[x]] #tag\n\n-->",
        "<div>\n[[x]] #tag\n</div>",
        '<a href="#tag" title="[[x]]">t</a>',
        "\\[[x]] \\#tag \\[a](b.md)",
        "[a]( b.md",
        "[[]] [[ ]] [[|x]] []() [a]()",
        "[[a\nb]]",
    ],
)
def test_code_html_and_escapes_hold_no_links_and_no_tags(text: str) -> None:
    assert extract_references(text) == ([], [])


def test_a_backtick_that_closes_nothing_hides_nothing() -> None:
    assert targets("a ` b [[x]]") == ["x"]
    assert targets("`` a ` [[x]]\n\n`[[y]]") == ["x", "y"]


@pytest.mark.parametrize(
    "destination",
    ["https://x.org/a.md", "http://x", "mailto:a@b.c", "//host/x", "obsidian://open", "ftp://x"],
)
def test_a_destination_with_a_scheme_leads_elsewhere(destination: str) -> None:
    assert (
        extract_links(f"[t]({destination}) <{destination}> {destination}\n\n[t]: {destination}")
        == []
    )


def test_the_text_of_a_markdown_link_is_no_wikilink() -> None:
    assert targets("[[1]](https://x.org) and [[2]](two.md)") == ["two.md"]
    assert extract_links("see [[1]]\n\n[1]: https://x.org") == []
    assert targets("see [[1]]") == ["1"]


def test_an_image_in_a_link_gives_both() -> None:
    links = extract_links("[![alt](pic.png)](note.md)")
    assert [(link.kind, link.target) for link in links] == [
        ("embed", "pic.png"),
        ("markdown", "note.md"),
    ]


def test_a_link_holds_no_other_link() -> None:
    assert targets("[a [b](c.md) d](e.md)") == ["c.md"]


def test_a_footnote_is_no_link() -> None:
    assert extract_links("text[^1]\n\n[^1]: note.md") == []


def test_lines_are_those_of_the_file_and_order_is_that_of_reading() -> None:
    text = "[[a]]\n\n- x\n  [[b]] [c](c.md)\n\n> q\n> [[d]]\n\n# [[e]]\n"
    assert [(link.target, link.line) for link in extract_links(text, first_line=10)] == [
        ("a", 10),
        ("b", 13),
        ("c.md", 13),
        ("d", 16),
        ("e", 18),
    ]


def test_links_stand_in_headings_quotes_callouts_lists_and_tables() -> None:
    text = "# [[a]]\n\n> [!note] [[b]]\n> c [[d]]\n\n1. [[e]]\n   - [ ] [[f]]\n\n"
    text += "| [[g]] |\n|---|\n| [[h]] |\n"
    assert targets(text) == ["a", "b", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#tag at #the end", ["tag", "the"]),
        ("#nested/tag/ #a-b_c", ["nested/tag", "a-b_c"]),
        ("#日本 #наука #हिन्दी #café #🚀", ["日本", "наука", "हिन्दी", "café", "🚀"]),
        ("(#a) **#b** “#c” #d, #e. #f: #g;", ["a", "b", "c", "d", "e", "f", "g"]),
        ("#123 #2024/01 #1-2 #", []),
        ("#1a #y2024", ["1a", "y2024"]),
        ("a#b C# &#35; x/#c http://x/#d ?q=#e ##f", []),
        ("# heading\n## #tag in heading", ["tag"]),
        ("[#label](https://x.org) [[note#heading]] [x](#sec)", []),
        ("，#标签。后", ["标签"]),
    ],
)
def test_tags(text: str, names: list[str]) -> None:
    assert tags(text) == names


def test_a_tag_has_its_line() -> None:
    assert extract_references("a\n\nb\n#c", first_line=5).tags == [Tag("c", 8)]


def test_a_layout_read_before_gives_the_same() -> None:
    text = "# a\n[[b]] #c\n"
    assert extract_references(text, layout=read_layout(text)) == extract_references(text)


MARKUP = st.text(alphabet="ab#|^[]()!<>`\\- \n%20\"'", max_size=120)


@settings(max_examples=500, deadline=None)
@given(MARKUP)
def test_any_text_is_read_and_every_line_exists(text: str) -> None:
    found = extract_references(text)
    last = len(read_layout(text).lines)
    for line in [link.line for link in found.links] + [tag.line for tag in found.tags]:
        assert 1 <= line <= last


NAMES = st.text(
    st.characters(
        codec="utf-8", exclude_characters="[]|#^\\\r\n`<!", exclude_categories=["C", "Z"]
    ),
    min_size=1,
)


@settings(max_examples=300, deadline=None)
@given(NAMES, NAMES)
def test_any_name_between_brackets_is_a_link_to_it(target: str, alias: str) -> None:
    assert only(f"see [[{target}|{alias}]].") == Link("wikilink", target, None, None, alias, 1)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["`", "``", "[[x]]", "a", " ", "<!--", "-->"]), max_size=12))
def test_links_are_found_exactly_where_no_code_or_comment_is(parts: list[str]) -> None:
    text = "a " + "".join(parts)
    assert len(extract_links(text)) == text_outside(text).count("[[x]]")


def text_outside(text: str) -> str:
    """Take code spans and comments out of one paragraph, by the letter of CommonMark."""
    kept = ""
    while text:
        run = re.match(r"`+", text)
        comment = re.match(r"<!---?>|<!--.*?-->", text)
        if run:
            span = re.match(rf"{run.group()}(?!`).*?(?<!`){run.group()}(?!`)", text)
            kept += "" if span else run.group()
            text = text[span.end() if span else run.end() :]
        elif comment:
            text = text[comment.end() :]
        else:
            kept += text[0]
            text = text[1:]
    return kept


@pytest.mark.parametrize(
    "text",
    [
        "[[" * 100_000,
        "[" * 200_000,
        "](" * 100_000,
        '[a](b "' * 30_000,
        "[a](b" + " " * 200_000,
        " ".join("`" * n for n in range(600)),
        "a <!--" * 30_000,
        "<a " * 60_000,
        "[[a]]\n" * 40_000,
        "[a](b(" * 20_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_repetition_is_read_in_time(text: str) -> None:
    started = time.process_time()
    extract_references(text)
    assert time.process_time() - started < 3
