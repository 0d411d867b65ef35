"""All symbols of a root, as resolution sees them; what was asked once is kept."""

from __future__ import annotations

from collections.abc import Sequence

from vault_kg.extract.backends.rows import READ_NODE, read_node
from vault_kg.extract.model import Node
from vault_kg.state.database import Database

_FROM = "FROM node JOIN root ON root.id = node.root WHERE node.root = ? AND NOT stub AND"


class SqliteSymbols:
    """A `SymbolIndex` over the tables. Valid until nodes change."""

    def __init__(self, db: Database, root: int) -> None:
        self._db = db
        self._root = root
        self._nodes: dict[str, Node | None] = {}
        self._labelled: dict[str, list[Node]] = {}
        self._exported: dict[tuple[str, str], str | None] = {}
        self._ending: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] | None = None

    def node(self, uid: str) -> Node | None:
        """Return the node of a uid."""
        if uid not in self._nodes:
            values = self._db.row(f"{READ_NODE} {_FROM} node.uid = ?", (self._root, uid))
            self._nodes[uid] = read_node(values).node if values else None
        return self._nodes[uid]

    def labelled(self, label: str) -> Sequence[Node]:
        """Return the nodes of a label, those of one file in the order of the file."""
        if label not in self._labelled:
            found = self._db.rows(
                f"{READ_NODE} {_FROM} node.label = ? ORDER BY path, start_line, node.uid",
                (self._root, label),
            )
            self._labelled[label] = [read_node(values).node for values in found]
        return self._labelled[label]

    def has_path(self, path: str) -> bool:
        """Say whether a file is part of the graph."""
        return path in self._by_name().get(path.rpartition("/")[2], ())

    def paths_ending(self, suffix: str) -> Sequence[str]:
        """Return the files whose path is, or ends in a slash and, these parts."""
        found = self._ending.get(suffix)
        if found is None:
            named = self._by_name().get(suffix.rpartition("/")[2], ())
            found = [path for path in named if path == suffix or path.endswith("/" + suffix)]
            self._ending[suffix] = found
        return found

    def exported(self, path: str, name: str) -> str | None:
        """Return what a name of a file stands for, or None."""
        asked = path, name
        if asked not in self._exported:
            self._exported[asked] = self._db.value(
                "SELECT target FROM export WHERE root = ? AND path = ? AND name = ?",
                (self._root, path, name),
            )
        return self._exported[asked]

    def _by_name(self) -> dict[str, list[str]]:
        """Return the paths of all files, by the last part of each."""
        if self._named is None:
            self._named = {}
            for (path,) in self._db.rows(
                "SELECT path FROM file_index_state WHERE root = ? AND hash <> '' ORDER BY path",
                (self._root,),
            ):
                self._named.setdefault(path.rpartition("/")[2], []).append(path)
        return self._named
