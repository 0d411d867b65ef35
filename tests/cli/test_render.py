"""Text that is safe to print, and tables that align."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.cli import render

UNSAFE = {chr(c) for c in (*range(32), *range(0x7F, 0xA0))} - {"\n", "\t"}


@given(st.text())
def test_clean_text_has_no_control_characters(value: str) -> None:
    assert not UNSAFE & set(render.text(value))
    assert not (UNSAFE | {"\n", "\t"}) & set(render.line(value))


INKLESS = "\u115f\u1160\u3164\uffa0"


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"], exclude_characters=INKLESS)))
def test_ordinary_text_stays_as_it_is(value: str) -> None:
    assert render.text(value) == value


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;a title\x07rest", "␛]0;a title␇rest"),
        ("\x9b31mred", "⟦U+009B⟧31mred"),
        ("a\u202eb", "a⟦U+202E⟧b"),
        ("a\u200bb", "a⟦U+200B⟧b"),
        ("a\u3164b", "a⟦U+3164⟧b"),
        ("a\ud800b", "a⟦U+D800⟧b"),
        ("a\u2028b", "a⟦U+2028⟧b"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("a\tb", "a\tb"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_shown(given_text: str, shown: str) -> None:
    assert render.text(given_text) == shown


@given(st.text(), st.characters(categories=["Cc", "Cf"], exclude_characters="\n\r\t"))
def test_two_texts_are_never_printed_alike_for_what_cannot_be_seen(text: str, hidden: str) -> None:
    assert render.line(f"x{text}{hidden}y") != render.line(f"x{text}y")


def test_tables_align_wide_and_combining_characters() -> None:
    rows = [["東京", "x"], ["abcd", "x"], ["e\u0301tat", "x"]]
    lines = list(render.table(rows, flexible=1))
    assert [render.width(line) for line in lines] == [7, 7, 7]


def test_nothing_is_cut_where_output_is_not_a_terminal() -> None:
    rows = [["pg_" + "0" * 26, "x" * 5000]]
    assert next(render.table(rows, flexible=1)).endswith("x" * 5000)


def test_only_the_flexible_column_is_cut_on_a_terminal(monkeypatch) -> None:
    monkeypatch.setattr(render, "columns", lambda: 60)
    line = next(render.table([["pg_" + "0" * 26, "東" * 100]], flexible=1))
    assert line.startswith("pg_" + "0" * 26)
    assert line.endswith("…")
    assert render.width(line) <= 60


def test_a_cell_whose_end_says_most_is_cut_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "columns", lambda: 40)
    uid = "code:function:vault_kg/extract/tools/impact.py::graph_impact"
    (line,) = render.table([["calls", uid, "line 3"]], flexible=1, keep_end=True)
    assert line.startswith("calls  code:f…") and line.endswith("::graph_impact  line 3")
    assert render.width(line) == 40
    assert render.cut_inside("短い名前の関数", 6) == "短…数"
