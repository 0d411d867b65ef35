"""The client of a running service: one call after the other over its socket, from any thread.

The socket is dialled at the first call. A connection that broke is dialled again; a request is sent
a second time only if it broke while the request was being written, when it cannot have been carried
out. What is waited for is not the whole call but its next line, so that a long call that reports
progress is never cut.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from vault_kg.errors import Unavailable, VaultError
from vault_kg.operations.caller import Caller
from vault_kg.serve import rpc

IDLE_SECONDS = 30.0
IDLE_ENVIRONMENT = "VAULT_KG_ATTACHED_IDLE_SECONDS"

Progress = Callable[[dict[str, Any]], None]


class RemoteError(VaultError):
    """A refusal of the service, with its own code."""

    def __init__(self, message: str, code: str, data: dict[str, Any]) -> None:
        super().__init__(message, **data)
        self._remote = code

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form with the code that the service gave."""
        return {**super().to_dict(), "code": self._remote}


class Attached:
    """Calls a service. Threads that call at the same time get a connection each."""

    def __init__(self, address: str, idle_seconds: float | None = None) -> None:
        """Stand for the service at an address; nothing is dialled yet."""
        self.address = address
        given = os.environ.get(IDLE_ENVIRONMENT)
        self._idle = idle_seconds or (float(given) if given else IDLE_SECONDS)
        self._free: list[_Line] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    def check(self) -> None:
        """Dial now.

        Raises:
            Unavailable: nobody listens at the address.
        """
        self._give_back(self._dial())

    def call(
        self, name: str, arguments: Mapping[str, Any], caller: Caller, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Call an operation of the service.

        Args:
            name: the operation.
            arguments: its arguments.
            caller: whose name is recorded; what it may do is for the service to say.
            progress: told each progress frame.

        Raises:
            Unavailable: the service cannot be reached, was lost in the middle, or fell silent.
            VaultError: a refusal, with the code that the service gave.
        """
        request_id = next(self._ids)
        params = {**arguments, "_actor": caller.actor, "_progress_token": request_id}
        request = {"jsonrpc": "2.0", "id": request_id, "method": name, "params": params}
        line = self._send(rpc.encode(request))
        try:
            answer = line.receive(request_id, progress)
        except (OSError, ValueError) as error:
            line.close()
            raise _lost(self.address, name, error, self._idle) from None
        self._give_back(line)
        if "error" in answer:
            raise _refused(answer["error"])
        return dict(answer["result"])

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for line in self._free:
                line.close()
            self._free.clear()

    def _send(self, data: bytes) -> _Line:
        """Write a request; a kept connection that turns out to be dead is replaced, once."""
        kept = self._take()
        if kept is not None:
            try:
                kept.send(data)
            except OSError:
                kept.close()
            else:
                return kept
        line = self._dial()
        try:
            line.send(data)
        except OSError as error:
            line.close()
            raise _unreachable(self.address, error) from None
        return line

    def _take(self) -> _Line | None:
        with self._lock:
            while self._free:
                line = self._free.pop()
                if line.is_alive():
                    return line
                line.close()
        return None

    def _give_back(self, line: _Line) -> None:
        with self._lock:
            self._free.append(line)

    def _dial(self) -> _Line:
        try:
            return _Line(self.address, self._idle)
        except OSError as error:
            raise _unreachable(self.address, error) from None


class _Line:
    """One connection, used for one call at a time."""

    def __init__(self, address: str, idle: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._idle = idle
        self._socket.settimeout(idle)
        try:
            self._socket.connect(address)
        except OSError:
            self._socket.close()
            raise
        self._lines = self._socket.makefile("rb")

    def is_alive(self) -> bool:
        """Say whether the other side has not closed; an idle connection has nothing to read."""
        self._socket.setblocking(False)
        try:
            return self._socket.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self._socket.settimeout(self._idle)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self, request_id: int, progress: Progress | None) -> dict[str, Any]:
        """Read lines until the answer of this request; each line re-arms the idle time."""
        while True:
            line = self._lines.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError("the connection closed in the middle of the call")
            message = json.loads(line)
            if message.get("id") != request_id:
                continue
            if message.get("type") == "progress":
                if progress is not None:
                    progress(message)
                continue
            return dict(message)

    def close(self) -> None:
        with suppress(OSError):
            self._lines.close()
            self._socket.close()


def _refused(error: dict[str, Any]) -> VaultError:
    data = dict(error.get("data") or {})
    code = str(data.pop("code", "error"))
    return RemoteError(str(error.get("message", "")), code, data)


def _unreachable(address: str, error: OSError) -> Unavailable:
    return Unavailable(
        f"no service answers at {address} ({error.strerror or error}); start it with `vault-kg serve`",
        address=address,
    )


def _lost(address: str, name: str, error: Exception, idle: float) -> Unavailable:
    silent = isinstance(error, TimeoutError)
    what = f"the service said nothing for {idle:g} s" if silent else "connection lost mid-call"
    return Unavailable(
        f"{what}: whether {name} was carried out is not known. Repeat it with the same requestId, or "
        "ask knowledge_resume",
        address=address,
        operation=name,
    )
