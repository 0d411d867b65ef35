"""The graph in `graph.sqlite`: changes of nodes and edges. Reads are in `sqlite_reader`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from vault_kg.extract.backends import rows
from vault_kg.extract.backends.sight import Sight
from vault_kg.extract.backends.sqlite_files import AMONG
from vault_kg.extract.backends.sqlite_reader import SqliteReader
from vault_kg.extract.backends.sqlite_records import SqliteRecords
from vault_kg.extract.backends.sqlite_symbols import SqliteSymbols
from vault_kg.extract.backends.values import EdgeId, EdgeRow
from vault_kg.extract.model import Node

_INSERT = (
    f"INSERT INTO node (key, root, {rows.NODE_COLUMNS}) "
    f"VALUES (?, ?{', ?' * len(rows.NODE_COLUMNS.split(', '))})"
)


class SqliteBackend(SqliteRecords):
    """The derived graph in one file, which may be deleted at any time."""

    name = "sqlite"

    def reader(
        self, partitions: frozenset[str] | None, hidden: frozenset[int] = frozenset()
    ) -> SqliteReader:
        """Return the graph as a caller sees it."""
        return SqliteReader(self.database, self._terms, Sight(partitions, hidden))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the changes of a block together, or none of them."""
        try:
            with self.database.write():
                yield
        except BaseException:
            self._terms.forget()
            raise

    def close(self) -> None:
        """Close every connection."""
        self.database.close()

    def forget_root(self, root: str) -> None:
        """Remove a root with all that it holds."""
        number = self._root(root)
        with self.writing():
            keys = self.database.rows("SELECT key FROM node WHERE root = ?", (number,))
            self.remove_nodes([key for (key,) in keys])
            for table in ("file_index_state", "export", "export_part", "changed_name"):
                self.database.execute(f"DELETE FROM {table} WHERE root = ?", (number,))
            self.database.execute("DELETE FROM root WHERE id = ?", (number,))

    def keys_at(self, root: str, path: str) -> dict[str, int]:
        """Return the keys of the nodes that a file holds, by uid."""
        return dict(
            self.database.rows(
                "SELECT uid, key FROM node WHERE path = ? AND root = ?", (path, self._root(root))
            )
        )

    def keys(self, root: str, uids: Collection[str]) -> dict[str, int]:
        """Return the keys of the nodes that have these uids, by uid."""
        return dict(
            self.database.rows(
                f"SELECT uid, key FROM node WHERE uid {AMONG} AND root = ?",
                (json.dumps(list(uids)), self._root(root)),
            )
        )

    def places(self, keys: Collection[int]) -> dict[int, tuple[str, str | None]]:
        """Return the uid and the path of nodes."""
        found = self.database.rows(
            f"SELECT key, uid, path FROM node WHERE key {AMONG}", (json.dumps(list(keys)),)
        )
        return {key: (uid, path) for key, uid, path in found}

    def put_nodes(
        self, root: str, nodes: Sequence[Node], partition: str | None, *, stub: bool = False
    ) -> dict[str, int]:
        """Insert nodes, or bring those of the same uid up to date; a stub changes none."""
        if not nodes:
            return {}
        number = self._root(root)
        known = self._known(number, [node.uid for node in nodes])
        keys: dict[str, int] = {}
        new: dict[int, tuple[Node, rows.Values]] = {}
        free = int(self.database.value("SELECT max(key) FROM node") or 0) + 1
        for node in nodes:
            values = rows.node_values(node, partition, stub)
            there = known.get(node.uid)
            if there is None:
                there = known[node.uid] = (free, values)
                new[free] = (node, values)
                free += 1
            elif not stub and there[1] != values:
                if there[0] in new:
                    new[there[0]] = (node, values)
                else:
                    self._update(there[0], node, values)
                known[node.uid] = (there[0], values)
            keys[node.uid] = there[0]
        self._insert(number, new, stub)
        return keys

    def remove_nodes(self, keys: Collection[int]) -> None:
        """Remove nodes with their references and the edges at both ends."""
        listed = (json.dumps(list(keys)),)
        self._forget_said(listed)
        self.database.execute(f"DELETE FROM node WHERE key {AMONG}", listed)
        into = self.database.rows(
            f"SELECT source, target, kind, extractor FROM edge WHERE target {AMONG}", listed
        )
        self._delete_edges(into)

    def retire(self, keys: Collection[int]) -> None:
        """Make nodes stubs: what they say is forgotten, what leads to them stays."""
        listed = (json.dumps(list(keys)),)
        self._forget_said(listed)
        self._doubt((key,) for key in keys)
        self.database.execute(
            "UPDATE node SET stub = 1, path = NULL, start_line = NULL, end_line = NULL, "
            "signature = '', summary = '', roles = '', more = '', partition = NULL "
            f"WHERE key {AMONG}",
            listed,
        )

    def lone_stubs(self) -> list[int]:
        """Return the stubs and folders that have lost their last edge, until they are removed."""
        found = self.database.rows(
            "SELECT key FROM doubtful JOIN node USING (key) WHERE "
            "stub AND NOT EXISTS (SELECT 1 FROM edge WHERE target = key) OR "
            "kind = 'folder' AND NOT EXISTS (SELECT 1 FROM edge WHERE source = key)"
        )
        return [key for (key,) in found]

    def swept(self) -> None:
        """Say that no stub and no folder is without an edge."""
        self.database.execute("DELETE FROM doubtful")

    def edges_from(self, keys: Collection[int], *, linked: bool) -> dict[EdgeId, EdgeRow]:
        """Return the edges that lead from nodes."""
        found = self.database.rows(
            "SELECT source, target, kind, extractor, confidence, line, signals, linked FROM edge "
            f"WHERE source {AMONG} AND linked = ?",
            (json.dumps(list(keys)), int(linked)),
        )
        read = map(self._terms.edge, found)
        return {edge.id: edge for edge in read}

    def put_edges(self, edges: Iterable[EdgeRow]) -> None:
        """Insert edges, or bring those of the same identity up to date."""
        number, signals_of = self._terms.number, self._terms.signals
        self.database.executemany(
            "INSERT OR REPLACE INTO edge VALUES (?,?,?,?,?,?,?,?)",
            [
                (source, target, number(kind), number(extractor), confidence, line,
                 signals_of(signals), int(linked))
                for (source, target, kind, extractor), confidence, line, signals, linked in edges
            ],
        )  # fmt: skip

    def remove_edges(self, edges: Iterable[EdgeId]) -> None:
        """Remove edges."""
        number = self._terms.number
        self._delete_edges(
            [(e.source, e.target, number(e.kind), number(e.extractor)) for e in edges]
        )

    def symbols(self, root: str) -> SqliteSymbols:
        """Return all symbols of a root as they are now."""
        return SqliteSymbols(self.database, self._root(root))

    def optimise(self) -> None:
        """Let SQLite look at how the values lie, which its plans depend on."""
        self.database.execute("PRAGMA analysis_limit=1000; ANALYZE")

    def _known(self, root: int, uids: Sequence[str]) -> dict[str, tuple[int, rows.Values]]:
        found = self.database.rows(
            f"SELECT key, {rows.NODE_COLUMNS} FROM node WHERE uid {AMONG} AND root = ?",
            (json.dumps(uids), root),
        )
        return {values[1]: (values[0], tuple(values[1:])) for values in found}

    def _insert(self, root: int, new: Mapping[int, tuple[Node, rows.Values]], stub: bool) -> None:
        self.database.executemany(
            _INSERT, [(key, root, *values) for key, (_, values) in new.items()]
        )
        if not stub:
            self._index_words([(key, node) for key, (node, _) in new.items()])

    def _update(self, key: int, node: Node, values: rows.Values) -> None:
        assignments = ", ".join(f"{name} = ?" for name in rows.NODE_COLUMNS.split(", "))
        self.database.execute(f"UPDATE node SET {assignments} WHERE key = ?", (*values, key))
        self.database.execute("DELETE FROM node_fts WHERE rowid = ?", (key,))
        self._index_words([(key, node)])

    def _index_words(self, nodes: Iterable[tuple[int, Node]]) -> None:
        self.database.executemany(
            "INSERT INTO node_fts (rowid, label, words, about) VALUES (?,?,?,?)",
            [(key, *rows.searched(node)) for key, node in nodes],
        )

    def _forget_said(self, keys: tuple[str]) -> None:
        """Forget what nodes say: the edges from them, their references and words."""
        self.database.execute(
            f"INSERT OR IGNORE INTO doubtful SELECT target FROM edge WHERE source {AMONG}", keys
        )
        for table, column in (
            ("edge", "source"), ("reference", "source"), ("reference_name", "source"),
            ("waiting", "source"), ("node_fts", "rowid"),
        ):  # fmt: skip
            self.database.execute(f"DELETE FROM {table} WHERE {column} {AMONG}", keys)

    def _doubt(self, keys: Iterable[tuple[int]]) -> None:
        self.database.executemany("INSERT OR IGNORE INTO doubtful VALUES (?)", keys)

    def _delete_edges(self, ids: Sequence[tuple[int, ...]]) -> None:
        self._doubt({(key,) for source, target, *_ in ids for key in (source, target)})
        self.database.executemany(
            "DELETE FROM edge WHERE source = ? AND target = ? AND kind = ? AND extractor = ?", ids
        )
