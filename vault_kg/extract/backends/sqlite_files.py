"""What the tables remember of roots and files, and the references that files hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from vault_kg.extract.backends import rows
from vault_kg.extract.backends.database import GraphDatabase
from vault_kg.extract.backends.terms import Terms
from vault_kg.extract.backends.values import FileState, Stored
from vault_kg.extract.model import Reference

AMONG = "IN (SELECT value FROM json_each(?))"

_STATE = (
    "path, extractor, version, size, mtime_ns, ctime_ns, inode, seen_ns, hash, tried, nodes, edges, "
    "error, problems, duration_ms, indexed_at"
)
_UNKNOWN = -1
"""The number of a root that holds nothing."""


class SqliteFiles:
    """The part of the backend that has no nodes and no edges."""

    def __init__(self, path: Path) -> None:
        self.database = GraphDatabase(path)
        self._terms = Terms(self.database)

    def roots(self) -> list[str]:
        """Return the names of the roots that are known."""
        return [name for (name,) in self.database.rows("SELECT name FROM root ORDER BY name")]

    def states(self, root: str) -> dict[str, FileState]:
        """Return what was last read of each file of a root."""
        found = self.database.rows(
            f"SELECT {_STATE} FROM file_index_state WHERE root = ?", (self._root(root),)
        )
        return {values[0]: _state(values) for values in found}

    def state(self, root: str, path: str) -> FileState | None:
        """Return what was last read of a file."""
        values = self.database.row(
            f"SELECT {_STATE} FROM file_index_state WHERE root = ? AND path = ?",
            (self._root(root), path),
        )
        return _state(values) if values else None

    def put_state(self, root: str, state: FileState) -> None:
        """Remember what was read of a file."""
        self.database.execute(
            f"INSERT OR REPLACE INTO file_index_state (root, {_STATE}) "
            f"VALUES ({', '.join('?' * 17)})",
            (self._root(root), state.path, state.extractor, state.version, *state.stamp,
             state.seen_ns, state.hash, state.tried, state.nodes, state.edges, state.error,
             json.dumps(state.problems), state.duration_ms, state.indexed_at),
        )  # fmt: skip

    def forget_states(self, root: str, paths: Iterable[str]) -> None:
        """Forget what was read of files."""
        number = self._root(root)
        self.database.executemany(
            "DELETE FROM file_index_state WHERE root = ? AND path = ?",
            ((number, path) for path in paths),
        )

    def stored(self, root: str) -> Stored:
        """Return what was kept of a root's tree."""
        found = self.database.row("SELECT listing, stamps FROM root WHERE name = ?", (root,))
        return Stored(*found) if found else Stored()

    def put_stored(self, root: str, stored: Stored) -> None:
        """Keep what tells that a root's tree is the same."""
        self.database.execute(
            "UPDATE root SET listing = ?, stamps = ? WHERE id = ?", (*stored, self._root(root))
        )

    def doubt(self, root: str) -> None:
        """Say that not all files of a root are as they were read."""
        self.database.execute(
            "UPDATE root SET stamps = '' WHERE name = ? AND stamps <> ''", (root,)
        )

    def setting(self, name: str) -> str | None:
        """Return a remembered text."""
        value: str | None = self.database.value("SELECT value FROM setting WHERE name = ?", (name,))
        return value

    def put_setting(self, name: str, value: str) -> None:
        """Remember a text."""
        self.database.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    def put_references(
        self, by_node: Mapping[int, Sequence[tuple[Reference, frozenset[str]]]]
    ) -> None:
        """Replace the references of nodes, each with all names in it, and let them be resolved."""
        db, number, signals_of = self.database, self._terms.number, self._terms.signals
        listed = (json.dumps(list(by_node)),)
        db.execute(f"DELETE FROM reference WHERE source {AMONG}", listed)
        db.execute(f"DELETE FROM reference_name WHERE source {AMONG}", listed)
        db.executemany(
            "INSERT INTO reference VALUES (?,?,?,?,?,?,?)",
            [
                (key, n, number(kind), name, module, line, signals_of(signals))
                for key, found in by_node.items()
                for n, ((_, kind, name, module, line, signals), _) in enumerate(found)
            ],
        )  # fmt: skip
        names = {
            (name, key) for key, found in by_node.items() for _, held in found for name in held
        }
        db.executemany("INSERT INTO reference_name VALUES (?,?)", sorted(names))
        self.wake_nodes(by_node.keys())

    def references(self, keys: Collection[int]) -> dict[int, list[Reference]]:
        """Return the references of nodes."""
        text = self._terms.text
        found: dict[int, list[Reference]] = {}
        for source, uid, kind, name, module, line, signals in self.database.rows(
            "SELECT source, uid, reference.kind, name, module, line, signals FROM reference "
            f"JOIN node ON node.key = source WHERE source {AMONG} ORDER BY source, ordinal",
            (json.dumps(list(keys)),),
        ):
            read = Reference(
                uid, text(kind), name, module, line, rows.read_signals(text(signals))  # type: ignore[arg-type]
            )  # fmt: skip
            found.setdefault(source, []).append(read)
        return found

    def exports(self, root: str, path: str) -> dict[str, str]:
        """Return what the names of a file stand for."""
        return dict(
            self.database.rows(
                "SELECT name, target FROM export WHERE root = ? AND path = ?",
                (self._root(root), path),
            )
        )

    def put_exports(
        self, root: str, path: str, exports: Mapping[str, str], parts: Collection[tuple[str, str]]
    ) -> None:
        """Replace what the names of a file stand for; `parts` are (part of a target, name)."""
        number = self._root(root)
        for table in ("export", "export_part"):
            self.database.execute(
                f"DELETE FROM {table} WHERE root = ? AND path = ?", (number, path)
            )
        self.database.executemany(
            "INSERT INTO export VALUES (?,?,?,?)",
            [(number, path, name, target) for name, target in exports.items()],
        )
        self.database.executemany(
            "INSERT INTO export_part VALUES (?,?,?,?)",
            [(number, part, name, path) for part, name in parts],
        )

    def standing_for(self, root: str, parts: Collection[str]) -> set[str]:
        """Return the names, of any file, whose target has one of these parts."""
        found = self.database.rows(
            f"SELECT DISTINCT name FROM export_part WHERE root = ? AND part {AMONG}",
            (self._root(root), json.dumps(list(parts))),
        )
        return {name for (name,) in found}

    def put_changed(self, root: str, names: Collection[str]) -> None:
        """Note names that may mean something else from now on."""
        number = self._root(root)
        self.database.executemany(
            "INSERT OR IGNORE INTO changed_name VALUES (?,?)", [(number, name) for name in names]
        )

    def changed(self, root: str) -> set[str]:
        """Return the names that were noted."""
        found = self.database.rows(
            "SELECT name FROM changed_name WHERE root = ?", (self._root(root),)
        )
        return {name for (name,) in found}

    def wake(self, root: str, names: Collection[str]) -> None:
        """Let references be resolved again that hold one of these names; none is noted any more."""
        number = self._root(root)
        self.database.execute(
            "INSERT OR IGNORE INTO waiting SELECT source FROM reference_name JOIN node "
            f"ON node.key = source WHERE root = ? AND name {AMONG}",
            (number, json.dumps(list(names))),
        )
        self.database.execute("DELETE FROM changed_name WHERE root = ?", (number,))

    def wake_nodes(self, keys: Collection[int]) -> None:
        """Let the references of nodes be resolved again."""
        self.database.executemany(
            "INSERT OR IGNORE INTO waiting VALUES (?)", [(key,) for key in keys]
        )

    def waiting(self, root: str) -> list[int]:
        """Return the nodes whose references are to be resolved, in a stable order."""
        found = self.database.rows(
            "SELECT source FROM waiting JOIN node ON node.key = source WHERE root = ? "
            "ORDER BY source",
            (self._root(root),),
        )
        return [key for (key,) in found]

    def linked(self, keys: Collection[int]) -> None:
        """Say that the references of nodes were resolved."""
        self.database.execute(
            f"DELETE FROM waiting WHERE source {AMONG}", (json.dumps(list(keys)),)
        )

    def _root(self, name: str) -> int:
        """Return the number of a root; one that is new is given one where that can be written.

        It is looked up each time: another process may have forgotten the root meanwhile.
        """
        known = self.database.value("SELECT id FROM root WHERE name = ?", (name,))
        if known is None and self.database.connection.in_transaction:
            self.database.execute("INSERT INTO root (name) VALUES (?)", (name,))
            known = self.database.connection.last_insert_rowid()
        return _UNKNOWN if known is None else int(known)


def _state(values: Sequence[object]) -> FileState:
    (path, extractor, version, size, mtime, ctime, inode, seen, content, tried, nodes, edges, error,
     problems, duration, at) = values  # fmt: skip
    return FileState(
        path, extractor, version, (size, mtime, ctime, inode), seen, content, tried, nodes, edges,  # type: ignore[arg-type]
        error, tuple(json.loads(problems)) if problems != "[]" else (), duration, at,  # type: ignore[arg-type]
    )  # fmt: skip
