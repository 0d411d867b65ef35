"""kg_search: nodes of both levels and all tiers, by words and by meaning."""

from __future__ import annotations

from collections import deque
from typing import Annotated

from pydantic import Field, StringConstraints

from vault_kg.errors import VaultError
from vault_kg.index import nodes
from vault_kg.index.listing import Filter
from vault_kg.index.nodes import Node
from vault_kg.index.query import parse_query
from vault_kg.maintain import foreign, guarding, levels, sessions, views
from vault_kg.maintain.request import TOOLSET, Ask, NodeView, SessionId, Told
from vault_kg.maintain.sessions import Session
from vault_kg.operations import searching
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import GraphModel
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import kg_sessions

SHOWN_FULL, SHOWN = 5, 15
"""So many hits are shown in full, and so many in all (mcp_http/store.py)."""

SEARCH_BUDGET = 10_000
"""Characters of an answer."""

MAX_HOPS, MAX_CONNECTORS = 4, 5
"""Nodes on paths of so many edges between the best hits are named, so many of them."""

_MAX_WALKED = 2_000
_ROOM_FOR_NEWS = 1_100

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]


class Search(Ask):
    """What is looked for."""

    query: Query = Field(description="Words, in any script.")
    session_id: SessionId | None = Field(None, description="Searches its project, too.")


class Brief(GraphModel):
    """A node in one line."""

    id: str
    level: str
    tier: str
    gist: str


class Hits(Told):
    """Nodes, best first."""

    full: list[NodeView] = Field(description="The best, in full.")
    more: list[Brief]
    connectors: list[Brief] = Field(description="Nodes on the paths between the best.")
    total: int


@operation("read", Hits, toolset=TOOLSET)
def kg_search(ws: Workspace, request: Search, caller: Caller) -> Hits:
    """Find nodes of the user's level and the project's by words and meaning, archived ones too.

    The best come in full, more in one line each, with the nodes that connect the best.
    """
    session = sessions.resume(ws, caller, request.session_id) if request.session_id else None
    sessions.settle(ws)
    partitions = session.levels if session else levels.rendered(None, caller)
    wanted = Filter(ws.now(), kinds=("page",), partitions=partitions)
    hits, total = _found(ws, request.query, wanted)
    if ws.look_at([node.path for node in hits[:SHOWN_FULL]]):
        sessions.settle(ws)
        hits, total = _found(ws, request.query, wanted)
    looking = session or sessions.passing(ws, caller)
    return _Answer(looking, is_kept=session is not None).of(hits, total)


def _found(ws: Workspace, query: str, wanted: Filter) -> tuple[list[Node], int]:
    """Return the nodes that answer a query, best first, and how many there are in all."""
    found = searching.answer(ws, parse_query(query), wanted, SHOWN)
    rows = [hit.row.id for hit in found.shown]
    known = nodes.of_ids(ws.database, rows)
    return [known[one] for one in dict.fromkeys(rows) if one in known], found.total


class _Answer:
    """An answer that is written until its room is used up."""

    def __init__(self, session: Session, *, is_kept: bool) -> None:
        self._session = session
        self._is_kept = is_kept
        self._room = SEARCH_BUDGET - _ROOM_FOR_NEWS
        self._parts: list[str] = []

    def of(self, hits: list[Node], total: int) -> Hits:
        full, rest = self._full(hits[:SHOWN_FULL])
        more = self._briefly([*rest, *hits[SHOWN_FULL:]], "MORE:")
        connectors = self._briefly(_between(self._session, hits[:SHOWN_FULL]), "CONNECTING:")
        left = total - len(full) - len(more)
        if left > 0:
            self._parts.append(f"… and {left} more; say more words to narrow it down")
        if not hits:
            self._parts.append("Nothing found.")
        if self._session.notice:
            self._parts.insert(0, self._session.notice)
        news = foreign.news(self._session) if self._is_kept else ""
        text = "\n".join([*self._parts, *([news] if news else [])])
        return Hits(full=full, more=more, connectors=connectors, total=total, text=text)

    def _full(self, hits: list[Node]) -> tuple[list[NodeView], list[Node]]:
        shown: list[NodeView] = []
        rest: list[Node] = []
        for node in hits:
            try:
                view = views.full(self._session, node).view()
            except VaultError:
                rest.append(node)  # its file went, or broke, and a writer has the lane
                continue
            knows = self._is_kept and self._knows(node)
            said = view.model_copy(update={"notes": []}) if knows else view
            if self._say(views.text(said).rstrip()):
                shown.append(view)
                self._saw(node)
            else:
                rest.append(node)
        return shown, rest

    def _briefly(self, some: list[Node], head: str) -> list[Brief]:
        shown: list[Brief] = []
        for node in some:
            brief = Brief(
                id=node.name, level=levels.level_of(node.partition), tier=node.tier, gist=node.gist
            )
            line = f"  {brief.id} [{brief.level}, {brief.tier}]: {brief.gist}"
            if self._say(line if shown else f"{head}\n{line}"):
                shown.append(brief)
        return shown

    def _say(self, part: str) -> bool:
        if len(part) + 1 > self._room:
            return False
        self._room -= len(part) + 1
        self._parts.append(part)
        return True

    def _knows(self, node: Node) -> bool:
        known = kg_sessions.seen(self._session.ws.database, self._session.id, node.id)
        return known is not None and known.full and known.revision == node.revision

    def _saw(self, node: Node) -> None:
        if self._is_kept:
            edges = [edge.id for edge in nodes.edges_at(self._session.ws.database, [node.id])]
            guarding.saw_node(self._session, node.id, node.revision, edges, "search")


def _between(session: Session, hits: list[Node]) -> list[Node]:
    """Return the nodes on the shortest paths between hits, of at most so many hops."""
    found: dict[str, None] = {}
    ids = [node.id for node in hits]
    for start in ids:
        for path in _paths(session, start, set(ids)):
            found.update(dict.fromkeys(one for one in path if one not in ids))
    known = nodes.of_ids(session.ws.database, list(found)[:MAX_CONNECTORS])
    return [known[one] for one in found if one in known]


def _paths(session: Session, start: str, goals: set[str]) -> list[list[str]]:
    """Return the inner nodes of the shortest path from a node to each goal that is near enough."""
    before: dict[str, str] = {start: start}
    waiting = deque([(start, 0)])
    found = []
    while waiting and len(before) < _MAX_WALKED:
        node, hops = waiting.popleft()
        if node in goals and node != start:
            found.append(_inner(before, start, node))
        if hops == MAX_HOPS:
            continue
        for other in _beside(session, node):
            if other not in before:
                before[other] = node
                waiting.append((other, hops + 1))
    return found


def _beside(session: Session, node: str) -> list[str]:
    """Return the nodes of the session's levels that a node is joined to there."""
    db, looked_at = session.ws.database, session.levels
    edges = [edge for edge in nodes.edges_at(db, [node]) if edge.partition in looked_at]
    others = [edge.target if edge.source == node else edge.source for edge in edges]
    known = nodes.of_ids(db, set(others))
    return [one for one in others if one in known and known[one].partition in looked_at]


def _inner(before: dict[str, str], start: str, goal: str) -> list[str]:
    path, node = [], before[goal]
    while node != start:
        path.append(node)
        node = before[node]
    return path
