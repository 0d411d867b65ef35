"""What needs a language model: ingestion and reclassification; refused while there is none.

The requests are checked as if there were one, so that a client learns of its own faults first.
"""

from __future__ import annotations

from typing import Annotated, Literal, NoReturn

from pydantic import Field, StringConstraints

from vault_kg.errors import Unavailable
from vault_kg.operations import base
from vault_kg.operations.base import Line, Partition, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges, finding, vocabulary
from vault_kg.operations.graph.request import EntityName, GraphModel, GraphWrite, GroupId
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store.paths import DEFAULT_PARTITION

Scope = Literal["untyped", "off_ontology", "all"]
Worded = Annotated[Text, StringConstraints(pattern=r"\S")]


class ProcessChunk(GraphWrite):
    """A piece of text to be read."""

    chunk_text: Worded
    chunk_id: Line = Field(min_length=1)
    source_file: Line = Field(min_length=1)
    group_id: GroupId = DEFAULT_PARTITION
    reference_time: Line | None = Field(None, description="When what it says was so.")
    attributes: base.Mapping | None = None


class AddEpisode(GraphWrite):
    """A text to be read."""

    name: EntityName
    episode_body: Worded
    source: Literal["text", "message", "json"] = "text"
    source_description: Line | None = None
    reference_time: Line | None = Field(None, description="When what it says was so.")
    group_id: GroupId = DEFAULT_PARTITION
    attributes: base.Mapping | None = None


class ReprocessEntityTypes(GraphWrite):
    """Entities to be classified by a language model."""

    group_id: Partition = Field(description="Required: there is no default here.")
    scope: Scope = "untyped"
    dry_run: bool = False


class ReprocessRelationTypes(GraphWrite):
    """Edges to be classified by a language model."""

    group_id: Partition = Field(description="Required: there is no default here.")
    scope: Scope = "untyped"
    dry_run: bool = False


class Ingested(GraphModel):
    """What was read out of a text."""

    success: bool
    episode_uuid: str


class Reprocessed(GraphModel):
    """What was classified."""

    success: bool
    group_id: str


@operation("write", Ingested, toolset="graph")
def knowledge_process_chunk(ws: Workspace, request: ProcessChunk, caller: Caller) -> Ingested:
    """Retain a piece of text and extract entities and facts from it with a language model."""
    _check(ws, request, caller)
    no_model("knowledge_process_chunk")


@operation("write", Ingested, toolset="graph")
def knowledge_add_episode(ws: Workspace, request: AddEpisode, caller: Caller) -> Ingested:
    """Retain a text and extract entities and facts from it with a language model."""
    _check(ws, request, caller)
    no_model("knowledge_add_episode")


@operation("write", Reprocessed, toolset="graph")
def knowledge_reprocess_entity_types(
    ws: Workspace,
    request: ReprocessEntityTypes,
    caller: Caller,
) -> Reprocessed:
    """Classify the entities of a group with a language model."""
    finding.group_to_write(caller, request.group_id)
    no_model("knowledge_reprocess_entity_types")


@operation("write", Reprocessed, toolset="graph")
def knowledge_reprocess_relation_types(
    ws: Workspace,
    request: ReprocessRelationTypes,
    caller: Caller,
) -> Reprocessed:
    """Classify the facts of a group with a language model."""
    finding.group_to_write(caller, request.group_id)
    no_model("knowledge_reprocess_relation_types")


def no_model(name: str) -> NoReturn:
    """Refuse what needs a language model.

    Raises:
        Unavailable: always; nothing was retained.
    """
    raise Unavailable(
        f"{name} needs a language model, and no extraction model is configured; nothing was "
        "changed. Record what you know with knowledge_assert_entity and "
        "knowledge_assert_relationship, or retain the text with knowledge_attach_file",
        missing="extraction_model",
        operation=name,
        rpc_code=-32000,
    )


def _check(ws: Workspace, request: ProcessChunk | AddEpisode, caller: Caller) -> None:
    group = finding.group_to_write(caller, request.group_id)
    edges.instant(request.reference_time, "reference_time")
    vocabulary.check_identity(ws, group)
