"""Typing entities by name and summary with a language model.

An entity's kind is part of what it is: one that has a declared kind keeps it, and where the model
sees another that is only told. What has none, or one that nobody declares, is given the model's,
unless that would break what stands: an edge whose type does not join the new kind, a rule of its
fields, another entity of that kind and name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from vault_kg.errors import InvalidRecord
from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.ingest import fitting, passes
from vault_kg.ingest.classifying import Choice
from vault_kg.ingest.fitting import Moving
from vault_kg.ingest.passes import Reprocess, Reprocessed
from vault_kg.operations import checks, drafts, steps, targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, retyping, writing
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.store.plan import Change, Plan

ENTITIES = "knowledge_reprocess_entity_types"
_ABOUT = "Which type of thing does the document name?"


class ReprocessEntityTypes(Reprocess):
    """The entities to classify."""


class Rekinded(GraphModel):
    """One entity and its kinds."""

    entity_id: str
    entity_name: str
    old_type: str | None
    new_type: str


class Disagreement(GraphModel):
    """An entity whose declared kind is not what the model takes it for; it keeps its kind."""

    entity_id: str
    entity_name: str
    kind: str
    classified_type: str


class Kept(GraphModel):
    """An entity that keeps its kind because the new one would break what stands."""

    entity_id: str
    entity_name: str
    new_type: str
    why: str


class EntitiesReprocessed(Reprocessed):
    """How the entities were classified."""

    restamped_count: int = Field(0, description="Always 0: labels follow from the vocabulary.")
    kind_disagreements: list[Disagreement]
    skipped: list[Kept]
    plan: list[Rekinded] | None = Field(None, description="Of a dry run: what would change.")


@operation("write", EntitiesReprocessed, toolset="graph", asks_model=True)
def knowledge_reprocess_entity_types(
    ws: Workspace, request: ReprocessEntityTypes, caller: Caller
) -> EntitiesReprocessed:
    """Classify entities by name and summary with the extraction model.

    Only an entity without a declared kind is given one; another kind that the model sees in one
    that has is told in kind_disagreements. What the model cannot tell stays as it is.
    """
    group = finding.group_to_write(caller, request.group_id)
    checks.check_ontology(ws, group, None)
    ontology = ws.ontology(group)
    menu = [t for t in ontology.page_types.values() if t.extract and t.name != ROOT_TYPE]
    passes.require(menu, "page types", group)
    wanted = Filter(ws.now(), kinds=("page",), partitions=[group])
    candidates = [
        each
        for each in graph_rows.every(ws.database, Narrow(wanted))
        if passes.in_scope(request.scope, _typed(each), ontology.page_type)
    ]
    types = sorted(menu, key=lambda each: each.name)
    chosen = passes.ask(caller, _ABOUT, candidates, lambda _: types, _described)
    result = writing.carry_out(
        ws, caller, ENTITIES, request,
        lambda: _plan(ws, caller, group, candidates, chosen), dry_run=request.dry_run,
    )  # fmt: skip
    changes = result.pop("changes")
    told: dict[str, Any] = passes.counts(request, chosen, result.pop("changed_count"))
    return EntitiesReprocessed(**result | told, plan=changes if request.dry_run else None)


def _typed(each: GraphRow) -> str | None:
    """Return an entity's kind, or None where it has only the one that everything is."""
    return None if each.row.type in (None, ROOT_TYPE) else each.row.type


def _described(each: GraphRow) -> str:
    return f"{each.row.title}\n{each.row.summary or ''}".strip()


def _plan(
    ws: Workspace,
    caller: Caller,
    group: str,
    candidates: list[GraphRow],
    chosen: Mapping[str, Choice],
) -> Plan:
    ontology = ws.ontology(group)
    moving: Moving = {}
    disagreements = []
    for each in candidates:
        label = chosen[each.row.id].label
        if label is None or label == each.row.type:
            continue
        kind = _typed(each)
        if kind is not None and ontology.page_type(kind) is not None:
            if not ontology.is_a(kind, label):
                disagreements.append(_disagreement(each, kind, label))
        else:
            moving[each.row.id] = (each, label)
    skipped = [_kept(*each) for each in fitting.drop_breaking(ws, caller, group, moving)]
    changes, told = _changes(ws, caller, moving, skipped)
    result = {
        "changed_count": len(told), "changes": told[: writing.MAX_LISTED],
        "kind_disagreements": disagreements, "skipped": skipped,
    }  # fmt: skip
    if not changes:
        return writing.nothing(group, result)
    return Plan(group, writing.answer(result), tuple(changes), f"entity types of {group}")


def _changes(
    ws: Workspace,
    caller: Caller,
    moving: Moving,
    skipped: list[dict[str, Any]],
) -> tuple[list[Change], list[dict[str, Any]]]:
    """Return the changes and what is told of them; what breaks a rule is added to `skipped`."""
    changes: list[Change] = []
    told: list[dict[str, Any]] = []
    for number, (each, label) in enumerate(moving.values()):
        if number % retyping.STEP == 0:
            steps.step(caller, number, len(moving), "writing")
        target = targets.load(ws, caller, each.row.id)
        if target.row.revision != each.row.revision:
            continue
        change = drafts.revise(ws, target, {"type": label})
        assert change is not None, "the type is another one"
        try:
            drafts.validate(ws, caller, change, checks.standing_problems(ws, caller, target))
        except InvalidRecord as error:
            skipped.append(_kept(each, label, error.message))
            continue
        changes.append(change)
        told.append(
            {
                "entity_id": each.row.id,
                "entity_name": each.row.title,
                "old_type": _typed(each),
                "new_type": label,
            }
        )
    return changes, told


def _disagreement(each: GraphRow, kind: str, label: str) -> dict[str, Any]:
    return {
        "entity_id": each.row.id, "entity_name": each.row.title, "kind": kind,
        "classified_type": label,
    }  # fmt: skip


def _kept(each: GraphRow, label: str, why: str) -> dict[str, Any]:
    return {
        "entity_id": each.row.id, "entity_name": each.row.title, "new_type": label, "why": why,
    }  # fmt: skip
