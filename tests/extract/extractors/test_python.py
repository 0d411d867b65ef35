"""Python: exact uids and edges, what is one node, and files that are strange or broken."""

from __future__ import annotations

import gc
import textwrap
import warnings

import pytest

from tests.extract.extractors.reading import extract, tree
from vault_kg.extract.protocol import ExtractorError

SAMPLE = '''
"""A module.

More of it.
"""
import os
from .store import Repo as Store

LIMIT = 3


class Service(Store):
    """Serves."""

    name: str = "x"

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def limit(self) -> int:
        return LIMIT

    @limit.setter
    def limit(self, value: int) -> None:
        self.store.put(value)

    def run(self):
        return helper(self.limit)


def helper(value, *, twice=False):
    """Help.

    At length."""
    def inner():
        return os.getcwd()

    return inner()
'''


INIT = "def __init__(self, store: Store) -> None"


def test_uids_lines_signatures_and_summaries() -> None:
    found = extract("pkg/service.py", SAMPLE.lstrip("\n"))
    assert [(n.uid, n.start_line, n.end_line, n.signature, n.summary) for n in found.nodes] == [
        ("code:file:pkg/service.py", 1, 38, "", "A module."),
        ("code:variable:pkg/service.py::LIMIT", 8, 8, "LIMIT = 3", ""),
        ("code:class:pkg/service.py::Service", 11, 28, "class Service(Store)", "Serves."),
        ("code:variable:pkg/service.py::Service.name", 14, 14, 'name: str = "x"', ""),
        (
            "code:method:pkg/service.py::Service.__init__",
            16,
            17,
            "def __init__(self, store: Store) -> None",
            "",
        ),
        ("code:method:pkg/service.py::Service.limit", 19, 21, "def limit(self) -> int", ""),
        ("code:method:pkg/service.py::Service.run", 27, 28, "def run(self)", ""),
        (
            "code:function:pkg/service.py::helper",
            31,
            38,
            "def helper(value, *, twice=False)",
            "Help.",
        ),
        ("code:function:pkg/service.py::helper.inner", 35, 36, "def inner()", ""),
    ]
    limit = found.nodes[5]
    assert limit.other_spans == ((23, 25),)
    assert limit.roles == ("property",)


def test_edges_within_and_across_files() -> None:
    store = "class Repo:\n    def put(self, value): ...\n"
    found = tree({"pkg/__init__.py": "", "pkg/service.py": SAMPLE, "pkg/store.py": store})
    assert found.said() == {
        "pkg/service.py::Service inherits pkg/store.py::Repo 0.9",
        "pkg/service.py::Service.__init__ has_type pkg/store.py::Repo 0.9",
        "pkg/service.py::Service.limit calls pkg/store.py::Repo.put 0.8",
        "pkg/service.py::Service.limit reads pkg/service.py::LIMIT 1",
        "pkg/service.py::Service.run calls pkg/service.py::helper 1",
        "pkg/service.py::Service.run dispatches pkg/service.py::Service.limit 0.9",
        "pkg/service.py::helper calls pkg/service.py::helper.inner 1",
        "pkg/service.py::helper.inner calls os:getcwd 0.9",
    }
    assert found.imports() == {
        "pkg/service.py -> os",
        "pkg/service.py -> pkg/store.py",
        "pkg/service.py -> pkg/store.py::Repo",
    }
    contained = {(e.source, e.target) for e in found.edges if e.kind == "contains"}
    assert (
        "code:class:pkg/service.py::Service",
        "code:method:pkg/service.py::Service.run",
    ) in contained
    assert (
        "code:function:pkg/service.py::helper",
        "code:function:pkg/service.py::helper.inner",
    ) in contained


def test_extracting_twice_gives_the_same() -> None:
    assert extract("a.py", SAMPLE) == extract("a.py", SAMPLE)


def test_definitions_of_one_name_are_one_node_with_several_spans() -> None:
    source = """
        from typing import overload
        import sys

        @overload
        def f(x: int) -> int: ...
        @overload
        def f(x: str) -> str: ...
        def f(x):
            \"\"\"Return it.\"\"\"
            return g()

        if sys.platform == "win32":
            def g(): return 1
        else:
            def g(): return 2
    """
    found = extract("a.py", textwrap.dedent(source).lstrip())
    nodes = {node.label: node for node in found.nodes}
    assert len(found.nodes) == 3
    assert (nodes["f"].start_line, nodes["f"].other_spans) == (4, ((6, 7), (8, 10)))
    assert nodes["f"].summary == "Return it."
    assert (nodes["g"].start_line, nodes["g"].other_spans) == (13, ((15, 15),))
    assert [e.target for e in found.edges if e.kind == "calls"] == ["code:function:a.py::g"]


