"""The conflicts that wait for a person, as a caller sees them."""

from __future__ import annotations

from vault_kg.index.parsed import partition_of
from vault_kg.operations import sight
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import conflicts
from vault_kg.state.conflicts import Conflict


def waiting(ws: Workspace, caller: Caller) -> list[Conflict]:
    """Return the conflicts to be decided, oldest first.

    A file that nobody edited is none of them: it waits for another one of its request.
    """
    return [
        conflict
        for conflict in conflicts.open_ones(ws.database)
        if conflict.displaced != conflict.original
        and caller.sees(partition_of(conflict.path))
        and not sight.stands_on_hidden(ws, caller, conflict.record_id)
    ]
