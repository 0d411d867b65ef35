"""The worker process: `python -m vault_kg.embedding.worker MODEL`, spoken to over its two pipes.

It holds one model, answers one frame after another, and ends when its standard input closes or its
parent is gone. Whatever the native library prints goes to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vault_kg.embedding.gguf_header import read_header
from vault_kg.embedding.protocol import read_frame, write_frame

if TYPE_CHECKING:
    from vault_kg.embedding.engine import Engine

_ORPHAN_CHECK_SECONDS = 1.0
_INSTALL = (
    "llama-cpp-python cannot be imported; run scripts/build_llama.py, "
    "or pip install 'vault-kg[embeddings]'"
)


def main(arguments: list[str]) -> int:
    """Serve one model until standard input closes.

    Args:
        arguments: Model file, tokens of a batch, windows of a batch.

    Returns:
        The exit status: 0 at an orderly end, 3 where the model could not be loaded.
    """
    requests, answers = _take_pipes()
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    model, batch_tokens, sequences = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    try:
        from vault_kg.embedding.engine import Engine

        engine = Engine(model, read_header(model), batch_tokens=batch_tokens, sequences=sequences)
    except ImportError as error:
        write_frame(answers, {"error": f"{_INSTALL} ({error})"})
        return 3
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to be told
        write_frame(answers, {"error": f"{error}"})
        return 3
    write_frame(answers, _greeting(engine), engine.prefix.tobytes() + engine.suffix.tobytes())
    _serve(engine, requests, answers)
    return 0


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes for frames, and point descriptors 0 and 1 elsewhere before any library."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def _exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(0)


def _greeting(engine: Engine) -> dict[str, Any]:
    return {"dimension": engine.dimension, "prefix": len(engine.prefix)}


def _serve(engine: Engine, requests: BinaryIO, answers: BinaryIO) -> None:
    while (frame := read_frame(requests)) is not None:
        header, payload = frame
        try:
            answer, data = _answer(engine, header, payload)
        except Exception as error:  # noqa: BLE001 - the worker outlives a request that it refuses
            answer, data = {"error": f"{type(error).__name__}: {error}"}, b""
        write_frame(answers, answer, data)


def _answer(engine: Engine, header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
    if header["do"] == "tokenize":
        tokens = [engine.tokenize(text) for text in header["texts"]]
        lengths = [len(each) for each in tokens]
        return {"lengths": lengths}, b"".join(each.tobytes() for each in tokens)
    flat = np.frombuffer(payload, np.int32)
    windows = np.split(flat, np.cumsum(header["lengths"])[:-1])
    started = time.perf_counter()
    vectors = engine.embed(windows, int(header["threads"]))
    return {"seconds": time.perf_counter() - started}, vectors.tobytes()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
