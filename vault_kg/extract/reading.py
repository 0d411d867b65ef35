"""Looking at one file of a root: whether it changed, and what its extractor finds in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from vault_kg.errors import UnsafePath
from vault_kg.extract.backends.values import FileState
from vault_kg.extract.model import Extraction
from vault_kg.extract.protocol import Extractor, ExtractorError
from vault_kg.store import files
from vault_kg.store.files import RACY_NS, Stamp

MAX_BYTES = 2_000_000
"""Larger files are generated, or data: they are noted, and not read."""

TRIES = 3
"""How often a file is read that changes meanwhile, before it is left for the next time."""

ExtractorFor = Callable[[str], Extractor | None]
"""Returns what reads a path, by the ending of its name, or None where nothing does."""


class Known(NamedTuple):
    """What was last read of a file: by whom, and its content's hash."""

    extractor: str
    version: int
    tried: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found at a path.

    `same`: the content that is known; `read`: what is in `found`; `failed`: why is in `error`;
    `gone`: no regular file; `moving`: it changed at each look.
    """

    outcome: Literal["same", "read", "failed", "gone", "moving"]
    stamp: tuple[int, int, int, int] = (0, 0, 0, 0)
    seen_ns: int = 0
    hash: str = ""
    error: str | None = None
    found: Extraction | None = None
    duration_ms: float = 0.0


def is_fresh(state: FileState, stamp: tuple[int, int, int, int], extractor: Extractor) -> bool:
    """Say whether a file, which has a stamp, is as it was when it was read, without reading it."""
    return (
        state.stamp == stamp
        and state.version == extractor.version
        and state.extractor == extractor.name
        and state.seen_ns - max(stamp[1], stamp[2]) > RACY_NS
    )


def look(root: Path, path: str, known: Known | None, extractor: Extractor) -> Seen:
    """Look at one file.

    Args:
        root: the folder that the path is relative to.
        path: the file.
        known: what was last read of it; the same content is not extracted again.
        extractor: what reads it.
    """
    for _ in range(TRIES):
        seen_ns = time.time_ns()
        try:
            stamp = files.stamp(root, path)
            if stamp is None:
                return Seen("gone")
            if stamp.size > MAX_BYTES:
                return _too_large(stamp, seen_ns)
            content = files.read(root, path, MAX_BYTES)
        except (UnsafePath, OSError) as error:
            return Seen("failed", (0, 0, 0, 0), seen_ns, error=str(error))
        if content is None:
            return Seen("gone")
        if files.stamp(root, path) == stamp:
            return _extract(path, content, stamp, seen_ns, known, extractor)
    return Seen("moving")


def as_tuple(stamp: Stamp) -> tuple[int, int, int, int]:
    """Return a stamp as it is stored."""
    return stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode


def _too_large(stamp: Stamp, seen_ns: int) -> Seen:
    said = f"the file has {stamp.size:,} bytes; files of more than {MAX_BYTES:,} are not read"
    return Seen("failed", as_tuple(stamp), seen_ns, f"size:{stamp.size}", said)


def _extract(
    path: str, content: bytes, stamp: Stamp, seen_ns: int, known: Known | None, by: Extractor
) -> Seen:
    content_hash = files.content_hash(content)
    stored = as_tuple(stamp)
    if known == (by.name, by.version, content_hash):
        return Seen("same", stored, seen_ns, content_hash)
    started = time.perf_counter()
    try:
        found, error = by.extract(path, content), None
    except ExtractorError as failed:
        found, error = None, str(failed) or "it cannot be parsed"
    except RecursionError:
        found, error = None, "it is nested too deeply to be parsed"
    took = round((time.perf_counter() - started) * 1000, 3)
    outcome: Literal["read", "failed"] = "read" if found is not None else "failed"
    return Seen(outcome, stored, seen_ns, content_hash, error, found, took)
