"""The vault of a server: opened when first needed, and kept true to its files in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vault_kg.errors import VaultError

if TYPE_CHECKING:
    from vault_kg.operations.workspace import Workspace

log = logging.getLogger(__name__)

REOPEN_SECONDS = 5.0
STOP_SECONDS = 1.5
EMBED_SECONDS = 1.0


class Keeper:
    """Opens the vault once for all calls; scans, watches and embeds beside them.

    Nothing waits for the background: a call that comes before the first scan is answered from the
    index as it is. A vault that cannot be opened is tried again at each call.
    """

    def __init__(self, root: Path, state: Path | None = None, *, watch: bool = True) -> None:
        self._root = root
        self._state = state
        self._watch = watch
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._trouble: VaultError | None = None
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def workspace(self) -> Workspace:
        """Return the opened vault.

        Raises:
            VaultError: it cannot be served now.
        """
        from vault_kg.operations.workspace import Workspace

        with self._lock:
            if self._workspace is None:
                try:
                    self._workspace = Workspace.open(self._root, self._state)
                except VaultError as error:
                    self._trouble = error
                    raise
            return self._workspace

    def opened(self) -> Workspace | None:
        """Return the vault if it is open, without waiting; None while it is being opened.

        Raises:
            VaultError: it could not be opened when last tried.
        """
        if self._workspace is None and self._trouble is not None:
            raise self._trouble
        return self._workspace

    def start(self) -> None:
        """Begin to keep the index true to the files."""
        for work in (self._keep_index, self._keep_vectors):
            thread = threading.Thread(target=self._guarded, args=(work,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End the background work and close the vault; what is slow ends with the process."""
        self._stop.set()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if self._workspace is not None and not any(t.is_alive() for t in self._threads):
            self._workspace.close()

    def _guarded(self, work: Callable[[Workspace], None]) -> None:
        """Run a background task from the time that the vault can be opened."""
        try:
            while not self._stop.is_set():
                try:
                    return work(self.workspace())
                except VaultError as error:
                    log.warning("%s", error.message)
                    self._stop.wait(REOPEN_SECONDS)
        except Exception:
            log.warning("work in the background has ended", exc_info=True)

    def _keep_index(self, workspace: Workspace) -> None:
        workspace.scan()
        if self._watch:
            from vault_kg.operations import care

            care.watch(workspace, self._stop, on_trouble=lambda said: log.warning("%s", said))

    def _keep_vectors(self, workspace: Workspace) -> None:
        """Embed new passages a little after they were indexed, while there is a model."""
        while not self._stop.wait(EMBED_SECONDS):
            state = workspace.semantics.state()
            if state["state"] == "off":
                self._stop.wait(REOPEN_SECONDS)
            elif state["pending"]:
                workspace.semantics.embed_pending(stopped=self._stop.is_set)
