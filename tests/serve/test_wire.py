from __future__ import annotations

import socket
import time

import pytest

from vault_kg.serve.wire import MaybeSent, PipeLine, SocketLine


class Breaking:
    """A socket that takes so many bytes and then breaks."""

    def __init__(self, room: int) -> None:
        self.room = room

    def settimeout(self, _: float) -> None: ...

    def send(self, data: memoryview) -> int:
        if self.room == 0:
            raise BrokenPipeError("broken")
        taken = min(self.room, len(data))
        self.room -= taken
        return taken

    def write(self, data: memoryview) -> int:
        return self.send(data)


@pytest.mark.parametrize("line", [SocketLine, PipeLine])
def test_a_break_before_the_last_byte_proves_that_nothing_was_carried_out(line: type) -> None:
    for room in range(len(b"request\n") - 1):
        with pytest.raises(ConnectionError) as caught:
            line(Breaking(room)).send(b"request\n", 1)
        assert not isinstance(caught.value, MaybeSent)


@pytest.mark.parametrize("line", [SocketLine, PipeLine])
def test_a_break_at_the_last_byte_proves_nothing(line: type) -> None:
    with pytest.raises(MaybeSent):
        line(Breaking(len(b"request\n") - 1)).send(b"request\n", 1)


@pytest.fixture(params=["socket", "pipe"])
def ends(request: pytest.FixtureRequest):
    """A line, and the other end of it."""
    one, other = socket.socketpair()
    if request.param == "socket":
        line = SocketLine(one)
    else:
        line = PipeLine(one.makefile("rwb", buffering=0))
    with one, other:
        yield line, other


def test_lines_come_whole_and_in_order_however_they_are_cut(ends) -> None:
    line, other = ends
    line.send(b"hello\n", 1)
    assert other.recv(100) == b"hello\n"
    for piece in (b"on", b"e\ntwo\nth", b"ree\n"):
        other.sendall(piece)
    assert [line.read_line(5) for _ in range(3)] == [b"one", b"two", b"three"]


def test_no_line_in_time_is_none_and_the_rest_still_comes(ends) -> None:
    line, other = ends
    other.sendall(b"half")
    began = time.monotonic()
    assert line.read_line(0.1) is None
    assert 0.1 <= time.monotonic() - began < 2
    other.sendall(b" a line\n")
    assert line.read_line(5) == b"half a line"


def test_a_closed_connection_is_an_error(ends) -> None:
    line, other = ends
    other.sendall(b"half")
    other.close()
    with pytest.raises(OSError, match="closed"):
        while True:
            line.read_line(1)


def test_a_line_that_nobody_asked_for_or_a_hang_up_makes_a_socket_unfit() -> None:
    one, other = socket.socketpair()
    line = SocketLine(one)
    assert line.is_alive()
    other.sendall(b"x")
    assert not line.is_alive()
    one, other = socket.socketpair()
    other.close()
    assert not SocketLine(one).is_alive()
