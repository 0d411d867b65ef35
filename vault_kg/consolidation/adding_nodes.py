"""Adding node candidates to a session: checked as far as they can be before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from vault_kg.consolidation import held, sessions
from vault_kg.consolidation.candidates import (
    Contents,
    Node,
    node_value,
    reference_text,
    same_text,
)
from vault_kg.consolidation.sessions import SessionId
from vault_kg.errors import InvalidArgument, UnknownAttribute
from vault_kg.operations import base
from vault_kg.operations.base import Line, Name, Text, Title
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.field_types import fold
from vault_kg.records.ontology import Ontology
from vault_kg.state.sessions import NODE, Candidate, Session


class AddNode(GraphRequest):
    """A node that the artefact speaks of."""

    session_id: SessionId
    node_type: Name = Field(
        description="Decision, Criterion, Constraint, Assumption, Requirement, Entity, APIContract, "
        "TestScenario, Bug, Learning or Alternative."
    )
    title: Title
    body: Text = Field("", description="Markdown.")
    attributes: base.Mapping = Field(
        default_factory=dict, description="What the type declares: rationale, confidence, …"
    )
    source_ref: Line | dict[str, Line | int] | None = Field(
        None, description='Where it stands in the artefact: {"spec_id": …, "section": …}.'
    )


class NodeAdded(GraphModel):
    """The candidate."""

    candidate_id: str
    node_type: str
    embedding_status: str = Field(description="queued: embedded at commit; off: no model.")
    warnings: list[str] = Field(default_factory=list)


@operation("write", NodeAdded, toolset="consolidation")
def kg_add_node_candidate(ws: Workspace, request: AddNode, caller: Caller) -> NodeAdded:
    """Add a node candidate to an open session: step 2, once for each node.

    Nothing is written until the commit. Attributes are those of the type; an unknown one is refused.
    """
    status = "off" if ws.semantics.missing() else "queued"
    with ws.database.write():
        session = sessions.opened(ws, caller, request.session_id, "add_node")
        before = held.with_room(ws, session, NODE)
        made = _node(ws, session, request, f"cand_{len(before.contents.nodes) + 1:03d}")
        _check_new(before.contents, made)
        after = held.add(ws, session, before, Candidate(made.id, NODE, node_value(made)))
        sessions.touch(ws, session)
    held.keep(ws, session.id, after)
    return NodeAdded(
        candidate_id=made.id,
        node_type=made.type,
        embedding_status=status,
        warnings=[f"{name} is no attribute of {made.type}: dropped" for name in made.dropped],
    )


def _node(ws: Workspace, session: Session, request: AddNode, candidate_id: str) -> Node:
    ontology = ws.ontology(session.partition)
    declared = ontology.page_type(request.node_type)
    if declared is None:
        raise InvalidArgument(
            f"{request.node_type!r} is no node type of {session.partition!r}; knowledge_ontology "
            "lists them",
            node_type=request.node_type,
        )
    known, dropped = _known(ontology, declared.name, request.attributes, session)
    checked, problems = ontology.check_fields(declared.name, known)
    wrong = [f"{p.field}: {p.reason}" for p in problems if p.level == "error"]
    if wrong:
        raise InvalidArgument(f"attributes of {declared.name}: {'; '.join(wrong)}", problems=wrong)
    reference = reference_text(request.source_ref) or checked.pop("source_ref", None)
    checked.pop("source_ref", None)
    return Node(
        candidate_id, declared.name, request.title, request.body, checked, reference, dropped
    )


def _known(
    ontology: Ontology, type_name: str, given: Mapping[str, Any], session: Session
) -> tuple[dict[str, Any], list[str]]:
    """Return the attributes that a type declares, and the others where they may be dropped."""
    declared = {fold(name): name for name in ontology.fields_of(type_name)}
    unknown = [name for name in given if fold(name) not in declared]
    if unknown and not session.lenient:
        allowed = sorted(declared.values())
        raise UnknownAttribute(
            f"{type_name} has no attribute {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(allowed)}. Leave it out, or declare it in ontology.yaml",
            node_type=type_name,
            unknown=unknown,
            allowed=allowed,
        )
    kept = {name: value for name, value in given.items() if name not in unknown}
    return kept, unknown


def _check_new(there: Contents, made: Node) -> None:
    """Refuse a node that the session holds already: it would become two pages."""
    twin = next((n for n in there.by_key.get(made.key, ()) if same_text(n.body, made.body)), None)
    if twin is not None:
        raise InvalidArgument(
            f"{twin.id} has the same type, title and body; use it", candidate_id=twin.id
        )
