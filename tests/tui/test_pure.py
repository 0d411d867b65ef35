"""What needs no screen: differences, merged text, the editor's command line, safe lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui import diff, editor, merging, plain
from tui.listing import Item, Page, Reader
from tui.plain import content
from tui.readers import in_turn, whole

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8).map("\n".join)


@given(TEXTS, TEXTS, TEXTS)
def test_each_column_of_three_versions_holds_its_text_in_order(
    original: str, proposed: str, displaced: str
) -> None:
    rows = diff.three_way(original, proposed, displaced)
    texts = (original, proposed, displaced)
    for version, text in enumerate(texts):
        cells = [row[version] for row in rows]
        assert [c[1] for c in cells if c and c[0] != "-"] == text.splitlines()


@given(TEXTS, TEXTS)
def test_a_merge_of_an_edit_with_the_original_is_the_edit(original: str, edit: str) -> None:
    assert merging.both(original, edit, edit) == edit


def test_changes_in_different_places_are_both_taken_and_the_same_place_is_marked() -> None:
    base = "one\ntwo\nthree\n"
    assert merging.both(base, "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n") == "ONE\ntwo\nTHREE\n"
    assert "<<<<<<< proposed\nTWO\n=======\nzwei\n>>>>>>> on disk\n" in merging.both(
        base, "one\nTWO\nthree\n", "one\nzwei\nthree\n"
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("vim", ["vim", "+7", "/v/a.md"]),
        ("nvim -p", ["nvim", "-p", "+7", "/v/a.md"]),
        ("/usr/bin/code -n", ["/usr/bin/code", "-n", "--wait", "--goto", "/v/a.md:7"]),
        ("subl", ["subl", "--wait", "/v/a.md:7"]),
        ("hx", ["hx", "/v/a.md:7"]),
    ],
)
def test_the_editor_is_told_the_line(
    said: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", said)
    assert editor.command(Path("/v/a.md"), 7) == expected


def test_visual_goes_before_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "nano")
    monkeypatch.setenv("VISUAL", "vim")
    assert editor.command(Path("a"), None)[:2] == ["vim", "+1"]


@given(st.text(max_size=3_000))
def test_a_line_is_one_line_of_bounded_length(text: str) -> None:
    made = plain.line(text, 100)
    assert "\n" not in made
    assert len(made) <= 101


def test_what_is_cut_says_so() -> None:
    assert plain.line("x" * 500, 100).endswith("…")
    assert plain.block("x" * 3_000).endswith("… (1,000 characters more in this line)")
    assert "characters more" in plain.block("a\n" * 10, 5)


def test_stacked_marks_are_cut() -> None:
    assert len(plain.reveal("a" + "\u0301" * 1_000)) < 12


def numbers(first: int, last: int, page: int) -> Reader:
    """Return what reads the numbers of a range, so many at a time."""

    def read(_: object, cursor: str | None, limit: int) -> Page:
        start = int(cursor or first)
        end = min(last, start + min(limit, page))
        items = [Item(str(n), content(str(n))) for n in range(start, end)]
        return Page(items, last - first, str(end) if end < last else None)

    return read


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(1, 30),
)
def test_lists_that_are_read_in_turn_are_one_list(
    parts: list[tuple[int, int]], wanted: int
) -> None:
    starts = [sum(size for size, _ in parts[:n]) for n in range(len(parts))]
    reader = in_turn(
        *(numbers(at, at + size, page) for at, (size, page) in zip(starts, parts, strict=True))
    )
    total = sum(size for size, _ in parts)
    every, cursor, first = [], None, True
    while first or cursor is not None:
        page, first = reader(None, cursor, 2), False  # type: ignore[arg-type]
        every += [int(item.key) for item in page.items]
        cursor = page.cursor
    assert every == list(range(total))
    again = whole(reader, None, wanted)  # type: ignore[arg-type]
    assert [int(item.key) for item in again.items] == every[: max(wanted, len(again.items))]
    assert len(again.items) >= min(wanted, total)
