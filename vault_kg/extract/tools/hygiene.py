"""What nothing uses, and what no test reaches."""

from __future__ import annotations

from collections.abc import Callable

from vault_kg.extract.backends.values import Choice, NodeRow
from vault_kg.extract.edge_kinds import BEHAVIOURAL, SYMBOLS
from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.tools.asking import Graph, reads
from vault_kg.extract.tools.views import (
    KINDS,
    Answer,
    Listed,
    NodeKinds,
    NodeView,
    Top,
    node_views,
)
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphRequest
from vault_kg.operations.workspace import Workspace

_EVERY = 1 << 30
_CALLED_FROM_OUTSIDE = ("entry:", "contract:", "test", "exported", "override", "abstract")


class Unreached(GraphRequest):
    """Of which kinds, and how many?"""

    kinds: NodeKinds | None = KINDS
    top: Top = 50


class UnreachedData(Listed):
    """Symbols, by path and line."""

    results: list[NodeView]


@reads(Answer[UnreachedData])
def graph_dead_code(ws: Workspace, request: Unreached, caller: Caller) -> Answer[UnreachedData]:
    """List functions, methods and classes that nothing in the tree refers to.

    Entry points, contracts, tests and special methods are left out. What is reached only in ways that
    no reading shows (plug-ins, reflection) is listed too: look before you delete.
    """
    return _answer(ws, request, caller, BEHAVIOURAL, _is_called_from_outside)


@reads(Answer[UnreachedData])
def graph_test_gap(ws: Workspace, request: Unreached, caller: Caller) -> Answer[UnreachedData]:
    """List functions, methods and classes that no test calls or constructs directly."""
    return _answer(ws, request, caller, frozenset({"tested_by"}), _needs_no_test)


def _answer(
    ws: Workspace,
    request: Unreached,
    caller: Caller,
    by: frozenset[str],
    left_out: Callable[[NodeRow], bool],
) -> Answer[UnreachedData]:
    graph = Graph(ws, caller)
    kinds = SYMBOLS if request.kinds is None else frozenset(request.kinds)
    rows, _ = graph.reader.select(Choice(kinds=kinds, not_reached_by=by), _EVERY)
    found = [row for row in rows if not is_test_path(row.node.path or "") and not left_out(row)]
    shown = found[: request.top]
    meta = graph.meta(truncated=len(found) > len(shown))
    return Answer(
        data=UnreachedData(results=node_views(shown), count=len(shown), total=len(found), meta=meta)
    )


def _is_special(row: NodeRow) -> bool:
    label = row.node.label
    return label.startswith("__") and label.endswith("__")


def _needs_no_test(row: NodeRow) -> bool:
    return _is_special(row) or any(role.startswith("test") for role in row.node.roles)


def _is_called_from_outside(row: NodeRow) -> bool:
    return _is_special(row) or any(role.startswith(_CALLED_FROM_OUTSIDE) for role in row.node.roles)
