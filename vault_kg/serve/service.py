"""The local service: the operations as JSON-RPC 2.0 over a socket that only its owner can reach.

Requests of one connection run side by side, and each answer carries its request's id. `health_check`
is answered by the event loop itself, so it never waits for a writer, a rebuild or a model. A client
that sends nonsense, too much, or does not read its answers harms itself only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
import struct
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_kg.errors import VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve import rpc
from vault_kg.serve.endpoint import Endpoint
from vault_kg.serve.health import Health
from vault_kg.serve.keeper import Keeper
from vault_kg.serve.rpc import Call, Malformed

log = logging.getLogger(__name__)

MAX_LINE = 64_000_000
IN_FLIGHT = 64
SLOW_SECONDS = 60.0
STOP_SECONDS = 10.0
READERS, WRITERS = 8, 4

HEALTH, CLOSE = "health_check", "knowledge_close"


class Service:
    """Serves one vault until it is told to stop."""

    def __init__(self, keeper: Keeper, endpoint: Endpoint, caller: Caller) -> None:
        """Prepare a service.

        Args:
            keeper: the vault and its background work.
            endpoint: where to listen; claimed by `run`.
            caller: what clients may do and see; its actor is theirs unless they give one.
        """
        self.keeper = keeper
        self.caller = caller
        self.health = Health(keeper)
        self._endpoint = endpoint
        self._stop: asyncio.Event | None = None
        self._readers = ThreadPoolExecutor(READERS, "read")
        self._writers = ThreadPoolExecutor(WRITERS, "write")
        self._connections: set[asyncio.Task[None]] = set()

    def run(self) -> None:
        """Serve until a signal, or `knowledge_close`.

        Raises:
            Unavailable: another process serves this vault.
        """
        self._endpoint.claim()
        try:
            asyncio.run(self._serve())
        finally:
            self._endpoint.release()
            self.keeper.stop()
            self._readers.shutdown(wait=False, cancel_futures=True)
            self._writers.shutdown(wait=True, cancel_futures=True)

    def stop(self) -> None:
        """Stop serving; calls that run are finished."""
        if self._stop is not None:
            self._stop.set()

    async def answer(self, call: Call, connection: Connection) -> dict[str, Any]:
        """Run one request and return its answer."""
        if call.method == HEALTH:
            return rpc.success(call.id, self.health.check())
        if call.method == CLOSE:
            return self._close(call)
        operation = registry.operations().get(call.method)
        if operation is None:
            text = f"there is no method {call.method[:200]!r}"
            return rpc.failure(call.id, rpc.METHOD_NOT_FOUND, text)
        pool = self._readers if operation.read_only else self._writers
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, self._call, call, connection, loop)

    def _call(
        self, call: Call, connection: Connection, loop: asyncio.AbstractEventLoop
    ) -> dict[str, Any]:
        def report(done: int, total: int, message: str) -> None:
            if call.progress_token is not None:
                frame = rpc.progress(call, done, total, message)
                asyncio.run_coroutine_threadsafe(connection.send(frame), loop)

        caller = replace(
            self.caller,
            actor=(call.actor or self.caller.actor)[:100],
            report=report,
            cancelled=connection.gone.is_set,
        )
        try:
            workspace = self.keeper.workspace()
            return rpc.success(call.id, registry.call(workspace, call.method, call.params, caller))
        except VaultError as error:
            return rpc.refusal(call.id, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours costs one call, not the service
            log.warning("%s failed", call.method, exc_info=True)
            text = f"unexpected {type(error).__name__}: {str(error)[:300]}; the service's log says more"
            return rpc.failure(call.id, rpc.REFUSED, text, {"code": "error"})

    def _close(self, call: Call) -> dict[str, Any]:
        if "admin" not in self.caller.scopes:
            text = f"{CLOSE} needs the scope 'admin'"
            return rpc.failure(call.id, rpc.REFUSED, text, {"code": "scope_denied"})
        asyncio.get_running_loop().call_later(0.05, self.stop)
        return rpc.success(call.id, {"status": "closed"})

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        _raise_file_limit()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.add_signal_handler(number, self.stop)
        server = await asyncio.start_unix_server(
            self._connected, self._endpoint.address, backlog=1024
        )
        os.chmod(self._endpoint.address, 0o600)  # noqa: PTH101 - a socket, not a path to follow
        self._endpoint.announce()
        self.keeper.start()
        async with server:
            await self._stop.wait()
            server.close()
            if self._connections:
                await asyncio.wait(self._connections, timeout=STOP_SECONDS)
            for task in self._connections:
                task.cancel()

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if _is_ours(writer):
                await Connection(self, reader, writer, self._stopping).run()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or we do
        finally:
            self._connections.discard(task)
            writer.close()

    @property
    def _stopping(self) -> asyncio.Event:
        assert self._stop is not None
        return self._stop


class Connection:
    """One client: reads its lines, runs its requests, writes their answers."""

    def __init__(
        self,
        service: Service,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        stopping: asyncio.Event,
    ) -> None:
        self._service = service
        self._reader = reader
        self._writer = writer
        self._stopping = stopping
        self._writing = asyncio.Lock()
        self._room = asyncio.Semaphore(IN_FLIGHT)
        self._running: set[asyncio.Task[None]] = set()
        self.gone = threading.Event()
        """Set when the client is gone, so that long work for it can end."""

    async def run(self) -> None:
        """Serve the client until it closes, then finish what it asked for."""
        lines = asyncio.create_task(self._read())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({lines, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._running:
                await asyncio.wait(self._running)
        finally:
            self.gone.set()
            for task in (lines, stopping, *self._running):
                task.cancel()

    async def send(self, message: Any) -> None:
        """Write one message; a client that does not read for a minute is let go."""
        data = rpc.encode(message)
        async with self._writing:
            if self._writer.is_closing():
                return
            self._writer.write(data)
            try:
                await asyncio.wait_for(self._writer.drain(), SLOW_SECONDS)
            except (TimeoutError, ConnectionError):
                self.gone.set()
                self._writer.transport.abort()

    async def _read(self) -> None:
        async for line in self._lines():
            if line is None:
                text = f"a line has at most {MAX_LINE:,} bytes; send large content in chunks"
                await self.send(rpc.failure(None, rpc.INVALID_REQUEST, text))
            elif line.strip():
                await self._room.acquire()
                task = asyncio.create_task(self._handle(line))
                self._running.add(task)
                task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._room.release()

    async def _handle(self, line: bytes) -> None:
        found, is_batch = rpc.read(line)
        answers = await asyncio.gather(*(self._one(item) for item in found))
        wanted = [answer for answer in answers if answer is not None]
        if is_batch and wanted:
            await self.send(wanted)
        elif wanted:
            await self.send(wanted[0])

    async def _one(self, item: Call | Malformed) -> dict[str, Any] | None:
        if isinstance(item, Malformed):
            return item.answer
        answer = await self._service.answer(item, self)
        return answer if item.wants_answer else None

    async def _lines(self) -> AsyncIterator[bytes | None]:
        """Yield lines; None stands for one that was too long and passed over."""
        buffer = bytearray()
        skipping = False
        while chunk := await self._reader.read(1 << 16):
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                buffer += chunk[start:end]
                start = end + 1
                yield None if skipping else bytes(buffer)
                buffer.clear()
                skipping = False
            buffer += chunk[start:]
            if len(buffer) > MAX_LINE:
                buffer.clear()
                skipping = True
        if buffer and not skipping:
            yield bytes(buffer)


def private_folder(root: Path) -> Path:
    """Return the private folder of the vault in a folder."""
    return root / ".vault-kg"


def _is_ours(writer: asyncio.StreamWriter) -> bool:
    """Say whether the client runs as the user that we run as, where the platform tells."""
    connection = writer.get_extra_info("socket")
    if sys.platform != "linux" or connection is None:
        return True
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", found)
    return bool(uid == os.getuid() or uid == 0)


def _raise_file_limit() -> None:
    """Allow as many connections as the system lets this process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
