"""A walk through the files by a process of its own: whether anything changed since the last scan.

A walk through many files takes seconds in which Python does little else; who shows something or
answers calls meanwhile would be kept from it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import beside, walk

WORTHWHILE = 5_000
"""Files from which on it pays to start a process."""


class Seen(NamedTuple):
    """What a walk saw."""

    digest: str
    files: int


def seen(root: Path) -> Seen | None:
    """Return what a walk sees now; None where it met a problem, or the process failed."""
    try:
        done = subprocess.run(
            beside.command(__name__, root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            env=beside.environment(),
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return Seen(*told) if told else None


def _tell(root: Path) -> None:
    listing = walk.walk(root)
    told = None if listing.problems else (listing.digest(), len(listing.paths))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    _tell(Path(sys.argv[1]))
