"""What is around an artefact or a node: its nodes, those they are joined to, and the edges between."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.consolidation import viewing
from vault_kg.consolidation.joining import Joint, joined, pages
from vault_kg.consolidation.viewing import EdgeView, Nodes, Reading
from vault_kg.index import matching
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.operations.base import Line, Lines
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import visible
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.field_types import fold
from vault_kg.state import consolidations
from vault_kg.state.consolidations import Commits

_SESSIONS = 1_000
Direction = Literal["both", "incoming", "outgoing"]


class RelatedContext(Reading):
    """Where to begin."""

    artifact_id: Line = Field(min_length=1, description="An artefact's id, or a node's.")
    rel_types: Lines | None = Field(None, description="Only along these types of edges.")
    direction: Direction = Field("both", description="Of the first step.")
    max_depth: Annotated[int, Field(ge=1, le=2)] = 1


class Context(Nodes):
    """The nodes of the artefact, those around them, and the edges between."""

    start: list[str] = Field(description="The nodes that come from the artefact.")
    edges: list[EdgeView]


@operation("read", Context, toolset="consolidation")
def kg_get_related_context(ws: Workspace, request: RelatedContext, caller: Caller) -> Context:
    """Show the nodes that come from an artefact, or one node, and what they are joined to."""
    start = _start(ws, caller, request)
    types = {fold(name) for name in request.rel_types} if request.rel_types else None
    reached = dict.fromkeys(start)
    used: dict[str, Row] = {}
    frontier, direction = list(start), request.direction
    for _ in range(request.max_depth):
        around = joined(ws, caller, request.board_id, nodes=frontier)
        wanted = [j for j in around if types is None or fold(j.row.type or "") in types]
        steps = list(_steps(wanted, set(frontier), direction))
        used |= {joint.row.id: joint.row for joint, _ in steps}
        frontier = [other for _, other in steps if other not in reached]
        reached |= dict.fromkeys(frontier)
        direction = "both"
    keys = [row.key for row in pages(ws, caller, reached)]
    found = viewing.kept(ws, request, viewing.nodes(ws, caller, keys))
    shown = {view.node_id for view in found.nodes}
    edges = [e for e in viewing.edges(ws, list(used.values())) if {e.src, e.dst} <= shown]
    return Context(**found.model_dump(), start=[i for i in start if i in shown], edges=edges)


def _steps(
    around: list[Joint], here: Collection[str], direction: Direction
) -> Iterator[tuple[Joint, str]]:
    """Yield the edges that may be followed from some nodes, each with the node at its other end."""
    for joint in around:
        if joint.src in here and direction != "incoming":
            yield joint, joint.dst
        if joint.dst in here and direction != "outgoing":
            yield joint, joint.src


def _start(ws: Workspace, caller: Caller, request: RelatedContext) -> list[str]:
    """Return the node that is meant, or the current nodes that come from an artefact."""
    if ids.is_id(request.artifact_id):
        return [viewing.node_row(ws, caller, request.artifact_id).id]
    wanted = Filter(ws.now(), kinds=("page",), partitions=visible(caller, request.board_id))
    found = [row.id for row in matching.of_artefact(ws.database, wanted, request.artifact_id)]
    which = Commits(wanted.partitions, source_id=request.artifact_id)
    for entry in consolidations.commits(ws.database, which, _SESSIONS):
        applied = (entry.receipt or {}).get("result", {}).get("applied", {})
        found += [each["node_id"] for many in applied.values() for each in many if each["node_id"]]
    return [row.id for row in pages(ws, caller, found)]
