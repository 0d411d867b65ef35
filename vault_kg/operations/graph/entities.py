"""Pages as entities: listed, resolved by name, searched, and found by the source they are in."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from vault_kg.index import episodes, graph_rows
from vault_kg.index.graph_rows import Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import paging, searching, targets
from vault_kg.operations.base import Cursor, Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, hybrid
from vault_kg.operations.graph.request import (
    CURSOR,
    INACTIVE,
    Count,
    EntityName,
    FieldNames,
    GraphModel,
    GraphRequest,
    GroupId,
    GroupIds,
    Kind,
    Listed,
    Listing,
    Prefix,
    names_of,
    position,
    prefix_key,
)
from vault_kg.operations.graph.views import EntityRow, entity_rows
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store.paths import DEFAULT_PARTITION

EntityFields = Annotated[FieldNames, names_of(EntityRow)]
PROJECTED = "Only these keys of each item."
NAME_PREFIX = Field(
    None, description="What the name begins with; case and Unicode form do not matter."
)


class ListEntities(Listing):
    """The entities to list."""

    kind: Kind | None = None
    name_prefix: Prefix | None = NAME_PREFIX
    num_results: Count = 500
    fields: EntityFields | None = Field(None, description=PROJECTED)


class NodesByGroup(Listing):
    """The groups to list."""

    name_prefix: Prefix | None = NAME_PREFIX
    num_results: Count = 500
    fields: EntityFields | None = Field(None, description=PROJECTED)


class Nodes(Listed):
    """Entities, the newest first."""

    nodes: list[EntityRow]


class ResolveEntity(GraphRequest):
    """The name to resolve."""

    name: EntityName
    group_id: GroupId = DEFAULT_PARTITION
    kind: Kind | None = Field(None, description="Needed where several kinds share the name.")


class Resolved(GraphModel):
    """The one entity that a name means."""

    found: bool
    node: EntityRow | None = None


class FindEntities(hybrid.Find):
    """What entities are looked for by."""

    kind: Kind | None = None
    fields: EntityFields | None = Field(None, description=PROJECTED)


class FoundNodes(hybrid.Found):
    """Entities, best first, each with `search`: why it was found."""

    nodes: list[EntityRow]


class EntitiesBySource(GraphRequest):
    """The source whose entities are listed."""

    source: Line = Field(
        min_length=1,
        description="Exactly its id, file name, path, source file or file:chunk.",
    )
    group_ids: GroupIds = None
    name_prefix: Prefix | None = NAME_PREFIX
    num_results: Count = 100
    cursor: Cursor | None = CURSOR
    include_inactive: bool = INACTIVE
    fields: EntityFields | None = Field(None, description=PROJECTED)


class NodesOfSource(Nodes):
    """The entities that a source is evidence for, or for what is said of them."""

    source: str
    episode_uuids: list[str]


@operation("read", Nodes, toolset="graph")
def knowledge_list_entities(ws: Workspace, request: ListEntities, caller: Caller) -> Nodes:
    """List entities, the newest first, page by page."""
    wanted = _wanted(ws, caller, request.group_ids, request.kind, request.include_inactive)
    return _listed(ws, caller, request, Narrow(wanted))


@operation("read", Nodes, toolset="graph")
def knowledge_get_nodes_by_group(ws: Workspace, request: NodesByGroup, caller: Caller) -> Nodes:
    """List the entities of groups, page by page."""
    wanted = _wanted(ws, caller, request.group_ids, None, request.include_inactive)
    return _listed(ws, caller, request, Narrow(wanted))


@operation("read", Resolved, toolset="graph")
def knowledge_resolve_entity(ws: Workspace, request: ResolveEntity, caller: Caller) -> Resolved:
    """Find the one entity that a name or alias means in a group.

    The name of a merged entity means what it was merged into. A name that several entities have is
    an error that lists them; nothing is picked.
    """
    if not caller.sees(request.group_id):
        return Resolved(found=False)
    row = finding.one_entity(ws, request.group_id, request.name, request.kind)
    if row is not None and ws.look_at([row.path]):
        row = finding.one_entity(ws, request.group_id, request.name, request.kind)
    if row is None:
        return Resolved(found=False)
    targets.check_not_blocked(ws, row.id)
    found = graph_rows.of_keys(ws.database, [row.key])
    return Resolved(found=True, node=entity_rows(ws, caller, list(found.values()))[0])


@operation("read", FoundNodes, toolset="graph")
def knowledge_find_entities(ws: Workspace, request: FindEntities, caller: Caller) -> FoundNodes:
    """Find entities by words and by meaning, best first.

    Each has `search`: why it was found. Without a floor the end of the list is filler; with
    min_similarity only what is similar enough, or matches by words, is left.
    """
    filtered = hybrid.wanted(ws, caller, request, ("page",))
    types = finding.kinds_to_read(ws, filtered.partitions, request.kind)
    ranking = hybrid.ranked(ws, request, _of_types(filtered, types), floor=request.min_similarity)
    found = graph_rows.of_keys(ws.database, [shown.row.key for shown in ranking.hits])
    leads = graph_rows.leads(ws.database, list(found))
    nodes = entity_rows(ws, caller, [found[s.row.key] for s in ranking.hits], request.fields)
    similar = ranking.similarities(leads.values())
    for node, shown in zip(nodes, ranking.hits, strict=True):
        near = searching.rounded(similar.get(leads.get(shown.row.key, -1)))
        summary = near if found[shown.row.key].row.summary else None
        node["search"] = hybrid.evidence(shown) | {
            "name_similarity": near, "summary_similarity": summary,
        }  # fmt: skip
    return FoundNodes(
        nodes=nodes, count=len(nodes), total=ranking.total, next_cursor=ranking.next_cursor,
        semantic=ranking.semantic,
    )  # fmt: skip


@operation("read", NodesOfSource, toolset="graph")
def knowledge_get_entities_by_source(
    ws: Workspace, request: EntitiesBySource, caller: Caller
) -> NodesOfSource:
    """List the entities that a source is evidence for: of their pages, or of what names them."""
    sources = episodes.every(ws.database, episodes.Wanted(caller.partitions, origin=request.source))
    ids = {source.id for source in sources}
    named = graph_rows.mentioned(ws.database, ids, ws.now(), caller.partitions)
    pages = {finding.final(ws, one) or one for one in named}
    wanted = _wanted(ws, caller, request.group_ids, None, request.include_inactive)
    listed = _listed(ws, caller, request, Narrow(wanted, ids=pages))
    return NodesOfSource(
        source=request.source, episode_uuids=sorted(ids), nodes=listed.nodes, count=listed.count,
        total=listed.total, next_cursor=listed.next_cursor,
    )  # fmt: skip


def _wanted(
    ws: Workspace, caller: Caller, groups: list[str] | None, kind: str | None, inactive: bool
) -> Filter:
    wanted = Filter(
        ws.now(),
        kinds=("page",),
        partitions=finding.groups_to_read(caller, groups),
        lifecycle="all" if inactive else "active",
    )
    return _of_types(wanted, finding.kinds_to_read(ws, wanted.partitions, kind))


def _of_types(wanted: Filter, types: frozenset[str] | None) -> Filter:
    return replace(wanted, page_types=types)


def _listed(
    ws: Workspace,
    caller: Caller,
    request: ListEntities | NodesByGroup | EntitiesBySource,
    narrow: Narrow,
) -> Nodes:
    narrow = replace(narrow, prefix=prefix_key(request.name_prefix))
    after = position(request, request.cursor)
    with ws.database.snapshot():
        total = graph_rows.count(ws.database, narrow)
        rows = graph_rows.page(ws.database, narrow, request.num_results + 1, after)
    shown = rows[: request.num_results]
    more = len(rows) > len(shown)
    last = [shown[-1].row.id, shown[-1].row.path] if more else []
    return Nodes(
        nodes=entity_rows(ws, caller, shown, request.fields),
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, last) if more else None,
    )
