"""YAML is read with the types of YAML 1.2 core, by either parser, and knows where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from vault_kg.records import yaml_composer, yaml_reader
from vault_kg.records.yaml_nodes import Mapping, Scalar, YamlError, walk
from vault_kg.records.yaml_reader import compose, load
from vault_kg.records.yaml_scalars import Value, resolve, same


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Read with the C parser, and with the one in Python that stands in where that is missing."""
    monkeypatch.setattr(yaml_reader, "_PARSER", getattr(yaml, request.param))
    yield request.param


WORDS = """nULL yes No on y tRUE 0o8 -0x1F 0b11 1_000 12:30 1.2.3 1e . e3 - + nan inf << = 0755_
2024-01-05 2024-01-05T10:00:00Z ٣ ½ 1,5 .1. 1e3.5""".split()
TYPED: list[tuple[Value, list[str]]] = [
    (None, ["", "~", "null", "Null", "NULL"]),
    (True, ["true", "True", "TRUE"]),
    (False, ["false", "False", "FALSE"]),
    (755, ["755", "0755", "+755", "0x2F3", "0o1363"]),
    (-8, ["-8", "-08"]),
    (1.1, ["1.1", "1.10", "+1.1", "11e-1", "0.11E+1"]),
    (0.5, [".5", "0.5", "5e-1"]),
    (5.0, ["5.", "5.0", "5e0"]),
    (float("inf"), [".inf", ".Inf", ".INF", "+.inf", "1e999"]),
    (float("-inf"), ["-.inf", "-.Inf", "-.INF"]),
    (float("nan"), [".nan", ".NaN", ".NAN"]),
    (int("1" * 1000), ["1" * 1000]),
]


@pytest.mark.parametrize("text", [*WORDS, "1" * 1001, "0x" + "f" * 5000])
def test_a_plain_word_is_text(text: str) -> None:
    assert same(resolve(text), text)


@pytest.mark.parametrize(("value", "texts"), TYPED)
def test_a_plain_scalar_means_what_yaml_1_2_core_says(value: Value, texts: list[str]) -> None:
    for text in texts:
        assert same(resolve(text), value)
        assert same(load(f"k: {text}\n"), {"k": value})


SPELLED = ["0755", "007", "+5", "0x1F", "0o17", "1.10", "1e3", ".5", "5.", "-0"]


@pytest.mark.parametrize("text", SPELLED)
def test_a_number_as_text_is_spelled_as_it_is_written(text: str) -> None:
    value = load(f"k: {text}\n")["k"]
    assert isinstance(value, int | float)
    assert str(value) == f"{value}" == text
    plain = float(value) if isinstance(value, float) else int(value)
    assert same(value, plain) and json.loads(json.dumps(value)) == plain


