"""What becomes of the graph when a file is read again, goes, or when its references are resolved.

Nodes are kept by uid: one that is still there keeps its key, and with it every edge that leads to it
from elsewhere. What vanished is removed; whoever referred to it is resolved again, and keeps a stub
where nothing else fits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from vault_kg.extract import naming, touching, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import EdgeId, FileState, Where, edge_row
from vault_kg.extract.joining import Ends, exchange, rows
from vault_kg.extract.model import Edge, Extraction, Node, Reference
from vault_kg.extract.packages import seen_from_outside
from vault_kg.extract.protocol import SymbolIndex
from vault_kg.extract.roots import RECORDS, Root

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


class News(NamedTuple):
    """What a file that was read is to a graph."""

    is_first: bool = False
    """Nothing is known of it."""
    is_alone: bool = False
    """No reference of its root was resolved yet, so that none has to be resolved again."""


UNKNOWN = News()


def put_file(
    graph: GraphBackend, root: str, state: FileState, found: Extraction, partition: str | None,
    news: News = UNKNOWN,
) -> FileState:  # fmt: skip
    """Bring the graph up to date with a file that was read.

    Args:
        graph: where it is kept, in a write transaction.
        root: the root's name.
        state: what was read, without its counts.
        found: what its extractor found.
        partition: whose it is, where only some callers see it.
        news: spares questions whose answers are known.

    Returns:
        The state as it was remembered.
    """
    path = state.path
    before = {} if news.is_first else graph.keys_at(root, path)
    own = [node for node in found.nodes if node.path == path]
    keys = graph.put_nodes(root, own, partition)
    gone = {uid: key for uid, key in before.items() if uid not in keys}
    known = {} if news.is_first else graph.exports(root, path)
    renamed = {name for name, _ in known.items() ^ found.exports.items()}
    if renamed:
        graph.put_exports(root, path, found.exports, naming.parts_of(found.exports))
    if not news.is_alone:
        _note(graph, root, path, [*gone, *(keys.keys() - before.keys())], renamed)
    _retire(graph, gone.values())
    stated = {} if news.is_first else graph.edges_from(keys.values(), linked=False)
    exchange(graph, stated, rows(keys, found.edges, Ends(graph, root), linked=False))
    said = {} if news.is_first else graph.references(keys.values())
    _put_references(graph, keys, said, found.references)
    _place(graph, root, path, own, keys, partition)
    kept = state._replace(nodes=len(own), edges=len(found.edges))
    graph.put_state(root, kept)
    return kept


def forget_files(graph: GraphBackend, root: str, paths: Collection[str]) -> None:
    """Remove what files held that are gone from the tree."""
    for path in paths:
        gone = graph.keys_at(root, path)
        exports = graph.exports(root, path)
        if exports:
            graph.put_exports(root, path, {}, ())
        _note(graph, root, path, gone, exports)
        _retire(graph, gone.values())
    graph.forget_states(root, paths)


def link(graph: GraphBackend, of: Root, resolver: Resolver) -> int:
    """Resolve all references that wait for it, batch by batch; returns of how many nodes.

    Args:
        graph: where they are kept.
        of: the root.
        resolver: resolves them.
    """
    root = of.name
    _wake(graph, root)
    waiting = graph.waiting(root)
    if not waiting:
        return 0
    resolve = resolver(seen_from_outside(graph.symbols(root), of.package))
    ends = Ends(graph, root)
    for start in range(0, len(waiting), LINK_BATCH):
        with graph.writing():
            _link_some(graph, waiting[start : start + LINK_BATCH], resolve, ends)
    return len(waiting)


def sweep(graph: GraphBackend) -> int:
    """Remove stubs that nothing refers to, and folders that hold nothing; returns how many."""
    total = 0
    with graph.writing():
        while lone := graph.lone_stubs():
            folders = (uid for uid, _ in graph.places(lone).values() if uids.is_folder(uid))
            graph.put_changed(RECORDS, {key for uid in folders for key in touching.keys(uid)})
            graph.remove_nodes(lone)
            total += len(lone)
        graph.swept()
    return total


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
    graph: GraphBackend, root: str, path: str, changed: Collection[str], renamed: Iterable[str]
) -> None:
    """Note which names may mean something else now.

    Args:
        graph: where it is kept.
        root: the root's name.
        path: the file.
        changed: uids that are new or gone.
        renamed: names of the file that stand for something else.
    """
    names = {name for uid in changed for name in naming.names_for(uid)}
    if any(uid == uids.file(path) for uid in changed) and _MARKER.fullmatch(path):
        names |= _names_below(graph, root, path.rpartition("/")[0])
    names |= {name for spelled in renamed for name in naming.parts(spelled)}
    graph.put_changed(root, names)
    graph.put_changed(RECORDS, {key for uid in changed for key in touching.keys(uid)})


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


def _names_below(graph: GraphBackend, root: str, folder: str) -> set[str]:
    """Return the names of the files in a folder, whose modules its marker gives other names."""
    rows, _ = graph.reader(None).under(folder, root, _EVERY, ("file",))
    return {part for row in rows for part in naming.parts(row.node.label)}


def _put_references(
    graph: GraphBackend, keys: Mapping[str, int], known: Mapping[int, list[Reference]],
    references: Iterable[Reference],
) -> None:  # fmt: skip
    by_source: dict[int, list[Reference]] = defaultdict(list)
    for reference in references:
        if reference.source in keys:
            by_source[keys[reference.source]].append(reference)
    changed = [key for key in keys.values() if known.get(key, []) != by_source.get(key, [])]
    if changed:
        graph.put_references(
            {key: [(r, naming.names_in(r)) for r in by_source.get(key, ())] for key in changed}
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
            graph.put_changed(RECORDS, touching.keys(uid))
        edge = Edge("", "", "contains", 1.0, TREE)
        graph.put_edges([edge_row(parent, child, edge, linked=False)])
        if (there and not shared) or not path:
            return
        child = parent


def _link_some(graph: GraphBackend, keys: Sequence[int], resolve: Link, ends: Ends) -> None:
    """Replace the edges that come from the references of some nodes."""
    places = graph.places(keys)
    references = graph.references(keys)
    found: list[Edge] = []
    for key, (_, path) in places.items():
        if key in references:
            found += resolve(references[key], path or "")
    sources = {uid: key for key, (uid, _) in places.items()}
    known = graph.edges_from(keys, linked=True)
    exchange(graph, known, rows(sources, found, ends, linked=True))
    graph.linked(keys)
