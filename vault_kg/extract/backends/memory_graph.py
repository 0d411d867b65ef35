"""Everything that the graph in memory holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from vault_kg.extract.backends.values import EdgeId, EdgeRow, FileState, Finding, NodeRow, Stored
from vault_kg.extract.model import Reference


@dataclass
class Graph:
    """Everything that is stored."""

    nodes: dict[int, NodeRow] = field(default_factory=dict)
    keys: dict[tuple[str, str], int] = field(default_factory=dict)
    """By root and uid."""
    edges: dict[EdgeId, EdgeRow] = field(default_factory=dict)
    states: dict[str, dict[str, FileState]] = field(default_factory=dict)
    references: dict[int, list[Reference]] = field(default_factory=dict)
    names: dict[int, set[str]] = field(default_factory=dict)
    exports: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By root and path."""
    parts: dict[tuple[str, str], set[tuple[str, str]]] = field(default_factory=dict)
    changed: dict[str, set[str]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
