"""Relationships as edges: listed, read by uuid, and searched."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import paging, searching
from vault_kg.operations.base import Ids
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, hybrid
from vault_kg.operations.graph.request import (
    INACTIVE,
    Count,
    FieldNames,
    GraphRequest,
    Listed,
    Listing,
    Prefix,
    names_of,
    position,
    prefix_key,
)
from vault_kg.operations.graph.views import EdgeRow, edge_rows
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

EdgeFields = Annotated[FieldNames, names_of(EdgeRow)]
PROJECTED = "Only these keys of each item."
NAME_PREFIX = Field(None, description="What the predicate begins with; case does not matter.")


class ListRelationships(Listing):
    """The relationships to list."""

    name_prefix: Prefix | None = NAME_PREFIX
    num_results: Count = 1_000
    fields: EdgeFields | None = Field(None, description=PROJECTED)


class EdgesByGroup(Listing):
    """The groups to list."""

    name_prefix: Prefix | None = NAME_PREFIX
    num_results: Count = 1_000
    fields: EdgeFields | None = Field(None, description=PROJECTED)


class Edges(Listed):
    """Edges, the newest first."""

    edges: list[EdgeRow]


class EdgesByUuids(GraphRequest):
    """The edges to read."""

    uuids: Annotated[Ids, Field(max_length=1_000)]
    include_inactive: bool = INACTIVE
    fields: EdgeFields | None = Field(None, description=PROJECTED)


class EdgesRead(Edges):
    """The edges in the order in which they were asked for."""

    missing: list[str] = Field(description="Uuids of no edge that this read sees.")


class FindRelationships(hybrid.Find):
    """What facts are looked for by."""

    fields: EdgeFields | None = Field(None, description=PROJECTED)


class FoundEdges(hybrid.Found):
    """Edges, best first, each with `search`: why it was found."""

    edges: list[EdgeRow]


@operation("read", Edges, toolset="graph")
def knowledge_list_relationships(
    ws: Workspace, request: ListRelationships, caller: Caller
) -> Edges:
    """List relationships with their evidence, the newest first, page by page."""
    wanted = wanted_edges(ws, caller, request.group_ids, request.include_inactive)
    return _listed(ws, caller, request, wanted)


@operation("read", Edges, toolset="graph")
def knowledge_get_edges_by_group(ws: Workspace, request: EdgesByGroup, caller: Caller) -> Edges:
    """List the relationships of groups, page by page."""
    wanted = wanted_edges(ws, caller, request.group_ids, request.include_inactive)
    return _listed(ws, caller, request, wanted)


@operation("read", EdgesRead, toolset="graph")
def knowledge_get_edges_by_uuids(ws: Workspace, request: EdgesByUuids, caller: Caller) -> EdgesRead:
    """Read relationships by uuid; those that this read does not see are named in missing."""
    asked = list(dict.fromkeys(request.uuids))
    wanted = wanted_edges(ws, caller, None, request.include_inactive)
    rows = graph_rows.every(ws.database, Narrow(wanted, ids=asked))
    if ws.look_at([each.row.path for each in rows]):
        rows = graph_rows.every(ws.database, Narrow(wanted, ids=asked))
    found = {each.row.id: each for each in rows}
    shown = [found[uuid] for uuid in asked if uuid in found]
    return EdgesRead(
        edges=edge_rows(ws, caller, shown, request.fields),
        count=len(shown),
        total=len(shown),
        missing=[uuid for uuid in asked if uuid not in found],
    )


@operation("read", FoundEdges, toolset="graph")
def knowledge_find_relationships(
    ws: Workspace, request: FindRelationships, caller: Caller
) -> FoundEdges:
    """Find facts by words and by meaning, best first.

    Each has `search`: why it was found. Without a floor the end of the list is filler; with
    min_similarity only what is similar enough, or matches by words, is left.
    """
    filtered = hybrid.wanted(ws, caller, request, ("relationship",))
    ranking = hybrid.ranked(ws, request, filtered, floor=request.min_similarity)
    found = graph_rows.of_keys(ws.database, [shown.row.key for shown in ranking.hits])
    edges = edge_rows(ws, caller, [found[s.row.key] for s in ranking.hits], request.fields)
    for edge, shown in zip(edges, ranking.hits, strict=True):
        near = searching.rounded(shown.hit.similarity)
        edge["search"] = hybrid.evidence(shown) | {"fact_similarity": near}
    return FoundEdges(
        edges=edges, count=len(edges), total=ranking.total, next_cursor=ranking.next_cursor,
        semantic=ranking.semantic,
    )  # fmt: skip


def wanted_edges(ws: Workspace, caller: Caller, groups: list[str] | None, inactive: bool) -> Filter:
    """Return the filter of the edges that a read may see: both ends must exist for the caller."""
    return Filter(
        ws.now(),
        kinds=("relationship",),
        partitions=finding.groups_to_read(caller, groups),
        ends_in=caller.partitions,
        lifecycle="all" if inactive else "active",
    )


def _listed(
    ws: Workspace, caller: Caller, request: ListRelationships | EdgesByGroup, wanted: Filter
) -> Edges:
    narrow = Narrow(wanted, prefix_key(request.name_prefix))
    after = position(request, request.cursor)
    with ws.database.snapshot():
        total = graph_rows.count(ws.database, narrow)
        rows = graph_rows.page(ws.database, narrow, request.num_results + 1, after)
    shown = rows[: request.num_results]
    more = len(rows) > len(shown)
    last = [shown[-1].row.id, shown[-1].row.path] if more else []
    return Edges(
        edges=edge_rows(ws, caller, shown, request.fields),
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, last) if more else None,
    )
