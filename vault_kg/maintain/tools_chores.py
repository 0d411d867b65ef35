"""maintain_chore: one small piece of maintenance, named with the prompt that an agent needs."""

from __future__ import annotations

from pydantic import Field

from vault_kg.maintain import debt, survey
from vault_kg.maintain.chores import gates, work
from vault_kg.maintain.chores.kinds import Chore, PassedOver
from vault_kg.maintain.request import TOOLSET, Ask, Told
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace


class NextChore(Ask):
    """Which level."""

    partition: Line | None = Field(
        None, description="Only this level; left out, what is owed most."
    )


class TargetView(GraphModel):
    """A page of a chore."""

    id: str
    record: str
    what: str


class PassedOverView(TargetView):
    """A page that no chore was made of."""

    kind: str
    reason: str


class Proposed(Told):
    """A chore with its prompt; `gate` says why it would not be dispatched now."""

    partition: str | None = None
    kind: str | None = None
    targets: list[TargetView] = Field(default_factory=list)
    prompt: str | None = None
    gate: str | None = None
    passed_over: list[PassedOverView] = Field(default_factory=list)


@operation("read", Proposed, toolset=TOOLSET)
def maintain_chore(ws: Workspace, request: NextChore, caller: Caller) -> Proposed:
    """Name one small piece of maintenance, with the prompt that an agent needs to do it.

    The level that is owed most comes first. Pages that were passed over are named with the reason.
    """
    passed: list[PassedOver] = []
    for found in work.by_debt(ws, caller, request.partition):
        chore, over = work.chosen(ws, found)
        passed += over
        if chore is not None:
            gate = gates.against_chore(
                work.situation(ws), found.partition, debt.score(found.counts)
            )
            return _proposed(ws, caller, chore, gate, passed)
    said = "There is nothing to do."
    return Proposed(passed_over=[_over(one) for one in passed], text=said)


def _proposed(
    ws: Workspace, caller: Caller, chore: Chore, gate: str | None, passed: list[PassedOver]
) -> Proposed:
    found = survey.survey(ws, chore.partition)
    prompt = work.prompt_for(ws, caller, found, chore)
    said = prompt if gate is None else f"{prompt}\n\n(It would not be dispatched now: {gate}.)"
    return Proposed(
        partition=chore.partition, kind=chore.kind,
        targets=[TargetView(id=t.name, record=t.record, what=t.what) for t in chore.targets],
        prompt=prompt, gate=gate, passed_over=[_over(one) for one in passed], text=said,
    )  # fmt: skip


def _over(one: PassedOver) -> PassedOverView:
    return PassedOverView(
        id=one.target.name, record=one.target.record, what=one.target.what, kind=one.kind,
        reason=one.reason,
    )  # fmt: skip
