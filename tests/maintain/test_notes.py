"""Notes are the bullets of a body; whatever else a person wrote there stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.maintain import notes

LINES = st.text(st.sampled_from("ab -*+#`~>1.\té漢"), max_size=12) | st.sampled_from(
    ["", "- a", "* b", "  under", "```", "~~~", "---", "* * *", "# H", "\t- c"]
)
BODIES = st.builds(
    lambda lines, newline: newline.join(lines), st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
NOTES = st.lists(st.text(max_size=30), max_size=5)


@given(BODIES, NOTES)
def test_what_is_put_in_is_read_back_and_the_rest_is_kept(
    body: str, given_notes: list[str]
) -> None:
    wanted = notes.cleaned(given_notes)
    after = notes.replaced(body, wanted)
    assert notes.read(after) == wanted
    assert besides(after) == besides(body)


def besides(body: str) -> list[str]:
    """Return the lines of a body that say something and are in no note."""
    lines = (line for part in notes._parts(body) if not part.is_note for line in part.lines)
    return [line for line in "".join(lines).splitlines() if line.strip()]


@given(BODIES)
def test_the_same_notes_change_nothing(body: str) -> None:
    assert notes.replaced(body, notes.read(body)) == body


@given(NOTES)
def test_cleaning_is_done_once(given_notes: list[str]) -> None:
    once = notes.cleaned(given_notes)
    assert notes.cleaned(once) == once


def test_notes_stand_where_the_first_one_stood() -> None:
    body = "\nIntro.\n\n- one\n- two\n\nOutro.\n"
    assert notes.replaced(body, ["three"]) == "\nIntro.\n\n- three\n\nOutro.\n"
    assert notes.replaced(body, []) == "\nIntro.\n\n\nOutro.\n"
    assert notes.replaced("\nIntro.\n", ["one"]) == "\nIntro.\n\n- one\n"
    assert notes.replaced("", ["one"]) == "\n- one\n"


def test_bullets_in_code_are_no_notes() -> None:
    body = "\n```\n- code\n```\n- note\n"
    assert notes.read(body) == ["note"]
    assert "- code" in notes.replaced(body, [])


@pytest.mark.parametrize("text", ["one\ntwo", "one\n\n  two", "a: [x](y)", "```\ncode\n```"])
def test_a_note_of_several_lines_is_one_note(text: str) -> None:
    assert notes.read(notes.replaced("", [text])) == [text]


def test_line_breaks_of_the_file_are_kept() -> None:
    body = "\r\nIntro.\r\n\r\n- one\r\nOutro.\r\n"
    assert notes.replaced(body, ["two"], "\r\n") == "\r\nIntro.\r\n\r\n- two\r\nOutro.\r\n"
