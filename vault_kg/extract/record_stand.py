"""What the graph's records follow from, whether they still do, and what changed where they do not."""

from __future__ import annotations

import json
from typing import NamedTuple

from vault_kg.extract import record_rules
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.index import catalog, eligibility, row_log, successors
from vault_kg.operations.workspace import Workspace
from vault_kg.state import rebuilds
from vault_kg.state.database import Database

_SETTING = "records_at"


class Stand(NamedTuple):
    """What the records and their edges follow from, time apart."""

    rules: str
    """Our rules and the vault's vocabularies: another, and all edges are made again."""
    changes: str
    """A place in `index.row_log`."""
    blocked: list[str]
    """Records that no read shows, since a conflict waits for a person."""


class Followed(NamedTuple):
    """What the graph's records were made from, and the times for which they are right."""

    stand: Stand
    since: str
    until: str


def of(ws: Workspace) -> Stand:
    """Return how the records stand now."""
    rules = f"{record_rules.VERSION}/{ws.ontologies.fingerprint()}"
    return Stand(rules, row_log.mark(ws.database).as_text(), catalog.blocked(ws.database))


def followed(graph: GraphBackend) -> Followed | None:
    """Return what the graph's records were made from; None where there are none."""
    kept = graph.setting(_SETTING)
    if not kept:
        return None
    stand, since, until = json.loads(kept)
    return Followed(Stand(*stand), since, until)


def keep(graph: GraphBackend, made_from: Followed) -> None:
    """Remember what the graph's records were made from."""
    graph.put_setting(_SETTING, json.dumps(made_from))


def is_fresh(ws: Workspace, graph: GraphBackend) -> bool:
    """Say whether the graph has the records as default reads see them now."""
    known = followed(graph)
    return known is not None and known.stand == of(ws) and known.since <= ws.now() < known.until


def changed(db: Database, known: Followed | None, stand: Stand, now: str) -> set[str] | None:
    """Return the ids of the records and notes that changed, or None where it may be all of them.

    Args:
        db: the state.
        known: what the graph's records were made from.
        stand: how the records stand.
        now: the time.
    """
    if known is None or known.stand.rules != stand.rules or now < known.since:
        return None
    log = row_log.since(db, row_log.Mark.of_text(known.stand.changes))
    if log is None:
        return None
    blocked = set(known.stand.blocked) ^ set(stand.blocked)
    return log.ids | blocked | eligibility.ended(db, known.since, now)


def meaning(db: Database, ids: set[str]) -> list[str]:
    """Return ids and all that mean one of these, since they were merged into it or corrected by it."""
    stood_in = successors.absorbed_by(db)
    for record, successor in rebuilds.superseded(db):
        stood_in.setdefault(successor, []).append(record)
    return successors.with_absorbed(ids, stood_in)
