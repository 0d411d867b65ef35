"""Edges between the current nodes that a caller sees; a merged page is its survivor."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from vault_kg.index import catalog, joints, successors
from vault_kg.index.catalog import Row
from vault_kg.operations import sight
from vault_kg.operations.caller import Caller
from vault_kg.operations.summaries import visible
from vault_kg.operations.workspace import Workspace
from vault_kg.state import guards, merges


class Joint(NamedTuple):
    """A relationship, and the nodes that it joins now."""

    row: Row
    src: str
    dst: str


def joined(
    ws: Workspace,
    caller: Caller,
    board_id: str | None,
    *,
    rel: str | None = None,
    nodes: Collection[str] | None = None,
) -> list[Joint]:
    """Return current relationships whose two ends are current nodes, oldest first.

    Args:
        ws: the opened vault.
        caller: who asks.
        board_id: only of this board; None for all that the caller sees.
        rel: only of this type.
        nodes: only those that lead to or from one of these nodes.
    """
    partitions, now = visible(caller, board_id), ws.now()
    named = None
    if nodes is not None:
        named = successors.with_absorbed(nodes, successors.absorbed_by(ws.database))
    if rel is not None:
        rows = joints.of_type(ws.database, rel, now, partitions, named)
    else:
        rows = joints.of_pages(ws.database, named or (), now, partitions)
    chains = merges.targets(ws.database)
    found = []
    for row in rows:
        src, dst = (merges.resolve(chains, end or "") or "" for end in (row.from_id, row.to_id))
        found.append(Joint(row, src, dst))
    there = {row.id for row in pages(ws, caller, {end for j in found for end in (j.src, j.dst)})}
    return [joint for joint in found if {joint.src, joint.dst} <= there]


def pages(ws: Workspace, caller: Caller, wanted: Iterable[str]) -> list[Row]:
    """Return the current pages among some ids that exist for the caller, in the order of the ids."""
    now, chains = ws.now(), merges.targets(ws.database)
    found: dict[str, Row] = {}
    for name in wanted:
        final = merges.resolve(chains, name) or name
        for row in catalog.by_id(ws.database, final):
            if row.kind == "page" and row.current(now) and caller.sees(row.partition):
                found.setdefault(row.id, row)
    return list(found.values())


def end(ws: Workspace, caller: Caller, name: str) -> str | None:
    """Return the current node that an edge leads to where it names one; None where it is gone."""
    rows = catalog.by_id(ws.database, _survivor(ws, name))
    there = (
        r for r in rows if r.kind == "page" and r.current(ws.now()) and caller.sees(r.partition)
    )
    return next((row.id for row in there), None)


def fate(ws: Workspace, caller: Caller, name: str) -> str:
    """Say what became of a node that no edge can lead to any more."""
    final = _survivor(ws, name)
    if sight.is_hidden(ws, caller, final):
        return f"{name} is not there any more"
    guarded = guards.of(ws.database, final)
    if (withdrawn := guarded.get(guards.WITHDRAWN)) is not None:
        return f"{final} was withdrawn ({withdrawn.at[:10]}: {withdrawn.reason})"
    new = successors.current(ws.database, final) if guards.SUPERSEDED in guarded else None
    if new is not None and not sight.is_hidden(ws, caller, new):
        return f"{final} is superseded by {new}, to which the edge could lead instead"
    return f"{final} does not stand any more"


def _survivor(ws: Workspace, name: str) -> str:
    return (merges.way(ws.database, name) or [name])[-1]
