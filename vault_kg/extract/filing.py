"""What becomes of the graph when a file is read again, goes, or when its references are resolved.

Nodes are kept by uid: one that is still there keeps its key, and with it every edge that leads to it
from elsewhere. What vanished is removed; whoever referred to it is resolved again, and keeps a stub
where nothing else fits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from vault_kg.extract import uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import EdgeId, EdgeRow, FileState, Where, edge_row
from vault_kg.extract.model import DROP_BELOW, Edge, Extraction, Node, Reference
from vault_kg.extract.packages import seen_from_outside
from vault_kg.extract.protocol import SymbolIndex
from vault_kg.extract.resolve import stub

TREE = "tree"
"""The extractor of what the folders themselves say."""

LINK_BATCH = 500
"""Nodes whose references are resolved in one transaction."""

Link = Callable[[Sequence[Reference], str], Iterable[Edge]]
"""Turns the references of one node, which stands in a file of this path, into edges."""

Resolver = Callable[[SymbolIndex], Link]
"""Makes what resolves references against one state of the symbols."""

_MARKER = re.compile(r"(?:.*/)?__init__\.pyi?")
"""A file that makes its folder a package: with it, what is beside it has another name."""

_EVERY = 1 << 30

_PARTS = re.compile(r"[^\W]+", re.UNICODE)


def put_file(
    graph: GraphBackend, root: str, state: FileState, found: Extraction, partition: str | None
) -> FileState:
    """Bring the graph up to date with a file that was read.

    Args:
        graph: where it is kept, in a write transaction.
        root: the root's name.
        state: what was read, without its counts.
        found: what its extractor found.
        partition: whose it is, where only some callers see it.

    Returns:
        The state as it was remembered.
    """
    path = state.path
    before = graph.keys_at(root, path)
    own = [node for node in found.nodes if node.path == path]
    keys = graph.put_nodes(root, own, partition)
    gone = {uid: key for uid, key in before.items() if uid not in keys}
    _note(graph, root, path, [*gone, *(keys.keys() - before.keys())], found.exports)
    _retire(graph, gone.values())
    _put_edges(graph, root, keys, found.edges)
    _put_references(graph, keys, found.references)
    _place(graph, root, path, own, keys, partition)
    kept = replace(state, nodes=len(own), edges=len(found.edges))
    graph.put_state(root, kept)
    return kept


def forget_files(graph: GraphBackend, root: str, paths: Collection[str]) -> None:
    """Remove what files held that are gone from the tree."""
    for path in paths:
        gone = graph.keys_at(root, path)
        _note(graph, root, path, gone, {})
        _retire(graph, gone.values())
    graph.forget_states(root, paths)


def link(graph: GraphBackend, root: str, resolver: Resolver, package: str | None = None) -> int:
    """Resolve all references that wait for it, batch by batch; returns of how many nodes.

    Args:
        graph: where they are kept.
        root: the root's name.
        resolver: resolves them.
        package: what the root is called by its own files, where it is a package.
    """
    _wake(graph, root)
    waiting = graph.waiting(root)
    if not waiting:
        return 0
    resolve = resolver(seen_from_outside(graph.symbols(root), package))
    for start in range(0, len(waiting), LINK_BATCH):
        with graph.writing():
            _link_some(graph, root, waiting[start : start + LINK_BATCH], resolve)
    return len(waiting)


def sweep(graph: GraphBackend) -> int:
    """Remove stubs that nothing refers to, and folders that hold nothing; returns how many."""
    total = 0
    while lone := graph.lone_stubs():
        with graph.writing():
            graph.remove_nodes(lone)
        total += len(lone)
    return total


def names_in(reference: Reference) -> set[str]:
    """Return every name in a reference: a change of what one of them means may change its target."""
    return set(_PARTS.findall(f"{reference.name} {reference.module or ''}"))


def _retire(graph: GraphBackend, keys: Collection[int]) -> None:
    """Take away what vanished; whoever leads to it still does, to a stub, until it is resolved."""
    if not keys:
        return
    into = graph.reader(None).neighbours(keys, "in", Where())
    graph.wake_nodes({source for _, source, _, _ in into})
    graph.remove_edges(
        [
            EdgeId(source, key, "contains", TREE)
            for key, source, kind, _ in into
            if kind == "contains"
        ]
    )
    graph.retire(keys)


def _note(
    graph: GraphBackend, root: str, path: str, changed: Iterable[str], exports: Mapping[str, str]
) -> None:
    """Note which names may mean something else now, and remember the file's exports.

    Args:
        graph: where it is kept.
        root: the root's name.
        path: the file.
        changed: uids that are new or gone.
        exports: what names of the file stand for now.
    """
    renamed = {name for name, _ in graph.exports(root, path).items() ^ exports.items()}
    if renamed:
        graph.put_exports(root, path, exports, _parts_of(exports))
    names = {name for uid in changed for name in _names_for(uid)}
    if any(uid == uids.file(path) for uid in changed) and _MARKER.fullmatch(path):
        names |= _names_below(graph, root, path.rpartition("/")[0])
    names |= {name for spelled in renamed for name in _PARTS.findall(spelled)}
    graph.put_changed(root, names)


def _wake(graph: GraphBackend, root: str) -> None:
    """Let be resolved again what may mean something else, directly or through exports."""
    names = graph.changed(root)
    if not names:
        return
    fresh = names
    while fresh:  # names that stand, through others, for one of these
        fresh = graph.standing_for(root, fresh) - names
        names |= fresh
    with graph.writing():
        graph.wake(root, names)


def _parts_of(exports: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return each name that a target holds, with the name that stands for it."""
    return {
        (part, _last(name)) for name, target in exports.items() for part in _PARTS.findall(target)
    }


