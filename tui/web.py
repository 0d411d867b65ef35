"""The UI in a browser of this machine: one process for each page that is opened.

It listens on 127.0.0.1 alone. Other users of the machine and other sites' pages reach that too, so
every request must name this host, come from this origin, and carry the key of the printed link.
"""

from __future__ import annotations

import secrets
import shlex
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aiohttp import web
from textual_serve.server import Server

HOST = "127.0.0.1"
COOKIE = "vault-kg-key"

PAGE = Path(__file__).parent / "page"
"""The page around the terminal."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Nothing is fetched from elsewhere, and no other page frames this one or learns its address."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalServer(Server):
    """Serves the UI to whoever has the link.

    Args:
        command: what runs the UI, as arguments.
        port: where to listen; 0 takes a free one.
        title: what the page is called until the UI is drawn.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, command: Sequence[str], port: int, title: str) -> None:
        self._socket = socket.create_server((HOST, port))
        number = self._socket.getsockname()[1]
        super().__init__(shlex.join(command), HOST, number, title=title, templates_path=PAGE)
        self._key = secrets.token_urlsafe(24)

    @property
    def link(self) -> str:
        """The address to open, with its key."""
        return f"{self.public_url}/?key={self._key}"

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve until Ctrl-C or SIGTERM; `ready` is told the link."""
        self._ready = ready
        web.run_app(self._make_app(), sock=self._socket, print=None)

    async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002 - the base's signature
        """Tell the link."""
        self._ready(self.link)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.router.add_static("/page", PAGE)
        app.middlewares.append(self._guard)
        app.on_response_prepare.append(_add_headers)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let through what comes from the page that the link opened."""
        if request.host != f"{HOST}:{self.port}":
            raise web.HTTPForbidden(text=f"open {self.public_url}, as it was printed\n")
        if request.headers.get("Origin", self.public_url) != self.public_url:
            raise web.HTTPForbidden(text="a page of another site may not come here\n")
        if request.path == "/" and self._fits(request.query.get("key")):
            return self._let_in()
        if not self._fits(request.cookies.get(COOKIE)):
            raise web.HTTPForbidden(text="open the whole link that `vault-kg tui --web` printed\n")
        return await handler(request)

    def _fits(self, key: str | None) -> bool:
        return key is not None and secrets.compare_digest(key.encode(), self._key.encode())

    def _let_in(self) -> web.Response:
        """Keep the key in a cookie, and take it out of the address."""
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(COOKIE, self._key, httponly=True, samesite="Strict")
        return answer


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
