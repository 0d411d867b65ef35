"""The steps of something long: each tells how far it is, and can be the last one."""

from __future__ import annotations

from vault_kg.errors import Cancelled
from vault_kg.operations.caller import Caller

NOTHING_CHANGED = "nothing was changed"


def step(caller: Caller, done: int, total: int, what: str, stands: str = NOTHING_CHANGED) -> None:
    """Tell how far something long is, between two of its steps.

    Args:
        caller: who is told.
        done: so many steps are done.
        total: of so many.
        what: what is done in them.
        stands: what is to be said of the vault where the caller has taken it back.

    Raises:
        Cancelled: the caller has taken it back.
    """
    if caller.cancelled():
        raise cancelled(stands)
    caller.report(done, total, what)


def cancelled(stands: str = NOTHING_CHANGED) -> Cancelled:
    """Return the error of something that the caller took back, which says how the vault stands."""
    return Cancelled(f"it was taken back by the caller; {stands}")
