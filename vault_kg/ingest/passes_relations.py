"""Typing edges by their facts with a language model, or honestly not at all."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from pydantic import Field

from vault_kg.index.graph_rows import GraphRow
from vault_kg.ingest import passes
from vault_kg.ingest.passes import Reprocess, Reprocessed
from vault_kg.operations import checks
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, relation_rules, retyping, writing
from vault_kg.operations.graph.retyping import Retyped
from vault_kg.operations.graph.views import UNCLASSIFIED, type_shown
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology import Ontology, RelationshipType

RELATIONS = "knowledge_reprocess_relation_types"
_ABOUT = "Which type of relation does the document state?"


class ReprocessRelationTypes(Reprocess):
    """The edges to classify."""


class RelationsReprocessed(Reprocessed):
    """How the edges were classified."""

    breakdown: dict[str, int] = Field(
        description="All that the model answered, by type; UNCLASSIFIED where it abstained."
    )
    plan: list[Retyped] | None = Field(None, description="Of a dry run: what would change.")


@operation("write", RelationsReprocessed, toolset="graph", asks_model=True)
def knowledge_reprocess_relation_types(
    ws: Workspace, request: ReprocessRelationTypes, caller: Caller
) -> RelationsReprocessed:
    """Classify edges by their facts with the extraction model; the predicate is not looked at.

    One declared type that may join the two kinds, or UNCLASSIFIED where the model abstains. What
    has its type already is not written. With dry_run the same is asked, and nothing is written.
    """
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    ontology = ws.ontology(group)
    menu = relation_rules.offered(ontology)
    passes.require(menu, "relationship types", group)
    candidates = [
        each
        for each in retyping.edges(ws, caller, group)
        if passes.in_scope(request.scope, each.row.type, partial(_declared, ontology))
    ]

    def types(each: GraphRow) -> list[RelationshipType]:
        ends = retyping.kinds(ws, each)
        return [t for t in menu if ontology.allows_endpoints(t.name, *ends) is None]

    chosen = passes.ask(caller, _ABOUT, candidates, types, lambda each: each.fact)
    wanted = {
        record_id: choice.label or UNCLASSIFIED
        for record_id, choice in chosen.items()
        if choice.answered
    }
    result = writing.carry_out(
        ws, caller, RELATIONS, request,
        lambda: retyping.plan(ws, caller, group, candidates, wanted, {}), dry_run=request.dry_run,
    )  # fmt: skip
    told: dict[str, Any] = passes.counts(request, chosen, result.pop("changed_count"))
    changes = result.pop("changes")
    shown = Counter(str(type_shown(name)) for name in wanted.values())
    return RelationsReprocessed(
        **result | told | {"breakdown": dict(sorted(shown.items()))},
        plan=changes if request.dry_run else None,
    )


def _declared(ontology: Ontology, name: str) -> bool:
    return name != UNCLASSIFIED and ontology.relationship_type(name) is not None
