"""Markdown and configuration: outlines, keys, links, and what no parser reads."""

from __future__ import annotations

import pytest

from tests.extract.extractors.reading import extract, tree
from vault_kg.extract.extractors.config import keys
from vault_kg.extract.protocol import ExtractorError

NOTE = """---
title: A note
---
Opening words,
on two lines.

# The note

## See also

```sh
# not a heading, and [[no link]]
```

Setext
------

## See also

- in `pkg/mod.py::Class.method` and ``[[x]]``
- > # quoted

[file](other.md#The-end), [[other#The end|shown]], [code](../pkg/mod.py), [gone](no.md), [web](https://x.y/z.md)
"""


def test_an_outline_knows_fences_setext_and_repeated_headings() -> None:
    found = extract("docs/note.md", NOTE)
    assert [(n.uid, n.label, n.start_line, n.end_line) for n in found.nodes] == [
        ("doc:file:docs/note.md", "note.md", 1, 24),
        ("doc:heading:docs/note.md#the-note:1", "The note", 7, 24),
        ("doc:heading:docs/note.md#see-also:2", "See also", 9, 14),
        ("doc:heading:docs/note.md#setext:2", "Setext", 15, 17),
        ("doc:heading:docs/note.md#see-also:2:2", "See also", 18, 24),
    ]
    assert found.nodes[0].summary == "Opening words, on two lines."
    assert {(e.source, e.target) for e in found.edges} == {
        ("doc:file:docs/note.md", "doc:heading:docs/note.md#the-note:1"),
        ("doc:heading:docs/note.md#the-note:1", "doc:heading:docs/note.md#see-also:2"),
        ("doc:heading:docs/note.md#the-note:1", "doc:heading:docs/note.md#setext:2"),
        ("doc:heading:docs/note.md#the-note:1", "doc:heading:docs/note.md#see-also:2:2"),
    }


def test_links_lead_to_documents_headings_and_code() -> None:
    found = tree(
        {
            "docs/note.md": NOTE,
            "docs/other.md": "# Other\n\n### The end\n",
            "pkg/mod.py": "class Class:\n    def method(self): pass\n",
        }
    )
    assert found.said() == {
        "docs/note.md#see-also:2:2 references pkg/mod.py::Class.method 0.5",
        "docs/note.md#see-also:2:2 links_to docs/other.md#the-end:3 1",
        "docs/note.md#see-also:2:2 links_to pkg/mod.py 1",
    }


def test_a_wikilink_finds_the_only_file_of_its_name() -> None:
    found = tree(
        {"a/x.md": "[[y]] [[z]] [[#Here]]\n# Here\n", "b/y.md": "", "b/z.md": "", "c/z.md": ""}
    )
    assert found.said() == {"a/x.md links_to b/y.md 1", "a/x.md links_to a/x.md#here:1 1"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf# T\n",
        b"# T\r\n\r\ntext\r\n",
        b"---\nnever: closed\n# T\n",
        b"# T\n\xff\xfe bad\n",
    ],
    ids="empty bom crlf unclosed latin-1".split(),
)
def test_documents_that_are_strange_are_read_all_the_same(content: bytes) -> None:
    found = extract("a.md", content)
    assert found.nodes[0].uid == "doc:file:a.md"
    assert [n.label for n in found.nodes[1:]] == ["T"] * (b"T" in content)


def test_keys_of_toml_with_lines_dots_quotes_and_lists() -> None:
    source = """
[tool.x]
a = 1
"b.c" = '''
[not.a.table]
k = 2
'''
d.e = {f = "g", h = [1,
  2]}

[[item]]
name = "one"
[[item]]
name = "two"
[item.sub]
z = true
"""
    found = extract("conf.toml", source)
    assert [(n.uid.partition("::")[2], n.start_line, n.end_line) for n in found.nodes[1:]] == [
        ("tool", 2, 10),
        ("tool.x", 2, 10),
        ("tool.x.a", 3, 3),
        ('tool.x."b.c"', 4, 7),
        ("tool.x.d", 8, 9),
        ("tool.x.d.e", 8, 9),
        ("tool.x.d.e.f", 8, 8),
        ("tool.x.d.e.h", 8, 8),
        ("item[]", 11, 12),
        ("item[].name", 12, 12),
        ("item[].sub", 15, 16),
        ("item[].sub.z", 16, 16),
    ]
    names = {n.uid.partition("::")[2]: n for n in found.nodes[1:]}
    assert names["item[]"].other_spans == ((13, 14),)
    assert names["item[].name"].label == "name"


def test_keys_of_yaml_and_json_are_the_same_keys() -> None:
    yaml = "a:\n  b: &x\n    c: 1\n  d: *x\nlist:\n  - k: v\n  - k: w\n    m: 1\n---\ne: 2\n"
    json = '{\n// comment\n"a": {"b": {"c": 1}, "d": {}},\n"list": [{"k": "v"}, {"k": "w", "m": 1},],\n'
    json += '"e": 2}\n'
    names = [
        {n.uid.partition("::")[2] for n in extract(path, source).nodes[1:]}
        for path, source in (("a.yaml", yaml), ("a.json", json))
    ]
    assert names[0] == names[1]
    assert names[0] == {"a", "a.b", "a.b.c", "a.d", "list[]", "list[].k", "list[].m", "e"}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.toml", b"a = \n"), ("a.toml", b"a = 1\na = 2\n"), ("a.yaml", b"a: [\n"),
        ("a.yaml", b"a: b: c\n"),
        ("a.json", b'{"a": '), ("a.json", b"{]"), ("a.json", b""), ("a.json", b'{"a" 1}}'),
        ("a.yaml", b"a: \0"), ("a.json", b"\0"),
    ],
)  # fmt: skip
def test_configuration_that_is_broken_says_so(path: str, content: bytes) -> None:
    with pytest.raises(ExtractorError):
        extract(path, content)


def test_deep_and_large_configuration_is_bounded() -> None:
    deep = '{"a": ' * 3_000 + "1" + "}" * 3_000
    assert len(extract("a.json", deep).nodes) == keys.MAX_DEPTH + 1
    many = "{" + ", ".join(f'"k{n}": {n}' for n in range(20_000)) + "}"
    assert len(extract("a.json", many).nodes) == keys.MAX_KEYS + 1
    aliases = "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(50))
    assert len(extract("a.yaml", aliases).nodes) == 52
    for path, source in (
        ("a.yaml", "- " * 4_000 + "x"),
        ("a.toml", "a = " + "[" * 4_000 + "]" * 4_000),
    ):
        try:
            extract(path, source)
        except ExtractorError as error:
            assert str(error)
