"""A client's end of a connection to the service: whole lines, each waited for so long.

Source of the rule when a request may be sent again: the service carries out no request before it
has its last byte. A break that is seen before that byte was written proves that it was not.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import BinaryIO, Protocol

from vault_kg.serve import endpoint

CHUNK = 1 << 18
MAX_LINE = 256_000_000
DIAL_AGAIN_SECONDS = 0.02


class MaybeSent(ConnectionError):
    """The connection broke when the service may have had the whole request."""


class Line(Protocol):
    """One connection, used for one call at a time."""

    def is_alive(self) -> bool:
        """Say whether the other side is there; between calls it has nothing to say."""

    def send(self, data: bytes, seconds: float) -> None:
        """Write a line.

        Raises:
            MaybeSent: it broke when all may have been written.
            OSError: it broke, or was not taken in time, before that.
        """

    def read_line(self, seconds: float) -> bytes | None:
        """Return the next line, or None where none came in so many seconds.

        Raises:
            OSError: the connection is closed, or broke.
        """

    def close(self) -> None:
        """Hang up, which also ends what is at work for this call."""


def dial(address: str, seconds: float) -> Line:
    """Connect to a service.

    Raises:
        OSError: nobody listens there, or it is not the service of this user.
    """
    if sys.platform == "win32":
        # Not tested on such a system.
        return PipeLine(open(address, "r+b", buffering=0))  # noqa: PTH123 - a pipe's name
    return SocketLine(_connected(address, seconds))


def _connected(address: str, seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(seconds)
    try:
        while True:
            try:
                made.connect(address)
                break
            except BlockingIOError:  # many connect at once, and the queue is full
                if time.monotonic() > deadline:
                    raise
                time.sleep(DIAL_AGAIN_SECONDS)
        if not endpoint.is_trusted(made):
            raise PermissionError("it is the service of another user")
    except OSError:
        made.close()
        raise
    return made


class SocketLine:
    """A connection over a socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._buffer = bytearray()
        self._looked = 0

    def is_alive(self) -> bool:
        """Say whether the other side is there; what it says unasked belongs to nobody."""
        self._socket.setblocking(False)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return not self._buffer
        except OSError:
            return False
        return False

    def send(self, data: bytes, seconds: float) -> None:
        """Write a line; see `Line`."""
        self._socket.settimeout(seconds)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._socket.send(rest) :]
        except OSError as error:
            if len(rest) <= 1:
                raise MaybeSent(str(error)) from error
            raise

    def read_line(self, seconds: float) -> bytes | None:
        """Return the next line; see `Line`."""
        deadline = time.monotonic() + seconds
        while (end := self._buffer.find(b"\n", self._looked)) < 0:
            self._looked = len(self._buffer)
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._receive(left)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._looked = 0
        return line

    def _receive(self, seconds: float) -> None:
        self._socket.settimeout(seconds)
        try:
            chunk = self._socket.recv(CHUNK)
        except TimeoutError:
            return
        if not chunk:
            raise ConnectionError("the connection was closed")
        self._buffer += chunk
        if len(self._buffer) > MAX_LINE:
            raise ConnectionError(f"an answer of more than {MAX_LINE:,} bytes")

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


class PipeLine:
    """A connection over a pipe, which has no time-outs of its own: a thread reads each line.

    Nothing is read while nothing is expected: a pipe that was opened as a file cannot be written
    while a read of it waits.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._buffer = bytearray()
        self._reading = False

    def is_alive(self) -> bool:
        """Say whether the other side is there, as far as is known before it is written to."""
        return not self._reading and not self._buffer and not self._pipe.closed

    def send(self, data: bytes, seconds: float) -> None:  # noqa: ARG002 - a pipe cannot be timed
        """Write a line; see `Line`."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._pipe.write(rest) or 0 :]
            except (OSError, ValueError) as error:
                if len(rest) <= 1:
                    raise MaybeSent(str(error)) from error
                raise ConnectionError(str(error)) from error

    def read_line(self, seconds: float) -> bytes | None:
        """Return the next line; see `Line`."""
        if not self._reading:
            self._reading = True
            threading.Thread(target=self._read, daemon=True).start()
        try:
            line = self._lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        self._reading = False
        if line is None:
            raise ConnectionError("the connection was closed")
        return line

    def close(self) -> None:
        """Hang up; while a read waits, that takes as long as the system makes it."""
        if self._reading:
            threading.Thread(target=self._pipe.close, daemon=True).start()
            return
        with suppress(OSError):
            self._pipe.close()

    def _read(self) -> None:
        try:
            while b"\n" not in self._buffer:
                chunk = self._pipe.read(CHUNK)
                if not chunk:
                    break
                self._buffer += chunk
        except (OSError, ValueError):
            self._buffer.clear()
        line, newline, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        self._lines.put(line if newline else None)
