"""Standard input and output as the wire of a protocol.

File descriptor 1 belongs to the protocol alone: it is moved away before anything native is loaded,
and what prints to it afterwards ends on standard error. A line that is no message is answered and
does not end the connection; what was asked before standard input closed is still answered.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    Received = SessionMessage | Exception

LAST_ANSWERS_SECONDS = 30.0
"""How long what was asked before the end of input may still take."""


def claim_output() -> BinaryIO:
    """Take standard output for the protocol; what else prints there goes to standard error."""
    sys.stdout.flush()
    wire = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
    return os.fdopen(wire, "wb")


@asynccontextmanager
async def messages(
    wire: BinaryIO,
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]
]:
    """Yield the streams that an MCP server reads from and writes to.

    Args:
        wire: standard output, as `claim_output` returned it.
    """
    import anyio
    from mcp.server.stdio import stdio_server

    text = io.TextIOWrapper(wire, encoding="utf-8", errors="backslashreplace", newline="\n")
    async with (
        stdio_server(stdout=anyio.wrap_file(text)) as (source, sink),
        anyio.create_task_group() as tasks,
    ):
        relay = _Relay(source, sink)
        tasks.start_soon(relay.inward)
        tasks.start_soon(relay.outward)
        yield relay.received, relay.send


class _Relay:
    """Passes messages on both ways, and knows which requests are still to be answered."""

    def __init__(self, source: Any, sink: Any) -> None:
        import anyio

        self._source, self._sink = source, sink
        self._forward, self.received = anyio.create_memory_object_stream["Received"](0)
        self.send, self._answers = anyio.create_memory_object_stream["SessionMessage"](0)
        self._open: dict[Any, int] = {}
        self._answered = anyio.Event()

    async def inward(self) -> None:
        """Pass on what the client says, until it has no more to say and has all its answers."""
        import anyio

        async with self._forward:
            async for item in self._source:
                if isinstance(item, Exception):
                    await self._refuse_line(item)
                else:
                    self._note_request(item.message)
                    await self._forward.send(item)
            with anyio.move_on_after(LAST_ANSWERS_SECONDS):
                while self._open:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def outward(self) -> None:
        """Pass on what the server says."""
        async with self._sink, self._answers:
            async for item in self._answers:
                await self._sink.send(item)
                self._note_answer(item.message)

    async def _refuse_line(self, problem: Exception) -> None:
        from pydantic import ValidationError

        if isinstance(problem, ValidationError) and _is_blank(problem.errors()[0]["input"]):
            return
        from mcp.shared.message import SessionMessage
        from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

        said = ErrorData(code=PARSE_ERROR, message="the line is not a JSON-RPC message")
        await self._sink.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=said)))

    def _note_request(self, message: Any) -> None:
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        if isinstance(message, JSONRPCRequest):
            self._open[message.id] = self._open.get(message.id, 0) + 1
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._close((message.params or {}).get("requestId"))

    def _note_answer(self, message: Any) -> None:
        from mcp_types import JSONRPCError, JSONRPCResponse

        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    def _close(self, request_id: Any) -> None:
        left = self._open.pop(request_id, 0) - 1
        if left > 0:
            self._open[request_id] = left
        self._answered.set()


def _is_blank(line: Any) -> bool:
    return isinstance(line, str) and not line.strip()
