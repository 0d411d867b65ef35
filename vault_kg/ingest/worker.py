"""The worker process: `python -m vault_kg.ingest.worker MODEL CONTEXT THREADS`, one chat model.

It answers one frame after another, and ends when its standard input closes or its parent is gone.
Whatever the native library prints goes to standard error.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.embedding.child import take_pipes
from vault_kg.embedding.protocol import write_frame
from vault_kg.embedding.serving import LIBRARY_MISSING, serve

if TYPE_CHECKING:
    from vault_kg.ingest.engine import Engine


def main(arguments: list[str]) -> int:
    """Serve one model until standard input closes.

    Args:
        arguments: Model file, tokens of the context, threads.

    Returns:
        The exit status: 0 at an orderly end, 3 where the model could not be loaded.
    """
    requests, answers = take_pipes()
    try:
        from vault_kg.ingest.engine import Engine

        engine = Engine(Path(arguments[0]), int(arguments[1]), int(arguments[2]))
    except ImportError as error:
        write_frame(answers, {"error": f"{LIBRARY_MISSING} ({error})"})
        return 3
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to be told
        write_frame(answers, {"error": f"{error}"})
        return 3
    write_frame(answers, {"context_tokens": engine.context_tokens})
    serve(partial(_answer, engine), requests, answers)
    return 0


def _answer(engine: Engine, header: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
    question = (header["system"], header["user"], header["schema"])
    return engine.answer(*question, int(header["max_tokens"])), b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
