"""Resolution: exactly one symbol, or a stub with little confidence, or nothing."""

from __future__ import annotations

import pytest

from tests.extract.extractors.reading import extract, tree
from vault_kg.extract import uids
from vault_kg.extract.lineage import merged
from vault_kg.extract.model import Reference
from vault_kg.extract.modules.spelling import absolute
from vault_kg.extract.resolve import Resolver, resolve, stub
from vault_kg.extract.symbols import SymbolTable


@pytest.mark.parametrize(
    ("module", "source", "name"),
    [
        ("os.path", "a/b.py", "os.path"), (".util", "pkg/sub/a.py", "pkg.sub.util"),
        ("..util", "pkg/sub/a.py", "pkg.util"), ("..", "pkg/sub/a.py", "pkg"), (".", "pkg/a.go", "pkg"),
        ("./util", "src/a.ts", "src/util"), ("../util", "src/x/a.ts", "src/util"), (".x", "a.py", "x"),
        ("../x", "a.ts", "../x"), ("...x", "a.py", "...x"), (".", "a.py", "."),
    ],
)  # fmt: skip
def test_stubs_name_a_module_alike_from_everywhere(module: str, source: str, name: str) -> None:
    assert absolute(module, source) == name


def test_a_missing_relative_module_is_one_stub() -> None:
    found = tree(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from .gone import f\ndef x(): f()\n",
            "pkg/b/__init__.py": "from ..gone import f\ndef y(): f()\n",
        }
    )
    assert found.said() == {
        "pkg/a.py::x calls pkg.gone:f 0.2",
        "pkg/b/__init__.py::y calls pkg.gone:f 0.2",
    }
    assert {line.partition(" -> ")[2] for line in found.imports()} == {"pkg.gone", "pkg.gone:f"}


def test_two_modules_of_one_name_are_not_chosen_between() -> None:
    found = tree(
        {
            "one/util.py": "def f(): pass\n",
            "two/util.py": "def f(): pass\n",
            "app/main.py": "from util import f\ndef run(): f()\n",
        }
    )
    assert found.said() == {"app/main.py::run calls util:f 0.2"}


def test_the_module_beside_a_script_is_meant_before_others() -> None:
    found = tree(
        {
            "one/util.py": "def f(): pass\n",
            "two/util.py": "def f(): pass\n",
            "two/main.py": "from util import f\nf()\n",
        }
    )
    assert found.said() == {"two/main.py calls two/util.py::f 0.9"}


def test_a_module_inside_a_package_is_no_root() -> None:
    found = tree(
        {
            "pkg/__init__.py": "",
            "pkg/logging.py": "def getLogger(): pass\n",
            "pkg/helpers.py": "def tidy(): pass\n",
            "pkg/main.py": "import logging\nimport helpers\nlogging.getLogger()\nhelpers.tidy()\n",
        }
    )
    assert found.said() == {
        "pkg/main.py calls logging:getLogger 0.9",
        "pkg/main.py calls helpers:tidy 0.9",
    }


def test_packages_with_and_without_init_and_under_src() -> None:
    found = tree(
        {
            "src/app/__init__.py": "from .core import run as start\n",
            "src/app/core.py": "def run(): pass\n",
            "src/plain/deep/mod.py": "def go(): pass\n",
            "scripts/all.py": """
                import app
                import app.core
                import plain.deep.mod as m
                from plain.deep import mod
                app.start()
                app.core.run()
                def a(): m.go()
                def b(): mod.go()
            """,
        }
    )
    assert found.said() == {
        "scripts/all.py calls src/app/core.py::run 0.9",
        "scripts/all.py::a calls src/plain/deep/mod.py::go 0.9",
        "scripts/all.py::b calls src/plain/deep/mod.py::go 0.9",
    }


def test_re_exports_through_several_files_and_stars() -> None:
    found = tree(
        {
            "p/__init__.py": "from .a import *\nfrom .b import thing as other\n",
            "p/a.py": "from .c import deep\n",
            "p/b.py": "from .c import thing\n",
            "p/c.py": "def deep(): pass\ndef thing(): pass\n",
            "use.py": "from p import deep, other\ndeep()\nother()\n",
        }
    )
    assert found.said() == {"use.py calls p/c.py::deep 0.9", "use.py calls p/c.py::thing 0.9"}


def test_cycles_of_imports_and_bases_end() -> None:
    found = tree(
        {
            "a.py": "from b import x\nfrom b import B\nclass A(B): pass\nx()\nA().run()\n",
            "b.py": "from a import x\nfrom a import A\nclass B(A):\n    def go(self): self.stop()\n",
            "c.py": "class C:\n    def f(self):\n        self.x = self.x.y\n        self.x.z()\n",
        }
    )
    assert all(edge.confidence >= 0.1 for edge in found.edges)
    assert "a.py::A inherits b.py::B 0.9" in found.said()


def test_members_are_searched_in_the_order_of_python() -> None:
    found = tree(
        {
            "a.py": """
                class A:
                    def m(self): pass
                    def only(self): return self
                class B(A): pass
                class C(A):
                    def m(self): pass
                class D(B, C):
                    def n(self):
                        super().m()
                        self.only().n()
                        self.m()
                def f(d: D): d.only().m()
            """,
            "b.py": """
                from threading import Thread
                from a import A
                class Run(Thread, A):
                    def go(self):
                        self.m()
                        self.join_up()
            """,
        }
    )
    assert {line for line in found.said() if " calls " in line} == {
        "a.py::D.n calls a.py::C.m 0.8",
        "a.py::D.n calls a.py::A.only 0.8",
        "a.py::f calls a.py::A.only 0.8",
        "a.py::f calls a.py::C.m 0.7",
        "b.py::Run.go calls a.py::A.m 0.8",
        "b.py::Run.go calls threading:Thread.join_up 0.8",
    }


