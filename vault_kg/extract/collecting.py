"""Keeping the cyclic garbage collector out of the way of a run.

A run makes very many objects that stay, and the collector would walk all of them again and again: a
quarter of a first index. So it rests, and between batches what is garbage is collected and what
stays is set aside, where the next collection does not look at it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def between_batches() -> Iterator[Callable[[], None]]:
    """Collect when the yielded function is called, and not else, for the block."""
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield _collect
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _collect() -> None:
    gc.collect()
    gc.freeze()
