"""What a write is told besides: a gist or id that should be better, and nodes it may repeat.

Advice only: nothing here refuses a write.
"""

from __future__ import annotations

import math

from vault_kg.index import nodes
from vault_kg.index.listing import Filter
from vault_kg.index.nodes import Node
from vault_kg.index.query import parse_query
from vault_kg.index.stopwords import STOPWORDS
from vault_kg.maintain import debt, levels
from vault_kg.maintain.sessions import Session
from vault_kg.operations import searching
from vault_kg.records import slugs
from vault_kg.state import kg_sessions

LEAST_NODES = 10
"""In a smaller level nothing is called a repetition (mcp_http/store.py)."""

ALIKE = 0.5
"""Share of a new node's telling terms that another one has, from which on it may be the same."""

MENTIONED_SHARE = 0.25
"""A term in more nodes than this share belongs to nobody."""

_COMPARED = 5


def of(session: Session, node: Node, *, created: bool) -> list[str]:
    """Return what to say of a node that was written."""
    said = []
    if len(node.gist) > debt.GIST_WANTED:
        said.append(
            f"the gist has {len(node.gist)} characters; {debt.GIST_WANTED} are wanted at most, and "
            "details go into notes"
        )
    if node.dated:
        said.append(f"the id {node.name} carries a date; an id says what a thing is, not when")
    elif node.long_slug:
        words = len(slugs.words(node.slug))
        said.append(f"the id {node.name} has {words} words; three to five name a subject")
    if created and node.partition != levels.MAINTAIN:
        said += _repetition(session, node)
    return said


def is_by_another(session: Session, node: Node) -> bool:
    """Say whether another session made a node."""
    author = kg_sessions.author(session.ws.database, node.id) or ""
    return author.startswith("kg-") and not author.startswith(session.mark)


def _repetition(session: Session, node: Node) -> list[str]:
    db = session.ws.database
    total = nodes.totals(db, node.partition).nodes
    if total < LEAST_NODES:
        return []
    own = _terms(node)
    best = _most_alike(session, node, own, total)
    if best is not None:
        return [
            f"{best.name} may say the same ({best.gist[:100]}); if it does, merge into it instead"
        ]
    known = nodes.term_pages(db, node.partition, own)
    least, most = debt.least_smeared(total), MENTIONED_SHARE * total
    for term in sorted(own, key=lambda t: (-known.get(t, 0), t)):
        if least <= known.get(term, 0) <= most:
            hub = nodes.owner(db, node.partition, term)
            if hub is not None and hub.id != node.id:
                return [f"{hub.name} owns {term!r}; link to it rather than describe it again"]
    return []


def _most_alike(session: Session, node: Node, own: set[str], total: int) -> Node | None:
    """Return the node that shares the most of a node's terms, rare ones counting more."""
    ws = session.ws
    wanted = Filter(ws.now(), kinds=("page",), partitions=[node.partition])
    query = parse_query(" ".join(sorted(own)))
    found = searching.answer(ws, query, wanted, _COMPARED, mode="text")
    rows = [shown.row.id for shown in found.shown]
    others = [one for one in nodes.of_ids(ws.database, rows).values() if one.id != node.id]
    pages = nodes.term_pages(ws.database, node.partition, own)
    weight = {term: math.log(1 + total / max(1, pages.get(term, 1))) for term in own}
    whole = sum(weight.values())
    shares = [(sum(weight[t] for t in own & _terms(one)), one.name, one) for one in others]
    best = max(shares, key=lambda share: share[:2], default=None)
    return best[2] if best is not None and whole and best[0] / whole >= ALIKE else None


def _terms(node: Node) -> set[str]:
    return slugs.terms(f"{node.slug.replace('_', '-')} {node.gist}", STOPWORDS)
