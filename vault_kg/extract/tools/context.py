"""What stands around a node: its edges by kind, and everything that refers to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field

from vault_kg.errors import UnsafePath
from vault_kg.extract import roots, uids
from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import Direction, NodeRow, Where
from vault_kg.extract.edge_kinds import STRUCTURAL
from vault_kg.extract.model import EdgeKind
from vault_kg.extract.reading import MAX_BYTES
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import (
    AboutOne,
    Answer,
    Data,
    EdgeKinds,
    EdgeView,
    Limit,
    Listed,
    NodeView,
    edge_views,
    node_view,
    node_views,
)
from vault_kg.extract.walks import walk
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.workspace import Workspace
from vault_kg.store import files

EVERY_KIND = frozenset(get_args(EdgeKind))
WITHOUT_SPINE = EVERY_KIND - STRUCTURAL

PER_KIND = 50
PER_KIND_IN_SUMMARY = 5
VISITED_IN_SUMMARY = 50
MAX_CONTENT = 2_000


class Context(AboutOne):
    """The node, and how much around it."""

    direction: Literal["out", "in", "both"] = "both"
    depth: Annotated[int, Field(ge=1, le=4)] = Field(1, description="From 2 on: a summary.")
    include_content: bool = Field(False, description="Its lines, at most 2,000 characters of them.")
    include_evidence: bool = Field(False, description="The signals behind each edge.")
    include_spine: bool = Field(False, description="Also what contains it, and its tests.")


class EdgeGroup(GraphModel):
    """The edges of one kind in one direction, the surest first."""

    kind: str
    direction: Literal["out", "in"]
    total: int
    edges: list[EdgeView]


class ContextData(Data):
    """A node and what is around it."""

    node: NodeView | None
    groups: list[EdgeGroup]
    total: int = Field(description="Edges at the node in all, of the kinds that are shown.")
    nearby: list[NodeView] = Field(description="With depth from 2 on: what a walk reached.")
    nearby_total: int
    titles: dict[str, str] = Field(
        default_factory=dict, description="Of the records among the ends of edges, by uid."
    )
    content: str | None = None


class References(AboutOne):
    """The node that is referred to."""

    kinds: EdgeKinds | None = Field(
        None, description="Only these kinds of edges; all but contains."
    )
    limit: Limit = 100


class ReferencesData(Listed):
    """What refers to a node, the surest first."""

    node: NodeView | None
    references: list[EdgeView]
    sources: list[NodeView]
    edge_kinds_present: dict[str, int] = Field(description="Edges that lead to it, by kind.")
    zero_from_kind_filter: bool = Field(description="There are references, of other kinds.")


@reads(Answer[ContextData])
def graph_context(ws: Workspace, request: Context, caller: Caller) -> Answer[ContextData]:
    """Show a node with its edges by kind and direction: what it calls, who calls it, what touches it.

    Each kind has its true total. With a depth from 2 on, also what a walk of that depth reaches.
    """
    graph = Graph(ws, caller)
    row, how = graph.one(request.uid, request.root)
    if row is None:
        return Answer(
            data=ContextData(
                node=None, groups=[], total=0, nearby=[], nearby_total=0,
                meta=graph.about(request.uid, None, None),
            )
        )  # fmt: skip
    most = PER_KIND if request.depth == 1 else PER_KIND_IN_SUMMARY
    groups = _groups(graph.reader, row, request, most)
    cut = any(group.total > len(group.edges) for group in groups)
    nearby: list[NodeView] = []
    reached = 0
    if request.depth > 1:
        kinds = Where(EVERY_KIND if request.include_spine else WITHOUT_SPINE)
        found = walk(
            graph.reader, [row.key], request.direction, kinds, request.depth, VISITED_IN_SUMMARY
        )
        keys = found.keys()
        rows = graph.reader.nodes(keys)
        nearby, reached = node_views(rows[key] for key in keys if key in rows), len(rows)
        cut |= found.truncated
    return Answer(
        data=ContextData(
            node=node_view(row), groups=groups, total=sum(group.total for group in groups),
            nearby=nearby, nearby_total=reached, titles=_titles(graph.reader, groups),
            content=_content(graph, row) if request.include_content else None,
            meta=graph.about(request.uid, row, how, truncated=cut),
        )
    )  # fmt: skip


@reads(Answer[ReferencesData])
def graph_references(ws: Workspace, request: References, caller: Caller) -> Answer[ReferencesData]:
    """List everything that refers to a node: callers, importers, subclasses, documents, records.

    With the confidence and the reasons of each. A kind filter that leaves nothing although there
    are references is said (zero_from_kind_filter).
    """
    graph = Graph(ws, caller)
    row, how = graph.one(request.uid, request.root)
    if row is None:
        return Answer(
            data=ReferencesData(
                node=None, references=[], sources=[], count=0, total=0, edge_kinds_present={},
                zero_from_kind_filter=False, meta=graph.about(request.uid, None, None),
            )
        )  # fmt: skip
    wanted = Where(frozenset(request.kinds) if request.kinds else EVERY_KIND - {"contains"})
    edges, total = graph.reader.edges(row.key, "in", wanted, request.limit)
    present = graph.reader.edge_kinds(row.key, "in")
    sources = graph.reader.nodes({edge.id.source for edge in edges})
    others = sum(count for kind, count in present.items() if kind != "contains")
    return Answer(
        data=ReferencesData(
            node=node_view(row), references=edge_views(graph.reader, edges),
            sources=node_views(sources[key] for key in sorted(sources)), count=len(edges),
            total=total, edge_kinds_present=present,
            zero_from_kind_filter=bool(request.kinds) and total == 0 and others > 0,
            meta=graph.about(request.uid, row, how, truncated=total > len(edges)),
        )
    )  # fmt: skip


def _groups(reader: GraphReader, row: NodeRow, request: Context, most: int) -> list[EdgeGroup]:
    kinds = EVERY_KIND if request.include_spine else WITHOUT_SPINE
    directions: tuple[Direction, ...] = ("out", "in")
    found: dict[tuple[Direction, str], int] = defaultdict(int)
    for direction in directions:
        if request.direction in (direction, "both"):
            for kind, count in reader.edge_kinds(row.key, direction).items():
                if kind in kinds:
                    found[direction, kind] = count
    groups = []
    for (direction, kind), count in found.items():
        edges, _ = reader.edges(row.key, direction, Where((kind,)), most)
        views = edge_views(reader, edges)
        if not request.include_evidence:
            views = [view.model_copy(update={"signals": []}) for view in views]
        groups.append(EdgeGroup(kind=kind, direction=direction, total=count, edges=views))
    return groups


def _titles(reader: GraphReader, groups: Sequence[EdgeGroup]) -> dict[str, str]:
    """Return the titles of the records that edges join, by uid: a uid of theirs says nothing."""
    ends = {end for group in groups for edge in group.edges for end in (edge.source, edge.target)}
    records = [row for uid in sorted(ends) if uids.is_record(uid) for row in reader.find(uid)]
    return {row.node.uid: row.node.label for row in records}


def _content(graph: Graph, row: NodeRow) -> str | None:
    """Return the lines of a node as they stand in its file now."""
    node = row.node
    if node.path is None or row.root == roots.RECORDS:
        return None
    folder = roots.named(graph.ws.vault.root, row.root).folder
    try:
        content = files.read(folder, node.path, MAX_BYTES)
    except (UnsafePath, OSError):
        return None
    lines = (content or b"").decode("utf-8", errors="replace").splitlines()
    first, last = node.start_line or 1, node.end_line or len(lines)
    return "\n".join(lines[first - 1 : last])[:MAX_CONTENT]
