"""Looking after the journal and what is derived from the files."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vault_kg.errors import Unavailable
from vault_kg.index import graph_rows, schema
from vault_kg.index.graph_rows import Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations import steps
from vault_kg.operations.base import Line, Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Job, Workspace
from vault_kg.state import journal as rows


class BuildIndices(GraphRequest):
    """Everything that is derived from the files."""


class Built(GraphModel):
    """What was derived anew."""

    status: str
    indices_built: bool
    files: int


class PrepareCheckpoint(GraphRequest):
    """What waits to be flushed."""


class Checkpointed(GraphModel):
    """How many journal entries were committed to Git of those that waited."""

    success: bool
    files_flushed: int
    files_total: int
    reason: str | None = Field(None, description="Why some wait still.")


class StripEmbeddings(GraphRequest):
    """The journal of a group, or of all."""

    group_id: Line | None = None
    dry_run: bool = False


class Stripped(GraphModel):
    """A report of nothing: the journal holds no vectors."""

    dry_run: bool
    files_processed: int = 0
    files_rewritten: int = 0
    files_unchanged: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records_rewritten: int = 0
    unparseable_lines: int = 0
    errors: list[dict[str, Any]] = Field(default_factory=list)
    reason: str


class BackfillEmbeddings(GraphRequest):
    """The group whose entities are embedded."""

    group_id: Partition = Field(description="Required: there is no default here.")
    dry_run: bool = False


class Embedded(GraphModel):
    """How many entities have a summary, and how many passages were embedded now."""

    group_id: str
    dry_run: bool
    total_entities: int
    backfilled: int
    pending: int = Field(description="Passages of the vault that have no vector yet.")


class RebuildStatus(GraphRequest):
    """A rebuild that was started."""

    job_id: Line


class JobStatus(GraphModel):
    """How far a rebuild is."""

    status: str
    job_id: str | None = None
    mutations_replayed: int | None = None
    start_time: str | None = None
    elapsed_seconds: float | None = None
    error: str | None = None
    result: dict[str, Any] | None = None


@operation("admin", Built, toolset="graph", on_reading=True)
def knowledge_build_indices(
    ws: Workspace,
    request: BuildIndices,
    caller: Caller,
) -> Built:
    """Derive the index anew from the files, in one step: until it is done reads use the old one.

    Reports progress; taken back by the caller, it leaves the index as it was.
    """
    return Built(status="ok", indices_built=True, files=rebuild(ws, caller))


@operation("admin", Checkpointed, toolset="graph")
def knowledge_prepare_checkpoint(
    ws: Workspace,
    request: PrepareCheckpoint,
    caller: Caller,
) -> Checkpointed:
    """Commit to Git what waits for it, and move the state's log into its file.

    Reports progress; taken back by the caller, it leaves the rest waiting.
    """
    before, _ = rows.queue_state(ws.database)
    left_waiting = "what is not committed yet waits"
    ws.outbox.drain(
        tell=lambda done, total, what: steps.step(caller, done, total, what, left_waiting)
    )
    if caller.cancelled():
        raise steps.cancelled(left_waiting)
    left, reason = rows.queue_state(ws.database)
    ws.database.checkpoint()
    return Checkpointed(
        success=left == 0, files_flushed=max(0, before - left), files_total=before, reason=reason
    )


@operation("admin", Stripped, toolset="graph", on_reading=True)
def knowledge_strip_wal_embeddings(
    ws: Workspace,
    request: StripEmbeddings,
    caller: Caller,
) -> Stripped:
    """Say that there are no vectors in the journal, and never were: nothing is done."""
    if request.group_id is not None:
        finding.group_to_write(caller, request.group_id)
    return Stripped(
        dry_run=request.dry_run,
        reason="the journal holds records and never vectors; they are derived from the text",
    )


@operation("admin", Embedded, toolset="graph", asks_model=True, on_reading=True)
def knowledge_backfill_summary_embeddings(
    ws: Workspace, request: BackfillEmbeddings, caller: Caller
) -> Embedded:
    """Embed what has no vector yet; nobody waits meanwhile. Changed text embeds itself otherwise.

    Vectors are of passages and kept by content, so those of other groups are made along.
    """
    group = finding.group_to_write(caller, request.group_id)
    pages = Filter(ws.now(), kinds=("page",), partitions=[group])
    entities = graph_rows.every(ws.database, Narrow(pages))
    total = sum(1 for each in entities if each.row.summary)
    done = 0
    if not request.dry_run:
        done, reason = ws.semantics.embed_pending(
            lambda made, of: caller.report(made, of, "embedding"), caller.cancelled
        )
        if reason is not None:
            raise Unavailable(
                f"nothing can be embedded: {reason}", missing="embedding_model", rpc_code=-32000
            )
    return Embedded(
        group_id=group, dry_run=request.dry_run, total_entities=total, backfilled=done,
        pending=ws.semantics.state()["pending"],
    )  # fmt: skip


@operation("read", JobStatus, toolset="graph")
def knowledge_rebuild_status(
    ws: Workspace,
    request: RebuildStatus,
    caller: Caller,
) -> JobStatus:
    """Say how far a rebuild is; rebuilds are answered when they are done, so none is ever known."""
    return JobStatus(status="not_found")


def rebuild(ws: Workspace, caller: Caller, stands: str = steps.NOTHING_CHANGED) -> int:
    """Derive the index anew in one transaction; returns how many files were looked at.

    Args:
        ws: the opened vault.
        caller: who waits for it.
        stands: what is to be said of the vault where the caller takes it back.

    Raises:
        Cancelled: the caller took it back; the index is as it was.
    """

    def tell(done: int, total: int) -> None:
        ws.job = Job("rebuilding", done, total)
        steps.step(caller, done, total, "indexing", stands)

    try:
        with ws.lane.hold(), ws.database.write():
            tell(0, 0)
            schema.drop(ws.database)
            schema.ensure(ws.database, schema.VERSION)
            report = ws.indexer.scan(ws.journal, tell)
    finally:
        ws.job = None
    ws.outbox.drain()
    return report.files
