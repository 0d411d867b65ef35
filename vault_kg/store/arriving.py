"""What arrives by Git: commits of another clone, or of after a copy of the state was made.

A pull brings files, and commits whose trailers say what was withdrawn, corrected and merged. Those
that the journal does not know are played into the state before their files are looked at, as
`recovery` plays a whole history. A guard only ever hides, so that one too many loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.state.database import Database
from vault_kg.store import outbox, playing, seen_head

if TYPE_CHECKING:
    from vault_kg.store.git import History, LoggedCommit

_MERGED = "MERGE_HEAD"
_OURS_AT_MOST = 300
"""Commits in a row that are looked at one by one: more than one round of the outbox makes."""


@dataclass(frozen=True)
class Arrived:
    """What a head tells that is not known yet: possibly nothing but the head itself."""

    head: str
    commits: tuple[LoggedCommit, ...] = ()


def look(database: Database, history: History) -> Arrived | None:
    """Return what the head tells that the state does not know; None where it stands as it was seen.

    While a merge waits for a person, what is being merged tells, too: its files are there already.
    Reads Git, and so belongs before the write lane.

    Raises:
        GitUnavailable: Git cannot be used here.
    """
    head, seen = history.resolve("HEAD"), seen_head.get(database)
    if head is None:
        return None
    merged = _unknown(database, history, _MERGED, head) if history.resolve(_MERGED) else ()
    if head == seen:
        return Arrived(head, merged) if merged else None
    if _is_all_ours(database, history, head, seen):
        return Arrived(head, merged)
    after = seen if seen is not None and history.resolve(seen) else None
    return Arrived(head, (*_unknown(database, history, "HEAD", after), *merged))


def _unknown(
    database: Database, history: History, of: str, after: str | None
) -> tuple[LoggedCommit, ...]:
    """Return the commits of vaults that a head tells of, and the journal does not know."""
    told = history.log_with_trailers(after, saying=outbox.SEQ, of=of)
    news = {commit.id for commit in told if not playing.is_known_whole(database, commit)}
    if not news:
        return ()
    found = history.log_with_trailers(after, changes=True, saying=outbox.SEQ, of=of)
    return tuple(commit for commit in found if commit.id in news)


def play(database: Database, history: History, arrived: Arrived) -> set[str]:
    """Play commits into the state, oldest first; the caller holds the lane and a transaction.

    Returns:
        The ids of records of which the state may say something else now.
    """
    player = playing.Player(database, history)
    touched: set[str] = set()
    for commit in arrived.commits:
        for one in playing.told(commit):
            touched |= player.play(one)
    seen_head.put(database, arrived.head)
    return touched


def all_seen(database: Database, history: History) -> None:
    """Note that the state knows all that the head tells."""
    head = history.resolve("HEAD")
    if head is not None:
        seen_head.put(database, head)


def _is_all_ours(database: Database, history: History, head: str, seen: str | None) -> bool:
    """Say whether only commits that we made ourselves lead from what was seen to the head."""
    oid: str | None = head
    for _ in range(_OURS_AT_MOST):
        if oid == seen:
            return True
        commit = history.describe(oid) if oid is not None else None
        if (
            commit is None
            or len(commit.parents) > 1
            or not playing.is_known_whole(database, commit)
        ):
            return False
        oid = commit.parents[0] if commit.parents else None
    return False
