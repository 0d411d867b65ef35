"""Edits go down to the line that changes, and widen where that would change something else."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.yaml_edit import edit
from vault_kg.records.yaml_nodes import YamlError
from vault_kg.records.yaml_reader import load
from vault_kg.records.yaml_scalars import Value, same

Fields = dict[str, Value]


def _edited(text: str, **changes: Value) -> str:
    fields = load(text) or {}
    assert isinstance(fields, dict)
    return edit(text, 0, {**fields, **changes}, "\n")


def _without(text: str, *keys: str) -> str:
    fields = load(text)
    assert isinstance(fields, dict)
    return edit(text, 0, {key: value for key, value in fields.items() if key not in keys}, "\n")


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("k: old   # c\n", "new", "k: new   # c\n"),
        ("k:    old\t# c\n", "new", "k:    new\t# c\n"),
        ('k: "old" # c\n', "new", 'k: "new" # c\n'),
        ("k: 'old'\n", "it's", "k: 'it''s'\n"),
        ("k: 'old'\n", "a\tb", 'k: "a\\tb"\n'),
        ("k: old\n", "2024-01-05", "k: '2024-01-05'\n"),
        ("k:   # c\n", "new", "k: new   # c\n"),
        ("k:\n", 1, "k: 1\n"),
        ("k: ~ # c\n", True, "k: true # c\n"),
        ("k: two\n  lines  # c\n", "one", "k: one  # c\n"),
        ("k:\n  below # c\n", "new", "k:\n  new # c\n"),
        ("k: |  # c\n  text\n\n  more\n\n", "one", "k: one  # c\n\n"),
        ("k: old # c\n", "a\nb\n", "k: | # c\n  a\n  b\n"),
        ("k: |\n  a\n# c\n", "b\nc", "k: |-\n  b\n  c\n# c\n"),
        ("k: !!str old # c\n", "new", "k: new # c\n"),
        ("k: old # c\n", ["a", "b"], "k: # c\n  - a\n  - b\n"),
        ("k: # c\n  - a\n  - b\n", "x", "k: x # c\n"),
        ("k: # c\n- a\n", [], "k: [] # c\n"),
        ("k: {} # c\n", {"a": 1}, "k: {a: 1} # c\n"),
        ("k:\n  a: 1\n", {"b": 2}, "k:\n  b: 2\n"),
        ("k:\n    a: 1\n", {"b": [1]}, "k:\n    b:\n      - 1\n"),
        ("? k\n: old\n", "new", "k: new\n"),
        ('"k": old\n', "new", '"k": new\n'),
        ("{k: old}\n", "new", "{k: new}\n"),
        ("{k}\n", "new", "{k: new}\n"),
        ('{"k":old}\n', "new", '{"k":new}\n'),
        ("{k: , l: 1}\n", "new", "{k: new , l: 1}\n"),
    ],
)
def test_a_value_is_replaced_in_its_place(text: str, value: Value, expected: str) -> None:
    assert _edited(text, k=value) == expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("k:\n- a # 1\n# 2\n-   b\n", ["a", "b", "c"], "k:\n- a # 1\n# 2\n-   b\n- c\n"),
        ("k:\n    - a\n", ["a", "b"], "k:\n    - a\n    - b\n"),
        (
            "k:\n  - a # 1\n\n  # 2\n  - c\n",
            ["a", "b", "c"],
            "k:\n  - a # 1\n  - b\n\n  # 2\n  - c\n",
        ),
        ("k:\n  # 1\n  - b\n", ["a", "b"], "k:\n  # 1\n  - a\n  - b\n"),
        ("k:\n  - a # 1\n  - b # 2\n  - c # 3\n", ["a", "c"], "k:\n  - a # 1\n  - c # 3\n"),
        ("k:\n  - a # 1\n  - b # 2\n", ["a", "x"], "k:\n  - a # 1\n  - x # 2\n"),
        ("k:\n  - a # 1\n  - b # 2\n", ["b", "a"], "k:\n  - b\n  - a # 1\n"),
        ("k:\n  -\n  - a\n", ["x", "a"], "k:\n  - x\n  - a\n"),
        ("k:\n  - a\n", [["a"], {"b": "c\nd"}], "k:\n  - - a\n  - b: |-\n      c\n      d\n"),
        ("k:\n  - - a\n    - b # 1\n", [["a", "c"]], "k:\n  - - a\n    - c # 1\n"),
        ("k:\n  - - a\n    - b # 1\n", [["b"]], "k:\n  - - b\n"),
        ("k: [a,  b]  # c\n", ["a", "b", "c: d"], "k: [a,  b, 'c: d']  # c\n"),
        ("k: [a, b, ]\n", ["a", "b", "c"], "k: [a, b, c, ]\n"),
        ("k: [a, # 1\n  b, # 2\n  c]\n", ["a", "x", "c"], "k: [a, # 1\n  x, # 2\n  c]\n"),
        ("k: [a,  b,  c]\n", ["b", "c"], "k: [b,  c]\n"),
        ("k: [a,  b,  c]\n", ["a"], "k: [a]\n"),
        ("k: [a]\n", ["x", "a"], "k: [x, a]\n"),
        ("k: [a: b]\n", [{"a": "b", "c": 1}], "k: [{a: b, c: 1}]\n"),
        ("k: []\n", ["a"], "k: [a]\n"),
        ("k: [a, b]\n", [], "k: []\n"),
    ],
)
def test_a_list_keeps_its_style_and_the_items_that_stay(
    text: str, value: Value, expected: str
) -> None:
    assert _edited(text, k=value) == expected


NESTED = """\
k:   # c0
  # c1
  a: 1.10   # c2

  b:
    c: yes  # c3
    d: [1,  2]
  # c4
  e: |
    text
