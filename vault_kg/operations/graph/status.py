"""The seed's part of knowledge_status: one set of keys in all states, unknown is null.

Nothing here waits for a writer, a rebuild or a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from vault_kg.errors import legible
from vault_kg.index import episodes, graph_rows, listing
from vault_kg.index.listing import Filter
from vault_kg.index.walk import ONTOLOGY
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import pointing, vocabulary
from vault_kg.state import journal as rows
from vault_kg.state import settings
from vault_kg.store.paths import DEFAULT_PARTITION

if TYPE_CHECKING:
    from vault_kg.operations.workspace import Workspace


def _named(name: str, description: str | None = None) -> Any:
    """Return a field that is spelled as in the seed; null where it is not known."""
    return Field(None, alias=name, description=description)


class SeedStatus(BaseModel):
    """What the seed says of a graph."""

    database_path: str | None = _named("database_path")
    embedding_model: str | None = _named("embedding_model")
    embedding_dim: int | None = _named("embedding_dim")
    entity_count: int | None = _named("entity_count")
    relationship_count: int | None = _named("relationship_count")
    episode_count: int | None = _named("episode_count")
    last_index_time: str | None = _named("last_index_time")
    index_created_at: str | None = _named("index_created_at")
    context_graph_initialized: bool | None = _named("context_graph_initialized")
    connected: bool | None = None
    queryable: bool | None = None
    initializing: bool | None = None
    degraded: bool | None = None
    reason: str | None = None
    recovery_available: list[str] | None = _named("recovery_available")
    indices_built: bool | None = _named("indices_built")
    wal: dict[str, Any] | None = Field(None, description="The journal of the default group.")
    wal_groups: dict[str, dict[str, Any]] | None = _named("wal_groups", "The journal by group.")
    cross_group_pointers: dict[str, int] | None = _named("cross_group_pointers")
    ontology: dict[str, Any] | None = None
    group_ontology_drift: list[dict[str, Any]] | None = _named("group_ontology_drift")
    group_identity_refusals: list[dict[str, Any]] | None = _named("group_identity_refusals")
    dedup_mode: str | None = _named("dedup_mode")


def seed_status(ws: Workspace, caller: Caller) -> dict[str, Any]:
    """Return the seed's keys for an open vault; counts are null until it was looked at once."""
    groups = [name for name in graph_rows.groups(ws.database) if caller.sees(name)]
    model = ws.semantics.model()
    positions = rows.positions_of_each(ws.database)
    wal = {
        group: _journal(ws, *positions.get(group, (0, 0)))
        for group in dict.fromkeys([*groups, DEFAULT_PARTITION])
    }
    seen = caller.sees(DEFAULT_PARTITION)
    refusals = ((group, vocabulary.identity_refusal(ws, group)) for group in groups)
    scanned = settings.get(ws.database, "scanned_at")
    return {
        "database_path": legible(ws.database.path),
        "embedding_model": model.name if model else None,
        "embedding_dim": model.dimension if model else None,
        "last_index_time": scanned,
        "context_graph_initialized": True,
        "connected": True,
        "queryable": ws.scanned,
        "initializing": not ws.scanned,
        "degraded": False,
        "reason": None if ws.scanned else "the files of the vault are being looked at",
        "recovery_available": [],
        "indices_built": ws.scanned and ws.job is None,
        "wal": wal[DEFAULT_PARTITION] | _FLAT if seen else None,
        "wal_groups": {group: wal[group] for group in groups},
        "cross_group_pointers": pointing.counts(ws, caller),
        "ontology": _ontology(ws) if seen else None,
        "group_ontology_drift": [vocabulary.drift(ws, group) for group in groups],
        "group_identity_refusals": [
            {"group_id": group, "message": told["message"]} for group, told in refusals if told
        ],
        **(_counts(ws, caller) if ws.scanned else {}),
    }  # fmt: skip


_FLAT = {"scope": "default_group", "default_group": DEFAULT_PARTITION, "see": "wal_groups"}


def unavailable_status(root: str, reason: str) -> dict[str, Any]:
    """Return the seed's keys for a vault that cannot be opened; what is not known is null."""
    known = {
        "connected": False, "queryable": False, "context_graph_initialized": False,
        "initializing": False, "degraded": True, "reason": reason,
        "recovery_available": [f"vault-kg recover --vault {root}"],
    }  # fmt: skip
    return SeedStatus(**known).model_dump(by_alias=True)


def _counts(ws: Workspace, caller: Caller) -> dict[str, int]:
    current = Filter(ws.now(), partitions=caller.partitions, ends_in=caller.partitions)
    counted = listing.counts(ws.database, current)
    return {
        "entity_count": counted.get("page", 0),
        "relationship_count": counted.get("relationship", 0),
        "episode_count": episodes.count(ws.database, episodes.Wanted(caller.partitions)),
    }


def _journal(ws: Workspace, applied: int, accepted: int) -> dict[str, Any]:
    """Return what is told of a group's part of the journal, by its positions."""
    hydration = "wal_ahead" if accepted > applied else "hydrated" if applied else "not_applicable"
    return {
        "exists": accepted > 0, "file_count": None, "byte_size": None, "applied_seq": applied,
        "max_seq": accepted, "generation": ws.vault.id, "generation_status": "known",
        "hydration_status": hydration, "embedding_model": None, "embedding_dim": None,
        "embedding_model_status": "not_applicable",
    }  # fmt: skip


def _ontology(ws: Workspace) -> dict[str, Any]:
    ontology = ws.ontology(DEFAULT_PARTITION)
    drift = vocabulary.drift(ws, DEFAULT_PARTITION)
    paths = (ONTOLOGY, f"{DEFAULT_PARTITION}/{ONTOLOGY}")
    return {
        "present": any(ws.ontologies.text(path) is not None for path in paths),
        "loaded": not ontology.broken,
        "mode": ontology.mode,
        "entity_type_count": len(ontology.page_types),
        "relation_type_count": len(ontology.relationship_types),
        "drifted": drift["drifted"],
        "drift_summary": drift["drift_summary"],
    }
