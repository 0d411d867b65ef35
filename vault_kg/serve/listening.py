"""Listening on an endpoint: a Unix socket that only its owner can reach, or a Windows pipe."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

BACKLOG = 1024

Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener(Protocol):
    """Something that takes connections until it is closed."""

    def close(self) -> None:
        """Take no more connections."""


async def listen(address: str, connected: Connected) -> Listener:
    """Take connections at an address.

    Args:
        address: the path of a socket, or the name of a pipe.
        connected: called for each connection.
    """
    if sys.platform == "win32":
        return await _pipe(address, connected)
    return await asyncio.start_unix_server(connected, sock=_closed_socket(address), backlog=BACKLOG)


def raise_file_limit() -> None:
    """Allow as many connections as the system lets this process have."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _closed_socket(path: str) -> socket.socket:
    """Return a bound socket of mode 0600; it never had another one."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(path)
    except OSError:
        made.close()
        raise
    finally:
        os.umask(before)
    return made


if sys.platform == "win32":
    # Not tested on such a system.

    async def _pipe(address: str, connected: Connected) -> Listener:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, asyncio.ProactorEventLoop)

        def protocol() -> asyncio.StreamReaderProtocol:
            reader = asyncio.StreamReader(loop=loop)
            return asyncio.StreamReaderProtocol(reader, connected, loop=loop)

        (server,) = await loop.start_serving_pipe(protocol, address)
        return server
