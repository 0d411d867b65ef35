"""Comparing candidates with what stands, and proposing what becomes of each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from vault_kg.consolidation import hints, joining, matching, sessions
from vault_kg.consolidation.candidates import Edge, End, contents
from vault_kg.consolidation.hints import Facts, Proposal
from vault_kg.consolidation.matching import Mode
from vault_kg.consolidation.sessions import SessionId
from vault_kg.consolidation.settings import rules
from vault_kg.errors import NotFound
from vault_kg.index import matching as pages
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import sessions as rows
from vault_kg.state.sessions import Session

REASON = Field(None, description="Why titles were compared, or why some nodes could not be.")


class GetSimilar(GraphRequest):
    """The candidate to compare."""

    session_id: SessionId
    candidate_id: Line
    k: Annotated[int, Field(ge=1, le=50)] = 5


class Match(GraphModel):
    """A node that stands."""

    node_id: str
    title: str
    score: float = Field(description="Cosine similarity, or the share of the title in common.")


class SimilarNodes(GraphModel):
    """Nodes of the candidate's type, the most similar first."""

    candidate_id: str
    match_mode: Mode
    matches: list[Match]
    reason: str | None = REASON


class Propose(GraphRequest):
    """The session to reconcile."""

    session_id: SessionId


class Proposed(GraphModel):
    """What becomes of a candidate, unless the commit overrides it."""

    candidate_id: str
    hint: str = Field(description="ADD, UPDATE, SUPERSEDE or NOOP.")
    target_node: str | None = None
    score: float | None = None
    rationale: str


class Proposals(GraphModel):
    """A proposal for every candidate, edges apart."""

    session_id: str
    proposals: list[Proposed]
    edge_proposals: list[Proposed]
    match_mode: Mode
    reason: str | None = REASON
    expires_at: str


@operation("read", SimilarNodes, toolset="consolidation")
def kg_get_similar_nodes(ws: Workspace, request: GetSimilar, caller: Caller) -> SimilarNodes:
    """Show which nodes of a candidate's type are most like it: step 4, where you want to look.

    By meaning where there is an embedding model, else by the beginnings of titles.
    """
    session = sessions.opened(ws, caller, request.session_id, "get_similar")
    node = contents(rows.candidates(ws.database, session.id)).node(request.candidate_id)
    if node is None:
        raise NotFound(
            f"there is no node candidate {request.candidate_id!r} in this session; kg_sessions with "
            "its session_id lists them",
            candidate_id=request.candidate_id,
        )
    found = matching.similar(ws, caller, session, [node], request.k, rules(ws).least_similarity)
    return SimilarNodes(
        candidate_id=node.id,
        match_mode=found.mode,
        matches=[
            Match(node_id=row.id, title=row.title, score=score)
            for row, score in found.found[node.id]
        ],
        reason=found.reason,
    )


@operation("write", Proposals, toolset="consolidation")
def kg_propose_reconciliation(ws: Workspace, request: Propose, caller: Caller) -> Proposals:
    """Propose for every candidate what becomes of it: step 5.

    ADD a node, UPDATE target_node in place, SUPERSEDE it by a new node (it is kept), or NOOP. The
    commit does what is proposed unless you override it. Propose again after commit_conflict.
    """
    session = sessions.opened(ws, caller, request.session_id, "propose")
    held = contents(rows.candidates(ws.database, session.id))
    facts, near = matching.facts(
        ws, caller, session, held, rules(ws), unchanged=_is_committed(ws, session)
    )
    proposed = hints.propose(facts, held.nodes, rules(ws))
    edges = {edge.id: _edge_proposal(ws, caller, edge, proposed) for edge in held.edges}
    with ws.database.write():
        sessions.opened(ws, caller, session.id, "propose")
        rows.propose(ws.database, session.id, {
            name: asdict(proposal) | {"seen": _seen(facts[name]) if name in facts else {}}
            for name, proposal in (proposed | edges).items()
        })  # fmt: skip
        expires = sessions.touch(ws, session)
    return Proposals(
        session_id=session.id,
        proposals=[_shown(name, proposal) for name, proposal in proposed.items()],
        edge_proposals=[_shown(name, proposal) for name, proposal in edges.items()],
        match_mode=near.mode,
        reason=near.reason,
        expires_at=expires,
    )


def _is_committed(ws: Workspace, session: Session) -> bool:
    """Say whether another session has committed the same artefact since this one began."""
    last = rows.last_committed(
        ws.database, session.partition, session.source_type, session.source_id
    )
    return last is not None and last.content_hash == session.content_hash


def _seen(facts: Facts) -> dict[str, Any]:
    """Return the pages that a proposal was made in view of, each with what stood: (revision, hash).

    A commit refuses what has changed since, and a page that was not among them.
    """
    every = [*facts.referenced, *facts.titled, *(page for page, _ in facts.near)]
    every += [facts.supersedes] if facts.supersedes else []
    return {page.id: [page.revision, page.hash] for page in every}


def _edge_proposal(
    ws: Workspace, caller: Caller, edge: Edge, proposed: dict[str, Proposal]
) -> Proposal:
    ends = (edge.src, edge.dst)
    src, dst = (_stands(ws, caller, end, proposed) for end in ends)
    if src is None or dst is None:
        out = ends[0 if src is None else 1]
        said = joining.fate(ws, caller, out.node) if out.node else f"{out.name} stays out"
        return Proposal("NOOP", None, f"{said}; so the edge stays out", 3)
    known = pages.relationship(ws.database, edge.type, src, dst, ws.now(), caller.partitions)
    if known is not None:
        return Proposal("NOOP", known, f"{known} says the same", 5)
    return Proposal("ADD", None, "no relationship of this type joins these ends", 8)


def _stands(ws: Workspace, caller: Caller, end: End, proposed: dict[str, Proposal]) -> str | None:
    """Return the node that an end will be: "" for a new one, None where there will be none."""
    if end.candidate is None:
        return joining.end(ws, caller, end.node or "")
    proposal = proposed[end.candidate]
    return "" if proposal.hint in ("ADD", "SUPERSEDE") else proposal.target


def _shown(name: str, proposal: Proposal) -> Proposed:
    return Proposed(
        candidate_id=name, hint=proposal.hint, target_node=proposal.target, score=proposal.score,
        rationale=proposal.rationale,
    )  # fmt: skip
