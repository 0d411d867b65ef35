"""The rows that the graph family answers with: entities, edges, episodes and passages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from pydantic import ConfigDict
from typing_extensions import TypedDict

from vault_kg.index import episodes, graph_rows
from vault_kg.index.graph_rows import GraphRow
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.request import projected
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology import Ontology
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import merges
from vault_kg.store.sources import Source

MAX_EPISODES = 50
UNCLASSIFIED = "unclassified"
"""The relationship type of a fact that the vocabulary has no type for; UNCLASSIFIED on the wire."""

_CLOSED = ConfigDict(extra="forbid")


class EntityRow(TypedDict, total=False):
    """A page as a node. `attributes` are typed values; absent keys were projected away."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]

    uuid: str
    name: str
    group_id: str
    labels: list[str]
    kind: str
    created_at: str
    ingested_at: str
    updated_at: str
    summary: str
    attributes: dict[str, Any]
    aliases: list[str]
    episode_uuids: list[str]
    episode_count: int
    source_descriptions: list[str]
    lifecycle: str
    search: dict[str, Any]


class EdgeRow(TypedDict, total=False):
    """A relationship as an edge. `episode_uuids` and `evidence` are of this edge."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]

    uuid: str
    name: str
    source_node_uuid: str
    target_node_uuid: str
    group_id: str
    fact: str
    relation_type: str | None
    created_at: str
    ingested_at: str
    updated_at: str
    valid_at: str | None
    invalid_at: str | None
    attributes: dict[str, Any]
    episode_uuids: list[str]
    source_descriptions: list[str]
    evidence: list[dict[str, Any]]
    lifecycle: str
    cross_group_pointers: dict[str, Any]
    search: dict[str, Any]


def entity_rows(
    ws: Workspace, caller: Caller, rows: Sequence[GraphRow], fields: list[str] | None = None
) -> list[EntityRow]:
    """Return pages as nodes."""
    wants_episodes = fields is None or bool(_FROM_EPISODES & set(fields))
    cited = cited_by_pages(ws, caller, rows) if wants_episodes else {}
    ontologies = {group: ws.ontology(group) for group in {each.row.partition for each in rows}}
    shown = (
        _entity(each, ontologies[each.row.partition], cited.get(each.row.id, ())) for each in rows
    )
    return [cast(EntityRow, projected(each, fields)) for each in shown]


_FROM_EPISODES = {"episode_uuids", "episode_count", "source_descriptions"}


def edge_rows(
    ws: Workspace, caller: Caller, rows: Sequence[GraphRow], fields: list[str] | None = None
) -> list[EdgeRow]:
    """Return relationships as edges, each with its own evidence; merged ends mean the survivor."""
    chains = merges.targets(ws.database)
    evidence = _evidence(ws, rows)
    cited = {str(c["source"]) for items in evidence.values() for c in items}
    known = sources_seen(ws, caller, cited)
    return [
        cast(EdgeRow, projected(_edge(ws, each, chains, evidence[each.row.id], known), fields))
        for each in rows
    ]


def sources_seen(ws: Workspace, caller: Caller, ids: Collection[str]) -> dict[str, Source]:
    """Return those of these sources that exist for the caller, by id."""
    wanted = episodes.Wanted(groups=caller.partitions, ids=ids)
    return {source.id: source for source in episodes.every(ws.database, wanted)}


def type_shown(stored: str | None) -> str | None:
    """Return a relation type as it is shown."""
    return stored.upper() if stored == UNCLASSIFIED else stored


def pointers_shown(ws: Workspace, each: GraphRow) -> dict[str, Any]:
    """Return the pointers of an edge as `{src?, dst?}`, with the state of their binding now."""
    shown = {}
    for end, side, bound in (("from", "src", each.row.from_id), ("to", "dst", each.row.to_id)):
        pointer = each.stated.get("pointers", {}).get(end)
        if not isinstance(pointer, Mapping):
            continue
        final, state = finding.pointed_at(ws, bound, pointer.get("state"))
        shown[side] = {
            "source_group_id": pointer.get("group"),
            "endpoint_name": pointer.get("name"),
            "endpoint_kind": pointer.get("kind"),
            "resolved_uuid": final,
            "bound_at_seq": pointer.get("bound_at"),
            "binding_state": state,
        }
    return shown


def _entity(each: GraphRow, ontology: Ontology, cited: Sequence[Source]) -> dict[str, Any]:
    row, stated = each.row, each.stated
    labels = [*ontology.labels(row.type or ROOT_TYPE)]
    return {
        "uuid": row.id, "name": row.title, "group_id": row.partition,
        "labels": labels + (["Merged"] if row.lifecycle == "merged" else []),
        "kind": finding.kind_of(row), "created_at": row.recorded_at,
        "ingested_at": row.recorded_at, "updated_at": row.updated_at,
        "summary": row.summary or "", "attributes": stated.get("fields", {}),
        "aliases": stated.get("aliases", []),
        "episode_uuids": [source.id for source in cited[:MAX_EPISODES]],
        "episode_count": len(cited),
        "source_descriptions": [source.description for source in cited[:MAX_EPISODES]],
        "lifecycle": row.lifecycle,
    }  # fmt: skip


def _edge(
    ws: Workspace,
    each: GraphRow,
    chains: dict[str, str],
    evidence: list[dict[str, Any]],
    known: Mapping[str, Source],
) -> dict[str, Any]:
    row, stated = each.row, each.stated
    seen = [citation for citation in evidence if citation["source"] in known]
    cited = [known[i] for i in dict.fromkeys(str(citation["source"]) for citation in seen)]
    ended = stated.get("changed_at") if row.lifecycle in ("withdrawn", "superseded") else None
    shown = {
        "uuid": row.id, "name": edge_name(each), "group_id": row.partition,
        "source_node_uuid": _final(chains, row.from_id),
        "target_node_uuid": _final(chains, row.to_id),
        "fact": each.fact, "relation_type": type_shown(row.type),
        "created_at": row.recorded_at, "ingested_at": row.recorded_at,
        "updated_at": row.updated_at, "valid_at": row.valid_from,
        "invalid_at": row.valid_until or ended, "attributes": stated.get("fields", {}),
        "episode_uuids": [source.id for source in cited],
        "source_descriptions": [source.description for source in cited],
        "evidence": seen, "lifecycle": row.lifecycle,
    }  # fmt: skip
    if stated.get("pointers"):
        shown["cross_group_pointers"] = pointers_shown(ws, each)
    return shown


def edge_name(each: GraphRow) -> str:
    """Return an edge's name: its predicate, else its type."""
    return str(each.stated.get("predicate") or each.row.type or "related")


