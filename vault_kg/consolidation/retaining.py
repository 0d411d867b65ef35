"""The source that the records of a session cite: the artefact, or what the agent said of it."""

from __future__ import annotations

import json

from vault_kg.consolidation.candidates import Contents, edge_value, node_value
from vault_kg.operations.graph.writing import ASSERTION, Evidence
from vault_kg.operations.workspace import Workspace
from vault_kg.state.sessions import Session
from vault_kg.store import sources


def evidence(ws: Workspace, session: Session, held: Contents) -> Evidence:
    """Return the source of a session: the artefact's text where it was given, else its candidates."""
    if session.content and session.content.strip():
        content = session.content.encode()
        source = sources.describe(
            content, session.partition, f"{session.source_id}.md", ws.now(),
            attribution=f"{session.source_type} {session.source_id}",
        )  # fmt: skip
        return Evidence(source, content)
    said = {
        "operation": "kg_commit_consolidation",
        "actor": session.agent,
        "group_id": session.partition,
        "artefact": {
            "source_type": session.source_type,
            "source_id": session.source_id,
            "source_version": session.source_version,
            "content_hash": session.content_hash,
        },
        "nodes": [{"candidate_id": node.id, **node_value(node)} for node in held.nodes],
        "edges": [{"candidate_id": edge.id, **edge_value(edge)} for edge in held.edges],
    }
    content = (json.dumps(said, ensure_ascii=False, indent=2) + "\n").encode()
    source = sources.describe(
        content, session.partition, "consolidation.json", ws.now(), media_type=ASSERTION,
        attribution=session.agent,
    )  # fmt: skip
    return Evidence(source, content)
