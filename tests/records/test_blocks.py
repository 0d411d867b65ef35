"""Block structure: the same leaf blocks as markdown-it-py, a hundred times faster."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault_kg.records.blocks import Layout, read_layout

REFERENCE = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").disable("inline")
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}
ROOT = Path(__file__).parents[2]
CORPUS = [ROOT, *(Path(p) for p in os.environ.get("VAULT_KG_NOTES", "").split(os.pathsep) if p)]
"""The project's own Markdown; `VAULT_KG_NOTES` names folders of more to be checked."""

Leaf = tuple[str, int, int, int, int]


def reference(text: str) -> list[Leaf]:
    found: list[Leaf] = []
    depth = 0
    for token in REFERENCE.parse(text):
        if token.type in {"blockquote_open", "list_item_open"}:
            depth += 1
        elif token.type in {"blockquote_close", "list_item_close"}:
            depth -= 1
        elif kind := KINDS.get(token.type):
            assert token.map is not None
            level = int(token.tag[1]) if kind == "heading" else 0
            found.append((kind, *token.map, level, depth))
    return found


def without_blank_ends(leaves: list[Leaf], layout: Layout) -> list[Leaf]:
    def end_of(start: int, end: int) -> int:
        end = min(end, len(layout.lines))
        while end > start + 1 and not layout.lines[end - 1].strip(" \t>"):
            end -= 1
        return end

    return [(kind, start, end_of(start, end), *rest) for kind, start, end, *rest in leaves]


def ours(text: str) -> list[Leaf]:
    layout = read_layout(text)
    return without_blank_ends([b for b in layout.blocks if b.kind != "definition"], layout)


def theirs(text: str) -> list[Leaf]:
    return without_blank_ends(reference(text), read_layout(text))


def kinds(text: str) -> list[str]:
    return [block.kind for block in read_layout(text).blocks]


def files() -> list[Path]:
    found = (path for folder in CORPUS for path in folder.rglob("*.md"))
    return [path for path in found if not {".venv", "node_modules"} & set(path.parts)]


def test_every_markdown_file_has_the_blocks_that_markdown_it_finds() -> None:
    differing = []
    for path in files():
        text = path.read_text(encoding="utf-8", errors="replace")
        if ours(text) != theirs(text):
            differing.append(str(path))
    assert differing == []


PIECES = st.sampled_from(
    [
        *(
            "foo",
            "bar baz",
            "# h",
            "## h ##",
            "#no",
            "===",
            "---",
            "-",
            "- a",
            "* b",
            "1. x",
            "2. y",
        ),
        *(">", "> q", "```", "````", "~~~", "``` py", "", "  ", "<div>", "</div>", "<b>", "<!-- c"),
        *("-->", "<!-- x -->", "<script>", "</script>", "a | b", "|a|b|", "--- | ---", ":-:|:-:"),
        *("***", "* * *", "- - -", "[a]: /u", "[a]: /u 'titl", "e'", "[a]:", "/u", "[a", "b]: <x>"),
        *("x\\|y|z", "===  ", "= =", "<?php", "?>", "<![CDATA[", "]]>", "<!X", "&amp;"),
    ]
)
LINES = st.builds(
    str.__add__, st.sampled_from(["", "", "", "> ", "- ", "1. ", "  ", "> > ", "- - "]), PIECES
)


def is_known_difference(text: str) -> bool:
    """Say whether a line comes near the rules in which markdown-it-py leaves CommonMark.

    Four columns of indent after a container (it takes what stands there for a block, or for code,
    where CommonMark continues the paragraph), and a table whose first line leaves a container.
    """
    indented = any(line.startswith("    ") for line in text.split("\n"))
    return indented or ("|" in text and any(line[:1] in ">-*1" for line in text.split("\n")))


@settings(max_examples=1500, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=7).map("\n".join))
def test_any_mixture_of_block_syntax_gives_the_blocks_that_markdown_it_finds(text: str) -> None:
    if not is_known_difference(text):
        assert ours(text) == theirs(text)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=8).map("\n".join))
def test_without_containers_there_is_no_known_difference_but_indented_lists(text: str) -> None:
    if not any(line[:1] in ">-*+12" for line in text.split("\n") if line.strip("-* =")):
        assert ours(text) == theirs(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab \t\n\r#>-*`~|<:[]1.=\\", max_size=200))
def test_any_text_is_read_and_its_blocks_are_in_order_and_apart(text: str) -> None:
    layout = read_layout(text)
    end = 0
    for block in layout.blocks:
        assert end <= block.start < block.end <= len(layout.lines)
        end = block.end


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_end_of_commonmark_ends_a_line(end: str) -> None:
    layout = read_layout(end.join(["# a", "", "b", "c"]))
    assert [(b.kind, b.start, b.end) for b in layout.blocks] == [
        ("heading", 0, 1),
        ("paragraph", 2, 4),
    ]


def test_a_fence_holds_shorter_fences_and_everything_else() -> None:
    assert kinds("````\n```\n# no\n[x]: y\n````\ntext") == ["fence", "paragraph"]
    assert kinds("~~~\n```\n~~~\ntext") == ["fence", "paragraph"]
    assert kinds("- ```\n  # no\n  ```\n- b") == ["fence", "paragraph"]


def test_a_fence_that_is_never_closed_goes_to_the_end() -> None:
    assert kinds("```\n# no\n\n# no") == ["fence"]


def test_code_indented_below_a_paragraph_is_the_paragraph() -> None:
    assert kinds("a\n    b") == ["paragraph"]
    assert kinds("a\n\n    b") == ["paragraph", "code"]
    assert kinds("- a\n\n      b") == ["paragraph", "code"]


def test_a_heading_in_a_quote_or_item_has_its_depth() -> None:
    blocks = read_layout("# a\n> # b\n\n- # c\n  - # d").blocks
    assert [(b.kind, b.depth) for b in blocks] == [("heading", d) for d in (0, 1, 1, 2)]


def test_a_table_ends_where_another_block_begins() -> None:
    assert kinds("a | b\n--|--\n1 | 2\n# h\n") == ["table", "heading"]
    assert kinds("a | b\n--|--\n1 | 2\n\nc") == ["table", "paragraph"]


def test_a_delimiter_row_with_other_columns_makes_no_table() -> None:
    assert kinds("a | b\n--|--|--\n") == ["paragraph"]
    assert kinds("a \\| b\n--|--\n") == ["paragraph"]


@pytest.mark.parametrize(
    "text",
    [
        "- " * 100_000 + "x",
        ">" * 200_000,
        "\t" * 200_000,
        ("> " * 300 + "\n") * 300,
        "".join("  " * i + "- a\n" for i in range(600)),
        "[a]: b\n" * 20_000,
        "|\n-\n" * 30_000,
        "x|" * 50_000 + "\n" + "-|" * 50_000,
        '<a b="\n' * 20_000,
        "```\n" * 40_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_repetition_is_read_in_time(text: str) -> None:
    started = time.process_time()
    read_layout(text)
    assert time.process_time() - started < 3
