"""Where a node's file goes, and what its name may not be."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.index import catalog, nodes
from vault_kg.index.parsed import stem
from vault_kg.maintain import finding, levels
from vault_kg.maintain.request import NewId
from vault_kg.maintain.sessions import Session
from vault_kg.operations import drafts, targets
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names, slugs
from vault_kg.state import revisions
from vault_kg.store import paths
from vault_kg.store.plan import Change

MOST_WORDS = 6
"""An id of more words is refused (kg plugin: seven and more)."""

_NEW_ID: TypeAdapter[str] = TypeAdapter(NewId)


@dataclass(frozen=True)
class Room:
    """What a plan does besides, so that a name is free: inactive pages move aside."""

    changes: tuple[Change, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    before: bytes | None = None
    """What stands at the very path now, and moves aside."""


def check_new_id(name: str) -> None:
    """Refuse what cannot be the id of a new node.

    Raises:
        InvalidArgument: its characters or its length.
    """
    try:
        _NEW_ID.validate_python(name)
        paths.check_relative(f"{name}.md")
    except (ValidationError, UnsafePath) as error:
        raise InvalidArgument(
            f"{name[:100]!r} cannot be an id: use letters, digits, '.', '_' and '-', beginning "
            "with a letter or digit, at most 128 characters, and no device name",
            field="id",
        ) from error
    count = len(slugs.words(name))
    if count > MOST_WORDS:
        raise InvalidArgument(
            f"{name!r} has {count} words; an id names the subject in three to five, and the gist "
            "makes the claim",
            field="id",
        )


def check_no_capture(session: Session, partition: str, name: str, record_id: str = "") -> None:
    """Refuse a name by which edges of a level already call a node of another level.

    Args:
        session: who asks.
        partition: the level that gets the name.
        name: the name.
        record_id: the node that gets it, where it stands already.

    Raises:
        InvalidArgument: with `data.captured`, the edges that would change their meaning.
    """
    db = session.ws.database
    foreign = [
        node.id
        for other in nodes.partitions(db)
        if other != partition and session.caller.sees(other)
        for node in nodes.named(db, other, names.file_key(name))
    ]
    edges = [edge for edge in nodes.edges_at(db, foreign) if edge.partition == partition]
    ends = finding.ends(session, edges)
    captured = [edge for edge in edges if {edge.source, edge.target} <= ends.keys()]
    if record_id:
        captured += _captured_elsewhere(session, partition, name, record_id)
    if captured:
        raise InvalidArgument(
            f"{name!r} would capture {len(captured)} edge(s): "
            + "; ".join(_said(session, edge) for edge in captured[:5])
            + ". There it already means another node; choose another id",
            captured=[_said(session, edge) for edge in captured],
        )


def make_room(ws: Workspace, folder: str, name: str) -> Room:
    """Return what makes a file name free in a folder; a page that is withdrawn moves aside.

    Raises:
        InvalidArgument: something else has the name.
    """
    try:
        present = os.listdir(paths.resolve(ws.vault.root, folder))  # noqa: PTH208 - names only
    except (FileNotFoundError, NotADirectoryError):
        return Room()
    changes: list[Change] = []
    moves: list[tuple[str, str]] = []
    before = None
    for file in sorted(present):
        if names.file_key(stem(file)) != names.file_key(name):
            continue
        there = _aside(ws, folder, f"{folder}/{file}")
        changes.append(there)
        moves.append((str(there.record_id), there.path))
        if file == f"{name}.md":
            before = there.after
        else:
            changes.append(Change(f"{folder}/{file}", there.after, None, partition=there.partition))
    return Room(tuple(changes), tuple(moves), before)


def _aside(ws: Workspace, folder: str, path: str) -> Change:
    """Return the change that gives a page that is not active another file name."""
    row, content = catalog.by_path(ws.database, path), targets.bytes_at(ws, path)
    head = revisions.head(ws.database, row.id) if row else None
    if row is None or content is None or head is None or row.lifecycle == "active":
        raise InvalidArgument(
            f"{path} has that name and is no node that is shown; choose another id, or see "
            "knowledge_diagnostics",
            path=path,
        )
    there = drafts.free_path(ws, folder, f"{stem(path)}-{names.short(row.id)}", row.id)
    return Change(
        there, None, content, row.id, row.kind, head.revision, head.lifecycle, row.partition
    )


def _captured_elsewhere(
    session: Session, partition: str, name: str, record_id: str
) -> list[nodes.Edge]:
    """Return edges of other levels at a node, where its new name means one of their own."""
    db = session.ws.database
    return [
        edge
        for edge in nodes.edges_at(db, [record_id])
        if edge.partition != partition
        and session.caller.sees(edge.partition)
        and nodes.named(db, edge.partition, names.file_key(name))
    ]


def _said(session: Session, edge: nodes.Edge) -> str:
    found = nodes.of_ids(session.ws.database, [edge.source, edge.target])
    source, target = (found[one].name if one in found else one for one in edge[2:4])
    return (
        f"{source} → {edge.rel} → {target} in {levels.level_of(edge.partition)} ({edge.partition})"
    )
