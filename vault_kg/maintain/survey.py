"""What the debt of a level is worked out from, and the nodes behind each factor.

The nodes in view are few, whatever the level's size; of all others only counters are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal

from vault_kg.index import nodes
from vault_kg.index.nodes import Node, Totals
from vault_kg.maintain import debt, levels, lifting, moments, touches
from vault_kg.maintain.debt import Counts, Smeared
from vault_kg.operations.workspace import Workspace
from vault_kg.records import slugs
from vault_kg.state import progress, seen, tiers, usage
from vault_kg.state.tiers import ACTIVE

STAMP_TASK = "maintain"
"""The task whose stamps reset staleness."""

CHECK_EVERY = timedelta(minutes=10)
"""Touches are looked for no more often."""

Factor = Literal["oversized", "long_ids", "unconnected", "dangling", "lift", "smeared"]
FACTORS: tuple[Factor, ...] = (
    "oversized", "long_ids", "unconnected", "dangling", "lift", "smeared",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A node behind a factor, and what of it is to be looked at."""

    node: Node
    what: str


@dataclass(frozen=True)
class Behind:
    """The first nodes behind a factor, and how many there are."""

    targets: Sequence[Target]
    total: int


NOTHING = Behind((), 0)


@dataclass(frozen=True)
class Survey:
    """How a level is."""

    partition: str
    totals: Totals
    counts: Counts
    active: Sequence[Node]

    @property
    def health_line(self) -> str:
        """Return the HEALTH line."""
        return debt.health(self.totals.nodes, self.totals.edges, self.totals.orphans)

    @property
    def debt_line(self) -> str:
        """Return the DEBT line."""
        return debt.line(self.counts)


def survey(ws: Workspace, partition: str, active: Sequence[Node] | None = None) -> Survey:
    """Return how a level is.

    Args:
        ws: the opened vault, its counters settled.
        partition: the level.
        active: its nodes in view, where they are at hand.
    """
    db = ws.database
    if active is None:
        active = nodes.in_tier(db, partition, ACTIVE)
    size, smeared = totals(ws, partition)
    shown = {node.id for node in active}
    lifts = {one: cluster for one, cluster in tiers.lifts(db, partition).items() if one in shown}
    dangling = [node.id for node, _ in _dangling(ws, partition, active)]
    last = progress.last_at(db, partition, STAMP_TASK)
    counts = Counts(
        days_untended=None if last is None else moments.days_between(last, ws.now()),
        days_active=_days_active(ws, partition),
        active=len(active),
        oversized=sum(len(node.gist) > debt.GIST_WANTED for node in active),
        long_ids=sum(node.long_slug and node.id not in lifts for node in active),
        unconnected=sum(not node.degree for node in active),
        dangling_touches=len(dangling),
        dangling_nodes=len(set(dangling)),
        lift_clusters=len(set(lifts.values())),
        lift_members=len(lifts),
        smeared=smeared,
    )
    return Survey(partition, size, counts, active)


def first_behind(ws: Workspace, found: Survey, factor: Factor, limit: int) -> Behind:
    """Return the first nodes behind a factor of a level's debt, and how many there are."""
    every = behind(ws, found, factor, limit)
    total = len(every)
    if factor == "smeared":
        total = sum(term.nodes - 1 for term in found.counts.smeared)
    return Behind(every[:limit], total)


