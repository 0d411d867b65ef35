"""No session writes over what it has not read: the refusal shows the node, and counts as reading it."""

from __future__ import annotations

from vault_kg.errors import StaleRevision
from vault_kg.index import nodes
from vault_kg.index.nodes import Node
from vault_kg.maintain import views
from vault_kg.maintain.request import NodeView
from vault_kg.maintain.sessions import Session
from vault_kg.operations.targets import Target
from vault_kg.state import kg_sessions


def check_node(
    session: Session, found: Node, target: Target, *, whole: bool, shown: Node | None = None
) -> None:
    """Refuse a change of a node that this session has not read as it stands.

    Args:
        session: who writes.
        found: the node.
        target: its page, looked at under the lane.
        whole: its notes and touches must have been read, too.
        shown: the node as the refusal shows it, where that differs.

    Raises:
        StaleRevision: with the node, in the message and as `data.current`.
    """
    known = kg_sessions.seen(session.ws.database, session.id, found.id)
    revision = target.head.revision
    if known is not None and known.revision == revision and (known.full or not whole):
        return
    view = views.of_target(session, shown or found, target).view()
    saw_node(session, found.id, revision, [edge.id for edge in _edges(session, found)], "refusal")
    raise StaleRevision(
        f"{found.name} {_why(known, revision)}. Nothing was written. It stands as follows; merge "
        f"what you want to say into it and send it again:\n{views.text(view)}",
        current=_values(view),
    )


def check_edge(session: Session, edge_id: str, target: Target, text: str) -> None:
    """Refuse to replace notes of an edge that this session has not read as they stand."""
    known = kg_sessions.seen(session.ws.database, session.id, edge_id)
    if known is not None and known.revision == target.head.revision:
        return
    kg_sessions.saw(
        session.ws.database, session.id, {edge_id: target.head.revision}, full=True, via="refusal"
    )
    raise StaleRevision(
        f"this edge has notes that this session has not read. Nothing was written. It says:\n{text}\n"
        "Send the edge again with all the notes that it shall have",
        current={"id": edge_id, "revision": target.head.revision, "text": text},
    )


def saw_node(session: Session, record_id: str, revision: int, edges: list[str], via: str) -> None:
    """Note that a session has read a node and its edges in full."""
    read = nodes.revisions_of(session.ws.database, edges) | {record_id: revision}
    kg_sessions.saw(session.ws.database, session.id, read, full=True, via=via)


def _edges(session: Session, found: Node) -> list[nodes.Edge]:
    return nodes.edges_at(session.ws.database, [found.id])


def _why(known: kg_sessions.Seen | None, revision: int) -> str:
    if known is None:
        return "stands already, and this session has not read it"
    if known.revision != revision:
        return f"was changed since this session read it (revision {known.revision}, now {revision})"
    return "has notes or touches that this session has not read"


def _values(view: NodeView) -> dict[str, object]:
    return view.model_dump(mode="json", by_alias=True)
