"""What a node is called in a level, and which new names would take another node's place there."""

from __future__ import annotations

from vault_kg.index import nodes
from vault_kg.index.nodes import Node
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names


def called(ws: Workspace, found: Node, level: str) -> str:
    """Return a node's id in a level: its record id where its own id means another node there."""
    if found.partition == level:
        return found.name
    own = nodes.named(ws.database, level, names.file_key(found.slug))
    return found.id if own else found.name
