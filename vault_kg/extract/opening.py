"""The graph of an opened vault: `graph.sqlite` beside its state, one for each workspace."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_kg.errors import Unavailable
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.operations.workspace import Workspace
from vault_kg.store.lane import Lane

FILE = "graph.sqlite"
LOCK = "graph.lock"

_lock = threading.Lock()
_opened: weakref.WeakKeyDictionary[Workspace, SqliteBackend] = weakref.WeakKeyDictionary()
_lanes: weakref.WeakKeyDictionary[Workspace, Lane] = weakref.WeakKeyDictionary()


def path_of(ws: Workspace) -> Path:
    """Return where the graph of a vault lies."""
    return ws.database.path.with_name(FILE)


def backend(ws: Workspace) -> SqliteBackend:
    """Return the graph of a vault; one whose file was deleted is made anew, empty."""
    with _lock:
        found = _opened.get(ws)
        if found is None or not found.database.present():
            found = _opened[ws] = SqliteBackend(path_of(ws))
            weakref.finalize(ws, found.close)
        return found


@contextmanager
def one_moment(ws: Workspace) -> Iterator[None]:
    """Let the reads of a block see the graph as it is at its beginning."""
    try:
        graph = backend(ws)
    except Unavailable:  # who reads is told so
        yield
        return
    with graph.database.snapshot():
        yield


def lane(ws: Workspace) -> Lane:
    """Return the lock of whoever brings the graph up to date; it is not the vault's."""
    with _lock:
        if ws not in _lanes:
            _lanes[ws] = Lane(path_of(ws).with_name(LOCK))
        return _lanes[ws]
