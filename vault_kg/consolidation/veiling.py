"""What a session held and did, as a caller sees it who may not see every partition.

An edge is there for who sees both its ends. Of what else is said, the ids of what is hidden are left
out; what an agent wrote stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vault_kg.operations import sight
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import sessions
from vault_kg.state.sessions import EDGE, NODE, Candidate


def result(ws: Workspace, caller: Caller, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a commit or an undoing answered."""
    if caller.partitions is None:
        return dict(said)
    kept = dict(said)
    for name in ("edges_added", "edges_noop"):
        if name in said:
            kept[name] = [e for e in said[name] if not sight.is_hidden(ws, caller, e["edge_id"])]
    for name in ("withdrawn", "restored"):
        if name in said:
            kept[name] = [*sight.seen(ws, caller, said[name])]
    return {name: _veiled(ws, caller, value) for name, value in kept.items()}


def candidates(ws: Workspace, caller: Caller, said: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return candidates as an audit row shows them."""
    if caller.partitions is None:
        return list(said)
    return [
        _veiled(ws, caller, each)
        for each in said
        if each["kind"] != EDGE or not _leads_to_hidden(ws, caller, each)
    ]


def shown(stored: Candidate) -> dict[str, Any]:
    """Return a stored candidate as an audit row shows it."""
    return {
        "candidate_id": stored.id, "kind": stored.kind, **stored.value, "proposal": stored.proposal,
    }  # fmt: skip


def counts(ws: Workspace, caller: Caller, session_id: str) -> dict[str, int]:
    """Return how many candidates of each kind a session has."""
    if caller.partitions is None:
        return sessions.counts(ws.database, session_id)
    stored = map(shown, sessions.candidates(ws.database, session_id))
    kinds = [each["kind"] for each in candidates(ws, caller, stored)]
    return {kind: kinds.count(kind) for kind in (NODE, EDGE)}


def _leads_to_hidden(ws: Workspace, caller: Caller, edge: Mapping[str, Any]) -> bool:
    return any(sight.is_hidden(ws, caller, edge[end].get("node")) for end in ("src", "dst"))


def _veiled(ws: Workspace, caller: Caller, value: Any) -> Any:
    """Return a value of JSON without the ids of what is hidden, keys included."""
    if isinstance(value, str):
        return sight.veiled(ws, caller, value)
    if isinstance(value, Mapping):
        return {_veiled(ws, caller, k): _veiled(ws, caller, v) for k, v in value.items()}
    if isinstance(value, list):
        return [_veiled(ws, caller, each) for each in value]
    return value