def _final(chains: dict[str, str], record_id: str | None) -> str:
    return merges.resolve(chains, record_id or "") or record_id or ""


def _evidence(ws: Workspace, rows: Sequence[GraphRow]) -> dict[str, list[dict[str, Any]]]:
    """Return the citations of each edge, and those of its duplicates that merges collapsed."""
    found = {each.row.id: [*each.stated.get("evidence", ())] for each in rows}
    duplicates = {
        record: into for record, into in merges.collapsed(ws.database).items() if into in found
    }
    if duplicates:
        wanted = graph_rows.Narrow(_anything(ws), ids=duplicates)
        for each in graph_rows.every(ws.database, wanted):
            kept = found[str(duplicates[each.row.id])]
            kept += [c for c in each.stated.get("evidence", ()) if c not in kept]
    return found


def _anything(ws: Workspace) -> Any:
    from vault_kg.index.listing import Filter

    return Filter(ws.now(), lifecycle="all")


def cited_by_pages(
    ws: Workspace, caller: Caller, rows: Sequence[GraphRow]
) -> dict[str, list[Source]]:
    """Return the sources that each page, or a record naming it, cites: the latest first."""
    chains = merges.targets(ws.database)
    ids = {each.row.id for each in rows}
    absorbed = {one for one in chains if merges.resolve(chains, one) in ids}
    pairs = graph_rows.mentions(ws.database, ids | absorbed, ws.now(), caller.partitions)
    known = sources_seen(ws, caller, {source for _, source in pairs})
    found: dict[str, dict[str, Source]] = {}
    for page_id, source_id in pairs:
        if source_id in known:
            for page in {page_id, _final(chains, page_id)} & ids:
                found.setdefault(page, {})[source_id] = known[source_id]
    return {
        page: sorted(cited.values(), key=lambda s: (s.recorded_at, s.id), reverse=True)
        for page, cited in found.items()
    }
