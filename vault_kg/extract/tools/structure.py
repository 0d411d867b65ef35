"""The shape of the whole: communities, central nodes, ranks, cycles. networkx works them out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from vault_kg.extract import networks
from vault_kg.extract.backends.rows import tokens_of
from vault_kg.extract.edge_kinds import BEHAVIOURAL, EXECUTED
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import (
    Answer,
    Listed,
    NodeView,
    OneNodeKind,
    Top,
    node_view,
    node_views,
)
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace

SEEDS = 50
"""Nodes found by a query that a ranking starts from."""

Metric = Literal["degree", "in_degree", "out_degree", "betweenness"]


class Communities(GraphRequest):
    """How many, and how much of each?"""

    top: Top = 50
    min_size: Annotated[int, Field(ge=1, le=10_000)] = 2
    max_members: Annotated[int, Field(ge=1, le=100)] = 10


class Community(GraphModel):
    """Nodes that have more to do with each other than with the rest."""

    size: int
    label: str = Field(description="Where most of them lie.")
    members: list[NodeView] = Field(description="Those with most edges in it.")


class CommunitiesData(Listed):
    """Communities, the largest first."""

    communities: list[Community]


class Centrality(GraphRequest):
    """By which measure?"""

    metric: Metric = "degree"
    top: Top = 20
    kind: OneNodeKind | None = Field(None, description="Only nodes of this kind.")


class Ranking(GraphRequest):
    """Ranked around what?"""

    query: Line | None = Field(None, description="Words that the rank is personalised by.")
    top: Top = 20
    kind: OneNodeKind | None = Field(None, description="Only nodes of this kind.")
    damping: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.85
    iterations: Annotated[int, Field(ge=1, le=200)] = 30


class Ranked(NodeView):
    """A node and its value."""

    value: float


class RankedData(Listed):
    """Nodes, those of the highest value first."""

    results: list[Ranked]


class Cycles(GraphRequest):
    """Cycles of what?"""

    scope: Literal["imports", "calls"] = "imports"
    top: Top = 20
    min_size: Annotated[int, Field(ge=1, le=10_000)] = 2


class Cycle(GraphModel):
    """Files or functions that all lead to one another, and one way round."""

    size: int
    members: list[str]
    example: list[str]


class CyclesData(Listed):
    """Cycles, the largest first."""

    cycles: list[Cycle]


@reads(Answer[CommunitiesData])
def graph_communities(
    ws: Workspace, request: Communities, caller: Caller
) -> Answer[CommunitiesData]:
    """Group the graph into communities (Louvain) over behavioural edges, with their central members."""
    graph = Graph(ws, caller)
    network, cut = networks.whole(graph.reader, BEHAVIOURAL)
    found = [c for c in networks.communities(network) if len(c) >= request.min_size]
    shown = [_community(graph, network, members, request.max_members)
             for members in found[: request.top]]  # fmt: skip
    meta = graph.meta(truncated=cut or len(found) > len(shown))
    return Answer(
        data=CommunitiesData(communities=shown, count=len(shown), total=len(found), meta=meta)
    )


@reads(Answer[RankedData])
def graph_centrality(ws: Workspace, request: Centrality, caller: Caller) -> Answer[RankedData]:
    """List the nodes with most behavioural edges, or on most shortest paths (betweenness)."""
    graph = Graph(ws, caller)
    network, cut = networks.whole(graph.reader, BEHAVIOURAL)
    if request.metric == "betweenness":
        values = networks.betweenness(network)
    else:
        values = networks.degrees(network, request.metric)
    return _ranked(graph, values, request.kind, request.top, cut)


@reads(Answer[RankedData])
def graph_ranking(ws: Workspace, request: Ranking, caller: Caller) -> Answer[RankedData]:
    """Rank nodes by PageRank over behavioural edges, personalised by what a query finds."""
    graph = Graph(ws, caller)
    if request.query is None:
        network, cut = networks.whole(graph.reader, BEHAVIOURAL)
        seeds: dict[int, float] = {}
    else:
        scored, _ = graph.reader.search(tokens_of(request.query), None, SEEDS)
        seeds = {row.key: max(score, 1e-9) for row, score in scored}
        if not seeds:
            return _ranked(graph, {}, None, request.top, False)
        network, cut = networks.around(graph.reader, seeds, BEHAVIOURAL)
    values = networks.pagerank(network, seeds, request.damping, request.iterations)
    return _ranked(graph, values, request.kind, request.top, cut)


@reads(Answer[CyclesData])
def graph_cycles(ws: Workspace, request: Cycles, caller: Caller) -> Answer[CyclesData]:
    """List files that import one another in a circle, or functions that call one another in one."""
    graph = Graph(ws, caller)
    kinds = {"imports"} if request.scope == "imports" else EXECUTED
    network, cut = networks.whole(graph.reader, kinds)
    rows = graph.reader.nodes(list(network))
    names: dict[Any, str] = {key: row.node.uid for key, row in rows.items()}
    if request.scope == "imports":
        network = networks.by_file(network, rows)
        names = {place: f"{place[0]}:{place[1]}" for place in network}
    found = networks.components(network, request.min_size)
    found = [c for c in found if len(c) > 1 or network.has_edge(*(2 * tuple(c)))]
    shown = [
        Cycle(size=len(c), members=sorted(names[m] for m in c),
              example=[names[m] for m in networks.one_cycle(network, c)])
        for c in found[: request.top]
    ]  # fmt: skip
    meta = graph.meta(truncated=cut or len(found) > len(shown))
    return Answer(data=CyclesData(cycles=shown, count=len(shown), total=len(found), meta=meta))


def _ranked(
    graph: Graph, values: dict[int, float], kind: str | None, top: int, cut: bool
) -> Answer[RankedData]:
    rows = graph.reader.nodes(list(values))
    wanted = [row for row in rows.values() if not row.stub and kind in (None, row.node.kind)]
    wanted.sort(key=lambda row: (-values[row.key], row.node.uid, row.root))
    shown = [Ranked(**node_view(row).model_dump(), value=round(values[row.key], 6))
             for row in wanted[:top]]  # fmt: skip
    meta = graph.meta(truncated=cut or len(wanted) > len(shown))
    return Answer(data=RankedData(results=shown, count=len(shown), total=len(wanted), meta=meta))


def _community(graph: Graph, network: Any, members: set[int], most: int) -> Community:
    inside = network.subgraph(members)
    central = sorted(members, key=lambda key: (-inside.degree(key), key))[:most]
    rows = graph.reader.nodes(members)
    folders: dict[str, int] = {}
    for row in rows.values():
        folder = (row.node.path or "").rpartition("/")[0] or row.root
        folders[folder] = folders.get(folder, 0) + 1
    label = max(sorted(folders), key=lambda folder: folders[folder], default="")
    views = node_views(rows[key] for key in central if key in rows)
    return Community(size=len(members), label=label, members=views)
