"""Deleting episodes: the source leaves the working tree, and what only it supported is withdrawn.

Everything is one journal entry. What other sources support too only loses the citation; a page that
a person has edited, or that something else stands on, stays as well. History stays in Git.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from vault_kg.errors import NotFound
from vault_kg.index import episodes
from vault_kg.index.episodes import Wanted
from vault_kg.operations.base import Id, Line, Reason
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding, support, writing
from vault_kg.operations.graph.request import GraphModel, GraphWrite, SomeGroups, Written
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store import files, sources
from vault_kg.store.paths import DEFAULT_PARTITION
from vault_kg.store.plan import Change, Plan
from vault_kg.store.sources import Source

DRY_RUN = Field(False, description="Say what would be done, and do nothing.")
REASON = Field(None, description="Why; kept in the history.")


class DeleteEpisode(GraphWrite):
    """The episode to delete."""

    episode_uuid: Id
    dry_run: bool = DRY_RUN
    reason: Reason | None = REASON


class DeleteBySource(GraphWrite):
    """The file whose episodes are deleted."""

    source_file: Line = Field(min_length=1, description="Exactly the file name.")
    group_ids: SomeGroups
    dry_run: bool = DRY_RUN
    reason: Reason | None = REASON


class DeleteChunk(GraphWrite):
    """The chunk whose episodes are deleted."""

    chunk_id: Line = Field(min_length=1, description="Exactly the episode's name.")
    group_ids: SomeGroups
    dry_run: bool = DRY_RUN
    reason: Reason | None = REASON


class Touched(GraphModel):
    """A record that lost a source."""

    uuid: str
    kind: str
    name: str
    why: str | None = None


class Deletion(Written):
    """What was, or would be, deleted and withdrawn."""

    success: bool
    dry_run: bool
    deleted_count: int
    deleted_uuids: list[str]
    withdrawn: list[Touched] = Field(description="Supported by what was deleted alone.")
    withdrawn_count: int
    updated: list[Touched] = Field(description="Supported by other sources too; citation removed.")
    updated_count: int
    kept: list[Touched] = Field(description="Pages that stay without a source, and why.")
    kept_count: int
    foreign_citations: int = Field(description="Records of other groups that cite it; unchanged.")


class EpisodeDeleted(Deletion):
    """Of one episode."""

    status: str


class SourceDeleted(Deletion):
    """Of all episodes of a file."""

    source_file: str


class ChunkDeleted(Deletion):
    """Of all episodes of a chunk."""

    chunk_id: str


@operation("write", EpisodeDeleted, toolset="graph", destructive=True)
def knowledge_delete_episode(
    ws: Workspace, request: DeleteEpisode, caller: Caller
) -> EpisodeDeleted:
    """Delete one retained source, and withdraw what only it supported; both are listed.

    The bytes stay in the Git history. There is no way back but to attach the source and assert
    again. dry_run says what would be done.
    """

    def find() -> list[Source]:
        wanted = Wanted(caller.partitions, ids=[request.episode_uuid])
        found = episodes.every(ws.database, wanted)
        if not found:
            raise NotFound(
                f"there is no episode {request.episode_uuid}; knowledge_get_episodes lists them",
                uuid=request.episode_uuid,
            )
        return found

    status = "would be deleted" if request.dry_run else "deleted"
    done = _delete(ws, caller, "knowledge_delete_episode", request, find, request.episode_uuid)
    return EpisodeDeleted(**done, status=status)


@operation("write", SourceDeleted, toolset="graph", destructive=True)
def knowledge_delete_by_source(
    ws: Workspace, request: DeleteBySource, caller: Caller
) -> SourceDeleted:
    """Delete the episodes of a file in the named groups, and withdraw what only they supported.

    The file name is matched exactly. group_ids is required: nothing is ever deleted in a group that
    was not named.
    """
    groups = finding.groups_to_read(caller, request.group_ids)
    wanted = Wanted(groups, source_file=request.source_file)
    done = _delete(
        ws, caller, "knowledge_delete_by_source", request,
        lambda: episodes.every(ws.database, wanted), request.source_file,
    )  # fmt: skip
    return SourceDeleted(**done, source_file=request.source_file)


@operation("write", ChunkDeleted, toolset="graph", destructive=True)
def knowledge_delete_chunk_episode(
    ws: Workspace, request: DeleteChunk, caller: Caller
) -> ChunkDeleted:
    """Delete the episodes of a chunk in the named groups, and withdraw what only they supported.

    group_ids is required: nothing is ever deleted in a group that was not named.
    """
    groups = finding.groups_to_read(caller, request.group_ids)
    wanted = Wanted(groups, chunk_id=request.chunk_id)
    done = _delete(
        ws, caller, "knowledge_delete_chunk_episode", request,
        lambda: episodes.every(ws.database, wanted), request.chunk_id,
    )  # fmt: skip
    return ChunkDeleted(**done, chunk_id=request.chunk_id)


def _delete(
    ws: Workspace,
    caller: Caller,
    operation: str,
    request: DeleteEpisode | DeleteBySource | DeleteChunk,
    find: Callable[[], list[Source]],
    label: str,
) -> dict[str, Any]:
    """Carry out a deletion of the sources that are found under the lane."""
    return writing.carry_out(
        ws, caller, operation, request, lambda: _plan(ws, caller, request, find(), label),
        dry_run=request.dry_run,
    ) | {"dry_run": request.dry_run}  # fmt: skip


def _plan(
    ws: Workspace,
    caller: Caller,
    request: DeleteEpisode | DeleteBySource | DeleteChunk,
    found: Sequence[Source],
    label: str,
) -> Plan:
    reason = request.reason or f"its source was deleted: {label}"
    lost = support.without(ws, caller, found, reason, request.request_id)
    result = {
        "success": True,
        "deleted_count": len(found),
        "deleted_uuids": [source.id for source in found],
        "foreign_citations": lost.foreign,
    }
    for name, items in lost.told(ws, caller).items():
        result |= {name: items[: writing.MAX_LISTED], f"{name}_count": len(items)}
    group = found[0].partition if found else DEFAULT_PARTITION
    changes = [*lost.changes, *(each for source in found for each in removals(ws, source))]
    if not changes:
        return writing.nothing(group, result)
    receipt = {"targetId": found[0].id, "reason": reason, **writing.answer(result)}
    return Plan(group, receipt, tuple(changes), label, tuple(lost.guards), reason=reason)


def removals(ws: Workspace, source: Source) -> list[Change]:
    """Return the changes that take a source out of the working tree."""
    changes = []
    descriptor = f"{sources.folder(source.partition, source.sha256)}/{sources.DESCRIPTOR}"
    for path in (source.path, descriptor):
        content = files.read(ws.vault.root, path, sources.MAX_SOURCE_BYTES)
        if content is not None:
            changes.append(Change(path, content, None, partition=source.partition))
    return changes