def test_a_function_and_a_class_of_one_name_are_two_nodes() -> None:
    found = extract("a.py", "def X(): pass\nclass X: pass\n")
    assert {n.uid for n in found.nodes[1:]} == {"code:function:a.py::X", "code:class:a.py::X"}


def test_roles_of_tests_entry_points_and_contracts() -> None:
    source = """
        @app.get("/users/{id}")
        def users(): ...
        @bp.route("/x", methods=["GET", "POST"])
        def x(): ...
        @click.command("make-it")
        def make(): ...
        @cli.command()
        def list_all(): ...
        @mcp.tool()
        def search(): ...
        @server.resource("data://x")
        def data(): ...
        @receiver(post_save)
        def saved(): ...
        @scheduler.scheduled_job("cron")
        def nightly(): ...
        @something.get("not a route")
        def plain(): ...
        @lru_cache
        def cached(): ...
        def main(): ...
        class Shape:
            @abstractmethod
            def area(self): ...
            @staticmethod
            def make(): ...
        if __name__ == "__main__":
            main()
    """
    found = extract("a.py", textwrap.dedent(source))
    told = {n.label: (n.roles, dict(n.detail)) for n in found.nodes}
    http = ("entry:http", "contract:http")
    assert told["users"] == (http, {"route": "GET /users/{id}"})
    assert told["x"] == (http, {"route": "GET|POST /x"})
    assert told["make"] == (("static",), {})
    assert told["list_all"] == (("entry:cli",), {"command": "list-all"})
    assert told["search"] == (("contract:mcp_tool",), {"tool": "search"})
    assert told["data"] == (("contract:mcp_resource",), {"resource": "data://x"})
    assert told["saved"] == (("contract:event",), {"event": "post_save"})
    assert told["nightly"] == (("entry:cron",), {"schedule": "cron"})
    assert told["plain"] == told["cached"] == ((), {})
    assert told["main"] == (("entry:main",), {})
    assert told["area"] == (("abstract",), {})
    assert told["a.py"][0] == ("entry:main",)
    command = next(n for n in found.nodes if n.uid == "code:function:a.py::make")
    assert (command.roles, command.detail) == (("entry:cli",), (("command", "make-it"),))


