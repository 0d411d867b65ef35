"""A running service for tests, in this process or its own, and a plain client of its socket."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_kg.operations.caller import Caller
from vault_kg.serve.endpoint import PRIVATE, Endpoint, find
from vault_kg.serve.keeper import Keeper
from vault_kg.serve.service import Service

ROOT = Path(__file__).parents[2]
PATIENCE = 20.0
EVERYTHING = frozenset({"read", "write", "admin", "cypher"})


def until(said: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := said()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.01)
    return found


class Client:
    """A client that sees every line."""

    def __init__(self, address: str, seconds: float = PATIENCE) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(address)
        self._lines = self.socket.makefile("rb")
        self._number = 0
        self._kept: dict[Any, dict[str, Any]] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *messages: Any) -> None:
        """Send messages, a line each; bytes as they are."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.socket.sendall(line + b"\n")

    def ask(self, method: str, /, under: Any = None, **params: Any) -> Any:
        """Send a request under an id, and return it."""
        self._number += 1
        chosen = self._number if under is None else under
        self.send({"jsonrpc": "2.0", "id": chosen, "method": method, "params": params})
        return chosen

    def read(self) -> Any:
        """Return the next message, or None where there are no more."""
        line = self._lines.readline()
        return json.loads(line) if line else None

    def answer(self, request: Any) -> dict[str, Any]:
        """Return the answer of a request; answers that come before it are kept."""
        if request in self._kept:
            return self._kept.pop(request)
        while (message := self.read()) is not None:
            if message["id"] == request and "type" not in message:
                return message
            if "type" not in message:
                self._kept[message["id"]] = message
        raise AssertionError("the connection was closed without an answer")

    def call(self, method: str, /, **params: Any) -> Any:
        """Return the result of a request that must succeed."""
        answer = self.answer(self.ask(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    def refused(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Return the error of a request that must be refused."""
        error: dict[str, Any] = self.answer(self.ask(method, **params))["error"]
        return error

    def is_quiet(self, seconds: float = 0.3) -> bool:
        """Say whether nothing comes for a while."""
        return not select.select([self.socket], [], [], seconds)[0]

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


class Running:
    """A service in a thread of this process."""

    def __init__(
        self,
        root: Path,
        scopes: frozenset[str] = EVERYTHING,
        state: Path | None = None,
        actor: str | None = None,
    ) -> None:
        self.endpoint = Endpoint(root / PRIVATE)
        self.keeper = Keeper(root, state, watch=False)
        ready = threading.Event()
        self.service = Service(
            self.keeper, self.endpoint, Caller(actor or "socket", scopes), lambda _: ready.set(),
            names_itself=actor is None,
        )  # fmt: skip
        self.thread = threading.Thread(target=self.service.run, daemon=True)
        self.thread.start()
        assert ready.wait(PATIENCE)
        self.address = self.endpoint.address

    def client(self) -> Client:
        return Client(self.address)

    def healthy(self) -> None:
        """Wait until the vault is open and nobody writes."""
        with self.client() as client:
            until(lambda: client.call("health_check")["healthy"])

    def stop(self) -> None:
        self.service.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


class ServiceProcess:
    """`vault-kg serve` as a process of its own, with the long operations of the tests."""

    def __init__(self, root: Path, *options: str, **environment: str) -> None:
        self.root = root
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.serve.long_operations", "serve", "--vault", str(root),
             *options],
            cwd=ROOT, env=surroundings() | environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_until_ready(self) -> ServiceProcess:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("serving "):
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return self
        raise AssertionError(f"it ended with {self.process.wait()}")

    @property
    def address(self) -> str:
        return find(self.root / PRIVATE)

    def client(self) -> Client:
        return Client(self.address)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def surroundings() -> dict[str, str]:
    """Return the environment of a process of the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VAULT_KG", "GIT_"))}
    return kept | {"VAULT_KG_EMBEDDING_MODEL": "off", "PYTHONPATH": str(ROOT)}
