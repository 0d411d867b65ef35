"""The worker process: `python -m vault_kg.embedding.worker MODEL`, spoken to over its two pipes.

It holds one model, answers one frame after another, and ends when its standard input closes or its
parent is gone. Whatever the native library prints goes to standard error.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_kg.embedding.child import take_pipes
from vault_kg.embedding.gguf_header import read_header
from vault_kg.embedding.protocol import write_frame
from vault_kg.embedding.serving import LIBRARY_MISSING, serve

if TYPE_CHECKING:
    from vault_kg.embedding.engine import Engine


def main(arguments: list[str]) -> int:
    """Serve one model until standard input closes.

    Args:
        arguments: Model file, tokens of a batch, windows of a batch.

    Returns:
        The exit status: 0 at an orderly end, 3 where the model could not be loaded.
    """
    requests, answers = take_pipes()
    model, batch_tokens, sequences = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    try:
        from vault_kg.embedding.engine import Engine

        engine = Engine(model, read_header(model), batch_tokens=batch_tokens, sequences=sequences)
    except ImportError as error:
        write_frame(answers, {"error": f"{LIBRARY_MISSING} ({error})"})
        return 3
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to be told
        write_frame(answers, {"error": f"{error}"})
        return 3
    write_frame(answers, _greeting(engine), engine.prefix.tobytes() + engine.suffix.tobytes())
    serve(partial(_answer, engine), requests, answers)
    return 0


def _greeting(engine: Engine) -> dict[str, Any]:
    return {"dimension": engine.dimension, "prefix": len(engine.prefix)}


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
