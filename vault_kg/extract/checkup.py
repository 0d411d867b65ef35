"""Looking over a graph for what should not be there: each sort of trouble with its places."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from vault_kg.extract import registry, roots, uids
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.values import EdgeId, EdgeRow, FileState, NodeRow
from vault_kg.extract.roots import Root
from vault_kg.store import files

SLOW_MS = 500

INFORMATIONAL: Final = frozenset(
    {
        "unresolved",
        "files_with_parse_errors",
        "slow_extractions",
        "missing_links",
        "missing_grammars",
    }
)
"""What says something about the tree, and not that the graph is wrong."""

CATEGORIES: Final = (
    "dangling_source", "dangling_target", "duplicate_edges", "duplicate_contains", "self_loops",
    "orphaned", "phantoms", "malformed_uids", "stale_paths", "unresolved", "files_with_parse_errors",
    "slow_extractions", "missing_links", "missing_grammars",
)  # fmt: skip


@dataclass
class Checkup:
    """What was found, by category: texts for people, and what a repair needs."""

    issues: dict[str, list[str]] = field(default_factory=lambda: {c: [] for c in CATEGORIES})
    edges: list[EdgeId] = field(default_factory=list)
    """Edges that are wrong by themselves."""
    nodes: list[int] = field(default_factory=list)
    """Nodes that are wrong by themselves."""
    stale: list[tuple[Root, str]] = field(default_factory=list)
    """Files that are gone."""
    again: set[tuple[str, str]] = field(default_factory=set)
    """Files, by root, that reading again puts right."""

    def add(self, category: str, text: str) -> None:
        """Note one issue."""
        self.issues[category].append(text)

    @property
    def count(self) -> int:
        """How many issues there are that are not merely informational."""
        return sum(len(f) for c, f in self.issues.items() if c not in INFORMATIONAL)


def look(
    graph: GraphBackend, reader: GraphReader, every: Iterable[Root],
    sees: Callable[[Root, str], bool],
) -> Checkup:  # fmt: skip
    """Look over the part of a graph that a reader shows.

    Args:
        graph: the graph.
        reader: the part of it.
        every: the roots.
        sees: whether a file of a root is shown, or was while it was there.
    """
    found = Checkup()
    rows = {row.key: row for row in reader.every_node()}
    contained, reached = _edges(found, reader, rows)
    for row in rows.values():
        _node(found, row, contained, reached)
    for root in every:
        _files(found, root, graph.states(root.name), sees)
    for language, reason in registry.missing().items():
        found.add("missing_grammars", f"{language}: {reason}")
    for finding in reader.findings():
        found.add(
            "missing_links", f"{finding.subject} {finding.code}: {finding.message}; {finding.hint}"
        )
    return found


def _edges(
    found: Checkup, reader: GraphReader, rows: dict[int, NodeRow]
) -> tuple[dict[int, set[int]], set[int]]:
    """Check all edges; returns what contains each node, and what any edge leads to."""
    contained: dict[int, set[int]] = defaultdict(set)
    reached: set[int] = set()
    seen: Counter[EdgeId] = Counter()
    for edge in reader.every_edge():
        seen[edge.id] += 1
        reached.add(edge.id.target)
        if edge.id.kind == "contains":
            contained[edge.id.target].add(edge.id.source)
        _edge(found, edge, rows)
    for edge_id, count in seen.items():
        if count > 1:
            found.add("duplicate_edges", _shown(edge_id, rows))
    return contained, reached


def _edge(found: Checkup, edge: EdgeRow, rows: dict[int, NodeRow]) -> None:
    source, target = edge.id.source, edge.id.target
    for end, category in ((source, "dangling_source"), (target, "dangling_target")):
        if end not in rows:
            found.add(category, _shown(edge.id, rows))
            found.edges.append(edge.id)
    if source == target:
        found.add("self_loops", _shown(edge.id, rows))
        found.edges.append(edge.id)


def _node(found: Checkup, row: NodeRow, contained: dict[int, set[int]], reached: set[int]) -> None:
    uid, path = row.node.uid, row.node.path
    if not uids.is_well_formed(uid):
        found.add("malformed_uids", uid)
        found.nodes.append(row.key)
    if row.stub:
        found.add("unresolved" if row.key in reached else "phantoms", uid)
    elif row.root != roots.RECORDS and path is not None:
        parents = contained.get(row.key, set())
        if len(parents) != 1:
            found.add("duplicate_contains" if parents else "orphaned", uid)
            found.again.add((row.root, path))


def _files(
    found: Checkup, root: Root, states: Mapping[str, FileState], sees: Callable[[Root, str], bool]
) -> None:
    for path, state in sorted(states.items()):
        if not sees(root, path):
            continue
        if _is_gone(root, path):
            found.add("stale_paths", f"{root.name}:{path}")
            found.stale.append((root, path))
        if state.error or state.problems:
            said = state.error or "; ".join(state.problems[:3])
            found.add("files_with_parse_errors", f"{root.name}:{path}: {said}")
        if state.duration_ms >= SLOW_MS:
            found.add("slow_extractions", f"{root.name}:{path}: {state.duration_ms:,.0f} ms")


def _is_gone(root: Root, path: str) -> bool:
    try:
        return files.stamp(root.folder, path) is None
    except OSError:
        return False  # it cannot be told


def _shown(edge: EdgeId, rows: dict[int, NodeRow]) -> str:
    ends = [rows[key].node.uid if key in rows else "nothing" for key in edge[:2]]
    return f"{ends[0]} {edge.kind} {ends[1]} ({edge.extractor})"
