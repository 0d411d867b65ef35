"""The vault as the review UI may use it: every read, and the few writes that are a person's.

Calls are made by a few threads of its own, so that the event loop never waits and a slow vault does
not pile up threads.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tui import engines
from vault_kg.errors import NotFound, ScopeDenied, VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve.engine import Engine

T = TypeVar("T")

WRITES = frozenset(
    {
        "knowledge_review",
        "knowledge_decline_merge",
        "knowledge_resume",
        "knowledge_restore",
        "knowledge_adopt",
    }
)
"""What a person does here; all other changes are asked of an agent."""

THREADS = 4
STOP_SECONDS = 1.0
SWITCH_SECONDS = 0.0005
"""How long a thread computes before another has its turn: ten times more often than usual, so that
keys are answered while files are taken in."""

MAX_FILE = 2_000_000

Call = Callable[..., dict[str, Any]]


class Desk:
    """Calls operations for the UI.

    Args:
        root: the vault's folder.
        engine: what runs the operations; the vault is opened in this process where left out.
        actor: who reviews; written into receipts.
    """

    def __init__(
        self, root: Path, engine: Engine | None = None, *, actor: str = "reviewer"
    ) -> None:
        self.root = root
        self.caller = Caller(actor, frozenset({"read", "write", "review"}))
        self._engine = engine or engines.opened(root)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="desk")
        self._running: set[Future[Any]] = set()
        self._started = False
        self._switched = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)

    @property
    def through(self) -> str:
        """How the vault is reached."""
        served = isinstance(self._engine, engines.Connected)
        return "through the running service" if served else "opened by this program"

    def start(self) -> None:
        """Begin what goes on beside the calls, as taking in edits, unless it has begun."""
        if not self._started:
            self._started = True
            self._engine.start()

    def stop(self) -> None:
        """Close the vault; a read that takes long keeps it open, and ends with the process."""
        sys.setswitchinterval(self._switched)
        self._pool.shutdown(wait=False, cancel_futures=True)
        _, late = wait(list(self._running), STOP_SECONDS)
        if not late:
            self._engine.stop()

    async def ask(self, question: Callable[[Desk], T]) -> T:
        """Answer a question in a thread; a cancelled one that has not begun never runs."""
        running = self._pool.submit(question, self)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(running)

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run an operation; arguments that are None are left out.

        Raises:
            VaultError: a refusal.
            ScopeDenied: it is a change that is not made here.
        """
        operation = registry.find(name)
        if operation is not None and not operation.read_only and name not in WRITES:
            raise ScopeDenied(f"{name} is not done here; it is handed over to an agent", name=name)
        given = {key: value for key, value in arguments.items() if value is not None}
        return self._engine.call(name, given, self.caller)

    def tried(self, name: str, /, **arguments: Any) -> dict[str, Any] | None:
        """Run a read beside the main one; None where it is not offered, or is refused."""
        with suppress(VaultError):
            return self.call(name, **arguments)
        return None

    def change(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run one of the writes under a fresh request id."""
        return self.call(name, requestId=str(uuid.uuid4()), **arguments)

    def named(self, text: str) -> dict[str, Any]:
        """Return the record that an id or exact title means, as it stands."""
        known = text if text.startswith(("pg_", "cl_", "re_")) else None
        found = known or self.call("knowledge_lookup", text=text)["record"]["id"]
        return self.call("knowledge_get", id=found)

    def file(self, path: str) -> Path:
        """Return where a file of the vault lies.

        Raises:
            NotFound: the path leads out of the vault, or there is no such file.
        """
        here = self.root.resolve()
        found = (here / path).resolve()
        if not found.is_relative_to(here) or not found.is_file():
            raise NotFound(f"there is no file {path} in this vault", path=path)
        return found

    def raw(self, path: str) -> str:
        """Return a file's text as it lies on disk; at most two million bytes of it."""
        with self.file(path).open("rb") as handle:
            return handle.read(MAX_FILE).decode("utf-8", errors="replace")

    def observe(self, path: str) -> str:
        """Take in an edit of a file now, and say what it made of it."""
        found = self.call("knowledge_diagnostics", section="files", path=path)["findings"]
        problems = [f"line {f['line']}: {f['message']}" for f in found]
        newest = self.call("knowledge_activity", limit=1)["entries"]
        touched = newest[0]["touched"] if newest else []
        mine = next((t for t in touched if t["path"] == path), None)
        said = f"{path} is now revision {mine['revision']}" if mine else f"{path} was taken in"
        return "\n".join([said, *problems[:5]])

    def keep_request(self, name: str, text: str) -> Path:
        """Keep a request in `.vault-kg/requests/` for somebody else to send; returns the file."""
        folder = self.root / ".vault-kg" / "requests"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return path
