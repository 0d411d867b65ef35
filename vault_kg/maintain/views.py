"""A node in full: its page with notes, touches and edges, as values and as text."""

from __future__ import annotations

from dataclasses import dataclass

from vault_kg.index import nodes
from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain import finding, levels, naming, notes
from vault_kg.maintain.request import EdgeView, NodeView
from vault_kg.maintain.sessions import Session
from vault_kg.operations import targets
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records.model import Record


@dataclass(frozen=True)
class Full:
    """A node with its page as it stands."""

    node: Node
    record: Record
    edges: list[EdgeView]

    def view(self) -> NodeView:
        """Return it as values."""
        return NodeView(
            id=self.node.name, record=self.node.id, level=levels.level_of(self.node.partition),
            tier=self.node.tier, revision=self.node.revision, gist=self.node.gist,
            notes=notes.read(self.record.body), touches=list(self.record.touches),
            edges=self.edges,
        )  # fmt: skip


def full(session: Session, found: Node) -> Full:
    """Return a node in full, read from its file."""
    content = targets.bytes_at(session.ws, found.path)
    if content is None:
        raise targets.missing(session.ws, targets.known(session.ws, session.caller, found.id))
    _, record = targets.read(found.path, content)
    return Full(found, record, edges_of(session, found))


def of_target(session: Session, found: Node, target: Target) -> Full:
    """Return a node in full from its page, which is at hand."""
    return Full(found, target.record, edges_of(session, found))


def edges_of(session: Session, found: Node) -> list[EdgeView]:
    """Return the edges at a node that lie in a level of the session, or in the node's own."""
    shown = [
        edge
        for edge in nodes.edges_at(session.ws.database, [found.id])
        if edge.partition == found.partition or edge.partition in session.levels
    ]
    ends = finding.ends(session, shown)
    facts = nodes.facts(session.ws.database, [edge.id for edge in shown])
    return [
        _edge_view(session.ws, edge, ends, facts.get(edge.id, ""))
        for edge in shown
        if edge.source in ends and edge.target in ends
    ]


def _edge_view(ws: Workspace, edge: Edge, ends: dict[str, Node], fact: str) -> EdgeView:
    return EdgeView(
        from_=naming.called(ws, ends[edge.source], edge.partition),
        to=naming.called(ws, ends[edge.target], edge.partition),
        rel=edge.rel,
        level=levels.level_of(edge.partition),
        notes=notes.read(fact),
    )


def text(view: NodeView) -> str:
    """Return a node as text."""
    lines = [
        f"{view.id} [{view.level}, {view.tier}, revision {view.revision}]",
        f"  gist: {view.gist}",
    ]
    if view.notes:
        lines.append("  notes:")
        lines += ["    - " + note.replace("\n", "\n      ") for note in view.notes]
    if view.touches:
        lines.append(f"  touches: {', '.join(view.touches)}")
    for edge in view.edges:
        said = f"  → {edge.rel} → {edge.to}"
        if edge.from_ != view.id:
            said = f"  ← {edge.rel} ← {edge.from_}"
        lines.append(said + (f"  ({'; '.join(edge.notes)})" if edge.notes else ""))
    return "\n".join(lines) + "\n"
