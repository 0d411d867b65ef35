"""The worker process: `python -m vault_kg.index.cypher.worker`, spoken to over its two pipes.

It makes projections and asks them. The engine has ended whole processes at statements that it should
have refused, so it runs nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from vault_kg.embedding.child import take_pipes
from vault_kg.embedding.protocol import write_frame
from vault_kg.embedding.serving import serve
from vault_kg.index.cypher.tables import TABLES
from vault_kg.index.cypher.values import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import ladybug

Answer: TypeAlias = dict[str, Any]

MEMORY = 256 << 20
"""Bytes that a query may take; one that needs more fails by itself."""

SPACE = 1 << 34
"""Bytes of address space that a graph may take; the engine's own choice fails in small places."""

THREADS = 2
_BATCH = 5_000


class GraphDamaged(Exception):
    """The file of a graph is gone, or is none."""


class _Worker:
    """One graph open at a time, read-only; a graph is made beside it."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._graph: ladybug.Database | None = None
        self._connection: ladybug.Connection | None = None

    def answer(self, asked: Mapping[str, Any]) -> Answer:
        if asked["do"] == "build":
            return _build(asked["path"], asked["changes"], fresh=asked["fresh"])
        return self._query(asked)

    def _query(self, asked: Mapping[str, Any]) -> Answer:
        connection = self._opened(asked["path"])
        connection.set_query_timeout(max(1, int(asked["seconds"] * 1000)))
        result = connection.execute(asked["query"], asked["parameters"])
        assert not isinstance(result, list), "only one statement is let through"
        try:
            rows: list[list[Any]] = []
            while result.has_next() and len(rows) <= asked["limit"]:
                row = result.get_next()
                assert isinstance(row, list), "rows are lists unless asked for otherwise"
                rows.append([to_json(value) for value in row])
            return {
                "columns": result.get_column_names(),
                "types": result.get_column_data_types(),
                "rows": rows[: asked["limit"]],
                "truncated": len(rows) > asked["limit"],
            }
        finally:
            result.close()

    def _opened(self, path: str) -> ladybug.Connection:
        if self._connection is None or self._path != path:
            self._close()
            try:
                self._graph, self._connection = _open(path, read_only=True)
            except RuntimeError as error:
                raise GraphDamaged(f"{error}") from error
            self._path = path
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._graph is not None:
            self._graph.close()
        self._connection = self._graph = self._path = None


def _open(path: str, *, read_only: bool) -> tuple[ladybug.Database, ladybug.Connection]:
    import ladybug

    graph = ladybug.Database(
        path,
        buffer_pool_size=MEMORY,
        max_num_threads=THREADS,
        max_db_size=SPACE,
        read_only=read_only,
    )
    return graph, ladybug.Connection(graph)


@contextmanager
def _writing(path: str) -> Iterator[ladybug.Connection]:
    """Give a graph to change; at the end everything is in the one file."""
    graph, connection = _open(path, read_only=False)
    try:
        yield connection
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
        graph.close()


def _build(path: str, changes: Mapping[str, Mapping[str, Any]], *, fresh: bool) -> Answer:
    with _writing(path) as connection:
        if fresh:
            for table in TABLES.values():
                connection.execute(table.ddl())
        for name in reversed(TABLES):
            if deleted := changes[name]["delete"]:
                connection.execute(TABLES[name].delete(), {"keys": deleted})
        for name, table in TABLES.items():
            _in_batches(connection, table.insert(), table.parameters(changes[name]["insert"]))
            _in_batches(connection, table.update(), table.parameters(changes[name]["update"]))
    return {}


def _in_batches(
    connection: ladybug.Connection, statement: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    for start in range(0, len(rows), _BATCH):
        connection.execute(statement, {"rows": list(rows[start : start + _BATCH])})


def main() -> int:
    """Serve until standard input closes; returns the exit status."""
    requests, answers = take_pipes()
    worker = _Worker()
    write_frame(answers, {})
    serve(lambda asked, _: (worker.answer(asked), b""), requests, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
