"""Each tree-sitter language by representative files: every node and every edge that they give.

`samples/<language>.txt` says them; run this module as a script to write them again, and read the
difference before it is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extract.extractors.reading import Tree, extract, tree
from vault_kg.extract import uids
from vault_kg.extract.protocol import ExtractorError

SAMPLES = Path(__file__).parent / "samples"
LANGUAGES = sorted(folder.name for folder in SAMPLES.iterdir() if folder.is_dir())


def read(language: str) -> Tree:
    folder = SAMPLES / language
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tree({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def told(found: Tree) -> str:
    """Return the nodes and edges of a language's samples as text, a line for each."""
    lines = []
    for node in found.nodes().values():
        words = [f"{node.uid} {node.start_line}-{node.end_line}", node.signature]
        words += [f"roles: {' '.join(node.roles)}"] if node.roles else []
        words += [f"{name}: {value}" for name, value in node.detail]
        words += [f"says: {node.summary}"] if node.summary else []
        lines.append(" | ".join(filter(None, words)))
    edges = {
        f"{e.source} {e.kind} {e.target} {e.confidence:g} ({', '.join(s.name for s in e.signals)})"
        for e in found.edges
        if e.kind != "contains"
    }
    return "\n".join([*lines, "", *sorted(edges), ""])


@pytest.mark.parametrize("language", LANGUAGES)
def test_nodes_and_edges_are_exactly_these(language: str) -> None:
    assert told(read(language)) == (SAMPLES / f"{language}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_node_is_contained_once_and_every_uid_is_well_formed(language: str) -> None:
    found = read(language)
    nodes = found.nodes()
    contained = [edge.target for edge in found.edges if edge.kind == "contains"]
    assert len(contained) == len(set(contained))
    assert set(contained) == {uid for uid, node in nodes.items() if node.kind != "file"}
    assert all(uids.is_well_formed(uid) for uid in nodes)
    assert all(edge.source in nodes for edge in found.edges)
    assert all(edge.signals and 0.1 <= edge.confidence <= 1 for edge in found.edges)


SUFFIXES = "js jsx mjs ts tsx go rs java c h cpp hpp".split()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_strange_bytes_are_read_as_far_as_they_go(suffix: str) -> None:
    for content in (b"", b"\xef\xbb\xbf", b"\xff\xfe(", b"}}}}((((", b"a\r\nb\r\n", b"\t" * 50):
        assert extract(f"a.{suffix}", content).nodes[0].uid == f"code:file:a.{suffix}"
    with pytest.raises(ExtractorError, match="line 2: a null byte"):
        extract(f"a.{suffix}", b"x\n\0")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_error_is_told_and_the_rest_is_kept(suffix: str) -> None:
    source = {
        "go": "package p\nfunc good() {}\nfunc (\n",
        "rs": "fn good() {}\nfn (\n",
        "java": "class G { void good() {} }\nclass {{\n",
        **dict.fromkeys(("c", "h", "cpp", "hpp"), "void good(void) {}\nint (((;\n"),
    }.get(suffix, "function good() {}\nfunction (((\n")
    found = extract(f"a.{suffix}", source)
    assert any(node.label == "good" for node in found.nodes)
    assert len(found.errors) == 1 and found.errors[0].startswith("line ")


DEEP = {
    "js": "x = " + "(" * 3000 + "f()" + ")" * 3000 + ";\n" + "a" + ".b()" * 3000 + ";\n",
    "ts": "if (a) {" * 1500 + "f();" + "}" * 1500,
    "go": "package p\nfunc f() {" + "if a {" * 1500 + "f()" + "}" * 1500 + "}\n",
    "rs": "fn f() {" + "{" * 3000 + "f();" + "}" * 3000 + "}\n",
    "java": "class A { int x = " + "(" * 3000 + "1" + ")" * 3000 + "; }\n",
    "c": "int x = " + "-" * 3000 + "1;\nint f(void) { return " + "1+" * 3000 + "g(); }\n",
    "cpp": "namespace a {" * 300 + "int f() { return 1; }" + "}" * 300,
}


@pytest.mark.parametrize("suffix", DEEP)
def test_depth_is_no_recursion(suffix: str) -> None:
    assert extract(f"a.{suffix}", DEEP[suffix]).nodes


@pytest.mark.parametrize(
    ("suffix", "line"),
    [
        ("js", "function f{0}() {{ f{1}(); }}"),
        ("go", "func f{0}() {{ f{1}() }}"),
        ("c", "int f{0}(void) {{ f{1}(); }}"),
    ],
)
def test_many_functions(suffix: str, line: str) -> None:
    head = "package p\n" if suffix == "go" else ""
    source = head + "\n".join(line.format(n, n - 1) for n in range(2_000))
    found = extract(f"a.{suffix}", source)
    assert len(found.nodes) == 2_001
    assert sum(edge.kind == "calls" for edge in found.edges) == 1_999


if __name__ == "__main__":
    for name in LANGUAGES:
        (SAMPLES / f"{name}.txt").write_text(told(read(name)), encoding="utf-8")
