"""Finding symbols of one language: by file and qualified name, by name alone, by class and name."""

from __future__ import annotations

from vault_kg.extract import uids
from vault_kg.extract.model import Node
from vault_kg.extract.modules.protocol import Modules
from vault_kg.extract.protocol import SymbolIndex


class Lookup:
    """Answers from an index, and remembers the answers."""

    def __init__(self, index: SymbolIndex, modules: Modules) -> None:
        self._index = index
        self._modules = modules
        self._defined: dict[tuple[str, str], Node | None] = {}
        self._only: dict[tuple[str, tuple[str, ...]], Node | None] = {}

    def defined(self, file: str, qualified: str) -> Node | None:
        """Return what a file defines by a qualified name; a class before a function."""
        key = (file, qualified)
        if key not in self._defined:
            self._defined[key] = self._index.first(uids.symbols(file, qualified))
        return self._defined[key]

    def only(self, name: str, kinds: tuple[str, ...]) -> Node | None:
        """Return the only node of some kinds that has a name, in files of the language."""
        key = (name, kinds)
        if key not in self._only:
            fitting = {
                node.uid: node
                for node in self._index.labelled(name)
                if node.kind in kinds and self._can_be_seen(node)
            }
            self._only[key] = next(iter(fitting.values())) if len(fitting) == 1 else None
        return self._only[key]

    def method(self, file: str, qualified: str) -> Node | None:
        """Return the only method of a qualified name in any file, one of the file's folder first."""
        fitting = [
            node
            for node in self._index.labelled(qualified.rpartition(".")[2])
            if node.kind == "method"
            and node.uid.endswith(f"::{qualified}")
            and self._can_be_seen(node)
        ]
        folder = file.rpartition("/")[0]
        beside = [node for node in fitting if (node.path or "").rpartition("/")[0] == folder]
        fitting = beside or fitting
        return fitting[0] if len(fitting) == 1 else None

    def file(self, path: str) -> Node | None:
        """Return the node of a file, of source or a document."""
        return self._index.first((uids.file(path), uids.document(path)))

    def heading(self, path: str, slug: str) -> Node | None:
        """Return a document's heading by its anchor; its level is what the document exports."""
        level = self._index.exported(path, f"#{slug}")
        return self._index.node(uids.heading(path, slug, int(level))) if level else None

    def _can_be_seen(self, node: Node) -> bool:
        path = node.path or ""
        return path[path.rfind(".") :] in self._modules.suffixes and "static" not in node.roles
