"""The plan of a commit: every candidate and edge of a session as changes of files, all or nothing.

Made under the write lane from what stands then; what has moved since the proposal is a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault_kg.consolidation import matching, planning_edges, planning_nodes, retaining
from vault_kg.consolidation.candidates import Contents
from vault_kg.consolidation.deciding import Decision
from vault_kg.consolidation.work import Work, about
from vault_kg.errors import CommitConflict
from vault_kg.operations import checks
from vault_kg.operations.base import EvidenceItem
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import writing
from vault_kg.operations.workspace import Workspace
from vault_kg.state.sessions import Session
from vault_kg.store.plan import Plan


def plan(
    ws: Workspace,
    caller: Caller,
    session: Session,
    held: Contents,
    decisions: Mapping[str, Decision],
    reason: str,
) -> Plan:
    """Return the plan of a session's commit; the caller holds the lane.

    Args:
        ws: the opened vault.
        caller: who commits.
        session: the session.
        held: its candidates.
        decisions: what is done with each of them, by its id.
        reason: why, as history tells it.

    Raises:
        CommitConflict: what stands is not what the proposal was made in view of.
        InvalidRecord: a candidate breaks a rule of records; says which.
    """
    partition = checks.partition_to_write(session.partition, caller)
    checks.check_ontology(ws, partition, None)
    _check_collisions(ws, session, held, decisions)
    evidence = retaining.evidence(ws, session, held)
    work = Work(ws, caller, session, held, reason, EvidenceItem(source=evidence.source.id))
    work.pending.sources |= evidence.text
    for node in held.nodes:
        with about(node.id):
            planning_nodes.carry_out(work, node, decisions[node.id])
    for edge in held.edges:
        with about(edge.id):
            planning_edges.carry_out(work, edge, decisions[edge.id])
    planning_edges.relate_successors(work)
    kept = writing.retaining(ws, evidence) if work.changes else ()
    return Plan(
        partition,
        writing.answer(work.result(), changed=bool(work.changes)),
        (*kept, *work.changes),
        f"{session.source_type} {session.source_id}",
        tuple(work.guards),
        reason=reason,
    )


def _check_collisions(
    ws: Workspace, session: Session, held: Contents, decisions: Mapping[str, Decision]
) -> None:
    """Refuse to add a node that another session has added since the proposal."""
    new = [node for node in held.nodes if decisions[node.id].hint in ("ADD", "SUPERSEDE")]
    for name, ids in matching.collisions(ws, session, new).items():
        strange = sorted(ids - decisions[name].seen)
        if strange:
            raise CommitConflict(
                f"{name} was to be new, and {strange[0]} has its title or source reference "
                "meanwhile; call kg_propose_reconciliation and commit again",
                candidate_id=name,
                target_node=strange[0],
            )
