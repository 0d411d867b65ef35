"""The grammar of uids: every uid parses back, and edits that keep name and path keep it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extract.extractors.reading import extract
from vault_kg.extract import uids
from vault_kg.extract.uids import Uid

HOSTILE = st.text(st.characters(exclude_categories=[]), min_size=1, max_size=30) | st.sampled_from(
    [
        "a::b", "a:", ":a", "::", "a#b:2", "a%3Ab", "100%", "%41%", "a\nb", "a\0b", "\ud800x", "日本/é",
        "C# notes", "a b/c d", "-", "..", "%25", "a:::b", "#", "::::", "a\u2028b",
    ]
)  # fmt: skip
WORD = st.from_regex(r"[^\W\d]\w{0,12}", fullmatch=True)
SLUG = st.text(st.characters(categories=["L", "N"]), max_size=12).map(uids.slug)


@settings(deadline=None)
@given(HOSTILE, HOSTILE, st.sampled_from(uids.SYMBOL_KINDS))
def test_symbols_parse_back(path: str, name: str, kind: str) -> None:
    made = uids.symbol(kind, path, name)
    assert uids.parse(made) == Uid("code", kind, path, name)
    assert uids.path_of(made) == path
    assert made.isprintable() or not path.isprintable() or not name.isprintable()


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_the_uids_that_a_name_may_have_are_those_of_each_kind(path: str, name: str) -> None:
    made = tuple(uids.symbol(kind, path, name) for kind in uids.SYMBOL_KINDS)
    assert uids.symbols(path, name) == made


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_keys_and_externals_parse_back(first: str, second: str) -> None:
    assert uids.parse(uids.key(first, second)) == Uid("config", "key", first, second)
    assert uids.parse(uids.external(first, second)) == Uid("code", "external", None, second, first)


@settings(deadline=None)
@given(HOSTILE)
def test_files_folders_and_modules_parse_back(path: str) -> None:
    assert uids.parse(uids.file(path)) == Uid("code", "file", path)
    assert uids.parse(uids.document(path)) == Uid("doc", "file", path)
    assert uids.parse(uids.folder(path)) == Uid("folder", "folder", path)
    assert uids.parse(uids.module(path)) == Uid("code", "module", None, path)


@settings(deadline=None)
@given(HOSTILE, SLUG, st.integers(1, 6), st.integers(1, 99))
def test_headings_parse_back(path: str, slug: str, level: int, occurrence: int) -> None:
    found = uids.parse(uids.heading(path, slug, level, occurrence))
    shown = 0 if occurrence == 1 else occurrence
    assert found == Uid("doc", "heading", path, slug, None, level, shown)


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_uids_are_storable_text_on_one_line(path: str, name: str) -> None:
    for made in (uids.symbol("class", path, name), uids.key(path, name), uids.file(path)):
        assert made.encode("utf-8")
        assert len(made.splitlines()) == 1


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_uid_or_none(text: str) -> None:
    found = uids.parse(text)
    if found is not None:
        assert found.scheme in text
    uids.is_well_formed(text)


@pytest.mark.parametrize(
    "made",
    [
        "code:file:a/b.py",
        "code:class:src/a.py::Outer.Inner",
        "code:function:a b/c#d.py::f",
        "doc:heading:notes/C#.md#see-also:2",
        "doc:heading:n.md#a:2:3",
        "folder:.",
        "config:pyproject.toml::project.scripts",
        "record:pg_01hv5",
        "code:external:requests:get",
        "code:module:os.path",
    ],
)
def test_well_formed(made: str) -> None:
    assert uids.is_well_formed(made)


@pytest.mark.parametrize(
    "made",
    [
        "", "code:", "code:file:", "code:file:/etc/passwd", "code:file:../a.py", "code:file:a//b.py",
        "code:function:a.py", "code:thing:a.py::f", "doc:heading:a.md#b", "doc:heading:a.md#b:7",
        "code:file:a\nb.py", "config:a.toml", "folder:a/../b", "nothing", "code:external:x",
    ],
)  # fmt: skip
def test_malformed(made: str) -> None:
    assert not uids.is_well_formed(made)


def test_the_readable_form_of_what_needs_no_care() -> None:
    assert uids.symbol("method", "src/a b.py", "C.m") == "code:method:src/a b.py::C.m"
    assert uids.document("100% true/C# & more.md") == "doc:file:100% true/C# & more.md"
    assert uids.key("a.yaml", "on:push") == "config:a.yaml::on:push"


DEFINITIONS = st.lists(
    st.tuples(WORD.filter(lambda w: w.isidentifier()), st.booleans()), min_size=1, max_size=6,
    unique_by=lambda pair: pair[0],
)  # fmt: skip
NOISE = st.sampled_from(
    [
        "",
        "# a comment",
        "x_y_z = 1",
        "import os",
        '"""text\nof two lines"""',
        "if True:\n    pass",
        "\t",
    ]
)


def _source(definitions: list[tuple[str, bool]], noise: list[str]) -> str:
    lines = []
    for number, (name, is_class) in enumerate(definitions):
        lines += noise[number : number + 2]
        head = f"class {name}:\n    def run(self):" if is_class else f"def {name}(a, b=1):"
        lines.append(f"{head}\n{'        ' if is_class else '    '}return {number}")
    return "\n".join(lines) + "\n"


KEYWORDS = frozenset(
    """False None True and as assert async await break class continue def del elif else except finally
    for from global if import in is lambda nonlocal not or pass raise return try while with yield
    x_y_z os""".split()
)


@settings(deadline=None)
@given(
    DEFINITIONS.filter(lambda found: not KEYWORDS & {name for name, _ in found}),
    st.lists(NOISE, max_size=8), st.lists(NOISE, max_size=8), st.randoms(),
)  # fmt: skip
def test_edits_that_keep_name_and_path_keep_the_uid(definitions, before, after, random) -> None:
    first = _symbols(_source(definitions, before))
    moved = list(definitions)
    random.shuffle(moved)
    assert _symbols(_source(moved, after)) == first
    assert not any(re.search(r":\d+$", uid) for uid in first)


def _symbols(source: str) -> set[str]:
    kinds = {"class", "function", "method"}
    return {node.uid for node in extract("pkg/m.py", source).nodes if node.kind in kinds}
