"""Taking an edited ontology over for one group, without a restart."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vault_kg.operations.base import Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, vocabulary
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.graph.vocabulary import Taken
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace


class ReloadOntology(GraphRequest):
    """The group whose ontology is taken over."""

    group_id: Partition = Field(description="Required: there is no default here.")


class Drift(GraphModel):
    """How the vocabulary differs from the one that the group took over before."""

    group_id: str
    drifted: bool
    drift_summary: str | None = None


class IdentityRefusal(GraphModel):
    """A change of what tells pages apart that the group's pages do not allow."""

    message: str
    label: str
    count: int
    adding: bool


class Reloaded(GraphModel):
    """The vocabulary now in force; a refusal is told here and enforced on ingestion."""

    group_id: str
    previous_hash: str | None
    new_hash: str
    changed: bool
    drift: Drift
    identity_refusal: IdentityRefusal | None = None
    issues: list[dict[str, Any]] = Field(description="What is wrong in the ontology files.")


@operation("admin", Reloaded, toolset="graph")
def knowledge_reload_ontology(ws: Workspace, request: ReloadOntology, caller: Caller) -> Reloaded:
    """Take the edited ontology of one group over: records are judged by it from now on.

    Stored records never change. A change of the types that tell pages apart is refused, and told,
    while the group has pages of them; ingestion into the group is refused until it is restored.
    """
    group = finding.group_to_write(caller, request.group_id)
    before, now = vocabulary.taken(ws, group), Taken.of(ws.ontology(group))
    drift = vocabulary.drift(ws, group)
    refusal = vocabulary.identity_refusal(ws, group)
    ontology = ws.ontology(group)
    if refusal is None and not ontology.broken and before != now:
        vocabulary.remember(ws, group, now)
        ws.scan()
    return Reloaded(
        group_id=group,
        previous_hash=before.fingerprint if before else None,
        new_hash=now.fingerprint,
        changed=before is not None and before.fingerprint != now.fingerprint,
        drift=Drift(**drift),
        identity_refusal=IdentityRefusal(**refusal) if refusal else None,
        issues=[
            {"code": i.code, "message": i.message, "line": i.line, "level": i.level}
            for i in ontology.issues
        ],
    )
