"""The vault of a server: opened when first needed, and kept true to its files in the background."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.errors import Busy, Unavailable, VaultError

if TYPE_CHECKING:
    from vault_kg.operations.caller import Caller
    from vault_kg.operations.workspace import Workspace

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
STOP_SECONDS = 1.5
EMBED_SECONDS = 1.0
EMBED_OFF_SECONDS = 5.0
DELIVER_SECONDS = 1.0
GRAPH_SECONDS = 1.0

STATUS = "knowledge_status"
DELIVER = "kg_deliver_events"
INDEX = "graph_index"

Work = Callable[["Workspace", threading.Event], None]


class Keeper:
    """Opens the vault once for all calls; scans, watches, embeds, delivers and indexes beside them.

    Nothing waits for the background: a call that comes before the first scan is answered from the
    index as it is. A vault that cannot be opened, or whose state was lost or replaced while it was
    open, is tried again at each call and once a second.
    """

    def __init__(self, root: Path, state: Path | None = None, *, watch: bool = True) -> None:
        self._root = root
        self._state = state
        self._watch = watch
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._trouble: VaultError | None = None
        self._lost: list[Workspace] = []
        self._looked_at: Workspace | None = None
        self._stop = threading.Event()
        self._ended = threading.Event()
        """Ends the background work on the workspace that is open now."""
        self._threads: list[threading.Thread] = []

    def workspace(self) -> Workspace:
        """Return the opened vault.

        Raises:
            VaultError: it cannot be served now.
        """
        with self._lock:
            if self._workspace is not None and _trouble_of(self._workspace) is None:
                return self._workspace
            return self._open()

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Run an operation; that a vault cannot be opened is its status, and no refusal of it.

        Raises:
            VaultError: a refusal.
        """
        from vault_kg.operations import inspection, registry

        try:
            return registry.call(self.workspace(), name, arguments, caller)
        except Unavailable as error:
            if name != STATUS or arguments or "read" not in caller.scopes:
                raise
            return inspection.unavailable(self._root, error.message)

    def opened(self) -> Workspace | None:
        """Return the vault if it is open, without waiting; None while it is being opened.

        Raises:
            VaultError: it could not be opened when last tried, or its state is gone.
        """
        workspace = self._workspace
        trouble = self._trouble if workspace is None else _trouble_of(workspace)
        if trouble is not None:
            raise trouble
        return workspace

    def has_looked(self) -> bool:
        """Say whether the files were looked at since the vault was opened."""
        return self._looked_at is not None and self._looked_at is self._workspace

    def start(self) -> None:
        """Begin to keep the index true to the files."""
        self._run(self._keep_open)

    def stop(self) -> None:
        """End the background work and close the vault; what is slow ends with the process."""
        self._stop.set()
        self._ended.set()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            return
        for workspace in (*self._lost, self._workspace):
            if workspace is not None:
                workspace.close()

    def _open(self) -> Workspace:
        """Open the vault, and begin to work on it; one that was lost is let go of."""
        from vault_kg.operations.workspace import Workspace

        if self._workspace is not None:
            self._ended.set()
            self._lost.append(self._workspace)  # calls may still be at work in it
            self._workspace = None
        try:
            opened = Workspace.open(self._root, self._state)
        except VaultError as error:
            self._trouble = error
            raise
        self._workspace, self._trouble = opened, None
        return opened

    def _keep_open(self) -> None:
        """Open the vault where it can be, and see that there is background work on it."""
        told = ""
        worked_on: Workspace | None = None
        while not self._stop.is_set():
            try:
                workspace = self.workspace()
                if workspace is not worked_on:
                    worked_on, told = workspace, ""
                    self._begin_work(workspace)
            except VaultError as error:
                if error.message != told:
                    log.warning("%s", error.message)
                told = error.message
            self._stop.wait(LOOK_SECONDS)

    def _begin_work(self, workspace: Workspace) -> None:
        with self._lock:
            self._ended = ended = threading.Event()
        if self._stop.is_set():
            return
        for work in (self._keep_index, self._keep_vectors, self._keep_delivered, self._keep_graph):
            self._run(self._guarded, work, workspace, ended)

    def _run(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Work, workspace: Workspace, ended: threading.Event) -> None:
        """Run a background task; what keeps it from its work is tried again."""
        while not ended.is_set():
            try:
                work(workspace, ended)
                break
            except VaultError as error:
                if not ended.is_set():
                    log.warning("%s", error.message)
            except Exception:
                log.warning("work in the background has ended", exc_info=True)
                break
            ended.wait(LOOK_SECONDS)

    def _keep_index(self, workspace: Workspace, ended: threading.Event) -> None:
        try:
            workspace.scan(aside=True)
        finally:
            self._looked_at = workspace
        if self._watch:
            from vault_kg.operations import care

            care.watch(workspace, ended, on_trouble=lambda said: log.warning("%s", said))

    def _keep_vectors(self, workspace: Workspace, ended: threading.Event) -> None:
        """Embed new passages a little after they were indexed, while there is a model."""
        while not ended.wait(EMBED_SECONDS):
            state = workspace.semantics.state()
            if state["state"] == "off":
                ended.wait(EMBED_OFF_SECONDS)
            elif state["pending"]:
                workspace.semantics.embed_pending(stopped=ended.is_set)

    def _keep_graph(self, workspace: Workspace, ended: threading.Event) -> None:
        """Index what the hooks of editors and of Git have queued; nobody else's turn is taken."""
        from vault_kg.operations import registry
        from vault_kg.operations.caller import Caller

        caller = Caller("service", cancelled=ended.is_set)
        while not ended.wait(GRAPH_SECONDS):
            with contextlib.suppress(Busy):
                registry.call(workspace, INDEX, {"queued_only": True}, caller)

    def _keep_delivered(self, workspace: Workspace, ended: threading.Event) -> None:
        """Give events of consolidation to those who subscribed; never those of a copied state."""
        if workspace.vault.reading:
            return
        from vault_kg.operations import registry
        from vault_kg.operations.caller import Caller

        while not ended.wait(DELIVER_SECONDS):
            registry.call(workspace, DELIVER, {}, Caller("service"))


def _trouble_of(workspace: Workspace) -> VaultError | None:
    """Return why an open vault cannot be served any more, if it cannot: its state is gone."""
    try:
        workspace.database.check_present()
    except VaultError as error:
        return error
    return None
