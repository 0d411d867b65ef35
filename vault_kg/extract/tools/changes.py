"""What changed: in the working tree, or between two commits, symbol by symbol, and what it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from vault_kg.extract import roots, updating
from vault_kg.extract.backends.values import NodeRow, Where
from vault_kg.extract.comparing import STAGED, WORKING, FileChange, files_between
from vault_kg.extract.edge_kinds import BEHAVIOURAL
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.impact import Reached, reached
from vault_kg.extract.tools.views import Answer, Listed, Names
from vault_kg.extract.walks import walk
from vault_kg.operations.base import Line
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace

DEPTH, CONFIDENCE, VISITED = 3, 0.6, 500
HIGH, MEDIUM = 20, 5
"""More behavioural dependents than this make a change risky."""

SHOWN = 100

Risk = Literal["none", "low", "medium", "high"]


class DetectChanges(GraphRequest):
    """Which changes?"""

    root: Line = Field(roots.VAULT, description="The root; the vault's own folder where left out.")
    scope: Literal["working", "staged"] = Field("working", description="Compared with HEAD.")
    files: Names | None = Field(None, description="Only these files, from the root.")
    analyze_downstream: bool = Field(True, description="Also what depends on what changed.")


class Diff(GraphRequest):
    """Two commits."""

    root: Line = Field(roots.VAULT, description="The root; the vault's own folder where left out.")
    base: Line = "HEAD~1"
    head: Line = "HEAD"
    analyze_downstream: bool = True


class ChangedSymbol(GraphModel):
    """A symbol that differs."""

    uid: str
    kind: str
    label: str
    path: str
    line: int | None
    change: Literal["added", "removed", "modified"]


class ChangedFile(GraphModel):
    """A file that differs."""

    path: str
    change: Literal["added", "removed", "modified"]
    symbols: int
    error: str | None = None


class Changes(Listed):
    """What changed, and what depends on it; `total` counts symbols."""

    root: str
    files: list[ChangedFile]
    symbols: list[ChangedSymbol]
    downstream: list[Reached]
    downstream_total: int
    risk_level: Risk
    walk_truncated: bool


@reads(Answer[Changes])
def graph_detect_changes(ws: Workspace, request: DetectChanges, caller: Caller) -> Answer[Changes]:
    """List the symbols that differ from the last commit, and what depends on them.

    Reads the files as they are now, whether they are indexed or not. The risk is high with more than
    20 behavioural dependents within 3 steps, medium with more than 5.
    """
    head = WORKING if request.scope == "working" else STAGED
    return _answer(ws, caller, request.root, "HEAD", head, request.files,
                   analyse=request.analyze_downstream)  # fmt: skip


@reads(Answer[Changes])
def graph_diff(ws: Workspace, request: Diff, caller: Caller) -> Answer[Changes]:
    """List the symbols that differ between two commits, and what depends on them now."""
    return _answer(ws, caller, request.root, request.base, request.head, None,
                   analyse=request.analyze_downstream)  # fmt: skip


def _answer(
    ws: Workspace, caller: Caller, name: str, base: str, head: str, chosen: Sequence[str] | None, *,
    analyse: bool,
) -> Answer[Changes]:  # fmt: skip
    graph = Graph(ws, caller)
    root = roots.named(ws.vault.root, name)
    found = [
        change
        for change in files_between(root, base, head, updating.rules().extractor_for)
        if (chosen is None or change.path in chosen) and graph.sees_file(root, change.path)
    ]
    symbols = [
        ChangedSymbol(
            uid=each.node.uid, kind=each.node.kind, label=each.node.label, path=change.path,
            line=each.node.start_line, change=each.change,
        )
        for change in found
        for each in change.symbols
    ]  # fmt: skip
    downstream, total, cut = _downstream(graph, name, symbols) if analyse else ([], 0, False)
    shown = symbols[:SHOWN]
    truncated = len(symbols) > len(shown) or cut or total > len(downstream)
    return Answer(
        data=Changes(
            root=name, files=[_file(change) for change in found], symbols=shown, count=len(shown),
            total=len(symbols), downstream=downstream, downstream_total=total,
            risk_level=_risk(total, bool(symbols)), walk_truncated=cut,
            meta=graph.meta(truncated=truncated),
        )
    )  # fmt: skip


def _file(change: FileChange) -> ChangedFile:
    return ChangedFile(
        path=change.path, change=change.change, symbols=len(change.symbols), error=change.error
    )


def _downstream(
    graph: Graph, root: str, symbols: Iterable[ChangedSymbol]
) -> tuple[list[Reached], int, bool]:
    """Return what depends on symbols, but for the symbols themselves."""
    rows: list[NodeRow] = []
    for symbol in symbols:
        if symbol.change != "added":
            rows += graph.reader.find(symbol.uid, root)
    where = Where(BEHAVIOURAL, CONFIDENCE)
    found = walk(graph.reader, [row.key for row in rows], "in", where, DEPTH, VISITED)
    steps = found.steps()
    return reached(graph, steps[:SHOWN]), len(steps), found.truncated


def _risk(dependents: int, changed: bool) -> Risk:
    if not changed:
        return "none"
    if dependents > HIGH:
        return "high"
    return "medium" if dependents > MEDIUM else "low"
