"""Reading text into the vault: one chunk, or one episode."""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from vault_kg.ingest import documents
from vault_kg.ingest.ingesting import ingest
from vault_kg.ingest.report import Ingested
from vault_kg.ingest.retaining import Document
from vault_kg.operations import base
from vault_kg.operations.base import Line, Text
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges, finding
from vault_kg.operations.graph.request import EntityName, GraphWrite, GroupId
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store.paths import DEFAULT_PARTITION


def _worded(text: str) -> str:
    if not text.strip():
        raise ValueError("holds nothing to read")
    return text


Worded = Annotated[Text, AfterValidator(_worded)]
DRY_RUN = Field(False, description="Read it, say what would be written, and write nothing.")
TIME = Field(None, description="When what it says was so.")
ATTRIBUTES = Field(None, description="Kept with the retained source.")


class ProcessChunk(GraphWrite):
    """A piece of text to be read."""

    chunk_text: Worded
    chunk_id: Line = Field(
        min_length=1, description="Its name: changed text of the same name replaces the old."
    )
    source_file: Line = Field(min_length=1, description="The file that it is a piece of.")
    group_id: GroupId = DEFAULT_PARTITION
    reference_time: Line | None = TIME
    attributes: base.Mapping | None = ATTRIBUTES
    dry_run: bool = DRY_RUN


class AddEpisode(GraphWrite):
    """A text to be read."""

    name: EntityName = Field(description="Changed text of the same name replaces the old.")
    episode_body: Worded
    source: Literal["text", "message", "json"] = "text"
    source_description: Line | None = None
    reference_time: Line | None = TIME
    group_id: GroupId = DEFAULT_PARTITION
    attributes: base.Mapping | None = ATTRIBUTES
    dry_run: bool = DRY_RUN


@operation("write", Ingested, toolset="graph", asks_model=True)
def knowledge_process_chunk(ws: Workspace, request: ProcessChunk, caller: Caller) -> Ingested:
    """Read prose into pages, claims and relationships that cite its lines, with a language model.

    The text is retained as a source. The same text again changes nothing. The answer lists what was
    written and, with its content, all that was not.
    """
    kind = documents.kind_of(request.source_file)
    text, transcript = documents.as_text(request.chunk_text, kind)
    document = Document(
        group=_group(caller, request), text=text, source_file=request.source_file,
        chunk_id=request.chunk_id, filename=_filename(request.source_file, transcript),
        media_type=_media_type(request.source_file, transcript),
        reference_time=request.reference_time, attributes=request.attributes,
    )  # fmt: skip
    fault = documents.fault(request.chunk_text, kind)
    return _ingested(ws, caller, "knowledge_process_chunk", request, document, fault)


@operation("write", Ingested, toolset="graph", asks_model=True)
def knowledge_add_episode(ws: Workspace, request: AddEpisode, caller: Caller) -> Ingested:
    """Read a text, messages or JSON as knowledge_process_chunk does, under a name of its own."""
    text, transcript = documents.as_text(request.episode_body, request.source)
    ending = ".json" if request.source == "json" and not transcript else ".txt"
    document = Document(
        group=_group(caller, request), text=text,
        source_file=request.source_description or request.name, chunk_id=request.name,
        filename=f"{request.name}{ending}", media_type=_media_type(f"episode{ending}", False),
        reference_time=request.reference_time, attributes=request.attributes,
    )  # fmt: skip
    fault = documents.fault(request.episode_body, request.source)
    return _ingested(ws, caller, "knowledge_add_episode", request, document, fault)


def _ingested(
    ws: Workspace, caller: Caller, operation: str, request: ProcessChunk | AddEpisode,
    document: Document, fault: str | None,
) -> Ingested:  # fmt: skip
    """Ingest a document, and say of it what its reader has to know."""
    told = ingest(ws, caller, operation, request, document, dry_run=request.dry_run)
    warnings = [*told.warnings, *([fault] if fault else [])]
    return told.model_copy(update={"warnings": warnings})


def _group(caller: Caller, request: ProcessChunk | AddEpisode) -> str:
    edges.instant(request.reference_time, "reference_time")
    return finding.group_to_write(caller, request.group_id)


def _filename(source_file: str, transcript: bool) -> str:
    name = PurePosixPath(source_file.replace("\\", "/")).name or "text"
    return f"{name}.txt" if transcript else name


def _media_type(filename: str, transcript: bool) -> str:
    if transcript:
        return "text/plain"
    if filename.lower().endswith((".md", ".markdown")):
        return "text/markdown"
    guessed = mimetypes.guess_type(filename)[0] or "text/plain"
    return guessed if guessed.startswith("text/") or "json" in guessed else "text/plain"
