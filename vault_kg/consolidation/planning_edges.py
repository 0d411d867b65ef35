"""What a commit does with edges: relationship records between the nodes that the candidates are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_kg.consolidation import joining
from vault_kg.consolidation.candidates import Edge, End
from vault_kg.consolidation.deciding import Decision
from vault_kg.consolidation.work import GONE, SUPERSEDES, Work, moved
from vault_kg.errors import CommitConflict, InvalidArgument
from vault_kg.index import catalog, matching
from vault_kg.operations import statements
from vault_kg.operations.statements import SaveRelationship


def carry_out(work: Work, edge: Edge, decision: Decision) -> None:
    """Plan what was decided for an edge candidate."""
    if decision.hint == "NOOP":
        _check_stands(work, edge, decision.target)
        work.edges_noop.append({"edge_candidate_id": edge.id, "edge_id": decision.target})
        return
    src, dst = _end(work, edge, edge.src), _end(work, edge, edge.dst)
    if src == dst:
        raise InvalidArgument(
            f"{edge.id} would join {src} to itself, now that {edge.src.name} is {src}; override the "
            "edge with NOOP, or the candidate with ADD",
        )
    known = matching.relationship(
        work.ws.database, edge.type, src, dst, work.ws.now(), work.caller.partitions
    )
    if known is not None:
        work.edges_noop.append({"edge_candidate_id": edge.id, "edge_id": known})
        return
    for end in (src, dst):
        successor = work.replaced.get(end)
        if successor is not None and (edge.type, successor) != (SUPERSEDES, src):
            said = f"{end} is superseded by {successor} in this session"
            work.warn(edge.id, [f"{said}, and the edge is hidden with it"])
    _relate(work, edge.id, edge.type, src, dst, edge.attributes)


def _check_stands(work: Work, edge: Edge, known: str | None) -> None:
    """Refuse to leave an edge out for a relationship that does not stand any more."""
    if known is None:
        return
    row = next(iter(catalog.by_id(work.ws.database, known)), None)
    there = row is not None and row.kind == "relationship" and work.caller.sees(row.partition)
    if row is None or not there or not row.current(work.ws.now()):
        raise moved(edge.id, known, "it does not stand any more")


def relate_successors(work: Work) -> None:
    """Plan the `supersedes` edges that no candidate of the session states."""
    stated = {(e["src"], e["dst"]) for e in work.edges if e["rel"] == SUPERSEDES}
    for old, new in work.replaced.items():
        if (new, old) not in stated:
            _relate(work, None, SUPERSEDES, new, old, {"reason": work.reason})


def _relate(
    work: Work, candidate: str | None, type_name: str, src: str, dst: str, given: Mapping[str, Any]
) -> None:
    request = SaveRelationship(
        request_id=work.request_id, type=type_name, from_=src, to=dst,
        fact=given.get("fact") or _fact(work, type_name, src, dst, given.get("reason")),
        confidence=given.get("confidence"), valid_from=given.get("valid_from"),
        valid_until=given.get("valid_until"), partition=work.session.partition,
        evidence=[work.cited],
    )  # fmt: skip
    try:
        change, warnings = statements.draft_relationship(
            work.ws, request, work.caller, work.pending
        )
    except GONE as error:
        raise moved(candidate or SUPERSEDES, dst, error.message) from None
    work.warn(candidate or SUPERSEDES, warnings)
    work.changes.append(change)
    work.edges.append({
        "edge_id": change.record_id, "src": src, "rel": type_name, "dst": dst,
        "edge_candidate_id": candidate,
    })  # fmt: skip


def _end(work: Work, edge: Edge, end: End) -> str:
    """Return the node at an end of an edge; one that is gone since is a conflict, and named."""
    if end.node is not None:
        stands = joining.end(work.ws, work.caller, end.node)
        if stands is None:
            raise CommitConflict(
                f"{edge.id}: {joining.fate(work.ws, work.caller, end.node)}; leave the edge out with "
                "the override NOOP, which kg_propose_reconciliation proposes now, and commit again",
                candidate_id=edge.id,
                target_node=end.node,
            )
        return stands
    found = work.nodes[end.candidate or ""]
    if found is None:
        raise InvalidArgument(
            f"{edge.id} stands on {end.candidate}, which stays out; override the edge with NOOP, or "
            "the candidate with ADD",
            edge_candidate_id=edge.id,
            candidate_id=end.candidate,
        )
    return found


def _fact(work: Work, type_name: str, src: str, dst: str, reason: str | None) -> str:
    declared = work.ws.ontology(work.session.partition).relationship_type(type_name)
    label = (declared.label if declared else "") or type_name
    said = f"“{_title(work, src)}” {label} “{_title(work, dst)}”"
    return f"{said}: {reason.strip()}" if reason and reason.strip() else f"{said}."


def _title(work: Work, node_id: str) -> str:
    if node_id in work.titles:
        return work.titles[node_id]
    return next((row.title for row in catalog.by_id(work.ws.database, node_id)), node_id)
