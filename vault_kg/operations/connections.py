"""What a record is joined to, near and further off."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from vault_kg.index import graph
from vault_kg.operations import asof, sight, targets
from vault_kg.operations.asof import AsOf
from vault_kg.operations.base import Id, Limit, Lines, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids, names


class Connections(Request):
    """What is joined to a record?"""

    id: Id
    direction: Literal["out", "in", "both"] = "both"
    types: Lines | None = Field(
        None, description="Relationship types, or owner, entities, wikilink, …"
    )
    depth: Annotated[int, Field(ge=1, le=5)] = 1
    limit: Limit = 100
    as_of: AsOf | None = None


class Edge(Model):
    """One connection. `explicit` ones are relationship records; the others follow from records."""

    source: str
    target: str
    type: str
    explicit: bool
    record: str | None = None
    fact: str | None = None
    depth: int


class Node(Model):
    """A record in a neighbourhood."""

    id: str
    kind: str
    type: str | None = None
    title: str


class Neighbourhood(Model):
    """A record's connections, nearest first."""

    id: str
    nodes: list[Node]
    edges: list[Edge]
    total_nodes: int
    total_edges: int
    truncated: bool
    as_of: dict[str, Any] | None = None


@operation("read", Neighbourhood)
def knowledge_connections(ws: Workspace, request: Connections, caller: Caller) -> Neighbourhood:
    """Show what a record is joined to.

    Relationship records (explicit), and what follows from owner, entities, dependencies and
    wikilinks. Merged pages are resolved; totals are true also where the list is cut.
    """
    if not ids.is_note(request.id):
        targets.known(ws, caller, request.id)
    past, said = asof.snapshot(ws, caller, request.as_of) if request.as_of else (None, None)
    reader = graph.past(past) if past is not None else graph.current(ws.database, ws.now())
    walk = graph.walk(
        reader,
        request.id,
        direction=request.direction,
        types={names.lookup_key(t) for t in request.types} if request.types else None,
        depth=request.depth,
        limit=request.limit,
        sees=caller.sees,
        exists=lambda node: not any(sight.is_hidden(ws, caller, uid) for uid in node.about),
    )
    return Neighbourhood(
        id=walk.start,
        nodes=[Node(id=n.id, kind=n.kind, type=n.type, title=n.title) for n in walk.nodes],
        edges=[
            Edge(
                source=e.source, target=e.target, type=e.type, explicit=e.record is not None,
                record=e.record, fact=e.fact, depth=d,
            )
            for e, d in walk.edges
        ],
        total_nodes=walk.total_nodes,
        total_edges=walk.total_edges,
        truncated=walk.total_edges > len(walk.edges) or walk.total_nodes > len(walk.nodes),
        as_of=said,
    )  # fmt: skip
