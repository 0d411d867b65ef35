"""Everywhere that a new name of a symbol would have to be written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import Field

from vault_kg.errors import UnsafePath
from vault_kg.extract import roots
from vault_kg.extract.backends.values import EdgeRow, NodeRow, Where
from vault_kg.extract.edge_kinds import BEHAVIOURAL
from vault_kg.extract.reading import MAX_BYTES
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import AboutOne, Answer, Data, NodeView, node_view
from vault_kg.operations.base import Name
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.workspace import Workspace
from vault_kg.store import files

PER_BUCKET = 500
STRINGS = 100
HIGH_RISK = 20
"""With more sites than this a rename is risky."""

_DOCUMENTS = ("heading", "record", "key")
_QUOTED = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n])*)\1""")


class RenamePlan(AboutOne):
    """The symbol, and the name that it is to have."""

    new_name: Name
    check_strings: bool = Field(True, description="Also look for the name in strings.")


class Site(GraphModel):
    """A place that says the name."""

    uid: str
    path: str | None
    line: int | None
    kind: str
    confidence: float | None = None


class Sites(GraphModel):
    """Places of one sort, and how many there are."""

    items: list[Site]
    count: int
    total: int


class RenameData(Data):
    """What a rename has to touch; nothing is changed."""

    node: NodeView | None
    new_name: str
    definition: list[Site]
    call_sites: Sites
    doc_references: Sites
    test_references: Sites
    string_literals: Sites
    name_taken: list[NodeView] = Field(
        description="What has the new name in the same file already."
    )
    total_sites: int
    risk: Literal["low", "high"]


@reads(Answer[RenameData])
def graph_rename_plan(ws: Workspace, request: RenamePlan, caller: Caller) -> Answer[RenameData]:
    """List every place that a rename of a symbol has to touch, without changing anything.

    Calls, documents and records, tests, and strings that spell the name; each with its line and
    confidence. More than 20 places, or a name that is taken, is a high risk.
    """
    graph = Graph(ws, caller)
    row, how = graph.one(request.uid, request.root)
    if row is None:
        none = Sites(items=[], count=0, total=0)
        return Answer(
            data=RenameData(
                node=None, new_name=request.new_name, definition=[], call_sites=none,
                doc_references=none, test_references=none, string_literals=none, name_taken=[],
                total_sites=0, risk="low", meta=graph.about(request.uid, None, None),
            )
        )  # fmt: skip
    calls, documents, tests = _buckets(graph, row)
    strings = _strings(graph, row) if request.check_strings else Sites(items=[], count=0, total=0)
    taken = _taken(graph, row, request.new_name)
    buckets = (calls, documents, tests, strings)
    total = sum(each.total for each in buckets)
    spans = [(row.node.start_line, row.node.end_line), *row.node.other_spans]
    meta = graph.about(request.uid, row, how,
                       truncated=any(each.total > each.count for each in buckets))  # fmt: skip
    return Answer(
        data=RenameData(
            node=node_view(row), new_name=request.new_name,
            definition=[Site(uid=row.node.uid, path=row.node.path, line=first, kind="definition")
                        for first, _ in spans],
            call_sites=calls, doc_references=documents, test_references=tests,
            string_literals=strings, name_taken=taken, total_sites=total,
            risk="high" if total > HIGH_RISK or taken else "low", meta=meta,
        )
    )  # fmt: skip


def _buckets(graph: Graph, row: NodeRow) -> tuple[Sites, Sites, Sites]:
    kinds = BEHAVIOURAL | {"links_to", "touches", "mentions"}
    edges, _ = graph.reader.edges(row.key, "in", Where(kinds), 10_000)
    rows = graph.reader.nodes({edge.id.source for edge in edges})
    calls, documents, tests = [], [], []
    for edge in edges:
        source = rows[edge.id.source]
        if source.node.kind in _DOCUMENTS or source.node.uid.startswith("doc:"):
            documents.append(_site(edge, source))
        elif any(role.startswith("test") for role in source.node.roles):
            tests.append(_site(edge, source))
        else:
            calls.append(_site(edge, source))
    return _cut(calls), _cut(documents), _cut(tests)


def _site(edge: EdgeRow, source: NodeRow) -> Site:
    return Site(
        uid=source.node.uid, path=source.node.path, line=edge.line, kind=edge.id.kind,
        confidence=edge.confidence,
    )  # fmt: skip


def _cut(sites: list[Site], most: int = PER_BUCKET) -> Sites:
    return Sites(items=sites[:most], count=min(len(sites), most), total=len(sites))


def _taken(graph: Graph, row: NodeRow, new_name: str) -> list[NodeView]:
    rows, _ = graph.reader.under(row.node.path or "", row.root, 10_000)
    return [node_view(r) for r in rows if r.node.path == row.node.path and r.node.label == new_name]


def _strings(graph: Graph, row: NodeRow) -> Sites:
    """Return the strings of the root's code that spell the name."""
    if row.root == roots.RECORDS or not row.node.label:
        return Sites(items=[], count=0, total=0)
    folder = roots.named(graph.ws.vault.root, row.root).folder
    word = re.compile(rf"(?<!\w){re.escape(row.node.label)}(?!\w)")
    listed, _ = graph.reader.under("", row.root, 1 << 30, ("file",))
    sites = []
    for each in listed:
        text = _text(folder, each) if each.node.uid.startswith("code:") else ""
        if row.node.label not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if any(word.search(found[2]) for found in _QUOTED.finditer(line)):
                sites.append(
                    Site(uid=each.node.uid, path=each.node.path, line=number, kind="string")
                )
    return _cut(sites, STRINGS)


def _text(folder: Path, row: NodeRow) -> str:
    try:
        content = files.read(folder, row.node.path or "", MAX_BYTES)
    except (UnsafePath, OSError):
        return ""
    return (content or b"").decode("utf-8", errors="replace")
