"""A vault that stays open for reading: it follows what its owner decides of records.

New and edited files are seen by themselves. A guard, a merge or a conflict is in the owner's state
alone, of which the reading state is a copy; it is copied anew when one of them has changed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from vault_kg.errors import Busy
from vault_kg.index import schema
from vault_kg.index.indexer import generation, renew
from vault_kg.operations.workspace import Workspace
from vault_kg.state.database import Database
from vault_kg.store import reading
from vault_kg.store import vault as vaults

LOOK_SECONDS = 1.0
REST = 20.0
"""Between two copies lies so many times as long as one takes, if that is longer."""


def follow(ws: Workspace) -> bool:
    """Bring the reading state of an open vault up to date; returns whether it had to be.

    Raises:
        Busy: a scan of the state is under way.
        VaultError: the owner's state cannot be copied.
    """
    vault, own = ws.vault, vaults.default_state(ws.vault.root)
    vault.database.check_present()
    if not vault.reading or not reading.has_changed(vault.database, own):
        return False

    def prepare(made: Database) -> None:
        schema.ensure(made, schema.VERSION)
        renew(made, generation(vault.database))

    with ws.lane.hold(0):
        reading.remake(vault.root, own, vault.database.path, vault.id, prepare)
    ws.scan(aside=True)
    return True


def keep(
    ws: Workspace,
    stop: threading.Event,
    on_change: Callable[[list[str]], None],
    on_trouble: Callable[[str], None],
) -> None:
    """Follow until told to stop; what keeps it from it is tried again, and told once."""
    told, pause = "", LOOK_SECONDS
    while not stop.wait(pause):
        began, pause = time.monotonic(), LOOK_SECONDS
        try:
            if follow(ws):
                on_change([])
                pause = max(pause, REST * (time.monotonic() - began))
            told = ""
        except Busy:
            continue
        except Exception as error:  # noqa: BLE001 - who ends unseen shows what was withdrawn
            if str(error) != told and not stop.is_set():
                on_trouble(f"what the owner decided is not seen yet: {error}")
            told = str(error)