# c5
z: end
"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda k: k | {"a": 2}, "a: 1.10   # c2", "a: 2   # c2"),
        (lambda k: k | {"b": {"c": "no", "d": [1, 2]}}, "c: yes  # c3", "c: 'no'  # c3"),
        (lambda k: k | {"b": {"c": "yes", "d": [1]}}, "d: [1,  2]", "d: [1]"),
        (lambda k: k | {"b": {**k["b"], "x": []}}, "2]\n", "2]\n    x: []\n"),
        (lambda k: {n: v for n, v in k.items() if n != "a"}, "  a: 1.10   # c2\n", ""),
        (lambda k: k | {"f": True}, "    text\n", "    text\n  f: true\n"),
        (lambda k: k | {"e": "one"}, "e: |\n    text\n", "e: one\n"),
    ],
)
def test_one_key_of_a_nested_mapping_leaves_its_neighbours(
    change: Callable[[dict[str, Value]], Value], old: str, new: str
) -> None:
    fields = load(NESTED)
    assert isinstance(fields, dict)
    assert isinstance(fields["k"], dict)
    assert _edited(NESTED, k=change(fields["k"])) == NESTED.replace(old, new)


def test_a_mapping_in_a_list_is_changed_line_by_line() -> None:
    text = "k:\n  - s: 1   # a\n    l: 3-7\n  # b\n  - s: 2\n    q: 'x'\n"
    assert _edited(text, k=[{"s": 1, "l": "3-8"}, {"s": 2, "q": "x", "t": 0}]) == (
        "k:\n  - s: 1   # a\n    l: 3-8\n  # b\n  - s: 2\n    q: 'x'\n    t: 0\n"
    )
    assert _edited(text, k=[{"l": "3-7"}, {"s": 2}]) == ("k:\n  - l: 3-7\n  # b\n  - s: 2\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n# c\nk: 2 # d\n\nz: 3\n", "a: 1\n# c\n\nz: 3\n"),
        ("k:\n  - a\n  # in it\n  - b\n# c\nz: 3\n", "# c\nz: 3\n"),
        ("k: |\n  a\n\n# c\nz: 3\n", "\n# c\nz: 3\n"),
        ("# only\nk: 1\n# comments\n", "# only\n# comments\n"),
        ("? k\n: 1\nz: 3\n", "z: 3\n"),
        ("? k\n# c\n", "# c\n"),
        ("{a: 1,  k: 2,  z: 3}\n", "{a: 1,  z: 3}\n"),
        ("{k: 2,  z: 3}\n", "{z: 3}\n"),
        ("{k: 2}\n", "{}\n"),
    ],
)
def test_a_removed_key_takes_its_lines_and_nothing_else(text: str, expected: str) -> None:
    assert _without(text, "k") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "k: [v]\n"),
        ("# c\n", "# c\nk: [v]\n"),
        ("a: 1\n# c\n\n", "a: 1\n# c\n\nk: [v]\n"),
        ("  a: 1\n  b: 2\n", "  a: 1\n  b: 2\n  k: [v]\n"),
        ("a: |+\n  x\n\n", "a: |+\n  x\n\nk: [v]\n"),
        ("? a\n", "? a\nk: [v]\n"),
        ("{a: 1, b}\n", "{a: 1, b, k: [v]}\n"),
        ("{a: 1, }  # c\n", "{a: 1, k: [v], }  # c\n"),
        ("a: 1", "a: 1\nk: [v]\n"),
    ],
)
def test_a_new_key_comes_last(text: str, expected: str) -> None:
    assert _edited(text, k=["v"]).replace("k:\n  - v", "k: [v]").replace(
        "k:\n    - v", "k: [v]"
    ) == (expected)


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("a: &x old\nb: *x\n", {"a": "new"}, "a: new\nb: old\n"),
        ("a: &x old\nb: *x\nc: [*x]\n", {"b": "new"}, "a: &x old\nb: new\nc: [*x]\n"),
        ("a: &x [1]\nb: *x\n", {"a": [1, 2]}, "a: &x [1, 2]\nb:\n  - 1\n"),
        ("a: &x\n  k: 1\nb:\n  - *x # c\n", {"a": {"k": 2}}, "a: &x\n  k: 2\nb:\n  - k: 1\n"),
        ("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", {"c": 3}, "a: &x 1\nb: *x\nc: 3\nd: 2\n"),
        ("a: &x 1\nb: {c: *x, d: [*x]}\n", {"a": 0}, "a: 0\nb: {c: 1, d: [1]}\n"),
        ("a: &x s\nb: {*x : 1}\n", {"a": 0}, "a: 0\nb: {s : 1}\n"),
        ("&x a: 1\nb: *x\n", {"a": 2}, "&x a: 2\nb: *x\n"),
        ("a: &x 1\nb: *x\n", {"a": 2, "b": 2}, "a: 2\nb: 2\n"),
    ],
)
def test_an_alias_is_written_out_where_its_anchor_changes(
    text: str, changes: Fields, expected: str
) -> None:
    assert _edited(text, **changes) == expected


