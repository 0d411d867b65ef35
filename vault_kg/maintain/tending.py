"""Tending a level: from state to a layout, through the rules of the archive, and back to state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from vault_kg.index import counters, nodes
from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain import archive, moments, naming, render, scoring
from vault_kg.maintain.layout import LEVEL_BUDGET
from vault_kg.maintain.render import Picture
from vault_kg.maintain.scoring import Facts
from vault_kg.operations.workspace import Workspace
from vault_kg.state import tiers, usage
from vault_kg.state.tiers import ACTIVE, ARCHIVED, ORPHANED

PACE = timedelta(seconds=30)
"""A level within its budget is tended no more often (core/compactor.py)."""


def picture(ws: Workspace, partition: str, sees: Callable[[str], bool]) -> Picture:
    """Return what a level's text is made of: what is in view, and the ids of what is archived.

    Args:
        ws: the opened vault, its counters settled.
        partition: the level.
        sees: whether a partition exists for the caller; edges into others are left out.
    """
    db = ws.database
    active = nodes.in_tier(db, partition, ACTIVE)
    archived = nodes.in_tier(db, partition, ARCHIVED)
    edges = nodes.edges_among(db, partition, {node.id for node in active})
    ends = {node.id: node for node in active} | _foreign(ws, partition, edges)
    called = {
        one: naming.called(ws, node, partition)
        for one, node in ends.items()
        if node.tier == ACTIVE and sees(node.partition)
    }
    return Picture(partition, [*active, *reversed(archived)], edges, called)


def tend(ws: Workspace, partition: str) -> dict[str, str]:
    """Bring a level into its budget and its best nodes into view, where that is due.

    Returns:
        The new tier of each node that was moved.
    """
    level = tiers.level(ws.database, partition)
    if level.round == level.tended:
        return {}
    if level.tended_at is not None and level.tended_at > moments.before(ws, PACE):
        return {}
    moved = _tended(ws, partition, level.round)
    with ws.database.write():
        put(ws, partition, moved, level.round)
        tiers.tended(ws.database, partition, level.round, ws.now())
    return moved


def put(ws: Workspace, partition: str, moved: Mapping[str, str], round_: int) -> None:
    """Give nodes their tier, in state and in the counters."""
    if moved:
        tiers.put(ws.database, partition, moved, round_, ws.now())
        counters.set_tiers(ws.database, moved.items())


def promote(ws: Workspace, used: Iterable[Node]) -> dict[str, str]:
    """Bring nodes into view that were used, and neighbours of theirs back among the archived.

    What is in view already stays there for some rounds. A node that takes more than its share of the
    budget alone is only archived, and so are those for which the share of one call does not suffice.

    Returns:
        The tier of each node that was used or brought back.
    """
    room = archive.FRESH * LEVEL_BUDGET
    moved: dict[str, str] = {}
    partitions: dict[str, str] = {}
    for node in used:
        partitions[node.id] = node.partition
        if node.tier != ACTIVE:
            room -= len(render.node_line(node.name, node.gist))
        moved[node.id] = ACTIVE if node.tier == ACTIVE or room >= 0 else ARCHIVED
    for other in _orphaned_beside(ws, list(moved)):
        moved.setdefault(other.id, ARCHIVED)
        partitions.setdefault(other.id, other.partition)
    if moved:
        _begin_round_with(ws, moved, partitions)
    return moved


def rescue(ws: Workspace, node: Node) -> None:
    """Bring a node that is found by search only back among the archived, where its score decides."""
    if node.tier == ORPHANED:
        _begin_round_with(ws, {node.id: ARCHIVED}, {node.id: node.partition})


def facts_of(ws: Workspace, every: Iterable[Node]) -> dict[str, Facts]:
    """Return when nodes were last used, and their endorsements."""
    known = {node.id: node for node in every}
    uses = usage.uses(ws.database, known)
    credits = usage.credits_of(ws.database, known)
    return {
        one: Facts(_last_used(node, uses.get(one, usage.Use()), credits.get(one, [])),
                   credits.get(one, []))
        for one, node in known.items()
    }  # fmt: skip


def written_at(node: Node, use: usage.Use) -> str:
    """Return when a node was last written, maintenance apart."""
    quiet = use.written_at is not None and use.written_revision == node.revision
    return str(use.written_at) if quiet else node.updated_at


def _tended(ws: Workspace, partition: str, round_: int) -> dict[str, str]:
    """Tend the nodes in view and the archived ones; those found by search only have no place to lose."""
    db = ws.database
    every = [*nodes.in_tier(db, partition, ACTIVE), *nodes.in_tier(db, partition, ARCHIVED)]
    edges = nodes.edges_among(db, partition, {node.id for node in every})
    foreign = _foreign(ws, partition, edges)
    called = {node.id: node.name for node in every}
    called |= {one: naming.called(ws, node, partition) for one, node in foreign.items()}
    level = render.layout(every, edges, called, {one: node.tier for one, node in foreign.items()})
    facts, now = facts_of(ws, every), ws.now()
    joined = [(edge.source, edge.target) for edge in edges]

    def score(standing: Mapping[str, str]) -> Mapping[str, float]:
        return scoring.scores(facts, standing, joined, now)

    return archive.tend(level, score, tiers.moved_since(db, partition, round_ - archive.REST + 1))


def _foreign(ws: Workspace, partition: str, edges: Iterable[Edge]) -> dict[str, Node]:
    """Return the nodes of other levels at the ends of a level's edges."""
    wanted = {end for edge in edges for end in (edge.source, edge.target)}
    found = nodes.of_ids(ws.database, wanted)
    return {one: node for one, node in found.items() if node.partition != partition}


def _orphaned_beside(ws: Workspace, came: Iterable[str]) -> list[Node]:
    beside = nodes.edges_at(ws.database, came)
    wanted = {end for edge in beside for end in (edge.source, edge.target)}
    return [n for n in nodes.of_ids(ws.database, wanted).values() if n.tier == ORPHANED]


def _begin_round_with(
    ws: Workspace, moved: Mapping[str, str], partitions: Mapping[str, str]
) -> None:
    with ws.database.write():
        every = sorted(set(partitions.values()))
        tiers.begin_round(ws.database, every)
        for partition in every:
            own = {one: tier for one, tier in moved.items() if partitions[one] == partition}
            put(ws, partition, own, tiers.level(ws.database, partition).round)


def _last_used(node: Node, use: usage.Use, credits: Iterable[tuple[str, int]]) -> str:
    """Return when a node was last written, read or endorsed."""
    given = max((at for at, _ in credits), default="")
    return max(written_at(node, use), use.read_at or "", given)
