"""What needs no screen: differences, merged text, the editor's command line, safe lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui import diff, editor, merging, plain

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
