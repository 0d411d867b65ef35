"""The head of Git whose commits are all known to the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.state import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_kg.state.database import Database
    from vault_kg.store.git import History

_SEEN = "seen_commit"


def get(database: Database) -> str | None:
    """Return the head that was seen; None where no head ever was."""
    return settings.get(database, _SEEN)


def put(database: Database, head: str) -> None:
    """Note that the state knows all that a head tells; joins the caller's transaction."""
    settings.put(database, _SEEN, head)


def following(
    database: Database, history: History, before: str | None, commits: Sequence[str]
) -> str | None:
    """Return the head that is seen once commits of ours are known, made on top of the one seen.

    None where that was not the head that was seen, or another commit came between: the next look
    finds out.

    Args:
        database: the state.
        history: the vault's Git history.
        before: the head before the commits were made; None where there was none.
        commits: what holds the entries, oldest first: what was made, or the head as it was.
    """
    made = [commit for commit in commits if commit != before]  # else the head held it already
    if not made or get(database) != before:
        return None
    first = history.describe(made[0])
    on_top = first is not None and first.parents == ((before,) if before is not None else ())
    return made[-1] if on_top else None