def _names_below(graph: GraphBackend, root: str, folder: str) -> set[str]:
    """Return the names of the files in a folder, whose modules its marker gives other names."""
    rows, _ = graph.reader(None).under(folder, root, _EVERY, ("file",))
    return {part for row in rows for part in _PARTS.findall(row.node.label)}


def _names_for(uid: str) -> set[str]:
    """Return the names by which references may spell what has this uid."""
    found = uids.parse(uid)
    if found is None:
        return set()
    if found.name:
        return set(_PARTS.findall(found.name.rpartition(".")[2]))
    return {part for piece in (found.path or "").split("/")[-2:] for part in _PARTS.findall(piece)}


def _last(name: str) -> str:
    parts = _PARTS.findall(name.partition("^")[0])
    return parts[-1] if parts else name


def _put_edges(
    graph: GraphBackend, root: str, keys: Mapping[str, int], edges: Iterable[Edge]
) -> None:
    """Replace what the file alone says of the nodes that it holds."""
    known = graph.edges_from(keys.values(), linked=False)
    exchange(graph, known, _rows(graph, root, keys, edges, linked=False))


def _rows(
    graph: GraphBackend, root: str, sources: Mapping[str, int], edges: Iterable[Edge], *,
    linked: bool,
) -> list[EdgeRow]:  # fmt: skip
    """Return edges between keys, the surest of those that are one; unknown targets become stubs."""
    sure = [edge for edge in edges if edge.confidence >= DROP_BELOW and edge.source in sources]
    others = dict.fromkeys(edge.target for edge in sure if edge.target not in sources)
    ends = dict(sources) | graph.put_nodes(root, _stubs(others), None, stub=True)
    best: dict[EdgeId, EdgeRow] = {}
    for edge in sure:
        row = edge_row(ends[edge.source], ends[edge.target], edge, linked=linked)
        if row.id not in best or best[row.id].confidence < row.confidence:
            best[row.id] = row
    return list(best.values())


def _stubs(wanted: Iterable[str]) -> list[Node]:
    made = ((uid, stub(uid)) for uid in wanted)
    return [node or Node(uid, "external", uid, None) for uid, node in made]


def exchange(
    graph: GraphBackend, known: Mapping[EdgeId, EdgeRow], wanted: Sequence[EdgeRow]
) -> None:
    """Replace edges by others; those that are as they were are left alone."""
    kept = {row.id for row in wanted}
    graph.remove_edges([row.id for row in known.values() if row.id not in kept])
    graph.put_edges([row for row in wanted if known.get(row.id) != row])


def _put_references(
    graph: GraphBackend, keys: Mapping[str, int], references: Iterable[Reference]
) -> None:
    by_source: dict[int, list[Reference]] = defaultdict(list)
    for reference in references:
        if reference.source in keys:
            by_source[keys[reference.source]].append(reference)
    known = graph.references(keys.values())
    changed = [key for key in keys.values() if known.get(key, []) != by_source.get(key, [])]
    if changed:
        graph.put_references(
            {key: [(r, names_in(r)) for r in by_source.get(key, ())] for key in changed}
        )


def _place(
    graph: GraphBackend, root: str, path: str, own: Sequence[Node], keys: Mapping[str, int],
    partition: str | None,
) -> None:  # fmt: skip
    """Join a file to its folder, and each folder to the one above.

    A folder belongs to the partition of what is in it; one that holds of several, to none.
    """
    child = next((keys[node.uid] for node in own if node.kind == "file"), None)
    while child is not None:
        path = path.rpartition("/")[0]
        uid = uids.folder(path)
        label = path.rpartition("/")[2] or "."
        there = graph.reader(None).find(uid, root)
        shared = bool(there) and there[0].partition not in (None, partition)
        parent = there[0].key if there else None
        if parent is None or shared:
            node = Node(uid, "folder", label, None)
            parent = graph.put_nodes(root, [node], partition if path and not shared else None)[uid]
        edge = Edge("", "", "contains", 1.0, TREE)
        graph.put_edges([edge_row(parent, child, edge, linked=False)])
        if (there and not shared) or not path:
            return
        child = parent


def _link_some(graph: GraphBackend, root: str, keys: Sequence[int], resolve: Link) -> None:
    """Replace the edges that come from the references of some nodes."""
    nodes = graph.reader(None).nodes(keys)
    references = graph.references(keys)
    found: list[Edge] = []
    for key, row in nodes.items():
        if key in references:
            found += resolve(references[key], row.node.path or "")
    by_uid = {row.node.uid: key for key, row in nodes.items()}
    known = graph.edges_from(keys, linked=True)
    exchange(graph, known, _rows(graph, root, by_uid, found, linked=True))
    graph.linked(keys)
