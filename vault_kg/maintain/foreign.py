"""What others changed meanwhile: told once with an answer, and listed by kg_sync.

Only the levels that a session looks at are looked at: the memory of maintenance never shows up here.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_kg.index import nodes
from vault_kg.index.nodes import Edge, Node
from vault_kg.index.parsed import stem
from vault_kg.maintain import finding, levels, naming
from vault_kg.maintain.sessions import Session
from vault_kg.operations import sight
from vault_kg.state import journal as rows
from vault_kg.state import kg_sessions, revisions
from vault_kg.state.kg_sessions import changes_by_others

MAX_NEWS = 3
NEWS_CHARACTERS = 300
"""So many gists of others, and so much of each, come with an answer (mcp_http/foreign.py)."""


@dataclass(frozen=True)
class Change:
    """A record that another one changed, as text and with what it is now."""

    text: str
    kind: str
    id: str
    level: str
    actor: str
    gone: bool


def since(session: Session, after: int) -> list[Change]:
    """Return what others changed after a journal entry, the oldest first."""
    db = session.ws.database
    found = changes_by_others(db, session.mark, after, session.levels)
    pages = nodes.of_ids(db, [record for record, kind, _, _ in found if kind == "page"])
    edges = {
        edge.id: edge
        for edge in nodes.edges_of(db, [r for r, kind, _, _ in found if kind == "relationship"])
    }
    ends = finding.ends(session, edges.values())
    made: list[Change] = []
    for record, kind, lifecycle, actor in found:
        if kind == "page" and record in pages:
            made.append(_of_node(pages[record], actor))
        elif record in edges and {edges[record].source, edges[record].target} <= ends.keys():
            made.append(_of_edge(session, edges[record], ends, actor))
        elif lifecycle != "active" and not sight.stands_on_hidden(
            session.ws, session.caller, record
        ):
            made.append(_gone(session, record, kind, lifecycle, actor))
    return made


def news(session: Session) -> str:
    """Return the newest gists that others wrote and this session was not told of; each once."""
    db = session.ws.database
    row = kg_sessions.session(db, session.id)
    position = rows.last_seq(db)
    if row is None or row.told_seq >= position:
        return ""
    written = [c for c in since(session, row.told_seq) if c.kind == "page" and not c.gone]
    kg_sessions.set_mark(db, session.id, told=position)
    if not written:
        return ""
    shown = [f"  {change.text[:NEWS_CHARACTERS]}" for change in written[-MAX_NEWS:]]
    left = len(written) - len(shown)
    more = [f"  … and {left} more; kg_sync lists them"] if left > 0 else []
    return "\n".join(["MEANWHILE, others wrote:", *shown, *more])


def _gone(session: Session, record: str, kind: str, lifecycle: str, actor: str) -> Change:
    head = revisions.head(session.ws.database, record)
    name = stem(head.path) if head else record
    level = levels.level_of(head.partition) if head else ""
    what = "page" if kind == "page" else "edge"
    return Change(f"{what} {name} [{level}] is {lifecycle}", what, name, level, actor, True)


def _of_node(node: Node, actor: str) -> Change:
    level = levels.level_of(node.partition)
    return Change(f"{node.name} [{level}]: {node.gist}", "page", node.name, level, actor, False)


def _of_edge(session: Session, edge: Edge, ends: dict[str, Node], actor: str) -> Change:
    source = naming.called(session.ws, ends[edge.source], edge.partition)
    target = naming.called(session.ws, ends[edge.target], edge.partition)
    level = levels.level_of(edge.partition)
    text = f"{source} → {edge.rel} → {target} [{level}]"
    return Change(text, "edge", f"{source}->{target}:{edge.rel}", level, actor, False)
