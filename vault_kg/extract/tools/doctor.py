"""Whether the graph is as it should be, and bringing it up to date."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from pydantic import Field

from vault_kg.errors import InvalidArgument, ScopeDenied
from vault_kg.extract import checkup, filing, opening, queue, roots, updating
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.checkup import CATEGORIES, INFORMATIONAL
from vault_kg.extract.indexing import Report
from vault_kg.extract.tools.asking import Graph
from vault_kg.extract.tools.views import Answer, Data, Freshness, Meta, Names
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

SAMPLE = 5

WAIT_SECONDS = 2.0
"""How long indexing waits for another process that indexes, before it queues what it was asked."""


class Doctor(GraphRequest):
    """Only look, or also repair?"""

    fix: bool = Field(False, description="Repair what can be derived again; needs the scope write.")


class Issue(GraphModel):
    """What was found of one category."""

    category: str
    informational: bool
    count: int
    sample: list[str]


class DoctorData(Data):
    """How the graph is."""

    healthy: bool
    issue_count: int = Field(description="Without what is merely informational.")
    issues: list[Issue]
    fixed: bool
    counts: dict[str, dict[str, int]] = Field(description="Nodes and edges by kind.")
    files: int
    roots: dict[str, str] = Field(description="The folder of each root.")


class Index(GraphRequest):
    """What is to be indexed?"""

    root: Line | None = Field(None, description="Only this root of vault.toml; all where left out.")
    paths: Names | None = Field(None, description="Only these files or folders, from the root.")
    force: bool = Field(False, description="Extract also what is unchanged.")
    queued_only: bool = Field(False, description="Only what hooks have queued.")


class RootReport(GraphModel):
    """What was done to a root."""

    root: str
    listed: int
    read: int
    skipped: int
    failed: int
    removed: int
    linked: int
    unlisted: int


class IndexData(Data):
    """What was done."""

    reports: list[RootReport]
    counts: dict[str, dict[str, int]] = Field(description="Empty where nothing was queued.")


@operation("read", Answer[DoctorData], toolset="code")
def graph_doctor(ws: Workspace, request: Doctor, caller: Caller) -> Answer[DoctorData]:
    """Check the graph: dangling, duplicate and circular edges, orphans, malformed uids, stale paths.

    Informational: what could not be resolved or parsed, slow files, and records that lack a link that
    they should have. fix repairs only what can be derived again.
    """
    if request.fix and "write" not in caller.scopes:
        raise ScopeDenied("graph_doctor with fix needs the scope 'write'", scope="write")
    graph = Graph(ws, caller)
    every = roots.of(ws.vault.root)
    found = checkup.look(graph.backend, graph.reader, every, graph.sees_file)
    fixed = request.fix and found.count > 0
    if fixed:
        _repair(ws, graph)
        found = checkup.look(graph.backend, graph.reader, every, graph.sees_file)
    issues = [
        Issue(category=c, informational=c in INFORMATIONAL, count=len(found.issues[c]),
              sample=found.issues[c][:SAMPLE])
        for c in CATEGORIES
        if found.issues[c]
    ]  # fmt: skip
    counts = graph.reader.counts()
    return Answer(
        data=DoctorData(
            healthy=found.count == 0, issue_count=found.count, issues=issues, fixed=fixed,
            counts=counts, files=counts["nodes"].get("file", 0),
            roots={root.name: str(root.folder) for root in every},
            meta=graph.meta(truncated=any(issue.count > SAMPLE for issue in issues)),
        )
    )  # fmt: skip


@operation("write", Answer[IndexData], toolset="code", on_reading=True)
def graph_index(ws: Workspace, request: Index, caller: Caller) -> Answer[IndexData]:
    """Bring the graph up to date with the vault and the folders that vault.toml lists as roots.

    Unchanged files are skipped. Nothing in the vault is changed, and no write of it waits for this.
    """
    if request.queued_only and queue.is_empty(ws.vault.private):
        return _nothing_queued(ws)
    if request.queued_only:
        reports = updating.queued(ws, caller)
    elif request.paths is not None:
        root = roots.named(ws.vault.root, request.root or roots.VAULT)
        paths = [_inside(path) for path in request.paths]
        reports = updating.some(ws, caller, root, paths, force=request.force, wait=WAIT_SECONDS)
    else:
        chosen = None if request.root is None else [roots.named(ws.vault.root, request.root)]
        reports = updating.everything(ws, caller, chosen, force=request.force, wait=WAIT_SECONDS)
    graph = Graph(ws, caller)
    return Answer(
        data=IndexData(
            reports=[_report(each) for each in reports], counts=graph.reader.counts(),
            meta=graph.meta(),
        )
    )  # fmt: skip


def _nothing_queued(ws: Workspace) -> Answer[IndexData]:
    """Answer without opening the graph: a service asks every second."""
    state: Literal["indexed", "empty"] = "indexed" if opening.path_of(ws).exists() else "empty"
    meta = Meta(backend=SqliteBackend.name, freshness=Freshness(state=state))
    return Answer(data=IndexData(reports=[], counts={}, meta=meta))


def _inside(path: str) -> str:
    """Return a path from the root, refused where it climbs out of it."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts:
        raise InvalidArgument(f"{path!r} is not a path from a root", path=path)
    return "/".join(parts)


def _report(each: Report) -> RootReport:
    return RootReport(
        root=each.root, listed=each.listed, read=each.read, skipped=each.skipped,
        failed=each.failed, removed=each.removed, linked=each.linked, unlisted=each.unlisted,
    )  # fmt: skip


def _repair(ws: Workspace, seen: Graph) -> None:
    """Repair what is wrong now: what was found before the lock may have been put right since."""
    graph, caller = seen.backend, seen.caller
    every = {root.name: root for root in roots.of(ws.vault.root)}
    with opening.lane(ws).hold():
        found = checkup.look(graph, seen.reader, every.values(), seen.sees_file)
        with graph.writing():
            graph.remove_edges(found.edges)
            graph.remove_nodes(found.nodes)
            for root, path in found.stale:
                filing.forget_files(graph, root.name, [path])
        again: dict[str, list[str]] = defaultdict(list)
        for name, path in sorted(found.again):
            again[name].append(path)
        for name, paths in again.items():
            updating.some(ws, caller, every[name], paths, force=True)
        filing.sweep(graph)
