"""The vault of a server: opened when first needed, and kept true to its files in the background."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

SOUND_SECONDS = MAX_WAIT_SECONDS = 60.0
"""After a fault that nobody foresaw, work is tried again in a second, then two, four … sixty."""

Work = Callable[["Workspace", threading.Event], None]


@dataclass(frozen=True)
class Failing:
    """A task in the background whose last try failed, and why."""

    task: str
    reason: str


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
        self._failing: dict[str, Failing] = {}

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

    def failing(self) -> list[Failing]:
        """Return the background tasks whose last try failed, by name; each is tried again."""
        known = dict(self._failing)
        return [known[name] for name in sorted(known)]

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
        except Exception as error:
            said = f"the vault cannot be opened: unexpected {type(error).__name__}: {error}"
            self._trouble = Unavailable(said)
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
                    self._begin_work(workspace)
                    worked_on, told = workspace, ""
            except VaultError as error:
                if error.message != told:
                    log.warning("%s", error.message)
                told = error.message
            except Exception as error:  # whatever it is, it must not end for it
                if repr(error) != told:
                    log.warning("the vault cannot be opened", exc_info=True)
                told = repr(error)
            self._stop.wait(LOOK_SECONDS)

    def _begin_work(self, workspace: Workspace) -> None:
        with self._lock:
            self._ended.set()
            self._ended = ended = threading.Event()
        if self._stop.is_set():
            return
        self._failing.clear()
        tasks: dict[str, Work] = {
            "index": self._keep_index, "vectors": self._keep_vectors,
            "events": self._keep_delivered, "graph": self._keep_graph,
        }  # fmt: skip
        for name, work in tasks.items():
            self._run(self._guarded, name, work, workspace, ended)

    def _run(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, name: str, work: Work, workspace: Workspace, ended: threading.Event) -> None:
        """Run a background task; what keeps it from its work is told, and it is tried again."""
        wait = LOOK_SECONDS
        while not ended.is_set():
            began = time.monotonic()
            try:
                work(workspace, ended)
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end for it
                if ended.is_set():
                    return
                self._tell(name, error)
                if isinstance(error, VaultError) or time.monotonic() - began > SOUND_SECONDS:
                    wait = LOOK_SECONDS
            ended.wait(wait)
            wait = min(2 * wait, MAX_WAIT_SECONDS)

    def _well(self, name: str) -> None:
        """Note that a background task has done a part of its work."""
        if self._failing.pop(name, None) is not None:
            log.warning("%s: goes on", name)

    def _tell(self, name: str, error: Exception) -> None:
        """Keep for the health what went wrong, and log it, where it is not what is known."""
        expected = isinstance(error, VaultError)
        said = (
            error.message if isinstance(error, VaultError) else f"{type(error).__name__}: {error}"
        )
        known = self._failing.get(name)
        if known is None or known.reason != said:
            log.warning("%s: %s", name, said, exc_info=not expected)
        self._failing[name] = Failing(name, said)

    def _keep_index(self, workspace: Workspace, ended: threading.Event) -> None:
        try:
            workspace.scan(aside=True)
            self._well("index")
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
            self._well("vectors")

    def _keep_graph(self, workspace: Workspace, ended: threading.Event) -> None:
        """Index what the hooks of editors and of Git have queued; nobody else's turn is taken."""
        from vault_kg.operations import registry
        from vault_kg.operations.caller import Caller

        caller = Caller("service", cancelled=ended.is_set)
        while not ended.wait(GRAPH_SECONDS):
            with contextlib.suppress(Busy):
                registry.call(workspace, INDEX, {"queued_only": True}, caller)
            self._well("graph")

    def _keep_delivered(self, workspace: Workspace, ended: threading.Event) -> None:
        """Give events of consolidation to those who subscribed; never those of a copied state."""
        if workspace.vault.reading:
            return
        from vault_kg.operations import registry
        from vault_kg.operations.caller import Caller

        while not ended.wait(DELIVER_SECONDS):
            registry.call(workspace, DELIVER, {}, Caller("service"))
            self._well("events")


def _trouble_of(workspace: Workspace) -> VaultError | None:
    """Return why an open vault cannot be served any more, if it cannot: its state is gone."""
    try:
        workspace.database.check_present()
    except VaultError as error:
        return error
    return None
