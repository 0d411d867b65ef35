"""A service that follows a script, so that a connection breaks at exactly the right moment."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Peer:
    """One accepted connection, as a script sees it."""

    def __init__(self, accepted: socket.socket, received: list[dict[str, Any]]) -> None:
        self.socket = accepted
        self.socket.settimeout(20)
        self._lines = accepted.makefile("rb")
        self._received = received

    def request(self) -> dict[str, Any]:
        """Read a whole request; it is counted."""
        message: dict[str, Any] = json.loads(self._lines.readline())
        self._received.append(message)
        return message

    def say(self, *messages: Any) -> None:
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.socket.sendall(raw)

    def answer(self, request: dict[str, Any], **result: Any) -> None:
        self.say({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def progress(self, request: dict[str, Any], done: int, total: int = 10) -> None:
        self.say({"type": "progress", "id": request["id"], "progress": done, "total": total,
                  "message": f"step {done}"})  # fmt: skip

    def is_left(self) -> bool:
        """Wait until the client hangs up."""
        return self._lines.readline() == b""

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


Script = Callable[[Peer], None]


def echo(peer: Peer) -> None:
    """Answer everything with what was asked."""
    while True:
        request = peer.request()
        peer.answer(request, asked=request["params"].get("text"))


class FakeService:
    """Each connection is handled by the next script; the last one handles all that follow."""

    def __init__(self, path: Path, *scripts: Script, backlog: int = 16) -> None:
        self.received: list[dict[str, Any]] = []
        self.connections = 0
        self._scripts = scripts
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(backlog)
        if scripts:
            threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> FakeService:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                return
            script = self._scripts[min(self.connections, len(self._scripts) - 1)]
            self.connections += 1
            threading.Thread(target=self._follow, args=(script, accepted), daemon=True).start()

    def _follow(self, script: Script, accepted: socket.socket) -> None:
        peer = Peer(accepted, self.received)
        try:
            script(peer)
        except (OSError, ValueError):
            pass  # the client is gone
        finally:
            peer.close()
