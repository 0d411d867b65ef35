"""What the debt of a level is worked out from, and the nodes behind each factor.

Of a level only counters are read, and the nodes that are named: no level is so large that it matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal

from vault_kg.index import nodes, tiered
from vault_kg.index.nodes import Node, Totals
from vault_kg.maintain import debt, levels, lifting, moments, touches
from vault_kg.maintain.debt import Counts, Smeared
from vault_kg.operations.workspace import Workspace
from vault_kg.records import slugs
from vault_kg.state import kg_sessions, progress, tiers, usage
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

    @property
    def health_line(self) -> str:
        """Return the HEALTH line."""
        return debt.health(self.totals.nodes, self.totals.edges, self.totals.orphans)

    @property
    def debt_line(self) -> str:
        """Return the DEBT line."""
        return debt.line(self.counts)


def survey(ws: Workspace, partition: str) -> Survey:
    """Return how a level is; its counters are settled."""
    db = ws.database
    size, smeared = totals(ws, partition)
    lifts = _lifts(ws, partition)
    dangling = [node.id for node, _ in _dangling(ws, partition)]
    aside = {*lifts, *tiered.sources_of(db, partition, ACTIVE, lifting.LIFTED)}
    tally = tiered.tally(db, partition, ACTIVE, debt.GIST_WANTED, aside)
    last = progress.last_at(db, partition, STAMP_TASK)
    counts = Counts(
        days_untended=None if last is None else moments.days_between(last, ws.now()),
        days_active=_days_active(ws, partition),
        active=tally.pages,
        oversized=tally.oversized,
        long_ids=tally.long_slugs,
        unconnected=tally.unconnected,
        dangling_touches=len(dangling),
        dangling_nodes=len(set(dangling)),
        lift_clusters=len({cluster for _, cluster in lifts.values()}),
        lift_members=len(lifts),
        smeared=smeared,
    )
    return Survey(partition, size, counts)


def first_behind(ws: Workspace, found: Survey, factor: Factor, limit: int) -> Behind:
    """Return the first nodes behind a factor of a level's debt, and how many there are."""
    counts = found.counts
    totals = {
        "oversized": counts.oversized, "long_ids": counts.long_ids,
        "unconnected": counts.unconnected, "dangling": counts.dangling_touches,
        "lift": counts.lift_members, "smeared": sum(term.nodes - 1 for term in counts.smeared),
    }  # fmt: skip
    named = behind(ws, found, factor, limit)[:limit] if totals[factor] else []
    return Behind(named, totals[factor])


def behind(ws: Workspace, found: Survey, factor: Factor, limit: int = 1_000) -> list[Target]:
    """Return the nodes behind a factor of a level's debt, those first that weigh most.

    Args:
        ws: the opened vault.
        found: the level's survey.
        factor: one of `FACTORS`.
        limit: so many are wanted: of the factors that any number of nodes can have, no more are
            read.
    """
    db, partition = ws.database, found.partition
    if factor == "smeared":
        return _smearing(ws, found, limit)
    if factor == "oversized":
        long = tiered.oversized(db, partition, ACTIVE, debt.GIST_WANTED, limit)
        return [Target(node, f"gist of {len(node.gist)} characters") for node in long]
    if factor == "long_ids":
        return _long_ids(ws, partition)
    if factor == "unconnected":
        alone = tiered.unconnected(db, partition, ACTIVE, limit)
        return [Target(node, "in no edge") for node in alone]
    if factor == "dangling":
        return [Target(*lost) for lost in _dangling(ws, partition)]
    members = sorted(_lifts(ws, partition).values(), key=lambda one: (one[1], one[0].id))
    return [Target(node, f"cluster {cluster}") for node, cluster in members]


def _long_ids(ws: Workspace, partition: str) -> list[Target]:
    """Return the nodes with a long or dated id, but for episodes whose lesson is or will be lifted."""
    db = ws.database
    aside = {*tiers.lifts(db, partition), *tiered.sources_of(db, partition, ACTIVE, lifting.LIFTED)}
    every = tiered.long_slugs(db, partition, ACTIVE)
    counted = [(node, len(slugs.words(node.slug))) for node in every if node.id not in aside]
    counted.sort(key=lambda one: -one[1])
    return [Target(node, "dated" if node.dated else f"{words} words") for node, words in counted]


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


def check_touches(ws: Workspace, partition: str) -> None:
    """Look which touches lead nowhere and which episodes share a lesson, if not done lately."""
    checked = tiers.level(ws.database, partition).checked_at
    if checked is not None and checked > moments.before(ws, CHECK_EVERY):
        return
    db = ws.database
    root = kg_sessions.root_of(db, partition)
    lost = [
        one for one in tiered.touches_in(db, partition, ACTIVE) if touches.is_dangling(one[1], root)
    ]
    tiers.put_dangling(db, partition, lost, ws.now())
    called = tiered.slugs_in(db, partition, ACTIVE)
    episodes = [one for one, slug in called.items() if lifting.is_episode(slug)]
    beside = nodes.edges_among(db, partition, episodes)
    told = list(nodes.of_ids(db, episodes).values())
    tiers.put_lifts(db, partition, lifting.clusters(told, beside, len(called)))


def check_touches_of(ws: Workspace, node: Node) -> None:
    """Look which touches of one node lead nowhere."""
    root = kg_sessions.root_of(ws.database, node.partition)
    lost = [touch for touch in node.touches if touches.is_dangling(touch, root)]
    tiers.put_dangling_of(ws.database, node.partition, node.id, lost)


def _dangling(ws: Workspace, partition: str) -> list[tuple[Node, str]]:
    """Return the touches of nodes in view that were found to lead nowhere, and still stand there."""
    lost = tiers.dangling(ws.database, partition)
    shown = _in_view(ws, partition, {one for one, _ in lost})
    return [
        (shown[one], touch) for one, touch in lost if one in shown and touch in shown[one].touches
    ]


def _lifts(ws: Workspace, partition: str) -> dict[str, tuple[Node, int]]:
    """Return the nodes in view that have a lesson in common, each with its cluster, by id."""
    clusters = tiers.lifts(ws.database, partition)
    shown = _in_view(ws, partition, clusters)
    return {one: (node, clusters[one]) for one, node in shown.items()}


def _in_view(ws: Workspace, partition: str, ids: Iterable[str]) -> dict[str, Node]:
    """Return those of some nodes of a level that are in view, by id."""
    return {
        one: node
        for one, node in nodes.of_ids(ws.database, ids).items()
        if node.partition == partition and node.tier == ACTIVE
    }


def _days_active(ws: Workspace, partition: str) -> int:
    first = date.fromisoformat(ws.now()[:10]) - timedelta(days=debt.WEEK - 1)
    return usage.days_since(ws.database, partition, first.isoformat())
