"""What is written is read back as the same value by our reader and by those of other tools."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from vault_kg.records.yaml_reader import load
from vault_kg.records.yaml_scalars import Value, same
from vault_kg.records.yaml_writer import block_lines, flow_text, literal, scalar

_TEXT = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="0123456789_.:+-eExXoObBabcdefZTn ~", max_size=12),
    st.text(
        alphabet=" \t\n\r#:-'\"\\[]{},&*!|>%@`?~=.<ayN\x00\x1b\x7f\x85\u2028\ufeff", max_size=12
    ),
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT | _TEXT
_VALUES: st.SearchStrategy[Value] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=10,
)

WORDS = """yes no on off y n Y N true True TRUE false null Null ~ 1.10 0755 0o17 0x1F 0b101 1_000
1e3 1.5e3 .5 5. +1 -1 .inf -.inf .nan 12:30 1:30:45 190:20:30.15 2024-01-05 2024-1-5 2024-13-45 <<
= 2024-01-05T10:00:00Z ... --- - ? : a: :a a:b # a#b #a @a `a %a !a &a *a |a >a {a} [a] a,b 'a "a
a'b a"b \\ // http://a.b/c?d=e#f C++ 3-7 a-b v1.2.3 email:ada@example.org $x ^ ( ) ; 1,000 0.1.2
1__0 +_ 0x_f 0_o7""".split()
PHRASES = [
    "",
    " ",
    " a",
    "a ",
    "a: b",
    "a :b",
    "a #b",
    "a\tb",
    "\ta",
    "a\n",
    "\n",
    "a\nb",
    "a\n\nb\n",
    "a\r\nb",
    "a\rb",
    " a\nb",
    "a\n b\n",
    "a \nb",
    "a\n\n\n",
    "\na\n",
    "a\u2028b",
    "a\x85b",
    "\ufeffa",
    "a\ufeffb",
    "\x00",
    "café",
    "e\u0301",
    "日本語",
    "مرحبا \u200f",
    "👩\u200d💻",
    "\u00a0a\u00a0",
    "--- a",
    "a\n---\nb",
    "a\n...\n",
    "# a\nb",
    "- a\n- b",
    "key: value\nother: value",
    "a" * 5000,
    "word " * 400 + "end",
    "O'Brien said \"it's\"; -- \\n",
]


def _read_everywhere(text: str) -> list[Value]:
    readers = [load, yaml.safe_load, lambda t: YAML(typ="safe", pure=True).load(t)]
    if hasattr(yaml, "CSafeLoader"):
        readers.append(lambda t: yaml.load(t, yaml.CSafeLoader))
    return [reader(text) for reader in readers]


@pytest.mark.parametrize("text", WORDS + PHRASES)
def test_text_stays_text_for_every_reader(text: str) -> None:
    written = "\n".join(block_lines({"key": text, "list": [text], "map": {text: text}}, 0))
    flow = "flow: " + flow_text([text, {text: text}])
    for value in _read_everywhere(f"{written}\n{flow}\n"):
        assert value == {
            "key": text, "list": [text], "map": {text: text}, "flow": [text, {text: text}]
        }  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_TEXT, _VALUES, max_size=3))
@example({"a": [[], {}, [[]], [{}], {"b": []}]})
@example({"a": ["x\ny", {"b": "x\ny\n"}, ["x\n\ny"]]})
@example({"k" * 2000: ["v"]})
def test_every_reader_reads_back_what_is_written(fields: dict[str, Value]) -> None:
    for written in (block_lines(fields, 0), block_lines(fields, 0, literals=False)):
        for value in _read_everywhere("\n".join([*written, ""])) if fields else []:
            assert same(value, fields), written
    for value in _read_everywhere(flow_text(fields)):
        assert same(value, fields)


@given(st.floats())
def test_a_number_reads_back_as_the_same_number(number: float) -> None:
    for value in _read_everywhere(f"a: {scalar(number)}\n"):
        assert same(value, {"a": number})


@given(_TEXT)
def test_a_text_is_written_on_one_line_and_without_hidden_breaks(text: str) -> None:
    for flow in (False, True):
        written = scalar(text, flow=flow)
        assert not re.search("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff]", written)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("it's", "it's"),
        ("日本語 café 👩\u200d💻 مرحبا", "日本語 café 👩\u200d💻 مرحبا"),
        ("2024-01-05", "'2024-01-05'"),
        ("yes", "'yes'"),
        ("Foo: bar", "'Foo: bar'"),
        ("'tis: so", "'''tis: so'"),
        ("a\tb\\", '"a\\tb\\\\"'),
        ("a\x85\u2028\ufeff", '"a\\x85\\u2028\\uFEFF"'),
        ("", "''"),
    ],
)
def test_quotes_are_used_only_where_they_are_needed(text: str, written: str) -> None:
    assert scalar(text) == written


@pytest.mark.parametrize(
    ("number", "written"),
    [(1e16, "1.0e+16"), (1e-7, "1.0e-07"), (0.1, "0.1"), (-0.0, "-0.0"), (float("inf"), ".inf")],
)
def test_a_float_is_written_so_that_yaml_1_1_sees_a_float(number: float, written: str) -> None:
    assert scalar(number) == written


def test_a_literal_block_is_used_only_where_editors_keep_it() -> None:
    assert literal("a\nb") == ("|-", ["a", "b"])
    assert literal("a\n\n  b\n") == ("|", ["a", "", "  b"])
    for text in (
        "a",
        "a\n",
        " a\nb",
        "a \nb",
        "a\nb\n\n",
        "\na\nb",
        "a\x07\nb",
        "a\r\nb",
        "a\n\t\nb",
    ):
        assert literal(text) is None


def test_lists_and_mappings_are_written_in_block_style() -> None:
    value: dict[str, Value] = {
        "tags": ["a", "b"],
        "none": [],
        "evidence": [{"source": "sr_1", "quote": "x\ny"}, [1, [2]]],
        "fields": {"deep": {"x": None}},
    }
    assert block_lines(value, 0) == [
        "tags:",
        "  - a",
        "  - b",
        "none: []",
        "evidence:",
        "  - source: sr_1",
        "    quote: |-",
        "      x",
        "      y",
        "  - - 1",
        "    - - 2",
        "fields:",
        "  deep:",
        "    x: null",
    ]
