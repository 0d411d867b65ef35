"""Keeping the cyclic garbage collector out of the way of what makes very many objects.

Most of these stay, and the collector would walk all of them again and again: a seventh of a large
write, a quarter of a first index. What is garbage goes when it ends, or between its batches.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_guard = threading.Lock()
_resting = 0


@contextmanager
def resting() -> Iterator[None]:
    """Let the collector rest for a block; with several threads in one, until the last has left."""
    global _resting
    with _guard:
        was_enabled = gc.isenabled() or _resting > 0
        _resting += 1
        gc.disable()
    try:
        yield
    finally:
        with _guard:
            _resting -= 1
            if was_enabled and not _resting:
                gc.enable()


@contextmanager
def between_batches() -> Iterator[Callable[[], None]]:
    """Collect when the yielded function is called, and not else, for the block.

    What stays then is set aside, where the next collection does not look at it.
    """
    with resting():
        gc.freeze()
        try:
            yield _collect
        finally:
            gc.unfreeze()


def _collect() -> None:
    gc.collect()
    gc.freeze()
