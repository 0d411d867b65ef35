"""kg_read: both levels as text with their health and debt, or nodes in full."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from vault_kg.index import nodes
from vault_kg.maintain import (
    debt,
    finding,
    fullreading,
    levels,
    render,
    sessions,
    survey,
    tending,
)
from vault_kg.maintain.request import (
    TOOLSET,
    Ask,
    Level,
    NodeId,
    NodeIds,
    NodeView,
    SessionId,
    Told,
)
from vault_kg.maintain.sessions import Session
from vault_kg.maintain.survey import Factor
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import kg_sessions, tiers

READ_BUDGET = 40_000
"""Characters of an answer (mcp_http/store.py)."""

MAX_TARGETS = 100

_GROWN = 50
"""Characters by which the HEALTH and DEBT lines of a level can grow through a reading."""

_MORE = 40


class Read(Ask):
    """What to read."""

    cwd: Line | None = Field(None, description="Folder of the project; begins a session.")
    session_id: SessionId | None = Field(None, description="From the first kg_read.")
    id: NodeId | None = Field(None, description="One node in full.")
    ids: NodeIds | None = Field(None, description="Several nodes in full.")
    level: Level | None = Field(None, description="Only this level.")
    maintenance: bool = Field(
        False, description="A maintenance pass: its reads and writes are no use of the nodes."
    )
    factor: Factor | None = Field(
        None, description="List the nodes behind a factor of the DEBT line."
    )


class FactorTarget(GraphModel):
    """A node behind a factor of the debt."""

    id: str
    what: str


class LevelView(GraphModel):
    """How a level is."""

    level: str
    partition: str
    nodes: int
    edges: int
    orphans: int
    active: int
    debt: float
    verdict: str
    health_line: str
    debt_line: str
    left_out: list[str] = Field(description="What did not fit; empty where all did.")
    targets: list[FactorTarget] = Field(description="The nodes behind the factor that was named.")
    targets_total: int


class Reading(Told):
    """The graph, or nodes of it."""

    session_id: str
    levels: list[LevelView] = Field(default_factory=list)
    nodes: list[NodeView] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list, description="Ids of no node.")
    left_out: list[str] = Field(
        default_factory=list, description="Ids whose nodes did not fit; ask for them again."
    )


class _Level(NamedTuple):
    """A level as text and as values."""

    text: str
    view: LevelView


@operation("read", Reading, toolset=TOOLSET)
def kg_read(ws: Workspace, request: Read, caller: Caller) -> Reading:
    """Read the knowledge graph: the user's level and the project's, with HEALTH and DEBT lines.

    The first call names cwd and gives the session_id that all other tools take. With id or ids it
    gives those nodes in full instead, and brings archived ones back into view. level="maintain" reads
    the memory of maintenance.
    """
    session = sessions.begin(ws, caller, request.session_id, request.cwd, request.maintenance)
    sessions.settle(ws)
    wanted = list(dict.fromkeys([*([request.id] if request.id else []), *(request.ids or ())]))
    within = [session.partition(request.level)] if request.level is not None else None
    if wanted:
        return _nodes(session, wanted, within)
    return _graph(session, within or finding.check_levels(session), request.factor)


def _nodes(session: Session, wanted: list[str], within: list[str] | None) -> Reading:
    parts = _head(session)
    tended = [one for one in within or session.levels if one != levels.MAINTAIN]
    before = [_owed(session, partition).text for partition in tended]
    room = READ_BUDGET - _taken([*parts, *before]) - _GROWN * len(tended)
    found = fullreading.read(session, wanted, within, room)
    owed = [_owed(session, partition) for partition in tended]
    return Reading(
        session_id=session.id, levels=[level.view for level in owed], nodes=found.shown,
        missing=found.missing, left_out=found.left_out,
        text="\n".join([*parts, *found.parts, *(level.text for level in owed)]),
    )  # fmt: skip


def _graph(session: Session, partitions: list[str], factor: Factor | None) -> Reading:
    read = [_level(session, partition, factor) for partition in partitions]
    parts = _head(session)
    room = READ_BUDGET - _taken([*parts, *(level.text for level in read)])
    for level in read:
        targets = _targets(level.view, factor, room // len(read)) if factor else ""
        parts.append(level.text + targets)
    return Reading(
        session_id=session.id, levels=[level.view for level in read], text="\n".join(parts)
    )


def _head(session: Session) -> list[str]:
    return [f"session_id: {session.id}", *([session.notice] if session.notice else [])]


def _taken(parts: list[str]) -> int:
    return sum(len(part) + 1 for part in parts)


def _level(session: Session, partition: str, factor: Factor | None) -> _Level:
    """Read one level; the nodes whose gists it shows count as seen."""
    ws = session.ws
    session.used(partition)
    tending.tend(ws, partition)
    picture = tending.picture(ws, partition, session.caller.sees)
    active = picture.of(tiers.ACTIVE)
    rendered = render.text(picture)
    shown = {node.id: node.revision for node in rendered.shown}
    kg_sessions.saw(ws.database, session.id, shown, full=False, via="read")
    head = f"{levels.level_of(partition).upper()} GRAPH ({partition})\n{rendered.text}"
    if partition == levels.MAINTAIN:
        return _Level(head, _memory_view(session, partition, rendered, len(active)))
    survey.check_touches(ws, partition)
    found = survey.survey(ws, partition)
    behind = survey.first_behind(ws, found, factor, MAX_TARGETS) if factor else survey.NOTHING
    text = f"{head}{found.health_line}\n{found.debt_line}\n"
    return _Level(text, level_view(found, rendered.left_out, behind))


def _owed(session: Session, partition: str) -> _Level:
    """Read how a level is, without its nodes."""
    survey.check_touches(session.ws, partition)
    found = survey.survey(session.ws, partition)
    head = f"{levels.level_of(partition).upper()} GRAPH ({partition})"
    text = f"{head}\n{found.health_line}\n{found.debt_line}\n"
    return _Level(text, level_view(found, [], survey.NOTHING))


def _targets(view: LevelView, factor: Factor, room: int) -> str:
    """Return the nodes behind a factor as lines that take no more than their room."""
    said = f"{factor} ({view.targets_total}):\n"
    room -= len(said) + _MORE
    for number, target in enumerate(view.targets):
        line = f"  {target.id}: {target.what}\n"
        if len(line) > room:
            return f"{said}  … and {view.targets_total - number} more\n"
        said, room = said + line, room - len(line)
    left = view.targets_total - len(view.targets)
    return f"{said}  … and {left} more\n" if left > 0 else said


def level_view(found: survey.Survey, left_out: list[str], behind: survey.Behind) -> LevelView:
    """Return a survey as values."""
    score = debt.score(found.counts)
    return LevelView(
        level=levels.level_of(found.partition), partition=found.partition,
        nodes=found.totals.nodes, edges=found.totals.edges, orphans=found.totals.orphans,
        active=found.counts.active, debt=round(score, 4), verdict=debt.verdict(score),
        health_line=found.health_line, debt_line=found.debt_line, left_out=left_out,
        targets=[FactorTarget(id=t.node.name, what=t.what) for t in behind.targets],
        targets_total=behind.total,
    )  # fmt: skip


def _memory_view(
    session: Session, partition: str, rendered: render.Rendered, active: int
) -> LevelView:
    """Return the memory of maintenance as values: it has no debt."""
    totals = nodes.totals(session.ws.database, partition)
    return LevelView(
        level=partition, partition=partition, nodes=totals.nodes, edges=totals.edges,
        orphans=totals.orphans, active=active, debt=0.0, verdict="LOW", health_line="",
        debt_line="", left_out=rendered.left_out, targets=[], targets_total=0,
    )  # fmt: skip
