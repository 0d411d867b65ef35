"""Carrying a change of a session out: one request of the journal, with an id made of the session's."""

from __future__ import annotations

from collections.abc import Callable

from vault_kg.maintain import foreign, sessions
from vault_kg.maintain.request import Change
from vault_kg.maintain.sessions import Session
from vault_kg.operations.base import Receipt
from vault_kg.store.plan import Plan


class _Nothing(Exception):
    """What was asked for stands already."""


def carry_out(
    session: Session, operation: str, change: Change, plan: Callable[[str], Plan | None]
) -> Receipt | None:
    """Carry out a change; None where what it asks for stands already.

    Args:
        session: who asks.
        operation: the tool's name.
        change: what is asked, as the journal keeps it.
        plan: says what will be done, under the lane, for a request id; None where that is nothing.
    """
    asked = change.model_copy(update={"request_id": session.request_id()})

    def planned() -> Plan:
        sessions.settle(session.ws)
        made = plan(asked.request_id)
        if made is None:
            raise _Nothing
        return made

    try:
        receipt = session.ws.write(session.caller, operation, asked, planned)
    except _Nothing:
        receipt = None
    sessions.settle(session.ws)
    return receipt


def said(session: Session, *parts: str) -> str:
    """Return the text of an answer: the session's notice, what there is to say, and news of others."""
    return "\n".join(part for part in (session.notice, *parts, foreign.news(session)) if part)
