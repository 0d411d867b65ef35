"""Parts of the graph as networkx graphs, which has the algorithms: none is written here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import NodeRow, Where
from vault_kg.extract.walks import walk

if TYPE_CHECKING:
    import networkx as nx

EDGE_CAP = 50_000
NODE_CAP = 5_000

SEED = 0
"""What algorithms that choose at random begin with, so that the same graph gives the same answer."""

SAMPLED = 200
"""Nodes from which betweenness is worked out in a graph of more than that."""

TOLERANCE = 1e-6


def whole(reader: GraphReader, kinds: Collection[str]) -> tuple[nx.DiGraph, bool]:
    """Return the edges of some kinds, the surest first, as a graph; and whether some are left out."""
    import networkx as nx

    hops, total = reader.every_hop(Where(kinds), EDGE_CAP)
    graph = nx.DiGraph()
    for hop in sorted(hops):
        known = graph.get_edge_data(hop.source, hop.target, {"weight": 0.0})["weight"]
        graph.add_edge(hop.source, hop.target, weight=max(known, hop.confidence))
    return graph, total > len(hops)


def around(
    reader: GraphReader, starts: Collection[int], kinds: Collection[str]
) -> tuple[nx.DiGraph, bool]:
    """Return what lies around some nodes as a graph; and whether some is left out."""
    import networkx as nx

    found = walk(reader, starts, "both", Where(kinds), 10, NODE_CAP - len(starts))
    keys = {*starts, *found.keys()}
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(keys))
    for source, target, _, sure in reader.neighbours(keys, "out", Where(kinds)):
        if target in keys:
            graph.add_edge(source, target, weight=sure)
    return graph, found.truncated


def by_file(graph: nx.DiGraph, rows: Mapping[int, NodeRow]) -> nx.DiGraph:
    """Return the graph of the files that the nodes of a graph stand in, as (root, path)."""
    import networkx as nx

    files = nx.DiGraph()
    for source, target in graph.edges:
        ends = [rows.get(source), rows.get(target)]
        places = [(row.root, row.node.path) for row in ends if row is not None and row.node.path]
        if len(places) == 2 and places[0] != places[1]:
            files.add_edge(*places)
    return files


def communities(graph: nx.DiGraph) -> list[set[int]]:
    """Return the communities of a graph by Louvain's method, the largest first."""
    import networkx as nx

    found = nx.community.louvain_communities(graph.to_undirected(), weight="weight", seed=SEED)
    return sorted(found, key=lambda members: (-len(members), min(members)))


def betweenness(graph: nx.DiGraph) -> dict[int, float]:
    """Return how often each node lies on a shortest path; from a sample where there are many."""
    import networkx as nx

    sample = SAMPLED if len(graph) > SAMPLED else None
    found: dict[int, float] = nx.betweenness_centrality(graph, k=sample, seed=SEED)
    return found


def pagerank(
    graph: nx.DiGraph, seeds: Mapping[int, float], damping: float, iterations: int
) -> dict[int, float]:
    """Return the PageRank of each node, personalised where there are seeds.

    The public function needs SciPy, 140 MB for this alone; networkx keeps the same in plain Python,
    which does not end quietly where it has not converged, so that it is given more time.
    """
    from networkx import PowerIterationFailedConvergence
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

    personalised = dict(seeds) or None
    for tolerance in (TOLERANCE, TOLERANCE * 1_000, 1.0):
        try:
            found: dict[int, float] = _pagerank_python(
                graph, alpha=damping, personalization=personalised, max_iter=iterations,
                tol=tolerance,
            )  # fmt: skip
        except PowerIterationFailedConvergence:
            continue
        return found
    return {}


def components(graph: nx.DiGraph, least: int) -> list[set[Any]]:
    """Return the sets of nodes that all lead to one another, the largest first."""
    import networkx as nx

    found = [
        members for members in nx.strongly_connected_components(graph) if len(members) >= least
    ]
    return sorted(found, key=lambda members: (-len(members), min(members)))


def one_cycle(graph: nx.DiGraph, members: Collection[Any]) -> list[Any]:
    """Return the nodes of one cycle among nodes that all lead to one another."""
    import networkx as nx

    part = graph.subgraph(members)
    return [edge[0] for edge in nx.find_cycle(part, min(members))]


def degrees(graph: nx.DiGraph, metric: str) -> dict[int, float]:
    """Return the degree of each node: `degree`, `in_degree` or `out_degree`."""
    found: dict[int, float] = defaultdict(float)
    for key, count in getattr(graph, metric)():
        found[key] = float(count)
    return found
