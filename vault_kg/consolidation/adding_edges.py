"""Adding edge candidates to a session; an end that does not resolve is refused at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from vault_kg.consolidation import held, sessions
from vault_kg.consolidation.candidates import Contents, Edge, End, edge_value
from vault_kg.consolidation.sessions import SessionId
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    NotFound,
    ReservedEdgeType,
    UnknownAttribute,
)
from vault_kg.index import catalog, successors
from vault_kg.operations import base, targets
from vault_kg.operations.base import Id, Line, Name, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology import Ontology
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state.sessions import EDGE, Candidate, Session

AGENT_TYPES = ("supersedes", "contradicts", "depends_on", "relates_to", "validates")
"""The built-in relationship types of sessions; those that a vault declares itself come on top."""


class _Attributes(BaseModel):
    """What may be said of an edge; as strict as the relationship that it becomes."""

    reason: Text | None = None
    confidence: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    fact: Annotated[Text, StringConstraints(pattern=r"\S")] | None = None
    valid_from: Line | None = None
    valid_until: Line | None = None


EDGE_ATTRIBUTES = tuple(_Attributes.model_fields)


class EdgeEnd(GraphRequest):
    """A candidate of the session, or a node that stands."""

    candidate_id: Line | None = None
    node_id: Id | None = None

    @model_validator(mode="after")
    def _is_one(self) -> EdgeEnd:
        if (self.candidate_id is None) == (self.node_id is None):
            raise ValueError("give candidate_id or node_id, and not both")
        return self


class AddEdge(GraphRequest):
    """An edge between two candidates, or a candidate and a node that stands."""

    session_id: SessionId
    src: EdgeEnd
    dst: EdgeEnd
    rel_type: Name = Field(
        description="supersedes, contradicts, depends_on, relates_to or validates."
    )
    attributes: base.Mapping = Field(
        default_factory=dict, description="reason, confidence, fact, valid_from, valid_until."
    )


class EdgeAdded(GraphModel):
    """The edge candidate."""

    edge_candidate_id: str
    rel_type: str
    valid: bool


@operation("write", EdgeAdded, toolset="consolidation")
def kg_add_edge_candidate(ws: Workspace, request: AddEdge, caller: Caller) -> EdgeAdded:
    """Add an edge candidate to an open session: step 3, once for each edge.

    An edge with supersedes from a candidate to a node says that the candidate takes its place.
    belongs_to, derives_from, implements, mentions, tests and violates are the extractor's.
    """
    with ws.database.write():
        session = sessions.opened(ws, caller, request.session_id, "add_edge")
        before = held.with_room(ws, session, EDGE)
        made = _edge(ws, caller, session, request, before.contents)
        after = held.add(ws, session, before, Candidate(made.id, EDGE, edge_value(made)))
        sessions.touch(ws, session)
    held.keep(ws, session.id, after)
    return EdgeAdded(edge_candidate_id=made.id, rel_type=made.type, valid=True)


def _edge(
    ws: Workspace, caller: Caller, session: Session, request: AddEdge, there: Contents
) -> Edge:
    ontology = ws.ontology(session.partition)
    declared = ontology.relationship_type(request.rel_type)
    if declared is not None and declared.reserved:
        raise ReservedEdgeType(
            f"{declared.name} is written by the deterministic worker only; use "
            f"{', '.join(AGENT_TYPES)}, or leave it to the worker",
            rel_type=declared.name,
        )
    own = [t.name for t in ontology.relationship_types.values()
           if not t.reserved and t.provenance[0] != "builtin"]  # fmt: skip
    allowed = [*AGENT_TYPES, *sorted(own)]
    if declared is None or declared.name not in allowed:
        raise InvalidArgument(
            f"{request.rel_type!r} is no edge type of sessions; use one of {', '.join(allowed)}",
            rel_type=request.rel_type,
            allowed=allowed,
        )
    made = Edge(
        f"edge_cand_{len(there.edges) + 1:03d}", declared.name,
        End(request.src.candidate_id, request.src.node_id),
        End(request.dst.candidate_id, request.dst.node_id), _edge_attributes(request.attributes),
    )  # fmt: skip
    _check_ends(ws, caller, ontology, there, made)
    _check_new(there, made)
    return made


def _check_ends(
    ws: Workspace, caller: Caller, ontology: Ontology, there: Contents, made: Edge
) -> None:
    if made.src.candidate is None and made.dst.candidate is None:
        raise InvalidArgument(
            "one end of an edge must be a candidate of the session; knowledge_save_relationship "
            "joins two nodes that stand"
        )
    if made.src == made.dst:
        raise InvalidArgument(f"{made.src.name} cannot be joined to itself")
    ends = [_end_type(ws, caller, there, name, end) for name, end in
            (("src", made.src), ("dst", made.dst))]  # fmt: skip
    reason = ontology.allows_endpoints(made.type, ends[0], ends[1])
    if reason:
        raise InvalidArgument(f"{reason}; use another type, such as relates_to", rel_type=made.type)


def _check_new(there: Contents, made: Edge) -> None:
    """Refuse an edge that the session holds, and a second node that a candidate would supersede."""
    for other in there.edges:
        if (other.type, other.src, other.dst) == (made.type, made.src, made.dst):
            raise InvalidArgument(f"{other.id} is the same edge", edge_candidate_id=other.id)
        both = made.type == other.type == "supersedes" and made.src == other.src
        if both and made.src.candidate and made.dst.node and other.dst.node:
            raise InvalidArgument(
                f"{made.src.name} takes the place of {other.dst.node} already ({other.id}); one "
                "candidate takes the place of one node",
                edge_candidate_id=other.id,
            )


def _end_type(ws: Workspace, caller: Caller, there: Contents, name: str, end: End) -> str:
    """Return the type of what an edge leads from or to; what does not resolve is refused here."""
    if end.candidate is not None:
        node = there.node(end.candidate)
        if node is None:
            raise NotFound(
                f"{name}: there is no candidate {end.candidate!r} in this session; add the node "
                "first",
                field=name,
                candidate_id=end.candidate,
            )
        return node.type
    assert end.node is not None
    _check_not_superseded(ws, caller, name, end.node)
    targets.check_reference(ws, caller, name, end.node)
    row = catalog.by_id(ws.database, end.node)[0]
    if row.kind != "page":
        raise InvalidArgument(f"{name}: {end.node} is a {row.kind}, and no node", id=end.node)
    return row.type or ROOT_TYPE


def _check_not_superseded(ws: Workspace, caller: Caller, name: str, node_id: str) -> None:
    """Refuse a node that another one has taken the place of, and say which."""
    row = next(iter(catalog.by_id(ws.database, node_id)), None)
    if row is None or row.lifecycle != "superseded" or not caller.sees(row.partition):
        return
    successor = successors.current(ws.database, node_id)
    what_next = f"; name {successor}, which stands for it now" if successor else ""
    raise InvalidRecord(
        f"{name}: {node_id} is superseded{what_next}", field=name, id=node_id, successor=successor
    )


def _edge_attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in given if name not in EDGE_ATTRIBUTES]
    if unknown:
        raise UnknownAttribute(
            f"an edge has no attribute {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(EDGE_ATTRIBUTES)}",
            unknown=unknown,
            allowed=list(EDGE_ATTRIBUTES),
        )
    try:
        kept = _Attributes.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidArgument(
            f"attributes.{name}: {first['msg']}", field=f"attributes.{name}"
        ) from None
    return kept.model_dump(exclude_none=True)
