"""maintain_status: how every graph is, the one that is owed most first, with the pages behind it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vault_kg.index import nodes
from vault_kg.maintain import debt, levels, sessions, survey
from vault_kg.maintain.request import TOOLSET, Ask, Told
from vault_kg.maintain.survey import FACTORS, Survey
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

MOST_TARGETS = 1_000


class Status(Ask):
    """Which graphs."""

    partition: Line | None = Field(None, description="Only this one; left out all.")
    targets: bool = Field(False, description="Name the pages behind each factor.")
    limit: Annotated[int, Field(ge=1, le=MOST_TARGETS)] = Field(
        20, description="So many pages of each factor are named."
    )


class Page(GraphModel):
    """A page behind a factor."""

    id: str
    record: str
    what: str


class FactorView(GraphModel):
    """A factor of the debt, and the pages behind it."""

    factor: str
    pages: list[Page]
    total: int


class Graph(GraphModel):
    """How a graph is."""

    partition: str
    level: str
    verdict: str
    score: float
    staleness: float
    activity: float
    deficit: float
    health_line: str
    debt_line: str
    nodes: int
    active: int
    archived: int
    edges: int
    factors: list[FactorView]


class Graphs(Told):
    """Every graph, the highest debt first; never the memory of maintenance."""

    graphs: list[Graph]
    total: int


@operation("read", Graphs, toolset=TOOLSET)
def maintain_status(ws: Workspace, request: Status, caller: Caller) -> Graphs:
    """Say how every graph is: HEALTH and DEBT, the highest debt first.

    With targets it names the pages behind each factor of the debt.
    """
    sessions.settle(ws)
    wanted = [
        partition
        for partition in nodes.partitions(ws.database)
        if partition != levels.MAINTAIN
        and caller.sees(partition)
        and request.partition in (None, partition)
    ]
    graphs = [_graph(ws, partition, request) for partition in wanted]
    graphs.sort(key=lambda graph: (-graph.score, graph.partition))
    lines = [f"{graph.partition}\n  {graph.health_line}\n  {graph.debt_line}" for graph in graphs]
    return Graphs(
        graphs=graphs, total=len(graphs), text="\n".join(lines) or "There are no graphs yet."
    )


def _graph(ws: Workspace, partition: str, request: Status) -> Graph:
    survey.check_touches(ws, partition)
    found = survey.survey(ws, partition)
    counts = found.counts
    return Graph(
        partition=partition, level=levels.level_of(partition),
        verdict=debt.verdict(debt.score(counts)), score=round(debt.score(counts), 4),
        staleness=round(debt.staleness(counts), 4), activity=round(debt.activity(counts), 4),
        deficit=round(debt.deficit(counts), 4), health_line=found.health_line,
        debt_line=found.debt_line, nodes=found.totals.nodes, active=counts.active,
        archived=found.totals.nodes - counts.active, edges=found.totals.edges,
        factors=_factors(ws, found, request.limit) if request.targets else [],
    )  # fmt: skip


def _factors(ws: Workspace, found: Survey, limit: int) -> list[FactorView]:
    shown = []
    for factor in FACTORS:
        behind = survey.first_behind(ws, found, factor, limit)
        pages = [Page(id=t.node.name, record=t.node.id, what=t.what) for t in behind.targets]
        if behind.total:
            shown.append(FactorView(factor=factor, pages=pages, total=behind.total))
    return shown