def test_an_alias_is_written_out_where_its_anchor_goes() -> None:
    assert _without("a: &x [1, 2]\nb: *x # c\nc: 1\n", "a") == "b: # c\n  - 1\n  - 2\nc: 1\n"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("k: 1\n  # indented\nz: 3\n", {"k": "a\nb"}),  # the comment would become text
        ("a: |+\n  x\n\nk: 1\n\nz: 3\n", {}),  # a blank line would become text
        ("a: |\nk: 1\n  # c\nz: 3\n", {}),
        ("&r\na: 1\nk: 2\nb: [*r]\n".replace("b: [*r]\n", ""), {"k": 3}),
        ('k: "a"# c\nz: 3\n', {"k": None}),
    ],
)
def test_what_would_change_a_neighbour_is_written_more_widely(text: str, changes: Fields) -> None:
    fields = load(text)
    assert isinstance(fields, dict)
    expected = {**fields, **changes}
    if not changes:
        del expected["k"]
    written = edit(text, 0, expected, "\n")
    assert same(load(written), expected)
    assert "z: 3\n" in written or "z" not in fields


def test_comments_outlive_even_a_document_that_is_written_anew() -> None:
    text = "# one\na: |\n  # text\nb: 1\n... # end\n  # two\n"
    written = _edited(text, c=1)
    assert same(load(written), {"a": "# text\n", "b": 1, "c": 1})
    assert written.startswith("# one\n# two\n")
    assert written.count("# text") == 1


def test_a_document_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(YamlError, match="not a mapping"):
        edit("- a\n", 0, {"a": 1}, "\n")


def test_a_long_list_with_many_changes_is_compared_in_bounded_time() -> None:
    text = "k:\n" + "".join(f"  - v{i % 7}\n" for i in range(3000))
    value: Value = [f"w{i % 5}" for i in range(2990)]
    assert load(_edited(text, k=value)) == {"k": value}


# Adding, at any depth, only adds lines.

_ADDED = st.sampled_from(["new", 1, None, "2024-01-05", ["x"], {"y": "z"}, "two\nlines"])


def _block(draw: st.DrawFn, depth: int, indent: int) -> list[str]:
    """Draw the lines of a block mapping or list with comments between them."""
    pad, lines = " " * indent, []
    is_list = depth > 0 and draw(st.booleans())
    for i in range(draw(st.integers(1, 3))):
        head = f"{pad}-" if is_list else f"{pad}k{i}:"
        if draw(st.integers(0, 3)) == 0:
            lines.append(draw(st.sampled_from([f"{pad}# c", "# c", "", " "])))
        if depth < 3 and draw(st.integers(0, 2)) == 0:
            lines += [
                f"{head}{draw(st.sampled_from(['', '  # c']))}",
                *_block(draw, depth + 1, indent + 2),
            ]
        else:
            value = draw(
                st.sampled_from([" x", " 'y'   # c", "", " 1.10", ' "z"', " yes # c", "  ~"])
            )
            lines.append(head + value)
    return lines


@st.composite
def _blocks(draw: st.DrawFn) -> str:
    return "".join(f"{line}\n" for line in _block(draw, 0, 0))


def _extended(value: Value, choice: random.Random, added: Value) -> Value:
    if isinstance(value, dict):
        inner = [key for key, item in value.items() if isinstance(item, list | dict)]
        if inner and choice.random() < 0.7:
            key = choice.choice(inner)
            return {**value, key: _extended(value[key], choice, added)}
        return {**value, "new key": added}
    if isinstance(value, list):
        inner_at = [i for i, item in enumerate(value) if isinstance(item, list | dict)]
        if inner_at and choice.random() < 0.7:
            i = choice.choice(inner_at)
            return [*value[:i], _extended(value[i], choice, added), *value[i + 1 :]]
        return [*value, added]
    return value


@settings(max_examples=300, deadline=None)
@given(_blocks(), st.randoms(use_true_random=False), _ADDED)
def test_what_is_added_at_any_depth_leaves_every_line(
    text: str, choice: random.Random, added: Value
) -> None:
    fields = load(text)
    expected = _extended(fields, choice, added)
    assert isinstance(expected, dict)
    written = edit(text, 0, expected, "\n")
    assert same(load(written), expected)
    lines = iter(written.splitlines())
    assert all(line in lines for line in text.splitlines())
