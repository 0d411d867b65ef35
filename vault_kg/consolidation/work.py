"""What a commit has planned so far: it grows candidate by candidate, edge by edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vault_kg.consolidation.candidates import Contents
from vault_kg.errors import (
    CommitConflict,
    LifecycleRefused,
    MergedReference,
    MissingFile,
    NotFound,
    VaultError,
)
from vault_kg.index.pending import Pending
from vault_kg.operations.base import EvidenceItem
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state.guards import Guard
from vault_kg.state.sessions import Session, commit_request
from vault_kg.store.plan import Change

SUPERSEDES = "supersedes"

GONE = (NotFound, MissingFile, LifecycleRefused, MergedReference)
"""How operations say that a record is not there any more as it was."""


@dataclass
class Work:
    """The plan under way of one session's commit."""

    ws: Workspace
    caller: Caller
    session: Session
    held: Contents
    reason: str
    cited: EvidenceItem
    """The source that everything it writes cites."""
    pending: Pending = field(default_factory=Pending)
    changes: list[Change] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    nodes: dict[str, str | None] = field(default_factory=dict)
    """The node that each candidate is now; None where there is none."""
    replaced: dict[str, str] = field(default_factory=dict)
    """The successor of each node that is superseded."""
    applied: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"added": [], "updated": [], "superseded": [], "noop": []}
    )
    edges: list[dict[str, Any]] = field(default_factory=list)
    edges_noop: list[dict[str, Any]] = field(default_factory=list)

    @property
    def request_id(self) -> str:
        """The request id of the commit."""
        return commit_request(self.session.id)

    @cached_property
    def titles(self) -> dict[str | None, str]:
        """The title of each node that a candidate is, once all nodes are planned."""
        return {self.nodes.get(node.id): node.title for node in self.held.nodes}

    def warn(self, candidate: str, said: Iterable[str]) -> None:
        """Keep warnings about a candidate."""
        self.warnings += [f"{candidate}: {each}" for each in said]

    def result(self) -> dict[str, Any]:
        """Return what the commit answers."""
        return {
            "session_id": self.session.id,
            "applied": self.applied,
            "edges_added": self.edges,
            "edges_noop": self.edges_noop,
            "warnings": self.warnings,
        }


@contextmanager
def about(candidate: str) -> Iterator[None]:
    """Say in an error which candidate it is about."""
    try:
        yield
    except VaultError as error:
        error.data.setdefault("candidate_id", candidate)
        if candidate not in error.message:
            error.message = f"{candidate}: {error.message}"
        raise


def moved(candidate: str, target: str, said: str) -> CommitConflict:
    """Return the error for what is not any more as the proposal saw it."""
    return CommitConflict(
        f"{candidate}: {target} has changed since the proposal ({said}); call "
        "kg_propose_reconciliation, look at what it says now, and commit again",
        candidate_id=candidate,
        target_node=target,
    )
