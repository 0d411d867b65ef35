"""The work of chores: which level is owed most, what is to be done there, and how it is said."""

from __future__ import annotations

from vault_kg.errors import InvalidArgument
from vault_kg.index import nodes
from vault_kg.maintain import debt, levels, sessions, survey
from vault_kg.maintain.chores import anchors, gates, offering, prompts
from vault_kg.maintain.chores.anchors import Anchor
from vault_kg.maintain.chores.choosing import choose
from vault_kg.maintain.chores.gates import Situation
from vault_kg.maintain.chores.kinds import Chore, PassedOver
from vault_kg.maintain.chores.settings import settings
from vault_kg.maintain.survey import Survey
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import chores, kg_sessions, tiers

KEPT = 400
"""So many last dispatches are looked at."""

MOST_ANCHORS = 20
"""Of so many touches a chore says where they went; the rest is for another one."""


def by_debt(ws: Workspace, caller: Caller, partition: str | None) -> list[Survey]:
    """Return the levels that an agent can tend, what is owed most first."""
    sessions.settle(ws)
    wanted = [
        one
        for one in nodes.partitions(ws.database)
        if levels.is_worked_on(one) and caller.sees(one) and partition in (None, one)
    ]
    if partition is not None and not wanted:
        raise InvalidArgument(
            f"{partition!r} is no level that the kg_* tools tend: those are user and project-…; "
            "maintain_status lists the graphs",
            field="partition",
        )
    surveys = []
    for one in wanted:
        survey.check_touches(ws, one)
        surveys.append(survey.survey(ws, one))
    return sorted(surveys, key=lambda found: (-debt.score(found.counts), found.partition))


def chosen(ws: Workspace, found: Survey) -> tuple[Chore | None, list[PassedOver]]:
    """Return the chore of a level, or None, and what was passed over."""
    known = offering.circumstances(ws, found.partition)
    return choose(found.partition, offering.offered(ws, found), known)


def situation(ws: Workspace) -> Situation:
    """Return what the gates look at."""
    rules = settings(ws)
    gauge = gates.read_gauge(rules.gauge) if rules.gauge else None
    return Situation(ws.clock(), rules, chores.dispatched(ws.database, KEPT), gauge)


def prompt_for(ws: Workspace, caller: Caller, found: Survey, chore: Chore | None) -> str:
    """Return the prompt of a chore, or of a full pass of a level."""
    cwd = kg_sessions.root_of(ws.database, found.partition)
    level = levels.level_of(found.partition)
    if chore is None:
        return prompts.of_pass(level, cwd, found.partition)
    told: list[Anchor] = []
    left = 0
    if chore.kind == "anchor":
        chosen = {target.record for target in chore.targets}
        dangling = tiers.dangling(ws.database, found.partition)
        lost = [touch for one, touch in dangling if one in chosen]
        told = anchors.resolve(lost[:MOST_ANCHORS], cwd, caller.cancelled)
        left = len(lost) - len(told)
    return prompts.of_chore(chore, level, cwd, told, _lessons(ws, caller), left)


def _lessons(ws: Workspace, caller: Caller) -> list[str]:
    """Return what earlier chores learned, where the memory of maintenance exists for the caller."""
    if not caller.sees(levels.MAINTAIN):
        return []
    learned = nodes.in_tier(ws.database, levels.MAINTAIN, tiers.ACTIVE)
    return [f"{node.name}: {node.gist}" for node in reversed(learned)]
