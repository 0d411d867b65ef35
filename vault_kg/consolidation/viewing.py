"""Nodes and edges as the reads of consolidation show them, with their relevance now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from vault_kg.consolidation import relevance
from vault_kg.consolidation.relevance import Standing
from vault_kg.errors import InvalidArgument, VaultError
from vault_kg.index import catalog, graph_rows, joints, successors
from vault_kg.index.catalog import Row
from vault_kg.operations import targets
from vault_kg.operations.base import Partition
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.workspace import Workspace
from vault_kg.records.model import Record
from vault_kg.state import merges
from vault_kg.state import relevance as uses

EXCERPT = 600

Confidence = Annotated[float, Field(ge=0, le=1)]
Rows = Annotated[int, Field(ge=1, le=1_000)]


class Reading(GraphRequest):
    """What reads of nodes have in common."""

    board_id: Partition | None = Field(None, description="Only this board; null: all you see.")
    min_confidence: Confidence = 0.0
    min_relevance: Annotated[float, Field(ge=0, le=1.5)] = 0.0
    max_rows: Rows = 100


class NodeView(GraphModel):
    """A node, with the beginning of its body."""

    node_id: str
    node_type: str | None
    title: str
    body: str
    board_id: str
    lifecycle: str
    confidence: float
    relevance: float
    source_ref: str | None
    attributes: dict[str, Any]
    recorded_at: str
    updated_at: str
    superseded_by: str | None = None


class EdgeView(GraphModel):
    """An edge, with the sentence that says it."""

    edge_id: str
    src: str
    rel: str | None
    dst: str
    fact: str
    confidence: float | None


class Nodes(GraphModel):
    """Nodes; those that the limits leave out are counted in total."""

    nodes: list[NodeView]
    count: int
    total: int


def nodes(ws: Workspace, caller: Caller, keys: Sequence[int]) -> list[NodeView]:
    """Return nodes by the keys of their rows, in that order."""
    found = graph_rows.of_keys(ws.database, keys)
    shown = [found[key] for key in dict.fromkeys(keys) if key in found]
    rows = [each.row for each in shown]
    standing = _standings(ws, caller, rows, {e.row.id: e.stated.get("fields", {}) for e in shown})
    views = []
    for each in shown:
        fields = dict(each.stated.get("fields", {}))
        views.append(
            NodeView(
                node_id=each.row.id,
                node_type=each.row.type,
                title=each.row.title,
                body=each.fact.strip()[:EXCERPT],
                board_id=each.row.partition,
                lifecycle=each.row.lifecycle,
                confidence=relevance.confidence(fields),
                relevance=round(relevance.relevance(standing[each.row.id]), 6),
                source_ref=_text(fields.pop("source_ref", None)),
                attributes=fields,
                recorded_at=each.row.recorded_at,
                updated_at=each.row.updated_at,
                superseded_by=each.row.successor if each.row.lifecycle == "superseded" else None,
            )
        )
    return views


def kept(ws: Workspace, request: Reading, views: Iterable[NodeView]) -> Nodes:
    """Return those nodes that are good enough, at most `max_rows`, and count that they were asked for."""
    good = [
        view
        for view in views
        if view.confidence >= request.min_confidence and view.relevance >= request.min_relevance
    ]
    shown = good[: request.max_rows]
    asked_for(ws, (view.node_id for view in shown))
    return Nodes(nodes=shown, count=len(shown), total=len(good))


def asked_for(ws: Workspace, ids: Iterable[str]) -> None:
    """Count that nodes were asked for; a state that cannot be written fails no read."""
    with suppress(VaultError):
        uses.hit(ws.database, ids, ws.now())


def edges(ws: Workspace, rows: Sequence[Row]) -> list[EdgeView]:
    """Return relationships as edges; an end that was merged is shown as its survivor."""
    chains = merges.targets(ws.database)
    found = graph_rows.of_keys(ws.database, [row.key for row in rows])
    return [
        EdgeView(
            edge_id=row.id,
            src=merges.resolve(chains, row.from_id or "") or str(row.from_id),
            rel=row.type,
            dst=merges.resolve(chains, row.to_id or "") or str(row.to_id),
            fact=found[row.key].fact.strip(),
            confidence=edge_confidence(ws, row),
        )
        for row in rows
        if row.key in found
    ]


def edge_confidence(ws: Workspace, row: Row) -> float | None:
    """Return the confidence that a relationship's file states."""
    record = read(ws, row)
    return record.confidence if record is not None else None


def read(ws: Workspace, row: Row) -> Record | None:
    """Read a record's file; None where it cannot be read."""
    with suppress(VaultError):
        content = targets.bytes_at(ws, row.path)
        if content is not None:
            return targets.read(row.path, content)[1]
    return None


def node_row(ws: Workspace, caller: Caller, node_id: str) -> Row:
    """Return the row of a page that exists for a caller, whatever its lifecycle.

    Raises:
        NotFound: there is no such record.
        InvalidArgument: it is a claim or a relationship.
        MissingFile: its file is gone.
        InvalidRecord: its file cannot be read as a record.
    """
    head = targets.known(ws, caller, node_id)
    row = next(iter(catalog.by_id(ws.database, node_id)), None)
    if row is None:
        raise targets.absent(ws, head)
    if row.kind != "page":
        raise InvalidArgument(
            f"{node_id} is a {row.kind}; only pages are nodes. knowledge_get tells what became of it",
            id=node_id,
        )
    return row


def _standings(
    ws: Workspace, caller: Caller, rows: Sequence[Row], fields: Mapping[str, Mapping[str, Any]]
) -> dict[str, Standing]:
    """Return what the relevance of pages is worked out from, within what the caller sees."""
    now, ids = ws.now(), {row.id for row in rows}
    chains = merges.targets(ws.database)
    named = successors.with_absorbed(ids, successors.absorbed_by(ws.database))
    used = uses.uses(ws.database, ids)
    degrees: dict[str, int] = {}
    for name, count in joints.degrees(ws.database, named, now, caller.partitions).items():
        final = merges.resolve(chains, name) or name
        degrees[final] = degrees.get(final, 0) + count
    against: dict[str, list[float | None]] = {}
    for edge in joints.of_type(ws.database, "contradicts", now, caller.partitions, named):
        final = merges.resolve(chains, edge.to_id or "") or ""
        against.setdefault(final, []).append(edge_confidence(ws, edge))
    found = {}
    for row in rows:
        use = used.get(row.id, uses.Use())
        found[row.id] = Standing(
            relevance.confidence(fields[row.id]), degrees.get(row.id, 0), use.hits,
            _days(use.last_queried_at, now), against.get(row.id, ()),
            relevance.boost(row.type, fields[row.id]), use.attestations,
        )  # fmt: skip
    return found


def _days(then: str | None, now: str) -> float:
    if then is None:
        return 0.0
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(then)
    return passed.total_seconds() / 86_400


def _text(value: Any) -> str | None:
    return str(value) if value is not None else None
