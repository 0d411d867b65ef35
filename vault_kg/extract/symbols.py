"""All symbols of a graph in memory: what resolution asks for, answered from extractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from vault_kg.extract.model import Extraction, Node


class SymbolTable:
    """A `SymbolIndex` that holds everything at once."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._labelled: dict[str, list[Node]] = defaultdict(list)
        self._paths: dict[str, set[str]] = defaultdict(set)
        self._exports: dict[tuple[str, str], str] = {}

    def add(self, path: str, extraction: Extraction) -> None:
        """Take in what a file holds; a file is added once."""
        self._paths[path.rpartition("/")[2]].add(path)
        self.add_nodes(extraction.nodes)
        self.add_exports(path, extraction.exports.items())

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Take in nodes, those of one file in its order."""
        for node in nodes:
            self._nodes[node.uid] = node
            self._labelled[node.label].append(node)

    def add_path(self, path: str) -> None:
        """Take in that a file is there."""
        self._paths[path.rpartition("/")[2]].add(path)

    def add_exports(self, path: str, exports: Iterable[tuple[str, str]]) -> None:
        """Take in what names of a file stand for."""
        for name, target in exports:
            self._exports[path, name] = target

    def node(self, uid: str) -> Node | None:
        """Return the node of a uid."""
        return self._nodes.get(uid)

    def first(self, uids: Sequence[str]) -> Node | None:
        """Return the node of the first of these uids that has one."""
        return next((node for uid in uids if (node := self._nodes.get(uid))), None)

    def labelled(self, label: str) -> Sequence[Node]:
        """Return the nodes of a label, those of one file in the order of the file."""
        return self._labelled.get(label, ())

    def has_path(self, path: str) -> bool:
        """Say whether a file is part of the graph."""
        return path in self._paths.get(path.rpartition("/")[2], ())

    def paths_ending(self, suffix: str) -> Sequence[str]:
        """Return the files whose path is, or ends in a slash and, these parts."""
        same = self._paths.get(suffix.rpartition("/")[2], ())
        if "/" not in suffix:
            return sorted(same)
        return sorted(path for path in same if path == suffix or path.endswith("/" + suffix))

    def exported(self, path: str, name: str) -> str | None:
        """Return what a name of a file stands for, or None."""
        return self._exports.get((path, name))
