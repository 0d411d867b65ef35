"""What open sessions hold, kept between the steps that add to them.

Without it each candidate that is added would read all those before it. What is kept is of one
version of a session; a step of another process gives it another version, and it is read anew.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from vault_kg.consolidation.candidates import Contents, contents
from vault_kg.consolidation.settings import rules
from vault_kg.errors import InvalidArgument, SessionTooLarge
from vault_kg.operations.workspace import Workspace
from vault_kg.state import sessions as rows
from vault_kg.state.sessions import NODE, Candidate, Session

MAX_CANDIDATES = 1_000
"""Of each kind in one session."""

_SESSIONS = 4


@dataclass(frozen=True)
class Held:
    """What one version of a session holds."""

    version: int
    contents: Contents
    characters: int
    """What its candidates take as they are stored."""


_kept: WeakKeyDictionary[Workspace, dict[str, Held]] = WeakKeyDictionary()
_guard = threading.Lock()


def with_room(ws: Workspace, session: Session, kind: str) -> Held:
    """Return what a session holds, unless it holds as many candidates of a kind as it may.

    Args:
        ws: the opened vault; its database is in a write transaction.
        session: as it was read in that transaction.
        kind: of the candidate that is to be added.

    Raises:
        InvalidArgument: it has 1,000 of that kind.
    """
    with _guard:
        held = _kept.get(ws, {}).get(session.id)
    if held is None or held.version != session.version:
        stored = rows.candidates(ws.database, session.id)
        held = Held(session.version, contents(stored), rows.characters(ws.database, session.id))
    found = held.contents
    if len(found.nodes if kind == NODE else found.edges) >= MAX_CANDIDATES:
        raise InvalidArgument(
            f"session {session.id} has {MAX_CANDIDATES:,} {kind} candidates; commit it, and go on in "
            "another one",
            session_id=session.id,
        )
    return held


def add(ws: Workspace, session: Session, held: Held, made: Candidate) -> Held:
    """Write a candidate behind those that a session holds; returns what it holds then.

    Args:
        ws: the opened vault; its database is in the write transaction of `with_room`.
        session: the session, not touched yet.
        held: what it holds.
        made: the candidate.

    Raises:
        SessionTooLarge: all its candidates together would be larger than they may.
    """
    stored, size = rows.add_candidate(ws.database, session.id, made)
    limit = rules(ws).session_characters
    if held.characters + size > limit:
        raise SessionTooLarge(
            f"session {session.id} holds {held.characters:,} characters, and {made.id} would add "
            f"{size:,}; at most {limit:,} are allowed (session_characters in [consolidation] of "
            ".vault-kg/vault.toml). Commit it, and go on in another one, or say it shorter",
            session_id=session.id,
            characters=held.characters + size,
            limit=limit,
        )
    more = contents([stored])
    grown = replace(
        held.contents,
        nodes=(*held.contents.nodes, *more.nodes),
        edges=(*held.contents.edges, *more.edges),
    )
    return Held(session.version + 1, grown, held.characters + size)


def keep(ws: Workspace, session_id: str, held: Held) -> None:
    """Keep what a session holds, once the transaction that made it so is committed."""
    with _guard:
        of = _kept.setdefault(ws, {})
        of.pop(session_id, None)
        of[session_id] = held
        while len(of) > _SESSIONS:
            del of[next(iter(of))]
