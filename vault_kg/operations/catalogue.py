"""Imports every module that registers operations; a new family is added here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

MODULES = (
    "activity",
    "curation",
    "evidence",
    "graph.assertions",
    "graph.clearing",
    "graph.corrections",
    "graph.curation",
    "graph.cypher",
    "graph.deletion",
    "graph.dump",
    "graph.entities",
    "graph.episodes",
    "graph.facts",
    "graph.ingestion",
    "graph.journal_admin",
    "graph.marks",
    "graph.neighbours",
    "graph.ontology",
    "graph.passages",
    "graph.pointers",
    "graph.rebinding",
    "graph.rebuilding",
    "graph.recovery",
    "graph.relation_types",
    "graph.relationships",
    "inspection",
    "lifecycle",
    "lists",
    "merging",
    "overview",
    "reading",
    "save",
    "searching",
)


@cache
def load() -> None:
    """Import the operations."""
    for name in MODULES:
        import_module(f"vault_kg.operations.{name}")
