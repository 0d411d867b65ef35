"""What worker processes have in common: their environment, their two pipes, and their end.

A worker is this interpreter running one module of ours, spoken to in frames over its standard input
and output (`protocol`). Whatever a native library prints goes to standard error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

_ORPHAN_CHECK_SECONDS = 1.0


def spawn(
    module: str, arguments: Sequence[str] = (), *, stderr: BinaryIO | int
) -> subprocess.Popen[bytes]:
    """Start a worker.

    Args:
        module: The module to run.
        arguments: Its command line.
        stderr: Where what it prints goes.
    """
    return subprocess.Popen(
        # -P: never import from the current folder, which may be somebody's vault.
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_environment(),
    )


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes for frames, and point descriptors 0 and 1 elsewhere before any library.

    The worker also ends by itself once its parent is gone, and leaves Ctrl+C to the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    return requests, answers


def _exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(0)


def _environment() -> dict[str, str]:
    """Give the worker our import path, and an OpenMP whose idle threads sleep instead of spin."""
    environment = dict(os.environ, OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1")
    root = Path(__file__).resolve().parents[2]
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    if root not in installed:
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([known] if known else [])])
    return environment
