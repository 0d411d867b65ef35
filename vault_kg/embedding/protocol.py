"""The frames that the embedding worker and its client exchange over two pipes.

A frame is two big-endian 32-bit lengths, a JSON header of the first length, and raw bytes of the
second (little-endian int32 tokens or float32 vectors).
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">II")


class BrokenFrame(Exception):
    """The other side went away, or sent something that is not a frame."""


def write_frame(pipe: BinaryIO, header: dict[str, Any], payload: bytes = b"") -> None:
    """Send one frame and flush it.

    Args:
        pipe: The writing end.
        header: What is asked or answered; JSON values only.
        payload: Raw bytes that go with it.
    """
    text = json.dumps(header).encode("ascii")
    pipe.write(_LENGTHS.pack(len(text), len(payload)) + text + payload)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame.

    Args:
        pipe: The reading end.

    Returns:
        The header and the payload, or None where the other side closed the pipe between frames.

    Raises:
        BrokenFrame: The pipe ended inside a frame, or the header is not a JSON object.
    """
    head = pipe.read(_LENGTHS.size)
    if not head:
        return None
    if len(head) < _LENGTHS.size:
        raise BrokenFrame("the pipe ended inside a frame")
    text_length, payload_length = _LENGTHS.unpack(head)
    text, payload = pipe.read(text_length), pipe.read(payload_length)
    if len(text) < text_length or len(payload) < payload_length:
        raise BrokenFrame("the pipe ended inside a frame")
    try:
        header = json.loads(text)
    except ValueError as error:
        raise BrokenFrame("the header of a frame is not JSON") from error
    if not isinstance(header, dict):
        raise BrokenFrame("the header of a frame is not an object")
    return header, payload
