"""What publishing an entry does to the tables of the state: its effects, all in one transaction."""

from __future__ import annotations

from typing import Any

from vault_kg.state import conflicts, guards, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry
from vault_kg.state.merges import Contribution, Declined, Merge
from vault_kg.state.revisions import Revision


def apply(database: Database, entry: Entry, at: str) -> None:
    """Carry out the effects of an entry and give it its receipt.

    Args:
        database: the state, in a write transaction.
        entry: an accepted entry whose files are installed.
        at: the time of its publication.
    """
    effects = entry.effects
    made = [Revision(**{**values, "seq": entry.seq, "at": at}) for values in effects["revisions"]]
    revisions.add(database, made)
    for guard in effects["guards"]:
        guards.add(database, Guard(**guard))
    for record_id, kind in effects.get("lifts", ()):
        guards.lift(database, record_id, kind)
    gained = [Contribution(**c) for c in effects["contributions"]]
    for merge in effects["merges"]:
        own = [gain for gain in gained if gain.of in (None, merge["absorbed"])]
        merges.add(database, Merge(**{**merge, "seq": entry.seq}), own)
    if effects["undo_merge"]:
        merges.undo(database, effects["undo_merge"], entry.seq)
    for pair in effects.get("declines", ()):
        merges.decline(database, Declined(**pair))
    for record_id, path in effects["moves"]:
        revisions.move(database, record_id, path)
    receipt = {**effects["receipt"], "publishedAt": at, "actor": entry.actor}
    for conflict_id in effects["resolves"]:
        _resolve(database, conflict_id, entry, receipt)
    rows.set_receipt(database, entry.seq, rows.PUBLISHED, receipt, at)


def _resolve(database: Database, conflict_id: str, entry: Entry, receipt: dict[str, Any]) -> None:
    """Close a conflict; what was chosen answers the request that met it from now on."""
    conflict = conflicts.get(database, conflict_id)
    if conflict is None:
        return
    choice, at = str(receipt.get("choice", "")), str(receipt["publishedAt"])
    conflicts.resolve(database, conflict_id, choice, entry.reason or "", entry.actor, at)
    met = rows.get(database, conflict.seq)
    assert met is not None, "a journal row never goes away"
    answer = {**receipt, "actor": met.actor}
    if not entry.effects["revisions"]:
        answer["changed"] = False
    rows.set_receipt(database, conflict.seq, rows.RESOLVED, answer, at)
