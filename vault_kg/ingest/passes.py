"""What the passes over entities and edges have in common: scope, candidates, and asking the model.

Everything is asked before the write lane is taken; a model that fails fails the pass, and nothing is
written then. The counts of a rehearsal are those of the pass: both plan the same changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from vault_kg.errors import InvalidArgument
from vault_kg.index.graph_rows import GraphRow
from vault_kg.ingest import configured
from vault_kg.ingest.classifying import Choice, Classifier, ModelClassifier
from vault_kg.operations import steps
from vault_kg.operations.base import Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphWrite, Written
from vault_kg.records.ontology_types import Definition

Scope = Literal["untyped", "off_ontology", "all"]


class Reprocess(GraphWrite):
    """What a pass is over."""

    group_id: Partition = Field(description="Required: there is no default here.")
    scope: Scope = Field(
        "untyped", description="off_ontology: also what has a type that is not declared."
    )
    dry_run: bool = Field(False, description="Ask the model and say what would be written.")


class Reprocessed(Written):
    """What a pass came to."""

    success: bool = Field(description="Always true: a failure is an error.")
    group_id: str
    dry_run: bool
    candidate_count: int = Field(description="How many the model was to look at.")
    would_reclassify_count: int | None = Field(None, description="Of a dry run.")
    reclassified_count: int | None = Field(None, description="Of a real one.")
    unchanged_count: int
    unanswered_count: int = Field(
        description="Those for which the model gave no answer of use; they are left as they are."
    )


def in_scope(scope: Scope, name: str | None, declared: Callable[[str], object]) -> bool:
    """Say whether something of a type is a candidate; None is untyped."""
    return name is None or scope == "all" or (scope == "off_ontology" and not declared(name))


def classifier() -> Classifier:
    """Return what chooses: the configured extraction model.

    Raises:
        Unavailable: none is configured.
    """
    return ModelClassifier(configured.extractor())


def ask(
    caller: Caller,
    about: str,
    candidates: Sequence[GraphRow],
    types: Callable[[GraphRow], Sequence[Definition]],
    text: Callable[[GraphRow], str],
) -> dict[str, Choice]:
    """Return what the model chooses for each candidate, by id; without a type to offer it is none.

    Args:
        caller: told how far it is, and asked whether it still waits.
        about: what is asked.
        candidates: what it is asked of.
        types: the types that each may be given.
        text: what is shown of each.
    """
    chooser = classifier()
    chosen: dict[str, Choice] = {}
    for number, each in enumerate(candidates):
        steps.step(caller, number, len(candidates), "classifying")
        offered = types(each)
        chosen[each.row.id] = (
            chooser.choose(about, offered, text(each), caller.cancelled)
            if offered
            else Choice(None)
        )
    return chosen


def counts(
    request: Reprocess, chosen: Mapping[str, Choice], changed: int
) -> dict[str, int | bool | str | None]:
    """Return what every pass tells of itself.

    Args:
        request: what was asked.
        chosen: what the model chose.
        changed: how many were, or would be, given another type.
    """
    unanswered = sum(not each.answered for each in chosen.values())
    return {
        "success": True,
        "group_id": request.group_id,
        "dry_run": request.dry_run,
        "candidate_count": len(chosen),
        "would_reclassify_count": changed if request.dry_run else None,
        "reclassified_count": None if request.dry_run else changed,
        "unchanged_count": len(chosen) - changed - unanswered,
        "unanswered_count": unanswered,
    }


def require(types: Sequence[Definition], what: str, group: str) -> None:
    """Refuse a pass over a group whose vocabulary offers nothing to choose from.

    Raises:
        InvalidArgument: there are no types.
    """
    if not types:
        raise InvalidArgument(
            f"the vocabulary of {group!r} declares no {what} that a model may choose; declare some "
            "in ontology.yaml",
            group_id=group,
        )