def test_classes_without_an_order_and_classes_that_lead_back_to_themselves() -> None:
    source = """
        class A(B): pass
        class B(A):
            def m(self): self.x()
        class C: pass
        class D(C): pass
        class E(C, D):
            def n(self): self.q()
    """
    assert tree({"a.py": source}).edges
    assert merged("E", [["C"], ["D", "C"]]) == ["E", "C", "D"]
    assert merged("X", [["A", "B"], ["B", "A"]]) == ["X", "A", "B"]
    assert merged("D", [["B", "A"], ["C", "A"]]) == ["D", "B", "C", "A"]
    assert merged("D", []) == ["D"]


def test_what_replaces_a_name_for_good_is_what_it_means() -> None:
    found = tree(
        {
            "a.py": """
                from b import f, g, h
                def f(): pass
                if g:
                    def g(): pass
                def h(): pass
                h = wrap(h)
                class C:
                    def m(self): pass
                    def __init__(self): self.m = g
                    def n(self): self.m()
                def use():
                    f()
                    g()
                def wrap(x): return x
            """,
            "b.py": "def f(): pass\ndef g(): pass\ndef h(): pass\n",
        }
    )
    said = {line for line in found.said() if line.startswith(("a.py::use", "a.py::C.n"))}
    assert said == {
        "a.py::use calls a.py::f 1",
        "a.py::use calls a.py::g 0.5",
        "a.py::use calls b.py::g 0.5",
        "a.py::C.n calls a.py::C.m 0.6",
    }


def test_an_unknown_receiver_is_only_possible_and_only_if_one_method_fits() -> None:
    one = {
        "a.py": "class A:\n    def special(self): pass\n",
        "b.py": "def f(x): x.special(); x.append(1)\n",
    }
    assert tree(one).said() == {"b.py::f calls a.py::A.special 0.3"}
    two = {**one, "c.py": "class C:\n    def special(self): pass\n"}
    assert tree(two).said() == set()


def test_a_method_of_a_dictionary_is_not_taken_for_one_of_the_tree() -> None:
    found = tree(
        {
            "a.py": "class A:\n    def update(self): pass\n",
            "b.py": """
                class B:
                    def __init__(self): self.known = {}
                    def add(self, other): self.known.update(other.update())
            """,
        }
    )
    assert not [line for line in found.said() if "A.update" in line]


def test_names_that_nothing_explains_are_stubs_of_little_confidence() -> None:
    found = tree(
        {
            "a.py": "import b\nfrom c import gone\nnowhere()\nb.lost()\ngone()\n",
            "b.py": "",
            "c.py": "",
        }
    )
    assert found.said() == {
        "a.py calls :nowhere 0.2",
        "a.py calls b:lost 0.2",
        "a.py calls c:gone 0.2",
    }


def test_references_can_be_resolved_again_as_the_tree_changes() -> None:
    main = extract("main.py", "from lib import f\nf()\n")
    table = SymbolTable()
    table.add("main.py", main)
    before = {e.target for e in resolve(main.references, table, "python")}
    assert before == {"code:module:lib", "code:external:lib:f"}
    table.add("lib.py", extract("lib.py", "def f(): pass\n"))
    after = {e.target for e in Resolver(table).edges(main.references, "python")}
    assert after == {"code:file:lib.py", "code:function:lib.py::f"}


def test_edges_are_unique_and_keep_the_surest_reason() -> None:
    reference = Reference(uids.file("a.py"), "calls", "f", "b")
    table = SymbolTable()
    table.add("b.py", extract("b.py", "def f(): pass\n"))
    found = resolve([reference, reference._replace(line=3), reference], table, "python")
    assert len(found) == 1


@pytest.mark.parametrize(
    ("uid", "kind", "label"),
    [
        ("code:external:requests:Session.get", "external", "get"),
        ("code:external::nowhere", "external", "nowhere"),
        ("code:module:os.path", "module", "os.path"),
    ],
)
def test_stubs(uid: str, kind: str, label: str) -> None:
    node = stub(uid)
    assert node is not None
    assert (node.kind, node.label, node.path, node.roles) == (kind, label, None, ("stub",))
    assert stub("no uid") is None


def test_strings_and_configuration_that_name_a_symbol() -> None:
    found = tree(
        {
            "pkg/__init__.py": "",
            "pkg/cli.py": "def main(): pass\ndef other(): load('pkg.cli.main')\ndef load(x): pass\n",
            "pyproject.toml": '[project.scripts]\nrun = "pkg.cli:main"\n',
            "conf/app.yaml": "handler: pkg.cli.other\nfile: ../pkg/cli.py\nversion: 1.2.3\n",
            "package.json": '{"main": "pkg/cli.py"}',
        }
    )
    assert found.said() == {
        "pkg/cli.py::other references pkg/cli.py::main 0.5",
        "pkg/cli.py::other calls pkg/cli.py::load 1",
        "config:pyproject.toml::project.scripts.run references pkg/cli.py::main 0.8",
        "config:conf/app.yaml::handler references pkg/cli.py::other 0.5",
        "config:conf/app.yaml::file references pkg/cli.py 0.5",
        "config:package.json::main references pkg/cli.py 0.5",
    }
    command = found.nodes()["config:pyproject.toml::project.scripts.run"]
    assert (command.roles, command.detail) == (("entry:cli",), (("command", "run"),))
