"""What a commit does with node candidates: new pages, changed ones, and successors."""

from __future__ import annotations

from vault_kg.consolidation import hints
from vault_kg.consolidation.candidates import Node, same_text
from vault_kg.consolidation.deciding import Decision
from vault_kg.consolidation.hints import Known
from vault_kg.consolidation.work import GONE, Work, moved
from vault_kg.errors import InvalidArgument, InvalidRecord
from vault_kg.operations import checks, drafts, superseding
from vault_kg.operations.base import EvidenceItem
from vault_kg.operations.impact import impact_of
from vault_kg.operations.pages import SavePage, draft_page
from vault_kg.operations.targets import Target
from vault_kg.records.frontmatter import Remove, Value
from vault_kg.store.plan import Change


def carry_out(work: Work, node: Node, decision: Decision) -> None:
    """Plan what was decided for a node candidate."""
    work.warn(node.id, (f"{name} is no attribute of {node.type}: dropped" for name in node.dropped))
    if decision.hint == "ADD":
        change = _draft(work, node)
        work.changes.append(change)
        work.applied["added"].append({"candidate_id": node.id, "node_id": change.record_id})
    elif decision.hint == "UPDATE":
        _update(work, node, decision)
    elif decision.hint == "SUPERSEDE":
        _supersede(work, node, decision)
    else:
        if decision.target is not None:
            _target(work, node, decision)
        _leave(work, node, decision.target)


def _update(work: Work, node: Node, decision: Decision) -> None:
    target = _target(work, node, decision)
    differing = hints.differing(node, _known(target))
    if not differing:
        _leave(work, node, target.row.id)
        return
    body = None
    if "body" in differing:
        body = drafts.new_body(target.document, node.body)
    change = drafts.revise(work.ws, target, _changes(work, node, target), body)
    assert change is not None, "it differs"
    standing = checks.standing_problems(work.ws, work.caller, target)
    work.warn(node.id, drafts.validate(work.ws, work.caller, change, standing, work.pending))
    work.changes.append(change)
    work.nodes[node.id] = target.row.id
    work.applied["updated"].append({"candidate_id": node.id, "node_id": target.row.id})


def _changes(work: Work, node: Node, target: Target) -> dict[str, Value | Remove]:
    """Return what an update changes in the front matter; a former title goes on as an alias."""
    record = target.record
    others = [e for e in record.evidence if e.source != work.cited.source]
    cited = [*(EvidenceItem(**e.to_value()) for e in others), work.cited]
    changes: dict[str, Value | Remove] = {"evidence": drafts.evidence_values(cited)}
    if node.fields():
        changes["fields"] = {**record.fields, **node.fields()}
    if not same_text(node.title, target.row.title):
        changes["title"] = node.title
        changes["aliases"] = [*dict.fromkeys((*record.aliases, target.row.title))]
    return changes


def _supersede(work: Work, node: Node, decision: Decision) -> None:
    target = _target(work, node, decision)
    reason = _stated_reason(work, node, target.row.id) or work.reason
    made = superseding.supersede(
        work.ws, work.caller, target, _draft(work, node, target.row.id), reason, work.request_id
    )
    work.changes += [made.original, made.replacement]
    work.guards.append(made.guard)
    new = str(made.replacement.record_id)
    work.replaced[target.row.id] = new
    standing = impact_of(work.ws, work.caller, target.row.id).total
    if standing:
        said = f"{standing} record(s) stand on {target.row.id}, which is superseded now"
        work.warn(node.id, [f"{said}; knowledge_impact lists them"])
    work.applied["added"].append({"candidate_id": node.id, "node_id": new})
    work.applied["superseded"].append(
        {"candidate_id": node.id, "node_id": new, "target_node": target.row.id}
    )


def _stated_reason(work: Work, node: Node, target: str) -> str | None:
    """Return why a candidate takes the place of a node, where an edge of the session says so."""
    edge = work.held.superseding.get(node.id)
    if edge is None or edge.dst.node != target:
        return None
    return str(edge.attributes.get("reason") or "").strip() or None


def _leave(work: Work, node: Node, target: str | None) -> None:
    work.nodes[node.id] = target
    work.applied["noop"].append({"candidate_id": node.id, "node_id": target})


def _draft(work: Work, node: Node, supersedes: str | None = None) -> Change:
    request = SavePage(
        request_id=work.request_id, type=node.type, title=node.title, body=node.body,
        fields=node.fields(), partition=work.session.partition, evidence=[work.cited],
    )  # fmt: skip
    change, warnings = draft_page(work.ws, request, work.caller, work.pending, supersedes)
    work.warn(node.id, warnings)
    work.nodes[node.id] = change.record_id
    return change


def _target(work: Work, node: Node, decision: Decision) -> Target:
    """Return the page that a decision is about, as it stood when the decision was taken."""
    assert decision.target is not None
    try:
        target = checks.editable(work.ws, work.caller, decision.target, ("page",))
    except (*GONE, InvalidRecord) as error:
        raise moved(node.id, decision.target, error.message) from None
    if (target.row.type, target.row.partition) != (node.type, work.session.partition):
        raise InvalidArgument(
            f"{decision.target} is a {target.row.type} of {target.row.partition!r}, and {node.id} a "
            f"{node.type}",
            target_node=decision.target,
        )
    revision, content = decision.fence or (target.head.revision, None)
    if target.head.revision != revision or content not in (None, target.row.hash):
        raise moved(node.id, decision.target, f"it is at revision {target.head.revision} now")
    return target


def _known(target: Target) -> Known:
    record = target.record
    return Known(
        target.row.id, target.row.title, record.body, record.fields, target.head.revision,
        target.row.hash,
    )  # fmt: skip
