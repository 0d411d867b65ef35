"""Nodes by the ids that agents use, and what those ids are in each level."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from vault_kg.errors import Ambiguous, InvalidArgument, NotFound
from vault_kg.index import nodes
from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain import levels
from vault_kg.maintain.sessions import Session
from vault_kg.records import ids, names
from vault_kg.state import tiers


def node(session: Session, name: str, within: Collection[str] | None = None) -> Node:
    """Return the node that an id means: in the project first, then in the user's level.

    Args:
        session: who asks.
        name: the node's id, one that it had before a rename, or its record id.
        within: only in these partitions.

    Raises:
        NotFound: no node of these levels has it.
        Ambiguous: several pages of a level share the file name.
    """
    found = maybe(session, name, within)
    if found is None:
        where = ", ".join(_searched(session, within)) or "any level of this caller"
        raise NotFound(
            f"there is no node {name!r} in {where}; kg_search finds nodes by what they say",
            id=name,
        )
    return found


def maybe(session: Session, name: str, within: Collection[str] | None = None) -> Node | None:
    """Return the node that an id means, or None; as `node`."""
    db, searched = session.ws.database, _searched(session, within)
    if ids.is_id(name):
        found = nodes.of_ids(db, [name]).get(name)
        return found if found is not None and found.partition in searched else None
    for partition in searched:
        named = nodes.named(db, partition, names.file_key(name))
        if len(named) > 1:
            raise Ambiguous(
                f"{len(named)} pages of {partition} have the file name {name!r}; name one by its "
                f"record id: {', '.join(one.id for one in named)}",
                id=name,
                candidates=[{"id": one.id, "path": one.path} for one in named],
            )
        if named:
            return named[0]
    return _former(session, name, searched)


def ends(session: Session, edges: Iterable[Edge]) -> dict[str, Node]:
    """Return the nodes at the ends of edges that exist for the caller, by id."""
    every = list(edges)
    wanted = {edge.source for edge in every} | {edge.target for edge in every}
    found = nodes.of_ids(session.ws.database, wanted)
    return {one: end for one, end in found.items() if session.caller.sees(end.partition)}


def check_levels(session: Session) -> list[str]:
    """Return the partitions that a session looks at.

    Raises:
        InvalidArgument: it may look at none.
    """
    if not session.levels:
        raise InvalidArgument(
            "this caller sees neither the user's level nor the project's; let it see the "
            f"partition {levels.USER!r}"
        )
    return session.levels


def _searched(session: Session, within: Collection[str] | None) -> list[str]:
    return list(reversed(session.levels)) if within is None else list(within)


def _former(session: Session, name: str, searched: Iterable[str]) -> Node | None:
    for partition in searched:
        record_id = tiers.former(session.ws.database, partition, names.file_key(name))
        found = nodes.of_ids(session.ws.database, [record_id] if record_id else [])
        if record_id in found:
            return found[record_id]
    return None
