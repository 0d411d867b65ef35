"""MCP over streamable HTTP, for this machine only: the loopback address and a bearer token.

A web page in the person's browser can reach the loopback address too. So each request is checked
for the address it was sent to (`Host`, against DNS rebinding), the page that it comes from
(`Origin`) and a token that no page knows, before anything of the protocol is looked at.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

from vault_kg.errors import InvalidArgument, Unavailable
from vault_kg.serve.connection import MAX_LINE
from vault_kg.serve.engine import Engine
from vault_kg.serve.mcp import Offer, Tools, make_server

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
TOKEN_VARIABLE = "VAULT_KG_HTTP_TOKEN"
TOKEN_FILE = "http.token"

_SHORTEST_TOKEN = 16
_STOP_SECONDS = 5
_BACKLOG = 128

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


def serve(
    engine: Engine,
    offer: Offer,
    port: int,
    token: str,
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a vault until a signal.

    Args:
        engine: runs the calls.
        offer: what is offered.
        port: where to listen on the loopback address; 0 for any that is free.
        token: what clients send as `Authorization: Bearer`.
        on_ready: told the URL once clients can connect.

    Raises:
        Unavailable: the port is taken.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    with _listen(port) as listener:
        bound = listener.getsockname()[1]
        app = make_server(Tools(engine, offer)).streamable_http_app(
            streamable_http_path=PATH, max_request_body_size=MAX_LINE
        )
        config = uvicorn.Config(
            Guard(app, bound, token), ws="none", log_config=None, access_log=False,
            server_header=False, timeout_graceful_shutdown=_STOP_SECONDS,
        )  # fmt: skip
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _stopped)
        engine.start()
        try:
            on_ready(f"http://{LOOPBACK}:{bound}{PATH}")
            uvicorn.Server(config).run([listener])
        finally:
            engine.stop()


def _stopped(number: int, frame: object) -> None:
    """Take the signal that uvicorn raises again once it has stopped on it."""


def token_for(private: Path | None) -> tuple[str, str]:
    """Return the token, and where the person finds it.

    It is taken from the environment, or from a file that only its owner can read, made with a new
    token where there is none.

    Args:
        private: the vault's private folder; None where no vault is known.

    Raises:
        InvalidArgument: the token is too short to keep anybody out, or there is no place for one.
        Unavailable: the file cannot be used.
    """
    given = os.environ.get(TOKEN_VARIABLE)
    if given is not None:
        return _checked(given, TOKEN_VARIABLE), TOKEN_VARIABLE
    if private is None:
        raise InvalidArgument(f"set {TOKEN_VARIABLE}: without a vault there is no file for a token")
    file = private / TOKEN_FILE
    try:
        return _kept(file), str(file)
    except OSError as error:
        message = f"{file} cannot be used: {error.strerror}; or set {TOKEN_VARIABLE}"
        raise Unavailable(message) from error


def _kept(file: Path) -> str:
    try:
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise Unavailable(
                f"{file} can be read by others: remove it, and a new token is made"
            ) from None
        return _checked(file.read_text().strip(), str(file))
    with os.fdopen(made, "w") as opened:
        token = secrets.token_urlsafe(32)
        opened.write(token + "\n")
    return token


def _checked(token: str, where: str) -> str:
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise InvalidArgument(
            f"the token in {where} must have {_SHORTEST_TOKEN} or more printable ASCII characters"
        )
    return token


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        message = f"port {port} of {LOOPBACK} cannot be used: {error.strerror}; give another one"
        raise Unavailable(message, port=port) from error
    return listener


class Guard:
    """Lets through what a program on this machine sent, with the token; all else gets a status."""

    def __init__(self, app: _App, port: int, token: str) -> None:
        hosts = [f"{name}:{port}" for name in (LOOPBACK, "localhost")]
        self._app = app
        self._hosts = {host.encode() for host in hosts}
        self._origins = {f"http://{host}".encode() for host in hosts}
        self._authorization = b"bearer " + token.encode()

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and (refusal := self._refusal(scope["headers"])):
            await _refuse(send, *refusal)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        if not self._all(headers, b"host", self._hosts, needed=True):
            return 421, "this server answers on the loopback address only"
        if not self._all(headers, b"origin", self._origins, needed=False):
            return 403, "web pages of other origins are not served"
        said = [value for name, value in headers if name == b"authorization"]
        if len(said) != 1 or not self._is_ours(said[0]):
            return 401, "send the token of this server as `Authorization: Bearer`"
        return None

    def _all(
        self, headers: list[tuple[bytes, bytes]], name: bytes, allowed: set[bytes], *, needed: bool
    ) -> bool:
        """Say whether each header of a name is allowed; there is one at most, and that if needed."""
        said = [value.lower() for key, value in headers if key == name]
        return len(said) <= 1 and (bool(said) or not needed) and set(said) <= allowed

    def _is_ours(self, said: bytes) -> bool:
        scheme, _, token = said.partition(b" ")
        return secrets.compare_digest(scheme.lower() + b" " + token.strip(), self._authorization)


async def _refuse(send: _Send, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="vault-kg"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
