"""Edges between nodes that are stored: their ends by key, stubs for what no file defines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import EdgeId, EdgeRow
from vault_kg.extract.model import DROP_BELOW, Edge, Node
from vault_kg.extract.resolve import stub


class Ends:
    """The keys of what edges of a root lead to; valid until nodes are removed."""

    def __init__(self, graph: GraphBackend, root: str) -> None:
        self._graph = graph
        self._root = root
        self._keys: dict[str, int] = {}

    def keys(self, wanted: Iterable[str]) -> Mapping[str, int]:
        """Return the keys of these uids at least; one that no node has becomes a stub."""
        new = [uid for uid in dict.fromkeys(wanted) if uid not in self._keys]
        if new:
            self._keys |= self._graph.keys(self._root, new)
            lacking = _stubs(uid for uid in new if uid not in self._keys)
            self._keys |= self._graph.put_nodes(self._root, lacking, None, stub=True)
        return self._keys


def rows(
    sources: Mapping[str, int], edges: Iterable[Edge], ends: Ends, *, linked: bool
) -> list[EdgeRow]:
    """Return edges between keys, the surest of those that are one.

    Args:
        sources: the keys of the nodes that edges may come from; others are left out.
        edges: the edges, by uid.
        ends: gives the keys of what is not among the sources.
        linked: whether they come from references.
    """
    sure = [edge for edge in edges if edge.confidence >= DROP_BELOW and edge.source in sources]
    others = ends.keys(edge.target for edge in sure if edge.target not in sources)
    best: dict[EdgeId, EdgeRow] = {}
    for source, target, kind, confidence, extractor, line, signals in sure:
        to = sources.get(target)
        found = EdgeId(sources[source], others[target] if to is None else to, kind, extractor)
        known = best.get(found)
        if known is None or known.confidence < confidence:
            best[found] = EdgeRow(found, confidence, line, signals, linked)
    return list(best.values())


def exchange(
    graph: GraphBackend, known: Mapping[EdgeId, EdgeRow], wanted: Sequence[EdgeRow]
) -> None:
    """Replace edges by others; those that are as they were are left alone."""
    if known:
        kept = {row.id for row in wanted}
        graph.remove_edges([found for found in known if found not in kept])
        wanted = [row for row in wanted if known.get(row.id) != row]
    graph.put_edges(wanted)


def _stubs(wanted: Iterable[str]) -> list[Node]:
    made = ((uid, stub(uid)) for uid in wanted)
    return [node or Node(uid, "external", uid, None) for uid, node in made]
