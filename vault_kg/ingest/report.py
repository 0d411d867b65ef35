"""What ingestion answers: what was written, and everything that was not, each with its content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from vault_kg.ingest.grounding import Place
from vault_kg.ingest.items import Entity, Kind, Statement
from vault_kg.operations.graph.deletion import Touched
from vault_kg.operations.graph.request import GraphModel, Written


class Item(GraphModel):
    """One thing that the text says, or that the model says it says."""

    kind: Kind
    name: str | None = Field(None, description="The entity, or what the statement is about.")
    target: str | None = Field(None, description="The other end of a relationship.")
    type: str | None = None
    text: str | None = Field(None, description="The summary, statement or fact.")
    quote: str | None = None
    lines: str | None = None
    reason: str | None = None
    uuid: str | None = Field(None, description="The record that it became, is, or resembles.")
    other: str | None = Field(None, description="The name that it resembles.")


class DroppedEdge(GraphModel):
    """A fact whose end is no entity."""

    source_name: str
    target_name: str | None = Field(description="Null for a claim.")
    relation_type: str | None
    fact: str
    unresolved_endpoint: Literal["source", "target", "both"]
    reason: str | None = None


class DedupPaths(GraphModel):
    """How names were resolved. What resembles only is never merged, so some are always 0."""

    exact_name: int = 0
    embedding_merge: int = 0
    vetoed: int = 0
    adapter_rejected: int = 0
    llm_confirmed: int = 0
    llm_rejected: int = 0
    llm_unavailable: int = 0
    salvage_vetoed: int = 0


class Incomplete(GraphModel):
    """A part of the text of which not everything was read."""

    lines: str
    reason: str


class Oversized(GraphModel):
    """A text longer than one piece; it was divided."""

    type: Literal["chunk_text_oversized"] = "chunk_text_oversized"
    chunk_text_chars: int
    recommended_max_chars: int
    message: str


class Ingested(Written):
    """What was, or would be, read out of a text, and all that was not kept."""

    success: bool
    dry_run: bool = False
    episode_uuid: str = Field(description="The retained source.")
    chunk_id: str | None = None
    source_file: str | None = None
    model: str | None = None
    nodes_extracted: int = Field(0, description="Entities, those that stand already included.")
    edges_extracted: int = Field(0, description="Relationships made.")
    claims_extracted: int = Field(0, description="Claims made.")
    edges_dropped_unresolvable: int = 0
    edges_dropped_self_loop: int = 0
    edges_reclassified_unclassified: int = 0
    entities_reclassified_unclassified: int = 0
    entities_dropped_malformed: int = 0
    edges_dropped_malformed: int = Field(0, description="Claims included.")
    dropped_ungrounded: int = 0
    dedup_paths: DedupPaths = Field(default_factory=DedupPaths)
    written: list[Item] = Field(default_factory=list)
    merged: list[Item] = Field(default_factory=list, description="Is a record that stands.")
    candidates: list[Item] = Field(
        default_factory=list, description="Resembles another name: a person decides."
    )
    vetoed: list[Item] = Field(
        default_factory=list, description="Looks like another name and is certainly another thing."
    )
    reclassified: list[Item] = Field(default_factory=list)
    salvaged: list[Item] = Field(default_factory=list, description="Kept after a repair.")
    malformed: list[Item] = Field(default_factory=list)
    ungrounded: list[Item] = Field(
        default_factory=list, description="Dropped: the text does not bear it out."
    )
    retracted: list[Item] = Field(
        default_factory=list, description="Dropped: it was withdrawn or corrected before."
    )
    refused: list[Item] = Field(default_factory=list, description="Breaks a rule of records.")
    self_loops: list[Item] = Field(default_factory=list)
    dropped_edges: list[DroppedEdge] = Field(default_factory=list)
    incomplete: list[Incomplete] = Field(default_factory=list)
    withdrawn: list[Touched] = Field(
        default_factory=list, description="The text before said so, and nothing does now."
    )
    updated: list[Touched] = Field(default_factory=list)
    kept: list[Touched] = Field(default_factory=list)
    calls: int = 0
    tokens: int = 0
    duration_seconds: float = 0.0
    warning: Oversized | None = None


def of_entity(entity: Entity, place: Place | None = None, **more: Any) -> Item:
    """Return what is told of an entity."""
    return Item(
        kind="entity", name=entity.name, text=entity.summary or None, **_where(place),
        **{"type": entity.type or None} | more,
    )  # fmt: skip


def of_statement(statement: Statement, place: Place | None = None, **more: Any) -> Item:
    """Return what is told of a claim or relation."""
    kind: Kind = "claim" if statement.target is None else "relationship"
    return Item(
        kind=kind, name=statement.source, target=statement.target, text=statement.text,
        **{"quote": statement.quote, "type": statement.type or None} | _where(place) | more,
    )  # fmt: skip


def of_raw(kind: Kind, item: Any, reason: str) -> Item:
    """Return what is told of an item as the model gave it."""
    named = item if isinstance(item, Mapping) else {}
    name = named.get("name") or named.get("source") or named.get("about")
    return Item(
        kind=kind,
        name=name if isinstance(name, str) else None,
        text=json.dumps(item, ensure_ascii=False, default=str)[:2_000],
        reason=reason,
    )


def _where(place: Place | None) -> dict[str, str]:
    return {} if place is None else {"quote": place.quote, "lines": place.lines}