def behind(ws: Workspace, found: Survey, factor: Factor, smearing: int = 1_000) -> list[Target]:
    """Return the nodes behind a factor of a level's debt, those first that weigh most.

    Args:
        ws: the opened vault.
        found: the level's survey.
        factor: one of `FACTORS`.
        smearing: at most so many nodes of a smeared term, which may stand in any number of them.
    """
    if factor == "smeared":
        return _smearing(ws, found, smearing)
    db, shown = ws.database, {node.id: node for node in found.active}
    lifts = tiers.lifts(db, found.partition)
    if factor == "oversized":
        long = (n for n in found.active if len(n.gist) > debt.GIST_WANTED)
        ordered = sorted(long, key=lambda node: (-len(node.gist), node.name))
        return [Target(node, f"gist of {len(node.gist)} characters") for node in ordered]
    if factor == "long_ids":
        ordered = sorted(found.active, key=lambda n: (-len(slugs.words(n.slug)), n.name))
        return [
            Target(node, "dated" if node.dated else f"{len(slugs.words(node.slug))} words")
            for node in ordered
            if node.long_slug and node.id not in lifts
        ]
    if factor == "unconnected":
        alone = sorted((n for n in found.active if not n.degree), key=lambda n: n.name)
        return [Target(node, "in no edge") for node in alone]
    if factor == "dangling":
        return [Target(*lost) for lost in _dangling(ws, found.partition, found.active)]
    members = sorted((cluster, one) for one, cluster in lifts.items() if one in shown)
    return [Target(shown[one], f"cluster {cluster}") for cluster, one in members]


def _smearing(ws: Workspace, found: Survey, limit: int) -> list[Target]:
    """Return the nodes, in view or not, that describe a smeared term anew."""
    return [
        Target(node, f"{term.term}, owned by {term.hub}")
        for term in found.counts.smeared
        for node in nodes.with_term(ws.database, found.partition, term.term, limit + 1)
        if node.name != term.hub
    ]


def totals(ws: Workspace, partition: str) -> tuple[Totals, list[Smeared]]:
    """Return how large a level is and what is smeared in it; worked out once until it changes.

    Smeared is a term that many nodes describe anew although one node's undated id has it.
    """
    known = nodes.memo(ws.database, partition)
    if known is None:
        size = nodes.totals(ws.database, partition)
        terms = [asdict(one) for one in _smeared(ws, partition, size.nodes)]
        known = {"totals": asdict(size), "smeared": terms}
        nodes.remember(ws.database, partition, known)
    return Totals(**known["totals"]), [Smeared(**one) for one in known["smeared"]]


def _smeared(ws: Workspace, partition: str, total: int) -> list[Smeared]:
    own = set(slugs.words(partition.removeprefix(levels.PROJECT_PREFIX)))
    found: list[Smeared] = []
    for term, number in nodes.common_terms(
        ws.database, partition, math.ceil(debt.least_smeared(total))
    ):
        hub = None if term in own else nodes.owner(ws.database, partition, term)
        if hub is not None:
            found.append(Smeared(term, number, hub.name))
        if len(found) == debt.MAX_SMEARED:
            break
    return found


def check_touches(ws: Workspace, partition: str, active: Sequence[Node]) -> None:
    """Look which touches lead nowhere and which episodes share a lesson, if not done lately."""
    checked = tiers.level(ws.database, partition).checked_at
    if checked is not None and checked > moments.before(ws, CHECK_EVERY):
        return
    root = seen.root_of(ws.database, partition)
    lost = [
        (node.id, touch)
        for node in active
        for touch in node.touches
        if touches.is_dangling(touch, root)
    ]
    tiers.put_dangling(ws.database, partition, lost, ws.now())
    shown = {node.id for node in active}
    beside = nodes.edges_among(ws.database, partition, shown)
    tiers.put_lifts(ws.database, partition, lifting.clusters(active, beside))


def check_touches_of(ws: Workspace, node: Node) -> None:
    """Look which touches of one node lead nowhere."""
    root = seen.root_of(ws.database, node.partition)
    lost = [touch for touch in node.touches if touches.is_dangling(touch, root)]
    tiers.put_dangling_of(ws.database, node.partition, node.id, lost)


def _dangling(ws: Workspace, partition: str, active: Sequence[Node]) -> list[tuple[Node, str]]:
    """Return the touches of nodes in view that were found to lead nowhere, and still stand there."""
    shown = {node.id: node for node in active}
    return [
        (shown[one], touch)
        for one, touch in tiers.dangling(ws.database, partition)
        if one in shown and touch in shown[one].touches
    ]


def _days_active(ws: Workspace, partition: str) -> int:
    first = date.fromisoformat(ws.now()[:10]) - timedelta(days=debt.WEEK - 1)
    return usage.days_since(ws.database, partition, first.isoformat())
