"""A vault that a read made: an index of a folder, of which nobody asked that its history be kept.

Edits get their revision there as in every vault, and wait. Nothing goes to Git, and no repository
is made, until somebody asks: by `vault-kg init`, or by the first write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vault_kg.errors import Busy, WriteFailed
from vault_kg.state import collapsing, journal, settings
from vault_kg.state.database import Database

WAITS = "the folder is only read so far; the first write, or `vault-kg init`, begins its history"
"""Why nothing is committed."""

_MADE_BY = "made_by_a_read"


def mark(database: Database) -> None:
    """Note that a read made the vault of this state."""
    settings.put(database, _MADE_BY, "1")


def is_unasked(database: Database) -> bool:
    """Say whether a read made the vault, and nobody has written through it."""
    return settings.get(database, _MADE_BY) is not None and not journal.is_asked(database)


@contextmanager
def beginning(database: Database) -> Iterator[bool]:
    """Let the history begin once the block is done; the write lane is held.

    It begins with what stands: what files held when they were only read was nobody's to keep. Yields
    whether it had not begun.
    """
    waits = settings.get(database, _MADE_BY) is not None
    if waits and collapsing.is_needed(database):
        collapsing.collapse(database)
    yield waits
    if waits:
        try:
            settings.remove(database, _MADE_BY)
        except (WriteFailed, Busy):
            if not journal.is_asked(database):  # else what was written says as much
                raise
