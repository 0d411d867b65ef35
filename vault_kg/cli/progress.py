"""Progress on standard error: one line, on a terminal only, and only where it takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 0.5
REDRAW_SECONDS = 0.1
BAR = 30


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what is called with (done, total); None where nobody would see it.

    Args:
        label: what is going on.
    """
    if not sys.stderr.isatty():
        yield None
        return
    drawing = _Line(label)
    try:
        yield drawing.advance
    finally:
        drawing.clear()


class _Line:
    def __init__(self, label: str) -> None:
        self._label = label
        self._next = time.monotonic() + PATIENCE_SECONDS
        self._drawn = False

    def advance(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next or not total:
            return
        self._next = now + REDRAW_SECONDS
        self._drawn = True
        filled = BAR * done // total
        sys.stderr.write(f"\r{self._label} [{'#' * filled:<{BAR}}] {done:,} of {total:,}")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * (len(self._label) + BAR + 40) + "\r")
            sys.stderr.flush()


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is called with (stage, done, total); without a terminal a stage is told once."""
    told: set[str] = set()
    drawing: dict[str, _Line] = {}

    def advance(stage: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            drawing.setdefault(stage, _Line(stage)).advance(done, total)
        elif stage not in told:
            told.add(stage)
            sys.stderr.write(f"{stage} …\n")

    try:
        yield advance
    finally:
        for line in drawing.values():
            line.clear()
