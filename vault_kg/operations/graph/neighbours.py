"""What an entity is joined to: its edges out and in, fairly shared, and their other ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import paging, targets
from vault_kg.operations.base import Cursor, Id
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.relationships import NAME_PREFIX, EdgeFields, wanted_edges
from vault_kg.operations.graph.request import (
    CURSOR,
    INACTIVE,
    GraphRequest,
    GroupIds,
    Listed,
    Prefix,
    prefix_key,
)
from vault_kg.operations.graph.views import EdgeRow, EntityRow, edge_rows, entity_rows
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

Place = tuple[str, str] | None
"""The last edge shown of one side, as (id, path); None before the first."""


class Neighbours(GraphRequest):
    """The entity whose edges are listed."""

    entity_uuid: Id
    num_results: Annotated[int, Field(ge=1, le=1_000)] = Field(
        50, description="Edges, shared between those that lead out and those that lead in."
    )
    group_ids: GroupIds = Field(None, description="Groups of the edges; left out = all, [] = none.")
    name_prefix: Prefix | None = NAME_PREFIX
    cursor: Cursor | None = CURSOR
    include_inactive: bool = INACTIVE
    fields: EdgeFields | None = Field(None, description="Only these keys of each edge.")


class Neighbourhood(Listed):
    """Edges of an entity and the entities at their other ends; `total` counts its edges."""

    center_uuid: str
    nodes: list[EntityRow]
    edges: list[EdgeRow]
    node_count: int
    edge_count: int
    outgoing_total: int
    incoming_total: int


@operation("read", Neighbourhood, toolset="graph")
def knowledge_get_entity_neighbors(
    ws: Workspace, request: Neighbours, caller: Caller
) -> Neighbourhood:
    """List what an entity is joined to: edges that lead out and in, and their other ends.

    The limit is shared fairly between the two directions; what one does not need goes to the other.
    A merged entity means what it was merged into.
    """
    center = _center(ws, caller, request.entity_uuid)
    out, into = _sides(ws, request, caller, center)
    after = _places(request)
    with ws.database.snapshot():
        totals = graph_rows.count(ws.database, out), graph_rows.count(ws.database, into)
        limit = request.num_results + 1
        rows = [
            graph_rows.page(ws.database, side, limit, place)
            for side, place in zip((out, into), after, strict=True)
        ]
    shown = [*zip(rows, _shares(request.num_results, len(rows[0]), len(rows[1])), strict=True)]
    outgoing, incoming = ([*side[:share]] for side, share in shown)
    edges = [*outgoing, *incoming]
    more = any(len(side) > share for side, share in shown)
    last = [_last(outgoing, after[0]), _last(incoming, after[1])]
    nodes = _others(ws, caller, center, edges)
    return Neighbourhood(
        center_uuid=center, nodes=nodes, edges=edge_rows(ws, caller, edges, request.fields),
        count=len(nodes), node_count=len(nodes), edge_count=len(edges), total=sum(totals),
        outgoing_total=totals[0], incoming_total=totals[1],
        next_cursor=paging.encode(request, last) if more else None,
    )  # fmt: skip


def _center(ws: Workspace, caller: Caller, entity_uuid: str) -> str:
    row = finding.entity(ws, caller, entity_uuid)
    targets.check_not_blocked(ws, row.id)
    center = finding.final(ws, row.id)
    if center is None:
        raise NotFound(
            f"{row.id} is merged in a circle or too long a chain; knowledge_diagnostics names it",
            uuid=row.id,
        )
    return center


def _sides(
    ws: Workspace, request: Neighbours, caller: Caller, center: str
) -> tuple[Narrow, Narrow]:
    """Return what leads out, self-loops among it, and what leads in."""
    wanted = wanted_edges(ws, caller, request.group_ids, request.include_inactive)
    ids = finding.all_ids(ws, center)
    prefix = prefix_key(request.name_prefix)
    return (
        Narrow(wanted, prefix, sources=ids),
        Narrow(wanted, prefix, targets=ids, not_sources=ids),
    )


def _shares(limit: int, out: int, into: int) -> tuple[int, int]:
    """Share a limit between two sides; what one does not need goes to the other."""
    half = limit - limit // 2
    first = min(out, max(half, limit - into))
    return first, min(into, limit - first)


def _places(request: Neighbours) -> tuple[Place, Place]:
    found = paging.decode(request, request.cursor)
    if found is None:
        return None, None
    if len(found) != 2 or not all(_is_place(place) for place in found):
        raise InvalidArgument("the cursor is not one of this query; start again without it")
    first, second = (tuple(place) if place else None for place in found)
    return first, second


def _is_place(place: object) -> bool:
    return place is None or (
        isinstance(place, list) and len(place) == 2 and all(isinstance(p, str) for p in place)
    )


def _last(shown: Sequence[GraphRow], before: Place) -> list[str] | None:
    if shown:
        return [shown[-1].row.id, shown[-1].row.path]
    return list(before) if before else None


def _others(
    ws: Workspace, caller: Caller, center: str, edges: Sequence[GraphRow]
) -> list[EntityRow]:
    """Return the pages at the other ends, in the order of the edges."""
    ends = [
        finding.final(ws, end or "") for each in edges for end in (each.row.from_id, each.row.to_id)
    ]
    wanted = [end for end in dict.fromkeys(ends) if end and end != center]
    filtered = Filter(ws.now(), kinds=("page",), partitions=caller.partitions, lifecycle="all")
    found = {
        each.row.id: each for each in graph_rows.every(ws.database, Narrow(filtered, ids=wanted))
    }
    return entity_rows(ws, caller, [found[end] for end in wanted if end in found])
