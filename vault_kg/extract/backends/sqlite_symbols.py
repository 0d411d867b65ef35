"""All symbols of a root, as resolution sees them; what was asked once is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from vault_kg.extract.model import Node
from vault_kg.state.database import Database

_SEEN: Final = (
    "SELECT uid, kind, label, path, start_line, roles FROM node WHERE root = ? AND NOT stub"
)
FEW: Final = 200
"""So many questions are asked one by one in any case."""
SHARE: Final = 12
"""After questions about one in so many nodes, all of them are read: that takes as long."""


class SqliteSymbols:
    """A `SymbolIndex` over the tables. Valid until nodes change.

    Who asks little is answered from the tables; who asks much makes it read all of them once.
    """

    def __init__(self, db: Database, root: int) -> None:
        self._db = db
        self._root = root
        self._nodes: dict[str, Node | None] = {}
        self._labelled: dict[str, list[Node]] = {}
        self._exported: dict[tuple[str, str], str | None] = {}
        self._ending: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] | None = None
        self._has_all = False
        self._by_label: dict[str, list[Node]] = defaultdict(list)
        """Filled where everything was read."""
        highest = db.value("SELECT max(key) FROM node") or 0
        self._patience = FEW + int(highest) // SHARE

    def node(self, uid: str) -> Node | None:
        """Return the node of a uid, without its signature and summary."""
        return self.first((uid,))

    def first(self, uids: Sequence[str]) -> Node | None:
        """Return the node of the first of these uids that has one."""
        nodes = self._nodes
        if not self._has_all and any(uid not in nodes for uid in uids):
            self._ask(uids)
        for uid in uids:
            if (found := nodes.get(uid)) is not None:
                return found
        return None

    def labelled(self, label: str) -> Sequence[Node]:
        """Return the nodes of a label, those of one file in the order of the file."""
        found = self._labelled.get(label)
        if found is None:
            if self._is_tired():
                nodes: Iterable[Node] = self._by_label.get(label, ())
            else:
                nodes = self._read(f"{_SEEN} AND label = ?", (self._root, label))
            found = self._labelled[label] = sorted(nodes, key=_place)
        return found

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
        found = self._exported.get(asked)
        if found is None and not self._has_all and asked not in self._exported:
            found = self._exported[asked] = self._db.value(
                "SELECT target FROM export WHERE root = ? AND path = ? AND name = ?",
                (self._root, path, name),
            )
            self._is_tired()
        return found

    def _ask(self, uids: Sequence[str]) -> None:
        if self._is_tired():
            return
        marks = ", ".join("?" * len(uids))
        found = self._read(f"{_SEEN} AND uid IN ({marks})", (self._root, *uids))
        self._nodes.update(dict.fromkeys(uids))
        self._nodes.update((node.uid, node) for node in found)

    def _is_tired(self) -> bool:
        """Count a question; with the last that is asked singly, read everything."""
        self._patience -= 1
        if self._patience < 0 and not self._has_all:
            self._read_all()
        return self._has_all

    def _read_all(self) -> None:
        self._has_all = True
        for node in self._read(_SEEN, (self._root,)):
            self._nodes[node.uid] = node
            self._by_label[node.label].append(node)
        for path, name, target in self._db.connection.execute(
            "SELECT path, name, target FROM export WHERE root = ?", (self._root,)
        ):
            self._exported[path, name] = target

    def _read(self, sql: str, parameters: Sequence[Any]) -> Iterable[Node]:
        for uid, kind, label, path, start, roles in self._db.rows(sql, parameters):
            yield Node(uid, kind, label, path, start, roles=tuple(roles.split()) if roles else ())

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


def _place(node: Node) -> tuple[str, int, str]:
    return node.path or "", node.start_line or 0, node.uid
