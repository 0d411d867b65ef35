"""The graph, or a part of it, in a form that other programs draw or read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.extract.backends.values import Choice, Hop, NodeRow, Where
from vault_kg.extract.edge_kinds import BEHAVIOURAL, EXECUTED, STRUCTURAL
from vault_kg.extract.tools.asking import Graph, How, reads
from vault_kg.extract.tools.context import EVERY_KIND
from vault_kg.extract.tools.views import (
    ROOT,
    Answer,
    Data,
    EdgeKinds,
    EdgeView,
    NodeKinds,
    NodeView,
    node_views,
)
from vault_kg.extract.walks import walk
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphRequest
from vault_kg.operations.workspace import Workspace

Format = Literal["json", "mermaid", "dot"]
Mode = Literal["auto", "containment", "dependencies", "processes"]

DEPTH = 10
_EVERY = 1 << 30


class Export(GraphRequest):
    """What, and in which form?"""

    format: Format = "json"
    root_uid: Line | None = Field(None, description="Only what is within ten steps from this.")
    root: Line | None = ROOT
    edge_types: EdgeKinds | None = Field(
        None, description="Only these kinds of edges; else by mode."
    )
    max_nodes: Annotated[int, Field(ge=1, le=5_000)] = 500
    include_spine: bool = Field(False, description="Also what contains what.")
    mode: Mode = "auto"
    exclude_kinds: NodeKinds | None = Field(None, description="Without these kinds of nodes.")


class ExportData(Data):
    """A part of the graph; `text` has it in the form that was asked for, `nodes` as JSON."""

    format: Format
    nodes: list[NodeView]
    edges: list[EdgeView]
    node_count: int
    node_total: int
    edge_count: int
    text: str | None = None


@reads(Answer[ExportData])
def graph_export(ws: Workspace, request: Export, caller: Caller) -> Answer[ExportData]:
    """Export the graph, or what lies around a node, as JSON, Mermaid or DOT.

    mode chooses the edges: containment, dependencies, processes (what runs what), or auto. At most
    max_nodes nodes, with the true total.
    """
    graph = Graph(ws, caller)
    kinds = _kinds(request)
    start, how = graph.one(request.root_uid, request.root) if request.root_uid else (None, None)
    if request.root_uid is not None and start is None:
        return _answer(graph, request, None, None, [], 0, kinds)
    rows, total = _around(graph, request, start, kinds) if start else _all(graph, request, kinds)
    return _answer(graph, request, start, how, rows, total, kinds)


def _kinds(request: Export) -> frozenset[str]:
    if request.edge_types is not None:
        return frozenset(request.edge_types)
    chosen = {
        "containment": frozenset({"contains"}), "dependencies": BEHAVIOURAL, "processes": EXECUTED,
        "auto": EVERY_KIND - STRUCTURAL,
    }[request.mode]  # fmt: skip
    return chosen | {"contains"} if request.include_spine else chosen


def _around(
    graph: Graph, request: Export, start: NodeRow, kinds: Collection[str]
) -> tuple[list[NodeRow], int]:
    found = walk(graph.reader, [start.key], "both", Where(kinds), DEPTH, 10 * request.max_nodes)
    rows = graph.reader.nodes([start.key, *found.keys()])
    wanted = [rows[k] for k in (start.key, *found.keys()) if k in rows and _fits(request, rows[k])]
    return wanted[: request.max_nodes], len(wanted)


def _all(graph: Graph, request: Export, kinds: Collection[str]) -> tuple[list[NodeRow], int]:
    """Return the nodes that the edges join, those with the surest edges first."""
    hops, every = graph.reader.every_hop(Where(kinds), 20 * request.max_nodes)
    keys = dict.fromkeys(key for hop in hops for key in (hop.source, hop.target))
    rows = graph.reader.nodes(list(keys))
    wanted = [rows[key] for key in keys if key in rows and _fits(request, rows[key])]
    total = len(wanted)
    if every > len(hops):  # the nodes of the others are not known
        _, total = graph.reader.select(Choice(stubs=True), 0)
    return wanted[: request.max_nodes], total


def _fits(request: Export, row: NodeRow) -> bool:
    if request.root is not None and row.root != request.root:
        return False
    return request.exclude_kinds is None or row.node.kind not in request.exclude_kinds


def _answer(
    graph: Graph, request: Export, start: NodeRow | None, how: How | None, rows: Sequence[NodeRow],
    total: int, kinds: Collection[str],
) -> Answer[ExportData]:  # fmt: skip
    by_key = {row.key: row for row in rows}
    found = graph.reader.neighbours(by_key, "out", Where(kinds))
    hops = [Hop._make(each) for each in found if each[1] in by_key]
    edges = [
        EdgeView(source=by_key[h.source].node.uid, target=by_key[h.target].node.uid, kind=h.kind,
                 confidence=h.confidence)
        for h in hops
    ]  # fmt: skip
    text = {"mermaid": _mermaid, "dot": _dot}.get(request.format)
    in_full = request.format == "json"
    truncated = total > len(rows)
    meta = (
        graph.about(request.root_uid, start, how, truncated=truncated)
        if request.root_uid
        else graph.meta(truncated=truncated)
    )
    return Answer(
        data=ExportData(
            format=request.format, nodes=node_views(rows) if in_full else [],
            edges=edges if in_full else [], node_count=len(rows), node_total=total,
            edge_count=len(edges), text=text(by_key, hops) if text else None, meta=meta,
        )
    )  # fmt: skip


def _mermaid(rows: dict[int, NodeRow], hops: Sequence[Hop]) -> str:
    lines = ["graph LR"]
    lines += [f'    n{key}["{_plain(row)}"]' for key, row in rows.items()]
    lines += [f"    n{hop.source} -->|{hop.kind}| n{hop.target}" for hop in hops]
    return "\n".join(lines) + "\n"


def _dot(rows: dict[int, NodeRow], hops: Sequence[Hop]) -> str:
    lines = ["digraph graph_export {", "    rankdir=LR;"]
    lines += [f'    n{key} [label="{_plain(row)}"];' for key, row in rows.items()]
    lines += [f'    n{hop.source} -> n{hop.target} [label="{hop.kind}"];' for hop in hops]
    return "\n".join([*lines, "}"]) + "\n"


def _plain(row: NodeRow) -> str:
    """Return a label that neither form takes for markup."""
    kept = "".join(c if c.isalnum() or c in " _.-/:()" else " " for c in row.node.label)
    return f"{row.node.kind} {' '.join(kept.split())[:80]}"
