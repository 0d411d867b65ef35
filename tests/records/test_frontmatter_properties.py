"""Front matter as people write it, generated: what a write does not change keeps its bytes."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.frontmatter import (
    REMOVE,
    Document,
    Remove,
    Value,
    edit,
    new_document,
    parse,
)
from vault_kg.records.yaml_scalars import same

# What may stand behind `key:` up to the end of the entry's last line.
VALUES = [
    "",
    " ",
    " # nothing but a comment",
    " plain",
    " 1.10",
    " yes",
    " 0755   # octal?",
    " 1e3",
    " 0x1F",
    " ~",
    " null # none",
    " -.inf",
    " true",
    " 2024-01-05",
    " 2024-01-05T10:00:00Z",
    " 12:30:45",
    "     wide gap",
    " trailing tab\t",
    " trailing spaces  ",
    "\ttab before\t# and behind",
    " 'it''s'   # single",
    ' "a \\"quoted\\" \\u00e9 \\x41"  # double',
    ' "# no comment"',
    " ''",
    " 日本語 الكتاب café e\u0301 👩\u200d💻 😀",
    " 'مرحبا'\t# rtl",
    " nbsp\u00a0inside",
    " next\x85line and \u2028separator \u2029",
    " http://example.org/a?b=c#d",
    " Foo: bar: baz",
    " !!str 12",
    " ! 12",
    ' !!int "7"',
    " &A anchored",
    " []",
    " {}",
    " [a, 'b', \"c\", 1, ~]",
    " [ a ,b, ]   # flow",
    " [a, # one\n   b,\n   # two\n   c]",
    " [[a, b], {c: d}, e: f]",
    " {a: 1, 'b': \"x\", c: [1, 2], d}",
    " {a: 1,\n   # inner\n   b: {c: d},\n  }  # after",
    ' {"a":1, "b": , c: ~}',
    " two lines\n   of plain",
    " 'two lines\n\n   quoted'   # behind",
    ' "folded \\\n   escape"',
    "\n  on the next line",
    '\n  # before\n\n  "quoted on the next line"  # behind',
    " |\n  literal\n    deeper\n\n  end",
    " |-\n  # no comment\n  --- no fence",
    " |+\n  kept\n\n",
    " |2\n    indented\n  less\n",
    " >\n  folded\n  text\n\n  paragraph\n\n",
    " >- # header comment\n  folded\n   more",
    " >1+\n  kept folded\n",
    " |",
    "\n- a\n# between\n- b   # behind b\n- c",
    "\n  - a\n  - 1\n  -\n  - ~  # nothing\n",
    "\n    - deep indent\n\n    - x",
    "\n  -   spaced\n # comment\n  - 'q'\n  - x\t",
    "\n  - source: sr_1   # first\n    lines: 3-7\n  # between\n  - source: sr_2\n"
    "    quote: |\n      two\n      lines\n  -\n    source: sr_3",
    "\n  - - a\n    - b\n  - [c]\n  - {d: e}",
    "\n- # comment\n  a\n-\n\n  b: c",
    "\n- |\n  text\n\n- >-\n  more\n",
    " # map\n  k: v\n  # comment in map\n  n: 1   # one\n  deep:\n    x: [1,  2]  # two\n"
    "    y: |-\n      text\n\n    z: 2024-01-05",
    "\n      far: 1\n      right: 2\n",
    "\n  ? explicit\n  : value\n  ? alone\n  'quoted key': x\n  2024: number\n"
    "  true: yes\n  'yes': ",
    "\n  - &C one\n  - *C\n  - two\n  - *C",
    " &D\n  a: 1\n  b: &E [x]\n  c: *E",
    " !!map\n  a: 1",
    " &F # comment\n  - a\n  - b",
    "\n  a: 1\n # less\n  b:\n  c:   # c\n    - 1\n  d:\n  - 2",
]
KEYS = [
    "title",
    "a b",
    '"quoted"',
    "'single'",
    "2024",
    "naïve",
    "键",
    "on",
    "x:y",
    "a.b-c",
    "'#'",
    "<<",
]
BEFORE = [
    "",
    "",
    "",
    "# comment\n",
    "\n",
    "\n# comment\n\n",
    " \n",
    " # one\n",
    "#\n# two: lines\n",
]
BODIES = [
    "",
    "body\n",
    "no final newline",
    "\n# Title\n\n---\nkey: value\n---\n\n",
    "mixed\r\nline\nbreaks\r\n",
    "\ufeffmark \x00 nul\x85\u2028\n",
    "...\n",
]
FENCES = ["---", "...", "--- ", "---\t ", "..."]

_ODD_CHARACTERS = " \t\n\r#:-'\"\\[]{},&*!|>%@`?~=.<0123456789abeExnyofTZ_\x00\x7f\x85\u2028\ufeff"
_WORDS = ["yes", "null", "~", "", "1.10", "0755", "2024-01-05", "1e3", "0o7", "12:30", "<<", "="]
_PHRASES = ["a: b", "- a", "a\nb", "a\n\n b\n", "\na", "a\n", "a \nb", "a #b", "--- a\n..."]
_TEXT = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=_ODD_CHARACTERS, max_size=12),
    st.sampled_from(_WORDS + _PHRASES),
).filter(lambda text: not re.search("[\ud800-\udfff]", text))
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXT, _TEXT)
_NAMES = st.one_of(
    st.sampled_from(["a", "k", "n", "source", "deep", "b"]), st.text(max_size=8)
).filter(lambda text: not re.search("[\ud800-\udfff]", text))
_VALUES: st.SearchStrategy[Value] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


@dataclass
class Sample:
    """A generated file, in the pieces that it was made of."""

    pieces: list[tuple[str, str]]  # what stands before an entry, and the entry
    keys: list[str]
    opening: str
    ending: str
    closing: str
    body: str
    newline: str
    parts: list[str] = field(default_factory=list)

    def raw(self) -> bytes:
        pieces = [text for piece in self.pieces for text in piece]
        self.parts = [
            self._broken(text) for text in (self.opening, *pieces, self.ending, self.closing)
        ]
        return ("".join(self.parts) + self.body).encode()

    def around(self, index: int) -> tuple[bytes, bytes]:
        """Return the bytes before and behind one entry; those around a new key for index -1."""
        at = 2 * index + 2 if index >= 0 else len(self.parts) - 1
        behind = self.parts[at + 1 if index >= 0 else at :]
        return "".join(self.parts[:at]).encode(), ("".join(behind) + self.body).encode()

    def _broken(self, text: str) -> str:
        if self.newline != "mixed":
            return text.replace("\n", self.newline)
        choice = random.Random(text)
        return re.sub("\n", lambda _: choice.choice(["\n", "\r\n"]), text)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    values = draw(st.lists(st.sampled_from(VALUES), max_size=6, unique=True))
    names = draw(st.permutations(KEYS))[: len(values)]
    pieces: list[tuple[str, str]] = []
    kept = False
    for name, value in zip(names, values, strict=True):
        before = draw(st.sampled_from(BEFORE))
        pieces.append(
            ("#\n" if kept and not before.startswith("#") else before, f"{name}:{value}\n")
        )
        kept = bool(re.match(r" [|>][0-9]?(\+|$)", value))
    ending = draw(st.sampled_from(BEFORE))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "mixed", "\r"]))
    body = draw(st.sampled_from(BODIES))
    if newline == "\r":
        body = body.removeprefix("\n")
    closing = draw(st.sampled_from(FENCES)) + ("\n" if body else draw(st.sampled_from(["", "\n"])))
    return Sample(
        pieces,
        [name.strip("'\"") for name in names],
        draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["---\n", "--- \t\n"])),
        "#\n" if kept and not ending.startswith("#") else ending,
        closing,
        body,
        newline,
    )


def _expected(document: Document, changes: dict[str, Value | Remove]) -> dict[str, Value]:
    fields = {**document.fields, **changes}
    return {key: value for key, value in fields.items() if not isinstance(value, Remove)}


@given(samples())
def test_generated_files_are_read(sample: Sample) -> None:
    document = parse(sample.raw())
    assert list(document.fields) == sample.keys
    assert document.body == sample.body
    assert document.has_front_matter


@given(samples())
def test_an_edit_without_effect_returns_the_same_bytes(sample: Sample) -> None:
    raw = sample.raw()
    document = parse(raw)
    changes: dict[str, Value | Remove] = {**document.fields, "no such key": REMOVE}
    assert edit(document, {}) == raw
    assert edit(document, changes, document.body) == raw


@settings(max_examples=600)
@given(samples(), st.data())
def test_an_edit_of_one_key_changes_that_entry_alone(sample: Sample, data: st.DataObject) -> None:
    raw = sample.raw()
    document = parse(raw)
    index = data.draw(st.integers(-1, len(sample.keys) - 1))
    key = sample.keys[index] if index >= 0 else "new key"
    new: Value | Remove = data.draw(st.just(REMOVE) | _VALUES | _near(document.fields.get(key)))
    written = edit(document, {key: new})
    after = parse(written)
    assert same(after.fields, _expected(document, {key: new}))
    assert (after.body, after.has_bom) == (document.body, document.has_bom)
    before, behind = sample.around(index)
    assert written.startswith(before)
    assert written.endswith(behind)
    assert len(written) >= len(before) + len(behind)


def _near(value: Value) -> st.SearchStrategy[Value]:
    """Return values that differ from one in a part of it."""
    if isinstance(value, list):
        items = [_near(item) | st.just(item) for item in value]
        return st.one_of(
            _VALUES.map(lambda new: [*value, new]),
            st.tuples(*items).map(list),
            st.tuples(st.integers(0, len(value)), _VALUES).map(
                lambda at: [*value[: at[0]], at[1], *value[at[0] :]]
            ),
            st.lists(st.sampled_from(value), unique_by=id) if value else st.just([]),
        )
    if isinstance(value, dict):
        return st.one_of(
            st.fixed_dictionaries(
                {key: _near(item) | st.just(item) for key, item in value.items()}
            ),
            st.dictionaries(_NAMES, _VALUES, max_size=2).map(lambda new: {**value, **new}),
            st.sets(st.sampled_from([*value, ""])).map(
                lambda gone: {key: item for key, item in value.items() if key not in gone}
            ),
        )
    return _VALUES


@settings(max_examples=300)
@given(samples(), st.data())
def test_keys_that_are_set_can_be_set_back(sample: Sample, data: st.DataObject) -> None:
    document = parse(sample.raw())
    keys = [*sample.keys, "one", "two"]
    changes = data.draw(st.dictionaries(st.sampled_from(keys), _VALUES | st.just(REMOVE)))
    changed = parse(edit(document, changes))
    assert same(changed.fields, _expected(document, changes))
    back = {key: document.fields.get(key, REMOVE) for key in changes}
    restored = parse(edit(changed, back))
    assert same(restored.fields, document.fields)
    assert restored.body == document.body


@settings(max_examples=300)
@given(st.dictionaries(_NAMES, _VALUES, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_a_new_file_reads_as_what_was_written(fields: dict[str, Value], newline: str) -> None:
    document = parse(new_document(fields, "body\n", newline))
    assert same(document.fields, fields)
    assert document.body == f"body{newline}"
