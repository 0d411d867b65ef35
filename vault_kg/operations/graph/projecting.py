"""What the graph for Cypher holds: what lists show the caller, as rows of its tables."""

from __future__ import annotations

import json
from typing import Any

from vault_kg.index import episodes, graph_rows
from vault_kg.index.cypher.projection import Rows
from vault_kg.index.cypher.tables import (
    ABOUT,
    CLAIM,
    ENTITY,
    EPISODIC,
    MENTIONS,
    RELATES_TO,
    Row,
)
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.relationships import wanted_edges
from vault_kg.operations.graph.views import cited_by_pages, edge_rows, entity_rows
from vault_kg.operations.workspace import Workspace
from vault_kg.state import merges
from vault_kg.store.sources import Source


def rows(ws: Workspace, caller: Caller) -> Rows:
    """Return everything that a caller sees in the graph; an edge needs both its ends."""
    pages = _current(ws, caller, "page")
    sources = episodes.every(ws.database, episodes.Wanted(caller.partitions))
    entities = [_columns(ENTITY.columns, each) for each in _entities(ws, caller, pages)]
    seen = {str(each[0]) for each in entities}
    edges = graph_rows.every(ws.database, Narrow(wanted_edges(ws, caller, None, False)))
    claims = _current(ws, caller, "claim")
    return {
        ENTITY.name: entities,
        CLAIM.name: [_claim(each) for each in claims],
        EPISODIC.name: [_episode(each) for each in sources],
        RELATES_TO.name: [
            [*_ends(each), *_columns(RELATES_TO.columns, each)]
            for each in map(dict, edge_rows(ws, caller, edges))
            if seen.issuperset(_ends(each))
        ],
        MENTIONS.name: [
            [source.id, page, f"{source.id}:{page}"]
            for page, cited in cited_by_pages(ws, caller, pages).items()
            for source in cited
        ],
        ABOUT.name: _about(ws, {each.row.id for each in claims}, seen),
    }


def _current(ws: Workspace, caller: Caller, kind: str) -> list[GraphRow]:
    wanted = Filter(
        ws.now(), kinds=(kind,), partitions=caller.partitions, ends_in=caller.partitions
    )
    return graph_rows.every(ws.database, Narrow(wanted))


def _entities(ws: Workspace, caller: Caller, pages: list[GraphRow]) -> list[dict[str, Any]]:
    return [dict(each) for each in entity_rows(ws, caller, pages, list(ENTITY.columns))]


def _ends(edge: dict[str, Any]) -> tuple[str, str]:
    return edge["source_node_uuid"], edge["target_node_uuid"]


def _columns(names: Any, values: dict[str, Any]) -> list[Any]:
    """Return an item's values in the order of a table's columns, mappings as JSON."""
    return [_json(v) if isinstance(v := values[name], dict) else v for name in names]


def _claim(each: GraphRow) -> Row:
    row = each.row
    return [
        row.id, row.title, row.type, row.partition, each.fact, row.valid_from,
        row.valid_until or row.expires_at, row.recorded_at, row.updated_at,
    ]  # fmt: skip


def _episode(source: Source) -> Row:
    return [
        source.id, source.name, source.partition, source.description, source.media_type,
        source.reference_time, source.recorded_at,
    ]  # fmt: skip


def _about(ws: Workspace, claims: set[str], pages: set[str]) -> list[Row]:
    chains = merges.targets(ws.database)
    found = (
        (claim, merges.resolve(chains, page) or page, role)
        for claim, role, page in graph_rows.claimed(ws.database)
    )
    return [
        [claim, page, f"{claim}:{role}:{page}", role]
        for claim, page, role in found
        if claim in claims and page in pages
    ]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
