"""The local service: the operations as JSON-RPC 2.0 over a socket that only its owner can reach.

Requests of one connection run side by side, and each answer carries its request's id.
`health_check` is answered by the event loop itself, so it never waits for a writer, a rebuild or a
model. A client that sends nonsense, too much, or does not read its answers harms itself only.
"""

from __future__ import annotations

import asyncio
import logging
import select
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from vault_kg.errors import Cancelled, InvalidArgument, ScopeDenied, VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import Operation
from vault_kg.serve import endpoint, listening, rpc
from vault_kg.serve.connection import Connection, Reporter, Work
from vault_kg.serve.endpoint import Endpoint
from vault_kg.serve.engine import CLOSE
from vault_kg.serve.health import Health
from vault_kg.serve.keeper import Keeper
from vault_kg.serve.rpc import Call

log = logging.getLogger(__name__)

STOP_SECONDS = 30.0
"""How long calls may still take when the service stops; then long ones end at their next step."""

LOOK_SECONDS, LOOK_IDLE_SECONDS = 0.2, 1.0
THREADS = {Work.READ: 8, Work.WRITE: 8, Work.MODEL: 8}
"""How many calls of each kind run at a time."""

SWITCH_SECONDS = 0.0005
"""How long a thread computes before another has its turn: ten times more often than usual, so that
the event loop answers while calls are at work."""

HEALTH = "health_check"


