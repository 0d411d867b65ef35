"""The client of a running service: one call after the other over its socket, from any thread.

The socket is dialled at the first call. A connection that broke is dialled again; a request is sent
a second time only if it broke while the request was being written, when it cannot have been carried
out. What is waited for is not the whole call but its next line, so that a long call that reports
progress is never cut.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from vault_kg.errors import (
    Cancelled,
    InvalidArgument,
    NotFound,
    ScopeDenied,
    Unavailable,
    VaultError,
)
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve import rpc, wire
from vault_kg.serve.engine import CLOSE
from vault_kg.serve.wire import Line, MaybeSent

IDLE_SECONDS = 30.0
IDLE_ENVIRONMENT = "VAULT_KG_ATTACHED_IDLE_SECONDS"
LOOK_SECONDS = 0.2
"""How often a call that waits looks whether it was taken back."""


class RemoteError(VaultError):
    """A refusal of the service, with its own code."""

    def __init__(self, message: str, code: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.data = data
        self._remote = code

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form with the code that the service gave."""
        return {**super().to_dict(), "code": self._remote}


class Attached:
    """Calls a service. Threads that call at the same time get a connection each."""

    def __init__(
        self,
        address: Callable[[], str],
        idle_seconds: float | None = None,
        *,
        allow_close: bool = False,
    ) -> None:
        """Stand for a service; nothing is dialled yet.

        Args:
            address: says where it listens, asked at each dialling.
            idle_seconds: how long to wait for the next line; else what the environment says.
            allow_close: whether a call may stop the service.

        Raises:
            InvalidArgument: the environment says something else than a number of seconds.
        """
        self._address = address
        self._idle = idle_seconds if idle_seconds is not None else _idle_seconds()
        self._allow_close = allow_close
        self._free: list[Line] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    @property
    def can_close(self) -> bool:
        """Whether `knowledge_close` is let through."""
        return self._allow_close

    def start(self) -> None:
        """Do nothing: the service is dialled at the first call."""

    def check(self) -> None:
        """Dial now.

        Raises:
            Unavailable: nobody listens at the address.
        """
        self._give_back(self._dial())

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Call an operation of the service.

        Args:
            name: the operation.
            arguments: its arguments.
            caller: whose name is recorded, what it may do and see, who is told the progress, and
                who may take the call back. The service's own limits hold besides.

        Raises:
            Unavailable: the service cannot be reached, was lost in the middle, or fell silent.
            Cancelled: the caller took it back.
            VaultError: a refusal, with the code that the service gave.
        """
        self._check(name, arguments, caller)
        request_id = next(self._ids)
        params = {**arguments, "_actor": caller.actor, "_progress_token": request_id}
        if caller.partitions is not None:
            params["_partitions"] = sorted(caller.partitions)
        request = {"jsonrpc": "2.0", "id": request_id, "method": name, "params": params}
        line = self._send(rpc.encode(request), name)
        try:
            answer = self._await(line, request_id, caller)
        except (OSError, ValueError) as error:
            line.close()
            raise self._lost(name, error) from None
        except BaseException:
            line.close()
            raise
        self._give_back(line)
        if "error" in answer:
            raise _refused(answer["error"])
        return dict(answer.get("result") or {})

    def stop(self) -> None:
        """Close all connections."""
        with self._lock:
            for line in self._free:
                line.close()
            self._free.clear()

    def _check(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> None:
        """Refuse what this process does not let through, whatever the service would say."""
        ours = [key for key in arguments if key.startswith("_")]
        if ours:
            raise InvalidArgument(f"{name}: {', '.join(ours)}: unknown key")
        operation = registry.find(name)
        scope = operation.scope if operation else "admin"
        if (operation is None and name != CLOSE) or (name == CLOSE and not self._allow_close):
            raise NotFound(
                f"there is no operation {name!r}; `vault-kg operations` lists them", name=name
            )
        if scope not in caller.scopes:
            held = ", ".join(sorted(caller.scopes)) or "none"
            raise ScopeDenied(
                f"{name} needs the scope {scope!r}; this caller holds {held}", scope=scope
            )

    def _await(self, line: Line, request_id: int, caller: Caller) -> dict[str, Any]:
        """Return the answer of a request; each line of it re-arms the idle time."""
        deadline = time.monotonic() + self._idle
        while True:
            if caller.cancelled():
                raise Cancelled("the call was taken back; a change may have been carried out")
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            said = line.read_line(min(left, LOOK_SECONDS))
            message = None if said is None else _message(said)
            if message is None or message["id"] not in (request_id, None):
                continue  # of no call that is still waited for
            if message.get("type") != "progress":
                return message
            deadline = time.monotonic() + self._idle
            caller.report(*_progress(message))

    def _send(self, data: bytes, name: str) -> Line:
        """Write a request; where that breaks, once more over a new connection."""
        line = self._take() or self._dial()
        try:
            line.send(data, self._idle)
            return line
        except MaybeSent as error:
            line.close()
            raise self._lost(name, error) from None
        except OSError:
            line.close()
        line = self._dial()
        try:
            line.send(data, self._idle)
        except OSError as error:
            line.close()
            if isinstance(error, MaybeSent):
                raise self._lost(name, error) from None
            raise self._unreachable(error) from None
        return line

    def _take(self) -> Line | None:
        with self._lock:
            while self._free:
                line = self._free.pop()
                if line.is_alive():
                    return line
                line.close()
        return None

    def _give_back(self, line: Line) -> None:
        with self._lock:
            self._free.append(line)

    def _dial(self) -> Line:
        try:
            return wire.dial(self._address(), self._idle)
        except OSError as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: OSError) -> Unavailable:
        address = self._address()
        return Unavailable(
            f"no service answers at {address} ({error.strerror or error}); start it with "
            "`vault-kg serve` and call again",
            address=address,
        )

    def _lost(self, name: str, error: Exception) -> Unavailable:
        silent = isinstance(error, TimeoutError)
        what = f"the service said nothing for {self._idle:g} s" if silent else (
            "connection lost mid-call"
        )  # fmt: skip
        return Unavailable(
            f"{what}: whether {name} was carried out is not known. Repeat it with the same "
            "requestId, or ask knowledge_resume",
            address=self._address(),
            operation=name,
        )


def _idle_seconds() -> float:
    given = os.environ.get(IDLE_ENVIRONMENT)
    try:
        seconds = float(given) if given else IDLE_SECONDS
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InvalidArgument(f"{IDLE_ENVIRONMENT}={given}: must be a number of seconds above 0")
    return seconds


def _message(line: bytes) -> dict[str, Any]:
    """Read a line of the service.

    Raises:
        ValueError: it is no message of the protocol.
    """
    message = json.loads(line)
    if not isinstance(message, dict) or "id" not in message:
        raise ValueError("not a message")
    if message.get("type") == "progress" or "result" in message or "error" in message:
        return message
    raise ValueError("not an answer")


def _progress(message: dict[str, Any]) -> tuple[int, int, str]:
    done, total = (message.get(key) for key in ("progress", "total"))
    return (
        done if isinstance(done, int) else 0,
        total if isinstance(total, int) else 0,
        str(message.get("message") or ""),
    )


def _refused(error: Any) -> VaultError:
    told = error if isinstance(error, dict) else {}
    data = dict(told.get("data") or {})
    code = str(data.pop("code", "error"))
    return RemoteError(str(told.get("message", "the service refused")), code, data)
