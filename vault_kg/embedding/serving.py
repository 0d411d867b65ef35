"""The worker's side of the frames: one request after another, answered or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from vault_kg.embedding.protocol import read_frame, write_frame

Answer = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]

LIBRARY_MISSING = (
    "llama-cpp-python cannot be imported; run scripts/build_llama.py, "
    "or pip install 'vault-kg[embeddings]'"
)


def serve(answer: Answer, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one frame after another until the requests end."""
    while (frame := read_frame(requests)) is not None:
        header, payload = frame
        try:
            said, data = answer(header, payload)
        except Exception as error:  # noqa: BLE001 - the worker outlives a request that it refuses
            said, data = {"error": f"{type(error).__name__}: {error}"}, b""
        write_frame(answers, said, data)
