"""Whether pages may be given other types: what would no longer fit, and which names are taken."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeAlias

from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, retyping
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.ontology import Ontology
from vault_kg.state import merges

Moving: TypeAlias = dict[str, tuple[GraphRow, str]]
"""Pages that get another type, by id, each with that type."""


def drop_breaking(
    ws: Workspace, caller: Caller, group: str, moving: Moving
) -> list[tuple[GraphRow, str, str]]:
    """Take away pages whose new type would break what stands.

    Args:
        ws: the opened vault.
        caller: who asks; what it does not see stops nothing.
        group: whose pages they are.
        moving: the pages with their new types; changed.

    Returns:
        Those taken away, with the type that each does not get and why.
    """
    skipped: list[tuple[GraphRow, str, str]] = []
    edges = _edges_of(ws, caller, moving)
    found = True
    while found:
        found = False
        for page_id, why in [*_taken(ws, group, moving), *_unfitting(edges, moving)]:
            if page_id in moving:
                skipped.append((*moving.pop(page_id), why))
                found = True
    return skipped


class _Edge(NamedTuple):
    """A typed edge: the vocabulary that holds for it, the two pages, and their kinds now."""

    ontology: Ontology
    type: str
    ends: tuple[str, str]
    kinds: tuple[str | None, str | None]


def _edges_of(ws: Workspace, caller: Caller, pages: Collection[str]) -> list[_Edge]:
    """Return the typed edges of these pages, as far as the caller sees them."""
    chains = merges.targets(ws.database)
    wanted = Filter(ws.now(), kinds=("relationship",), partitions=caller.partitions)
    found = []
    for each in graph_rows.every(ws.database, Narrow(wanted)):
        first, second = (
            merges.resolve(chains, end or "") or "" for end in (each.row.from_id, each.row.to_id)
        )
        if each.row.type is not None and (first in pages or second in pages):
            ontology = ws.ontology(each.row.partition)
            kinds = retyping.kinds(ws, each)
            found.append(_Edge(ontology, each.row.type, (first, second), kinds))
    return found


def _unfitting(edges: Iterable[_Edge], moving: Moving) -> Iterable[tuple[str, str]]:
    """Return (page, why) for the ends of edges that fit now, and would no longer."""
    for edge in edges:
        first, second = (
            moving[end][1] if end in moving else kind
            for end, kind in zip(edge.ends, edge.kinds, strict=True)
        )
        said = edge.ontology.allows_endpoints(edge.type, first, second)
        if said is not None and edge.ontology.allows_endpoints(edge.type, *edge.kinds) is None:
            yield from ((end, said) for end in edge.ends)


def _taken(ws: Workspace, group: str, moving: Moving) -> Iterable[tuple[str, str]]:
    """Return (page, why) for those of whose new kind and name there is, or would be, another."""
    claimed: dict[tuple[str, str], str] = {}
    for page_id, (each, label) in moving.items():
        key = (names.lookup_key(each.row.title), label)
        if claimed.setdefault(key, page_id) != page_id or any(
            row.id != page_id for row in finding.titled(ws, group, each.row.title, label)
        ):
            yield page_id, f"another entity of the kind {label} has this name"
