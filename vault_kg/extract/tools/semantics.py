"""How alike texts are in meaning, by the vault's embedding model, where it has one."""

from __future__ import annotations

from collections.abc import Sequence

from vault_kg.extract.backends.values import NodeRow
from vault_kg.operations.workspace import Workspace


def text_of(row: NodeRow) -> str:
    """Return what is compared of a node."""
    node = row.node
    return " ".join(part for part in (node.label, node.signature, node.summary) if part)


def similarities(ws: Workspace, text: str, rows: Sequence[NodeRow]) -> list[float] | None:
    """Return the cosine similarity of a text to each node, or None without a model."""
    if not rows:
        return None
    vectors, _ = ws.semantics.embed_texts([text, *(text_of(row) for row in rows)])
    if vectors is None:
        return None
    return [float(each) for each in vectors[1:] @ vectors[0]]
