"""The operations as MCP tools, over standard input and output, with the protocol's own SDK.

`initialize` and `tools/list` touch no vault. Each call runs in a worker thread; a refusal is a tool
result that says so, with the error's code, message and data, so that the model can act on it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, BinaryIO

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession

from vault_kg import __version__
from vault_kg.errors import ScopeDenied, VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import AGENT_SCOPES, Caller
from vault_kg.operations.registry import Operation
from vault_kg.serve import answers, schemas, stdio
from vault_kg.serve.engine import CLOSE, Engine
from vault_kg.serve.rpc import one_line

log = logging.getLogger(__name__)

NAME = "vault-kg"
READERS, WRITERS, MODELS = 8, 4, 4
"""How many calls read, write, or wait for a model at a time."""
PROGRESS_SECONDS = 0.2


@dataclass(frozen=True)
class Offer:
    """What a server offers, and to whom.

    `actor` is None for the client's own name. `partitions` is None for all, `tools` for every
    operation of the toolsets.
    """

    scopes: frozenset[str] = AGENT_SCOPES
    toolsets: frozenset[str] = frozenset({"records"})
    partitions: frozenset[str] | None = None
    actor: str | None = None
    max_chars: int = answers.MAX_CHARS
    tools: frozenset[str] | None = None

    def includes(self, operation: Operation) -> bool:
        """Say whether an operation is listed."""
        is_held = operation.scope in self.scopes
        return is_held and self.refusal(operation.name, operation) is None

    def refusal(self, name: str, operation: Operation | None) -> ScopeDenied | None:
        """Return why something is not offered, whatever its scope; what is unknown is refused later."""
        if operation is not None and not operation.is_in(self.toolsets):
            had = ", ".join(sorted(self.toolsets))
            return ScopeDenied(
                f"{name} is a tool of {operation.toolset}, and this server offers {had}; "
                f"whoever starts it adds --toolset {operation.toolset}",
                toolset=operation.toolset,
            )
        if self.tools is not None and name not in self.tools:
            return ScopeDenied(
                f"{name} is not among the tools of this server; tools/list has them",
                tools=sorted(self.tools),
            )
        return None


def serve(engine: Engine, offer: Offer, wire: BinaryIO) -> None:
    """Serve a vault until standard input closes.

    Args:
        engine: runs the calls.
        offer: what is offered.
        wire: standard output, as `stdio.claim_output` returned it.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    try:
        anyio.run(_run, engine, offer, wire)
    except* (BrokenPipeError, anyio.BrokenResourceError):
        log.info("the client is gone")
    finally:
        engine.stop()


async def _run(engine: Engine, offer: Offer, wire: BinaryIO) -> None:
    server = make_server(Tools(engine, offer))
    engine.start()
    async with stdio.messages(wire) as (received, send):
        await server.run(received, send, server.create_initialization_options())


def make_server(tools: Tools) -> Server[Any]:
    """Return the protocol's server for some tools."""
    return Server(
        NAME,
        version=__version__,
        title="vault-kg",
        instructions=schemas.INSTRUCTIONS,
        on_list_tools=tools.listed,
        on_call_tool=tools.called,
    )


_CLOSING = {
    "name": CLOSE,
    "description": "Close the vault: this server, or the service that it is attached to, ends.",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object"},
    "annotations": {"destructiveHint": True, "idempotentHint": True},
}


