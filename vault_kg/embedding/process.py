"""The embedding worker as its client holds it: texts to tokens, windows of tokens to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vault_kg.embedding.timed import TimedWorker, WorkerLost, WorkerRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BATCH_TOKENS", "BATCH_WINDOWS", "WorkerLost", "WorkerProcess", "WorkerRefused"]

BATCH_TOKENS = 256
"""Tokens put together in one call: larger batches were no faster, and make a query wait longer."""

BATCH_WINDOWS = 64


class WorkerProcess(TimedWorker):
    """A running worker with its model loaded; used by one thread at a time.

    Args:
        model: The GGUF file.
        window_tokens: The most tokens of one window, framing included.
        start_seconds: How long loading may take.

    Raises:
        WorkerLost: It died, or did not answer in time.
        WorkerRefused: It could not load the model; the message says why.
    """

    def __init__(self, model: Path, *, window_tokens: int, start_seconds: float) -> None:
        import numpy as np

        arguments = [str(model), str(max(window_tokens, BATCH_TOKENS)), str(BATCH_WINDOWS)]
        super().__init__("vault_kg.embedding.worker", arguments, start_seconds)
        framing = np.frombuffer(self.greeting_payload, np.int32)
        self.dimension = int(self.greeting["dimension"])
        self.prefix, self.suffix = np.split(framing, [int(self.greeting["prefix"])])

    def tokenize(self, texts: Sequence[str], *, seconds: float) -> list[NDArray[np.int32]]:
        """Return the tokens of each text, without framing."""
        import numpy as np

        header, payload = self.call({"do": "tokenize", "texts": list(texts)}, b"", seconds)
        flat = np.frombuffer(payload, np.int32)
        return np.split(flat, np.cumsum(header["lengths"])[:-1])

    def embed(
        self, windows: Sequence[NDArray[np.int32]], *, threads: int, seconds: float
    ) -> tuple[NDArray[np.float32], float]:
        """Return one raw vector a window, and the seconds that the model took."""
        import numpy as np

        request = {"do": "embed", "threads": threads, "lengths": [len(each) for each in windows]}
        payload = b"".join(each.tobytes() for each in windows)
        header, data = self.call(request, payload, seconds)
        vectors = np.frombuffer(data, np.float32).reshape(len(windows), self.dimension)
        return vectors, float(header["seconds"])