@given(st.integers(), st.floats(), st.booleans())
def test_numbers_mean_themselves(integer: int, number: float, truth: bool) -> None:
    assert same(resolve(str(integer)), integer)
    assert same(resolve(repr(number).replace("inf", ".inf").replace("nan", ".nan")), number)
    assert same(resolve(str(truth).lower()), truth)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 'it''s'\nb: \"\\u00e9\\x41\\\n  b\"", {"a": "it's", "b": "éAb"}),
        ("a: |\n  x\n   y\n\n  z\n\n", {"a": "x\n y\n\nz\n"}),
        ("a: |-\n  x\n\nb: |+\n  y\n\n# c\n", {"a": "x", "b": "y\n\n"}),
        ("a: >\n  x\n  y\n\n  z\nb: >-\n  u\n  v\n", {"a": "x y\nz\n", "b": "u v"}),
        ("a: |2\n    x\n  y\n", {"a": "  x\ny\n"}),
        ("a: >2-\n   x\n  y\n", {"a": " x\ny"}),
        ("a:\n  - 1\n  -\n  - ~\n  - [x, {y: z}]", {"a": [1, None, None, ["x", {"y": "z"}]]}),
        ("a:\n- - 1\n  - 2\n- b: c\n  d:\n  - e", {"a": [[1, 2], {"b": "c", "d": ["e"]}]}),
        ("{a: 1, 'b': [c, d: e], f}", {"a": 1, "b": ["c", {"d": "e"}], "f": None}),
        ("? a\n: b\n? c\n", {"a": "b", "c": None}),
        ("a: !!str 12\nb: !!int '7'\nc: !!float 3\nd: ! 4\ne: !!null ''\nf: !!bool 'true'\n",
         {"a": "12", "b": 7, "c": 3.0, "d": "4", "e": None, "f": True}),
        ("a: !!map {b: !!seq [c]}\nd: !!str", {"a": {"b": ["c"]}, "d": ""}),
        ("a: x # c\nb: y#z\nc: 'd' # e", {"a": "x", "b": "y#z", "c": "d"}),
        ("2024: a\ntrue: b\n~: c\n'1': d\n", {"2024": "a", "true": "b", "~": "c", "1": "d"}),
        ("a: &x b\n*x : c\n<<: *x\n", {"a": "b", "b": "c", "<<": "b"}),
        ("a: x\x85y\nb: \"p\u2028q\" # \u2029 c: d\n", {"a": "x\x85y", "b": "p\u2028q"}),
        ("a: \ue000\x85\nb: x\ufeffy\n", {"a": "\ue000\x85", "b": "x\ufeffy"}),
        ("a: two\r\n  lines\r\nb: |\r\n  x\r\n  y\r\n", {"a": "two lines", "b": "x\ny\n"}),
        ("# nothing\n", None),
        ("", None),
        ("---\n# nothing\n", None),
        ("--- ~", None),
        ("- a\n", ["a"]),
    ],
)  # fmt: skip
def test_documents_are_read(text: str, value: Value) -> None:
    assert same(load(text), value)


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  x\n\n   y\n z: 1",
        "a: |1-\n  x\n y\n",
        "a: >+\n  x\n\n  y\n   z\n\n\nb: c\n",
        "a: 'x\n\n  y\n  z'\nb: \"u \\\n  v\n\n\n  w\"\n",
        "a: x\n  y\n\n  z # c\nb: - c\n",
        "a: [x,\n y , # c\n z]\nb: {c: {d: e}, f: , 'g': h}\n",
        "a:\n  - |\n   x\n  - >-\n    y\n    z\n",
        "k: a b: c\n",
        "k: [a, b\n",
        "a:\n  b\n c: d\n",
    ],
)
def test_another_reader_of_yaml_1_2_agrees(text: str) -> None:
    try:
        other = YAML(typ="safe", pure=True).load(text)
    except Exception:  # noqa: BLE001 (ruamel.yaml raises several families for bad YAML)
        other = YamlError
    try:
        ours: object = load(text) if not compose(text).notices else YamlError
    except YamlError:
        ours = YamlError
    assert ours == other


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("title: Foo: bar", {"title": "Foo: bar"}),
        ("title: Foo: bar: baz # c: d\nb: 1", {"title": "Foo: bar: baz", "b": 1}),
        ("title: Foo:\nb: 1\n", {"title": "Foo:", "b": 1}),
        ("a:\n  - b: c: d\n    e: f: g\n  - h\n", {"a": [{"b": "c: d", "e": "f: g"}, "h"]}),
        ("'a': x: y\n\n # c\nb: z\n", {"a": "x: y", "b": "z"}),
        ("a: b: c\r\n\r\nd: e\r\n", {"a": "b: c", "d": "e"}),
    ],
)
def test_a_colon_inside_a_plain_value_is_forgiven_and_noticed(text: str, value: Value) -> None:
    tree = compose(text)
    assert tree.root is not None
    assert same(tree.root.value, value)
    assert tree.notices


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n  c: d\n",  # the key `c` looks nested in text
        "a: b:\n  c: d\n",
        "a: b: c\n  more\n",
        "a: b:\n  - c\n",
        "a: 'b': c\n",
        "a: [b]: c\n",
        "a: &x b: c\n",
        "x: " + "a: " * 30,
        "a: b: c" + "\n" * 5000 + "  d",
    ],
)
def test_a_colon_is_not_forgiven_where_structure_was_meant(text: str) -> None:
    with pytest.raises(YamlError, match="quote a value"):
        compose(text)


def test_nodes_know_where_they_stand() -> None:
    text = "a: x\nb: 'é' # c\nc:\n  - \"😀\"\n  - {d: e}\n  - &f g\n"
    root = compose(text).root
    assert root is not None
    spelled = [text[node.start : node.end] for node in walk(root) if isinstance(node, Scalar)]
    assert sorted(spelled) == sorted(["x", "'é'", '"😀"', "e", "&f g", "a", "b", "c", "d"])
    assert isinstance(root, Mapping)
    assert [entry.key.line for entry in root.entries] == [1, 2, 3]


def test_blank_lines_and_private_characters_cost_no_more_than_their_length() -> None:
    assert compose("a: b: c" + "\r\n" * 100_000).notices
    crowd = "".join(map(chr, range(0xE000, 0xF900)))
    assert same(load(f"a: '{crowd}\u2028'"), {"a": f"{crowd}\u2028"})


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_composer, "MAX_VALUES", 1000)
    assert load("- a\n" * 999) == ["a"] * 999
    with pytest.raises(YamlError, match="more than 1,000 values"):
        load("- a\n" * 1000)


def test_a_mark_before_a_document_is_skipped() -> None:
    assert load("\ufeffa: 1\n") == {"a": 1}
