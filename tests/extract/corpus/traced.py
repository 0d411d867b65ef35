"""Real code with labels that nobody wrote: what the standard library's functions call when they run.

A workload runs under a profiler, which notes for each line the functions that it calls. An edge from
that line to a function of the same name is right if it is one of them.
"""

from __future__ import annotations

import argparse
import ast
import configparser
import contextlib
import difflib
import email
import email.message
import fractions
import html.parser
import io
import json
import pprint
import shlex
import string
import sys
import textwrap
import tokenize
import urllib.parse
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from vault_kg.extract import uids
from vault_kg.extract.extractors.python.extractor import PythonExtractor
from vault_kg.extract.model import Edge
from vault_kg.extract.resolve import Resolver
from vault_kg.extract.symbols import SymbolTable

LIBRARY = Path(json.__file__).parents[1]
Truth = dict[tuple[str, int], set[tuple[str, str]]]


def workload() -> None:
    """Call what is quick, pure Python, and different in style."""
    import json.decoder
    import json.encoder

    with contextlib.suppress(TypeError):
        json.encoder.JSONEncoder(indent=2).encode({"a": [1, {"b": None}], "c": object()})
    json.loads('{"a": [1, 2.5, "x\\u00e9"]}')
    parser = argparse.ArgumentParser(prog="p", description="d " * 40, epilog="e")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-a", "--alpha", type=int, default=1, help="alpha")
    group.add_argument("-b", action="store_true")
    inner = parser.add_subparsers(dest="command")
    inner.add_parser("run", help="runs").add_argument("name", nargs="*", choices=["x", "y"])
    parser.parse_args(["-a", "3", "run", "x"])
    parser.format_help()
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        parser.parse_args(["--unknown"])
    config = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    config.read_string("[a]\nx = 1\ny = ${x}2\n[b]\nz = ${a:y}\nlist =\n  one\n  two\n")
    config.get("b", "z")
    config.getint("a", "x")
    config.write(io.StringIO())
    list(difflib.unified_diff(["a\n", "b\n", "c\n"], ["a\n", "x\n", "c\n"]))
    difflib.HtmlDiff().make_file(["a", "b"], ["a", "c"])
    list(difflib.ndiff(["one\n", "two\n"], ["ore\n", "tree\n"]))
    message = email.message_from_string(
        "From: a@b.c\nTo: d@e.f, G <h@i.j>\nSubject: =?utf-8?q?x?=\nContent-Type: text/plain\n\nhi\n"
    )
    message.as_string()
    modern = email.message.EmailMessage()
    modern["Subject"] = "héllo"
    modern["To"] = "A <a@b.c>"
    modern.set_content("text")
    modern.add_alternative("<b>x</b>", subtype="html")
    modern.as_bytes()
    fractions.Fraction("3/4") + fractions.Fraction(1, 3) * 2
    html.parser.HTMLParser().feed("<a href='x'>b &amp; c</a><!-- d --><br/>")
    pprint.pformat({"a": [list(range(30)), ("x",) * 20], "b": {1, 2}, "c": "word " * 40}, width=40)
    shlex.split("a 'b c' \"d\" e\\ f # g", comments=True)
    string.Template("$a ${b} $$").substitute(a=1, b=2)
    string.Formatter().format("{0[a]} {b:>{w}}", {"a": 1}, b=2, w=5)
    textwrap.fill("some words " * 30, width=30, initial_indent="* ")
    textwrap.shorten("some words " * 30, width=30)
    tree = ast.parse(
        "def f(a, *b: int, c=1) -> str:\n    return [x for x in f'{a!r:>3}'] if b else {**c}\n"
    )
    ast.unparse(tree)
    ast.dump(tree, indent=1)
    list(tokenize.generate_tokens(io.StringIO("x = [1,\n 2]\n").readline))
    urllib.parse.urljoin("http://a/b/c?d=e", "../f;g?h#i")
    urllib.parse.parse_qs("a=1&b=2&a=3")
    urllib.parse.quote("a b/ü")
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        archive.writestr("a.txt", "text")
        archive.infolist()


def trace() -> Truth:
    """Run the workload, and return what each line called: path and qualified name."""
    truth: Truth = defaultdict(set)
    root = str(LIBRARY)

    def note(frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back
        if event != "call" or caller is None:
            return
        here, there = caller.f_code, frame.f_code
        if here.co_filename.startswith(root) and there.co_filename.startswith(root):
            truth[_path(here), caller.f_lineno].add((_path(there), _qualified(there)))

    sys.setprofile(note)
    try:
        workload()
    finally:
        sys.setprofile(None)
    return truth


def _path(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(LIBRARY).as_posix()


def _qualified(code: CodeType) -> str:
    name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    return name.replace(".<locals>", "")


def edges(paths: set[str]) -> list[Edge]:
    """Return the edges of some files of the library, resolved among one another."""
    extractor = PythonExtractor()
    table = SymbolTable()
    extractions = {}
    for path in sorted(paths | {"os.py"}):
        extractions[path] = extractor.extract(path, (LIBRARY / path).read_bytes())
        table.add(path, extractions[path])
    resolver = Resolver(table)
    found: list[Edge] = []
    for extraction in extractions.values():
        found += extraction.edges
        found += resolver.edges(extraction.references, extractor.name)
    return found


def judged() -> Iterator[tuple[Edge, bool]]:
    """Give every edge that the workload can judge, and whether it is right."""
    truth = trace()
    paths = {path for path, _ in truth} | {path for found in truth.values() for path, _ in found}
    for edge in edges({path for path in paths if path.endswith(".py")}):
        target = uids.parse(edge.target)
        source = uids.path_of(edge.source)
        if edge.kind not in ("calls", "constructs") or target is None or target.kind == "external":
            continue
        called = truth.get((source or "", edge.line or 0), set())
        if target.kind == "class":
            owners = {
                (p, q.rpartition(".")[0]) for p, q in called if q.endswith(("__init__", "__new__"))
            }
            if (target.path, target.name) in owners:
                yield edge, True
            continue
        label = (target.name or "").rpartition(".")[2]
        same = {(p, q) for p, q in called if q.rpartition(".")[2] == label}
        if same:
            yield edge, (target.path, target.name) in same


if __name__ == "__main__":
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for edge, right in judged():
        counts[edge.confidence][right] += 1
        if not right:
            print(edge.source, edge.line, edge.target, [s.name for s in edge.signals])
    for confidence, (wrong, right) in sorted(counts.items()):
        print(f"{confidence:.1f} right {right} wrong {wrong} {right / (right + wrong):.3f}")
