"""Taking in what commits tell that came by Git: a pull, or what an older state has missed."""

from __future__ import annotations

from vault_kg.errors import Busy, NotFound
from vault_kg.operations.workspace import Workspace
from vault_kg.state import revisions
from vault_kg.store import arriving, unasked
from vault_kg.store.git import GitUnavailable


def take_in(ws: Workspace, wait: float | None = None) -> None:
    """Play into the state what arrived, and show in the index what it changed.

    What cannot be taken in now is with the next look.

    Args:
        ws: the opened vault.
        wait: seconds to wait for the write lane; the lane's own default where None.
    """
    if ws.vault.reading or unasked.is_unasked(ws.database):
        return
    try:
        arrived = arriving.look(ws.database, ws.history)
        if arrived is None:
            return
        with ws.lane.hold() if wait is None else ws.lane.hold(wait), ws.database.write():
            touched = arriving.play(ws.database, ws.history, arrived)
            heads = revisions.heads_of(ws.database, touched).values()
            known = [(head.path, ws.bytes_of(head)) for head in heads]
            ws.indexer.project([(path, content) for path, content in known if content is not None])
    except (GitUnavailable, Busy, NotFound):
        return