class _Progress:
    """Tells a client that asked for it how far something long is; called in a worker thread."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._next = 0.0
        self._listens = True

    def __call__(self, done: int, total: int, what: str) -> None:
        is_last = 0 < total <= done
        if not self._listens or (time.monotonic() < self._next and not is_last):
            return
        self._next = time.monotonic() + PROGRESS_SECONDS
        try:
            anyio.from_thread.run(self._session.report_progress, done, total or None, what)
        except (CancelledError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._listens = False  # the work goes on, or ends at its next step


def _cancelled() -> bool:
    """Say whether the client has taken back the call that this worker thread is for."""
    try:
        anyio.from_thread.check_cancelled()
    except asyncio.CancelledError:
        return True
    return False


class Tools:
    """The tools of one server process."""

    def __init__(self, engine: Engine, offer: Offer) -> None:
        self._engine = engine
        self._offer = offer
        self._limiters: dict[str, anyio.CapacityLimiter] = {}
        self._list: types.ListToolsResult | None = None

    async def listed(
        self,
        _ctx: ServerRequestContext[Any],
        _params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        """Answer `tools/list`."""
        if self._list is None:
            offered = [o for o in registry.operations().values() if self._offer.includes(o)]
            listed = schemas.describe(offered) + ([_CLOSING] if self._can_close else [])
            tools = [types.Tool.model_validate(tool) for tool in listed]
            self._list = types.ListToolsResult(tools=tools)
        return self._list

    async def called(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`; whatever goes wrong is told in the result."""
        caller = Caller(
            self._actor(ctx),
            self._offer.scopes,
            self._offer.partitions,
            report=_Progress(ctx.session),
            cancelled=_cancelled,
        )
        operation = registry.find(params.name)
        refusal = self._offer.refusal(params.name, operation)
        if refusal is not None:
            return _refused(refusal.to_dict(), plain=answers.is_plain(operation))
        reads = operation is None or operation.read_only
        try:
            return await anyio.to_thread.run_sync(
                self._answer, params.name, params.arguments or {}, caller,
                limiter=self._limiter(operation), abandon_on_cancel=reads,
            )  # fmt: skip
        except VaultError as error:
            return _refused(error.to_dict(), plain=answers.is_plain(operation))
        except Exception as error:
            log.warning("%s failed", params.name, exc_info=True)
            message = (
                f"unexpected {type(error).__name__}: {str(error)[:300]}; the server's log says more"
            )
            return _refused({"code": "error", "message": message, "data": {}})

    def _answer(self, name: str, arguments: dict[str, Any], caller: Caller) -> types.CallToolResult:
        def ask(asked: dict[str, Any]) -> dict[str, Any]:
            anyio.from_thread.check_cancelled()
            return self._engine.call(name, asked, caller)

        operation = registry.find(name)
        if operation is None:
            answer = ask(arguments)  # refuses, and says where the operations are listed
        else:
            answer = answers.fitting(operation, arguments, ask, self._offer.max_chars)
        if answers.is_plain(operation):
            return _result({k: v for k, v in answer.items() if k != "text"}, answer["text"])
        return _result(answer, answers.short(answer))

    def _limiter(self, operation: Operation | None) -> anyio.CapacityLimiter:
        if not self._limiters:
            kinds = {"read": READERS, "write": WRITERS, "model": MODELS}
            self._limiters = {k: anyio.CapacityLimiter(count) for k, count in kinds.items()}
        if operation is None or operation.read_only:
            return self._limiters["read"]
        return self._limiters["model" if operation.asks_model else "write"]

    def _actor(self, ctx: ServerRequestContext[Any]) -> str:
        if self._offer.actor:
            return self._offer.actor
        client = ctx.session.client_params
        name = client.client_info.name if client else ""
        return one_line(name) or "mcp"

    @property
    def _can_close(self) -> bool:
        is_listed = self._offer.tools is None or CLOSE in self._offer.tools
        return self._engine.can_close and is_listed and "admin" in self._offer.scopes


def _result(answer: Any, text: Any, *, refused: bool = False) -> types.CallToolResult:
    said = text if isinstance(text, str) else _json(text)
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=said)]
    return types.CallToolResult(content=content, structured_content=answer, is_error=refused)


def _refused(error: dict[str, Any], *, plain: bool = False) -> types.CallToolResult:
    text = f"Error: {error['message']}" if plain else {"error": error}
    return _result({"error": error}, text, refused=True)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
