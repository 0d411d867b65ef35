"""Sources that are sent in chunks, until the last chunk is there: files beside the state.

What nobody goes on with is removed a day after its last chunk, and there are never very many.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Final

from vault_kg.errors import Busy, InvalidArgument

FOLDER: Final = "uploads"
KEPT_SECONDS: Final = 86_400.0
"""An upload without a chunk for so long is removed."""

MOST: Final = 16
"""So many are under way at a time; another one takes the place of that which has rested longest."""

REST_SECONDS: Final = 600.0
"""One that has rested for longer can lose its place."""


def part(private: Path, sha256: str, request_id: str) -> Path:
    """Return the file that collects the chunks of a request.

    Args:
        private: the vault's private folder.
        sha256: of all the bytes, in hex.
        request_id: of the request that sends them.
    """
    return private / FOLDER / f"{sha256}-{hashlib.sha256(request_id.encode()).hexdigest()[:16]}"


def append(partial: Path, offset: int, chunk: bytes, size: int) -> int:
    """Write a chunk, which may repeat one; returns how many bytes are here.

    Raises:
        InvalidArgument: there is a gap before it, or it goes beyond the size.
        Busy: too many others are being sent.
    """
    partial.parent.mkdir(parents=True, exist_ok=True)
    is_begun = partial.exists()
    have = partial.stat().st_size if is_begun else 0
    if offset > have or offset + len(chunk) > size:
        raise InvalidArgument(
            f"the chunk starts at {offset}, and {have} bytes of {size} are here; go on from there",
            received=have,
        )
    if not is_begun:
        _make_room(partial.parent)
    with partial.open("r+b" if is_begun else "w+b") as handle:
        handle.seek(offset)
        handle.write(chunk)
    return partial.stat().st_size


def sweep(private: Path) -> None:
    """Remove the uploads that nobody goes on with."""
    for path, rested in _resting(private / FOLDER):
        if rested > KEPT_SECONDS:
            path.unlink(missing_ok=True)


def _make_room(folder: Path) -> None:
    sweep(folder.parent)
    found = _resting(folder)
    if len(found) < MOST:
        return
    longest, rested = max(found, key=lambda one: one[1])
    if rested <= REST_SECONDS:
        raise Busy(
            f"{len(found)} sources are being sent at the moment, which is as many as there may be; "
            f"finish one, or begin this one in {REST_SECONDS / 60:g} minutes"
        )
    longest.unlink(missing_ok=True)


def _resting(folder: Path) -> list[tuple[Path, float]]:
    """Return the uploads, each with the seconds since its last chunk."""
    now, found = time.time(), []
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            found.append((path, now - path.stat().st_mtime))
        except FileNotFoundError:
            continue  # finished in the meantime
    return found
