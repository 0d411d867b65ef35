"""The connections to the state: as many as there are threads that use it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from vault_kg.state.database import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "state.sqlite", create=True)
    yield made
    made.close()


def opened(db: Database) -> int:
    """Return how many connections of this process are to the database."""
    return sum(one.filename == str(db.path) for one in apsw.connections())


def test_a_thread_that_ends_leaves_no_connection(db: Database) -> None:
    before = opened(db)
    for _ in range(20):
        thread = threading.Thread(target=db.value, args=("SELECT 1",))
        thread.start()
        thread.join()
    assert opened(db) == before == 1


def test_closing_closes_those_of_threads_that_go_on(db: Database) -> None:
    ready, go = threading.Event(), threading.Event()

    held: list[apsw.Connection] = []

    def use() -> None:
        held.append(db.connection)
        ready.set()
        go.wait(20)

    thread = threading.Thread(target=use)
    thread.start()
    assert ready.wait(20) and opened(db) == 2
    db.close()
    with pytest.raises(apsw.ConnectionClosedError):
        held[0].execute("SELECT 1")
    go.set()
    thread.join()


def test_the_last_thread_that_ends_takes_nothing_with_it(db: Database) -> None:
    def write() -> None:
        with db.write():
            db.execute("CREATE TABLE kept (x)")
            db.execute("INSERT INTO kept VALUES (1)")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert db.value("SELECT x FROM kept") == 1
