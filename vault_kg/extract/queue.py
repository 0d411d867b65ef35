"""Files that an editor or Git says have changed: noted at once, indexed when somebody has time.

A hook only appends a line to a file, which takes no lock and opens no database. Whoever indexes next
takes the file aside, and deletes it when all it named is indexed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

QUEUE = "graph.queue"
TAKEN = "graph.queue.taken"


def push(private: Path, paths: Iterable[Path]) -> None:
    """Note that files or folders have changed.

    Args:
        private: the vault's private folder.
        paths: absolute, or from the working folder.
    """
    lines = "".join(json.dumps(os.path.abspath(path)) + "\n" for path in paths)  # noqa: PTH100
    written = False
    while not written:
        descriptor = os.open(private / QUEUE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, lines.encode())
            written = _is_at(private / QUEUE, descriptor)  # else it was taken before we wrote
        finally:
            os.close(descriptor)


def is_empty(private: Path) -> bool:
    """Say whether nothing waits."""
    return not ((private / QUEUE).exists() or (private / TAKEN).exists())


def take(private: Path) -> list[Path]:
    """Return what waits, each once, or what was taken before and not done; empty if nothing is.

    Called by the one that holds the graph's lock, who calls again after `done`.
    """
    if not (private / TAKEN).exists():
        try:
            (private / QUEUE).replace(private / TAKEN)
        except FileNotFoundError:
            return []
    return _read(private / TAKEN)


def done(private: Path) -> None:
    """Forget what was taken: it is indexed."""
    (private / TAKEN).unlink(missing_ok=True)


def _is_at(file: Path, descriptor: int) -> bool:
    try:
        there = file.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def _read(file: Path) -> list[Path]:
    """Read the lines of a queue; one that was cut off is left out."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            path = json.loads(line)
        except ValueError:
            continue
        if isinstance(path, str) and "\0" not in path:
            found.append(Path(path))
    return list(dict.fromkeys(found))
