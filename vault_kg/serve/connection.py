"""One client of the service: its lines are read, its requests run side by side and are answered.

What a client can make the service hold is bounded: so many lines and bytes that are not answered
yet, and so many calls at a time, so that a greedy client waits for itself.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, nullcontext
from enum import Enum, auto
from typing import Any

from vault_kg.serve import rpc
from vault_kg.serve.rpc import Call, Malformed

MAX_LINE = 16_000_000
IN_FLIGHT = 256
TURNS = 4
SLOW_SECONDS = 60.0
FRAME_SECONDS = 0.1
CHUNK = 1 << 16


class Work(Enum):
    """What kind of work a call is; a client has so many turns of each kind."""

    READ = auto()
    WRITE = auto()
    MODEL = auto()
    """Waits for a model for most of its time, so that others who write must not wait for it."""
    NONE = auto()
    """Answered by the event loop itself, without waiting for anything."""


Answer = Callable[[Call, "Connection"], Awaitable[dict[str, Any]]]


class Connection:
    """A connected client."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answer: Answer,
        kind: Callable[[Call], Work],
    ) -> None:
        """Take a client on.

        Args:
            reader: what it sends.
            writer: what it is sent.
            answer: runs a request.
            kind: says what kind of work a request is.
        """
        self._reader = reader
        self._writer = writer
        self._answer = answer
        self._kind = kind
        self._writing = asyncio.Lock()
        kinds = (Work.READ, Work.WRITE, Work.MODEL)
        self._turns = {kind: asyncio.Semaphore(TURNS) for kind in kinds}
        self._running: set[asyncio.Task[None]] = set()
        self._held = 0
        self.gone = threading.Event()
        """Set when the client is gone, so that long work for it can end."""

    @property
    def socket(self) -> socket.socket | None:
        """The socket, where there is one, to look whether the client hung up."""
        found: socket.socket | None = self._writer.get_extra_info("socket")
        return found

    @property
    def is_busy(self) -> bool:
        """Whether requests of the client are at work."""
        return bool(self._running)

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the client until it says no more or we stop, and finish what it asked for."""
        reading = asyncio.create_task(self._read())
        stopped = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({reading, stopped}, return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            if self._running:
                await asyncio.wait(self._running)
        finally:
            self.gone.set()
            for task in (reading, stopped, *self._running):
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
        try:
            await self._take_lines()
        except ConnectionError:
            self.gone.set()
        if self.socket is None:
            self.gone.set()  # a pipe has no half that stays open

    async def _take_lines(self) -> None:
        async for line in self._lines():
            if line is None:
                text = f"a line has at most {MAX_LINE:,} bytes; attach large files by their path"
                await self.send(rpc.failure(None, rpc.INVALID_REQUEST, text))
            elif line.strip():
                await self._wait_for_room(len(line))
                self._begin(line)

    async def _wait_for_room(self, size: int) -> None:
        while self._running and (len(self._running) >= IN_FLIGHT or self._held + size > MAX_LINE):
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)

    def _begin(self, line: bytes) -> None:
        task = asyncio.create_task(self._handle(line))
        self._held += len(line)
        self._running.add(task)

        def done(ended: asyncio.Task[None]) -> None:
            self._held -= len(line)
            self._running.discard(ended)

        task.add_done_callback(done)

    async def _handle(self, line: bytes) -> None:
        found, is_batch = rpc.read(line)
        if is_batch:
            answers = await asyncio.gather(*(self._in_turn(item) for item in found))
            if wanted := [answer for answer in answers if answer is not None]:
                await self.send(wanted)
            return
        async with self._turn(found[0]):
            answer = await self._one(found[0])
            if answer is not None:
                await self.send(answer)

    async def _in_turn(self, item: Call | Malformed) -> dict[str, Any] | None:
        async with self._turn(item):
            return await self._one(item)

    def _turn(self, item: Call | Malformed) -> AbstractAsyncContextManager[Any]:
        kind = Work.NONE if isinstance(item, Malformed) else self._kind(item)
        return nullcontext() if kind is Work.NONE else self._turns[kind]

    async def _one(self, item: Call | Malformed) -> dict[str, Any] | None:
        if isinstance(item, Malformed):
            return item.answer
        answer = await self._answer(item, self)
        return answer if item.wants_answer else None

    async def _lines(self) -> AsyncIterator[bytes | None]:
        """Yield lines; None stands for one that is too long, the rest of which is passed over."""
        buffer = bytearray()
        skipping = False
        while chunk := await self._reader.read(CHUNK):
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                if not skipping:
                    yield bytes(buffer + chunk[start:end])
                buffer.clear()
                skipping = False
                start = end + 1
            if not skipping:
                buffer += chunk[start:]
            if len(buffer) > MAX_LINE:
                buffer.clear()
                skipping = True
                yield None
        if buffer:
            yield bytes(buffer)


class Reporter:
    """Sends the progress of one call; called in its thread, and never waits for the client."""

    def __init__(self, call: Call, client: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._client = client
        self._loop = loop
        self._next = 0.0
        self._sending: Future[None] | None = None

    def __call__(self, done: int, total: int, what: str) -> None:
        """Send a frame, unless the last one was just sent or is not even read yet."""
        now = time.monotonic()
        is_last = 0 < total <= done
        unread = self._sending is not None and not self._sending.done()
        if self._call.progress_token is None or unread or (now < self._next and not is_last):
            return
        self._next = now + FRAME_SECONDS
        frame = rpc.progress(self._call, done, total, what)
        if not self._loop.is_closed():
            self._sending = asyncio.run_coroutine_threadsafe(self._client.send(frame), self._loop)
