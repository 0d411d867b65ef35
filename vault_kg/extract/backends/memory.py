"""The graph in memory: what SQLite's answers are compared with, and a scratch graph for a trial.

It keeps nothing, and looks through everything; changes are taken back by copying what was.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from vault_kg.extract.backends.memory_graph import Graph
from vault_kg.extract.backends.memory_reader import MemoryReader
from vault_kg.extract.backends.memory_records import MemoryRecords
from vault_kg.extract.backends.values import EdgeId, EdgeRow, FileState, NodeRow, Stored
from vault_kg.extract.model import Node, Reference
from vault_kg.extract.symbols import SymbolTable


class MemoryBackend(MemoryRecords):
    """The derived graph of one process."""

    name = "memory"

    def __init__(self) -> None:
        self.graph = Graph()
        self._numbers = itertools.count(1)
        self._depth = 0

    def reader(
        self, partitions: frozenset[str] | None, hidden: frozenset[int] = frozenset()
    ) -> MemoryReader:
        """Return the graph as a caller sees it."""
        return MemoryReader(self.graph, partitions, hidden)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the changes of a block together, or none of them."""
        before = copy.deepcopy(self.graph) if not self._depth else None
        self._depth += 1
        try:
            yield
        except BaseException:
            if before is not None:
                self.graph.__dict__.update(before.__dict__)
            raise
        finally:
            self._depth -= 1

    def close(self) -> None:
        """Forget everything."""
        self.graph = Graph()

    # Roots and files

    def roots(self) -> list[str]:
        """Return the names of the roots that are known."""
        return sorted({root for root, _ in self.graph.keys} | set(self.graph.states))

    def forget_root(self, root: str) -> None:
        """Remove a root with all that it holds."""
        self.remove_nodes([key for (name, _), key in self.graph.keys.items() if name == root])
        self.graph.states.pop(root, None)
        self.graph.changed.pop(root, None)
        self.graph.stored.pop(root, None)
        for place in [place for place in self.graph.exports if place[0] == root]:
            del self.graph.exports[place], self.graph.parts[place]

    def states(self, root: str) -> dict[str, FileState]:
        """Return what was last read of each file of a root."""
        return dict(self.graph.states.get(root, {}))

    def state(self, root: str, path: str) -> FileState | None:
        """Return what was last read of a file."""
        return self.graph.states.get(root, {}).get(path)

    def put_state(self, root: str, state: FileState) -> None:
        """Remember what was read of a file."""
        self.graph.states.setdefault(root, {})[state.path] = state

    def forget_states(self, root: str, paths: Iterable[str]) -> None:
        """Forget what was read of files."""
        for path in paths:
            self.graph.states.get(root, {}).pop(path, None)

    def stored(self, root: str) -> Stored:
        """Return what was kept of a root's tree."""
        return self.graph.stored.get(root, Stored())

    def put_stored(self, root: str, stored: Stored) -> None:
        """Keep what tells that a root's tree is the same."""
        self.graph.stored[root] = stored

    def doubt(self, root: str) -> None:
        """Say that not all files of a root are as they were read."""
        self.graph.stored[root] = self.stored(root)._replace(stamps="")

    def setting(self, name: str) -> str | None:
        """Return a remembered text."""
        return self.graph.settings.get(name)

    def put_setting(self, name: str, value: str) -> None:
        """Remember a text."""
        self.graph.settings[name] = value

    # Nodes and edges

    def keys_at(self, root: str, path: str) -> dict[str, int]:
        """Return the keys of the nodes that a file holds, by uid."""
        return {
            row.node.uid: key
            for key, row in self.graph.nodes.items()
            if row.root == root and row.node.path == path
        }

    def keys(self, root: str, uids: Collection[str]) -> dict[str, int]:
        """Return the keys of the nodes that have these uids, by uid."""
        found = ((uid, self.graph.keys.get((root, uid))) for uid in uids)
        return {uid: key for uid, key in found if key is not None}

    def places(self, keys: Collection[int]) -> dict[int, tuple[str, str | None]]:
        """Return the uid and the path of nodes."""
        nodes = {key: self.graph.nodes[key].node for key in keys if key in self.graph.nodes}
        return {key: (node.uid, node.path) for key, node in nodes.items()}

    def put_nodes(
        self, root: str, nodes: Sequence[Node], partition: str | None, *, stub: bool = False
    ) -> dict[str, int]:
        """Insert nodes, or bring those of the same uid up to date; a stub changes none."""
        keys: dict[str, int] = {}
        for node in nodes:
            key = self.graph.keys.get((root, node.uid))
            if key is None:
                key = self.graph.keys[root, node.uid] = next(self._numbers)
            elif stub:
                keys[node.uid] = key
                continue
            self.graph.nodes[key] = NodeRow(key, root, node, partition, stub)
            keys[node.uid] = key
        return keys

    def remove_nodes(self, keys: Collection[int]) -> None:
        """Remove nodes with their references and the edges at both ends."""
        gone = set(keys)
        for key in gone:
            row = self.graph.nodes.pop(key, None)
            if row is not None:
                del self.graph.keys[row.root, row.node.uid]
            self.graph.references.pop(key, None)
            self.graph.names.pop(key, None)
        self.graph.waiting -= gone
        ends = [e for e in self.graph.edges if e.source in gone or e.target in gone]
        self.remove_edges(ends)

    def retire(self, keys: Collection[int]) -> None:
        """Make nodes stubs: what they say is forgotten, what leads to them stays."""
        for key in keys:
            row = self.graph.nodes[key]
            node = Node(row.node.uid, row.node.kind, row.node.label, None)
            self.graph.nodes[key] = NodeRow(key, row.root, node, None, True)
            self.graph.references.pop(key, None)
            self.graph.names.pop(key, None)
            self.graph.waiting.discard(key)
        self.remove_edges([edge for edge in self.graph.edges if edge.source in set(keys)])

    def lone_stubs(self) -> list[int]:
        """Return the stubs and folders that have lost their last edge, until they are removed."""
        targets = {edge.target for edge in self.graph.edges}
        sources = {edge.source for edge in self.graph.edges}
        return [
            key
            for key, row in self.graph.nodes.items()
            if (row.stub and key not in targets)
            or (row.node.kind == "folder" and key not in sources)
        ]

    def swept(self) -> None:
        """Do nothing: each time, all are looked at."""

    def edges_from(self, keys: Collection[int], *, linked: bool) -> dict[EdgeId, EdgeRow]:
        """Return the edges that lead from nodes."""
        wanted = set(keys)
        return {
            edge.id: edge
            for edge in self.graph.edges.values()
            if edge.id.source in wanted and edge.linked == linked
        }

    def put_edges(self, edges: Iterable[EdgeRow]) -> None:
        """Insert edges, or bring those of the same identity up to date."""
        for edge in edges:
            self.graph.edges[edge.id] = edge

    def remove_edges(self, edges: Iterable[EdgeId]) -> None:
        """Remove edges."""
        for edge in edges:
            self.graph.edges.pop(edge, None)

    # References, and what they may mean

    def put_references(
        self, by_node: Mapping[int, Sequence[tuple[Reference, frozenset[str]]]]
    ) -> None:
        """Replace the references of nodes, each with all names in it, and let them be resolved."""
        for key, found in by_node.items():
            self.graph.references[key] = [reference for reference, _ in found]
            self.graph.names[key] = {name for _, names in found for name in names}
            self.graph.waiting.add(key)

    def references(self, keys: Collection[int]) -> dict[int, list[Reference]]:
        """Return the references of nodes."""
        return {
            key: list(self.graph.references[key]) for key in keys if self.graph.references.get(key)
        }

    def exports(self, root: str, path: str) -> dict[str, str]:
        """Return what the names of a file stand for."""
        return dict(self.graph.exports.get((root, path), {}))

    def put_exports(
        self, root: str, path: str, exports: Mapping[str, str], parts: Collection[tuple[str, str]]
    ) -> None:
        """Replace what the names of a file stand for; `parts` are (part of a target, name)."""
        self.graph.exports[root, path] = dict(exports)
        self.graph.parts[root, path] = set(parts)

    def standing_for(self, root: str, parts: Collection[str]) -> set[str]:
        """Return the names, of any file, whose target has one of these parts."""
        wanted = set(parts)
        return {
            name
            for (where, _), pairs in self.graph.parts.items()
            for part, name in pairs
            if where == root and part in wanted
        }

    def put_changed(self, root: str, names: Collection[str]) -> None:
        """Note names that may mean something else from now on."""
        self.graph.changed.setdefault(root, set()).update(names)

    def changed(self, root: str) -> set[str]:
        """Return the names that were noted."""
        return set(self.graph.changed.get(root, ()))

    def wake(self, root: str, names: Collection[str]) -> None:
        """Let references be resolved again that hold one of these names; none is noted any more."""
        wanted = set(names)
        for key, held in self.graph.names.items():
            if self.graph.nodes[key].root == root and held & wanted:
                self.graph.waiting.add(key)
        self.graph.changed.pop(root, None)

    def wake_nodes(self, keys: Collection[int]) -> None:
        """Let the references of nodes be resolved again."""
        self.graph.waiting.update(keys)

    def waiting(self, root: str) -> list[int]:
        """Return the nodes whose references are to be resolved, in a stable order."""
        return sorted(k for k in self.graph.waiting if self.graph.nodes[k].root == root)

    def linked(self, keys: Collection[int]) -> None:
        """Say that the references of nodes were resolved."""
        self.graph.waiting.difference_update(keys)

    def symbols(self, root: str) -> SymbolTable:
        """Return all symbols of a root as they are now."""
        table = SymbolTable()
        rows = [row.node for row in self.graph.nodes.values() if row.root == root and not row.stub]
        table.add_nodes(sorted(rows, key=lambda n: (n.path or "", n.start_line or 0, n.uid)))
        for path, state in self.states(root).items():
            if state.hash:
                table.add_path(path)
        for (where, path), exports in self.graph.exports.items():
            if where == root:
                table.add_exports(path, exports.items())
        return table

    def optimise(self) -> None:
        """Do nothing."""
