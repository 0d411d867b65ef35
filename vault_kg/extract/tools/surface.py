"""Where a tree is entered from outside, and what it promises there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from vault_kg.extract.backends.values import Choice, NodeRow
from vault_kg.extract.edge_kinds import EXECUTED
from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import (
    Answer,
    Data,
    Listed,
    Names,
    NodeView,
    node_view,
)
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace

PER_BUCKET = 200
_EVERY = 1 << 30

CONTRACT, ENTRY = "contract:", "entry:"

PRIORITY = {"main": 4, "cli": 4, "http": 3, "cron": 2, "test": 1}
"""Kinds of entry points, the first to be read first."""

_ALSO = {"task": "cron"}
"""What is run by a worker comes when it is time, like what is scheduled."""

DECLARED, UNCALLED, NAMED = 0.6, 0.2, 0.2
"""What a score is made of: it says it is one, nothing in the tree calls it, its file's name."""

_ENTRY_FILES = frozenset({"__main__", "main", "cli", "app", "server", "manage", "wsgi", "asgi"})

EntryKind = Literal["main", "cli", "http", "cron", "test"]


class Contracts(GraphRequest):
    """Which contracts?"""

    scope: Line | None = Field(None, description="Only in this file or folder.")
    kinds: Names | None = Field(None, description="Only these kinds: http, mcp_tool, event, …")
    include_test_sources: bool = False


class Contract(GraphModel):
    """What something promises to whoever is outside."""

    node: NodeView
    detail: dict[str, str] = Field(description="As far as it is written down: route, command, …")


class Bucket(GraphModel):
    """The contracts of one kind."""

    kind: str
    items: list[Contract]
    count: int
    total: int


class ContractsData(Data):
    """Contracts by kind."""

    buckets: list[Bucket]
    total: int


class Entrypoints(GraphRequest):
    """Which entry points?"""

    top: Annotated[int, Field(ge=1, le=200)] = 20
    kind: EntryKind | None = None
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.05
    diversify: bool = Field(True, description="In turn from each file, and not all of one first.")


class Entrypoint(NodeView):
    """Where execution may enter."""

    entry_kind: EntryKind
    score: float
    reasons: list[str]
    detail: dict[str, str]


class EntrypointsData(Listed):
    """Entry points, the most telling first."""

    results: list[Entrypoint]


@reads(Answer[ContractsData])
def graph_contracts(ws: Workspace, request: Contracts, caller: Caller) -> Answer[ContractsData]:
    """List what the tree offers outside: HTTP routes, MCP tools, events, by kind with their handler."""
    graph = Graph(ws, caller)
    rows, _ = graph.reader.select(Choice(role=CONTRACT, path=request.scope), _EVERY)
    found: dict[str, list[NodeRow]] = defaultdict(list)
    for row in rows:
        if request.include_test_sources or not is_test_path(row.node.path or ""):
            for kind in _kinds(row, CONTRACT):
                found[kind].append(row)
    wanted = sorted(kind for kind in found if request.kinds is None or kind in request.kinds)
    buckets = [
        Bucket(
            kind=kind, count=min(len(found[kind]), PER_BUCKET), total=len(found[kind]),
            items=[Contract(node=node_view(row), detail=dict(row.node.detail))
                   for row in found[kind][:PER_BUCKET]],
        )
        for kind in wanted
    ]  # fmt: skip
    total = sum(bucket.total for bucket in buckets)
    meta = graph.meta(truncated=any(b.total > b.count for b in buckets))
    return Answer(data=ContractsData(buckets=buckets, total=total, meta=meta))


@reads(Answer[EntrypointsData])
def graph_entrypoints(
    ws: Workspace, request: Entrypoints, caller: Caller
) -> Answer[EntrypointsData]:
    """List where execution may enter: main, command line, HTTP, scheduled, tests; the kinds in this order.

    The score adds up what speaks for it: it declares itself, nothing calls it, its file's name.
    """
    graph = Graph(ws, caller)
    uncalled, _ = graph.reader.select(Choice(role=ENTRY, not_reached_by=EXECUTED), _EVERY)
    free = {row.key for row in uncalled}
    rows, _ = graph.reader.select(Choice(role=ENTRY), _EVERY)
    if request.kind in (None, "test"):
        rows += graph.reader.select(Choice(role="test", kinds=("function", "method")), _EVERY)[0]
    found = [
        each
        for row in rows
        for each in _entries(row, uncalled=row.key in free)
        if request.kind in (None, each.entry_kind) and each.score >= request.min_score
    ]
    found.sort(
        key=lambda e: (-PRIORITY[e.entry_kind], -e.score, e.root, e.path or "", e.start_line or 0)
    )
    shown = (_in_turn(found) if request.diversify else found)[: request.top]
    meta = graph.meta(truncated=len(found) > len(shown))
    return Answer(
        data=EntrypointsData(results=shown, count=len(shown), total=len(found), meta=meta)
    )


def _kinds(row: NodeRow, prefix: str) -> list[str]:
    return [role.removeprefix(prefix) for role in row.node.roles if role.startswith(prefix)]


def _entries(row: NodeRow, *, uncalled: bool) -> list[Entrypoint]:
    named = [_ALSO.get(kind, kind) for kind in _kinds(row, ENTRY)]
    kinds = [kind for kind in named if kind in PRIORITY]
    kinds += ["test"] if "test" in row.node.roles and row.node.kind != "file" else []
    stem = (row.node.path or "").rpartition("/")[2].partition(".")[0]
    return [_entry(row, kind, stem, uncalled or kind == "test") for kind in dict.fromkeys(kinds)]


def _entry(row: NodeRow, kind: str, stem: str, uncalled: bool) -> Entrypoint:
    reasons = {f"declared:{kind}": DECLARED}
    if uncalled:
        reasons["not_called"] = UNCALLED
    if stem in _ENTRY_FILES:
        reasons[f"file:{stem}"] = NAMED
    return Entrypoint(
        **node_view(row).model_dump(), entry_kind=kind, score=round(sum(reasons.values()), 2),
        reasons=list(reasons), detail=dict(row.node.detail),
    )  # fmt: skip


def _in_turn(found: Sequence[Entrypoint]) -> list[Entrypoint]:
    """Take one of each file in turn, kind by kind, so that one file does not fill the answer."""
    turns: dict[tuple[int, str, str], int] = defaultdict(int)
    placed = []
    for each in found:
        priority = PRIORITY[each.entry_kind]
        place = (priority, each.root, each.path or "")
        placed.append((-priority, turns[place], each))
        turns[place] += 1
    placed.sort(key=lambda item: item[:2])
    return [each for _, _, each in placed]
