"""Nodes, edges and references: what extractors find in one file.

An extractor sees one file. What it knows for certain from that file alone it says as edges; what
needs the rest of the tree it says as references, which `resolve` turns into edges once all symbols
are known. References are worth keeping: resolved again after any change of the tree, they give the
edges of the tree as it is then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

NodeKind = Literal[
    "folder", "file", "module", "class", "interface", "function", "method", "variable",
    "heading", "key", "external", "record",
]  # fmt: skip

EdgeKind = Literal[
    "contains", "calls", "constructs", "imports", "inherits", "implements", "references",
    "decorated_by", "has_type", "returns_type", "reads", "dispatches", "tested_by", "links_to", "touches",
    "belongs_to", "tests", "derives_from", "mentions", "violates",
]  # fmt: skip
"""`tested_by` leads from a test to what it tests; every other kind reads from source to target."""

DROP_BELOW: Final = 0.1
"""An edge less sure than this is noise and is not emitted."""

THE_OBJECT: Final = ":@"
"""What a method's call stands for in `Extraction.exports` if it returns its own object."""


class Node(NamedTuple):
    """A symbol, heading, key, file or folder. Lines are 1-based; they are never part of a uid.

    Definitions that share a qualified name in one file (overloads, the two branches of an `if`, a
    property and its setter) are one node: its first span, and `other_spans`.
    """

    uid: str
    kind: NodeKind
    label: str
    path: str | None
    start_line: int | None = None
    end_line: int | None = None
    signature: str = ""
    summary: str = ""
    """First paragraph of its documentation, at most 500 characters."""
    roles: tuple[str, ...] = ()
    """What else it is: `test`, `entry:main|cli|http|cron`, `contract:http|mcp_tool|event`,
    `property`, `abstract`, `static`, `stub` …"""
    other_spans: tuple[tuple[int, int], ...] = ()
    """First and last lines of further definitions of the same name."""
    detail: tuple[tuple[str, str], ...] = ()
    """What a role needs to be said in full: `(("route", "GET /users"),)`, `(("command", "init"),)`."""


class Signal(NamedTuple):
    """One reason for a confidence: its name, and its weight from 0 to 1."""

    name: str
    weight: float


class Edge(NamedTuple):
    """A directed connection. (source, target, kind, extractor) is its identity."""

    source: str
    target: str
    kind: EdgeKind
    confidence: float
    extractor: str
    line: int | None = None
    """Where in the source's file it was first seen."""
    signals: tuple[Signal, ...] = ()


class Reference(NamedTuple):
    """A name in a file that means something elsewhere; resolved when all symbols are known.

    `name` is a path: names joined by dots, each perhaps followed by `()`, which stands for what a
    call of it gives (`Repo().save` is the method `save` of an instance of `Repo`). `module` is where
    the path begins, as the file's language spells it (`pkg.mod`, `..mod`, `./util`, `crate::a`,
    `stdio.h`); "" is the file itself, and None is anywhere.
    """

    source: str
    kind: EdgeKind
    name: str
    module: str | None = None
    line: int | None = None
    signals: tuple[Signal, ...] = ()


@dataclass(slots=True)
class Extraction:
    """Everything found in one file, in the order of the file."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    exports: Mapping[str, str] = field(default_factory=dict)
    """What names of the file stand for, as far as it says so: `<module>:<path>` by name.

    A key is an imported name (`dumps`), a variable or attribute with the path of its value
    (`Service.repo` → `pkg.repo:Repo()`), a call with what it returns (`make()`), or a base class by
    its number (`Service^1`). An empty module is the file itself; `THE_OBJECT` is what a method
    returns that returns the object it was called on.
    """
    errors: list[str] = field(default_factory=list)
    """What could not be read, with its line; what could be read is there nevertheless."""