def test_tests_lead_to_what_they_test() -> None:
    found = tree(
        {
            "src/calc.py": "def add(a, b): return a\nclass Sum:\n    def of(self): return add(1, 2)\n",
            "tests/test_calc.py": """
                from calc import Sum, add
                def check(value): return add(value, 1)
                def test_add():
                    assert check(1) and Sum().of()
            """,
        }
    )
    assert {line for line in found.said() if "tested_by" in line} == {
        "tests/test_calc.py::check tested_by src/calc.py::add 0.9",
        "tests/test_calc.py::test_add tested_by src/calc.py::Sum 0.9",
        "tests/test_calc.py::test_add tested_by src/calc.py::Sum.of 0.9",
    }
    nodes = found.nodes()
    assert nodes["code:function:tests/test_calc.py::test_add"].roles == ("test",)
    assert nodes["code:file:tests/test_calc.py"].roles == ("test",)
    assert nodes["code:function:tests/test_calc.py::check"].roles == ()


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"\xef\xbb\xbfdef f(): pass\n", ["f"]),
        ("# -*- coding: latin-1 -*-\ndef f\xe9(): 'caf\xe9'\n".encode("latin-1"), ["f\xe9"]),
        (b"def f():\r\n    return 1\r\ndef g():\r\n    return f()\r\n", ["f", "g"]),
        (b"class C:\n\tdef m(self):\n\t\treturn 1\n", ["C", "m"]),
        (b"\x0cdef f(): pass\n\x0cdef g(): pass\n", ["f", "g"]),
        (b"", []),
        (b"# only a comment", []),
        ("def \u540d\u524d(): pass\n".encode(), ["\u540d\u524d"]),
        (b"def f(): return '\\d'\n", ["f"]),
    ],
    ids="bom latin-1 crlf tabs form-feed empty comment unicode escape".split(),
)
def test_encodings_and_line_ends(content: bytes, names: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = extract("a.py", content)
    assert [node.label for node in found.nodes[1:]] == names


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"def f(:\n", "line 1"),
        (b"x = 1\n  y = 2\n", "line 2"),
        (b"def f():\n    pass\n\0", "null"),
        ("caf\xe9 = 1".encode("latin-1"), "utf-8"),
        (b"# coding: no-such-thing\n", "no-such-thing"),
        (b"x = " + b"(" * 5_000 + b")" * 5_000, "nested"),
        (b"print 'two'\n", "line 1"),
    ],
    ids="syntax indent null undeclared unknown-cookie parentheses python2".split(),
)
def test_what_cannot_be_parsed_says_why(content: bytes, said: str) -> None:
    with pytest.raises(ExtractorError, match=f"(?i){said}"):
        extract("a.py", content)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + " + ".join(["f()"] * 900),
        "x = f()" + ".g()" * 900,
        "x = a" + "[0]" * 900,
        "if a: pass\n" + "elif f(): pass\n" * 900,
        "x = " + "lambda: " * 90 + "f()",
        "x = " + "[" * 90 + "f()" + "]" * 90,
        "x = " + "not " * 900 + "f()",
        "\n".join("    " * n + f"def f{n}():" for n in range(90)) + " pass",
        "\n".join("    " * n + f"class C{n}:" for n in range(90)) + " pass",
        "\n".join(" " * n + "if f():" for n in range(90)) + " pass",
        "x: " + "A[" * 90 + "B" + "]" * 90,
    ],
)
def test_depth_is_no_recursion(source: str) -> None:
    try:
        found = extract("a.py", "def f(): pass\n" + source + "\n")
    except ExtractorError as error:
        assert "deep" in str(error)  # Python's own parser refused it
    else:
        assert found.nodes


def test_ten_thousand_functions_and_two_megabytes() -> None:
    many = "".join(f"def f{n}():\n    return f{n - 1}()\n" for n in range(10_000))
    found = extract("a.py", many)
    assert len(found.nodes) == 10_001
    assert sum(edge.kind == "calls" for edge in found.edges) == 9_999
    large = "DATA = [\n" + "    'some text that is data',\n" * 80_000 + "]\ndef f(): return DATA\n"
    assert len(large) > 2_000_000
    assert [node.label for node in extract("b.py", large).nodes] == ["b.py", "DATA", "f"]


def test_no_uid_holds_a_line_number() -> None:
    before = {node.uid for node in extract("a.py", SAMPLE).nodes}
    after = {
        node.uid for node in extract("a.py", "\n\n\n" + SAMPLE.replace("\n\n", "\n\n\n")).nodes
    }
    assert before == after


def test_a_recursive_call_is_no_loop_in_the_graph() -> None:
    found = extract("a.py", "def f(n):\n    return f(n - 1)\n")
    assert not [edge for edge in found.edges if edge.source == edge.target]


def test_a_name_that_is_bound_again_means_at_each_line_what_it_was_bound_to() -> None:
    source = """
        class One:
            def go(self): ...

        class Two:
            def go(self): ...

        def run(items):
            made = One()
            made.go()
            made.go()
            made = Two()
            made.go()
            [made.go() for _ in items]
    """
    assert tree({"a.py": source}).said() >= {
        "a.py::run calls a.py::One.go 0.9",
        "a.py::run calls a.py::Two.go 0.9",
    }


def test_an_edge_has_the_line_of_the_first_of_many_uses() -> None:
    source = "def f(): ...\n\n\ndef g():\n    f()\n    f()\n    f()\n    os.one()\n    os.one()\n"
    found = extract("a.py", f"import os\n{source}")
    assert [(e.line, e.kind) for e in found.edges if e.kind == "calls"] == [(6, "calls")]
    assert [(r.line, r.name) for r in found.references if r.kind == "calls"] == [(9, "one")]


def test_what_was_made_to_read_a_file_is_freed_without_the_collector() -> None:
    extract("a.py", SAMPLE)
    gc.collect()
    gc.disable()
    try:
        extract("a.py", SAMPLE)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("content", [b"#\x80", b"x = 1\n#\x80"])
def test_a_last_comment_that_is_not_utf_8_is_no_error(content: bytes) -> None:
    assert extract("a.py", content).nodes[0].uid == "code:file:a.py"