class Service:
    """Serves one vault until it is told to stop."""

    def __init__(
        self,
        keeper: Keeper,
        endpoint: Endpoint,
        caller: Caller,
        on_ready: Callable[[str], None] = lambda _: None,
        *,
        names_itself: bool = False,
    ) -> None:
        """Prepare a service.

        Args:
            keeper: the vault and its background work.
            endpoint: where to listen; claimed by `run`.
            caller: what clients may do and see, and who acts.
            on_ready: told the address when clients can connect.
            names_itself: whether a client may say who acts; nobody checks what it says.
        """
        self.keeper = keeper
        self.caller = caller
        self.health = Health(keeper)
        self._endpoint = endpoint
        self._on_ready = on_ready
        self._names_itself = names_itself
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._pools = {
            kind: ThreadPoolExecutor(count, kind.name.lower()) for kind, count in THREADS.items()
        }
        self._operations: dict[str, Operation] = {}
        self._clients: dict[asyncio.Task[None], Connection] = {}

    def run(self) -> None:
        """Serve until a signal, or `knowledge_close`.

        Raises:
            Unavailable: another process serves this vault.
        """
        self._endpoint.claim()
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            asyncio.run(self._serve())
        finally:
            for pool in self._pools.values():
                pool.shutdown(cancel_futures=True)
            self.keeper.stop()
            self._endpoint.release()
            sys.setswitchinterval(before)

    def stop(self) -> None:
        """Stop serving, from any thread: calls that run are finished, no more are taken.

        Told again, calls end at their next step.
        """
        if self._loop is not None:
            with suppress(RuntimeError):  # it has stopped
                self._loop.call_soon_threadsafe(self._stop_now)

    def _stop_now(self) -> None:
        if self._stopping.is_set():
            self._hurry()
        self._stopping.set()

    def _hurry(self) -> None:
        for client in self._clients.values():
            client.gone.set()

    async def _answer(self, call: Call, client: Connection) -> dict[str, Any]:
        """Run one request and return its answer."""
        if call.method in (HEALTH, CLOSE):
            return self._answer_at_once(call)
        operation = self._operations.get(call.method)
        if operation is None:
            text = f"there is no method {call.method[:200]!r}; `vault-kg operations` lists them"
            return rpc.failure(call.id, rpc.METHOD_NOT_FOUND, text)
        pool = self._pools[self._kind(call)]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, self._call, call, client, loop)

    def _answer_at_once(self, call: Call) -> dict[str, Any]:
        try:
            if call.params:
                names = ", ".join(call.params)[:200]
                raise InvalidArgument(f"{call.method} takes no arguments, and was given {names}")
            answer = self.health.check() if call.method == HEALTH else self._close()
            return rpc.success(call.id, answer)
        except VaultError as error:
            return rpc.refusal(call.id, error)

    def _close(self) -> dict[str, Any]:
        if "admin" not in self.caller.scopes:
            raise ScopeDenied(f"{CLOSE} needs the scope 'admin'", scope="admin")
        self._stopping.set()  # this call is still answered, as it runs
        return {"status": "closed"}

    def _call(
        self, call: Call, client: Connection, loop: asyncio.AbstractEventLoop
    ) -> dict[str, Any]:
        try:
            if client.gone.is_set() and self._kind(call) is Work.READ:
                raise Cancelled("the client is gone, or the service stops")
            caller = self._caller(call, client, loop)
            return rpc.success(call.id, self.keeper.call(call.method, call.params, caller))
        except VaultError as error:
            return rpc.refusal(call.id, error)
        except Exception as error:  # a fault of ours costs one call, not the service
            log.warning("%s failed", call.method, exc_info=True)
            text = f"unexpected {type(error).__name__}: {str(error)[:300]}; see the service's log"
            return rpc.failure(call.id, rpc.REFUSED, text)

    def _caller(self, call: Call, client: Connection, loop: asyncio.AbstractEventLoop) -> Caller:
        seen = self.caller.partitions
        if call.partitions is not None:
            seen = call.partitions if seen is None else call.partitions & seen
        return replace(
            self.caller,
            actor=(self._names_itself and call.actor) or self.caller.actor,
            partitions=seen,
            report=Reporter(call, client, loop),
            cancelled=client.gone.is_set,
        )

    def _kind(self, call: Call) -> Work:
        operation = self._operations.get(call.method)
        if operation is None or call.method in (HEALTH, CLOSE):
            return Work.NONE
        if operation.asks_model:
            return Work.MODEL
        return Work.READ if operation.read_only else Work.WRITE

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._operations = registry.operations()  # imported before the first client waits
        listening.raise_file_limit()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread
                self._loop.add_signal_handler(number, self._stop_now)
        listener = await listening.listen(self._endpoint.address, self._connected)
        self._endpoint.announce()
        self.keeper.start()
        self._on_ready(self._endpoint.address)
        looking = asyncio.create_task(self._look_around())
        await self._stopping.wait()
        listener.close()
        await self._finish()
        looking.cancel()

    async def _finish(self) -> None:
        """Let what runs come to its end; what takes too long ends at its next step."""
        if self._clients:
            _, slow = await asyncio.wait(self._clients, timeout=STOP_SECONDS)
            if slow:
                self._hurry()
                await asyncio.wait(slow, timeout=STOP_SECONDS)
        for task in self._clients:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        client = Connection(reader, writer, self._answer, self._kind)
        self._clients[task] = client
        try:
            if client.socket is None or endpoint.is_trusted(client.socket):
                await client.run(self._stopping)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or we do
        finally:
            del self._clients[task]
            writer.close()

    async def _look_around(self) -> None:
        """Notice clients that hung up while they are served, and that nobody can find us now."""
        while True:
            await asyncio.sleep(LOOK_SECONDS if self._clients else LOOK_IDLE_SECONDS)
            _note_who_hung_up([c for c in self._clients.values() if c.is_busy])
            if not self._endpoint.is_reachable():
                log.error("the endpoint was removed, so that no client can connect; stopping")
                self._stop_now()
                return


def _note_who_hung_up(clients: list[Connection]) -> None:
    """Mark clients that closed both halves; who closed only its own still reads answers."""
    if sys.platform == "win32" or not clients:
        return
    poller = select.poll()
    found = {c.socket.fileno(): c for c in clients if c.socket is not None}
    for number in found:
        if number >= 0:
            poller.register(number, 0)
    for number, _ in poller.poll(0):
        found[number].gone.set()
