"""Names every module that registers operations; a new family is added here.

Families that stand on the core (`consolidation`, `extract`, `ingest`, `maintain`) are named too, and
are imported by nothing else of this package.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

MODULES = (
    "operations.activity",
    "operations.curation",
    "operations.evidence",
    "operations.graph.assertions",
    "operations.graph.clearing",
    "operations.graph.corrections",
    "operations.graph.curation",
    "operations.graph.cypher",
    "operations.graph.deletion",
    "operations.graph.dump",
    "operations.graph.entities",
    "operations.graph.episodes",
    "operations.graph.facts",
    "operations.graph.ingestion",
    "operations.graph.journal_admin",
    "operations.graph.marks",
    "operations.graph.neighbours",
    "operations.graph.ontology",
    "operations.graph.passages",
    "operations.graph.pointers",
    "operations.graph.rebinding",
    "operations.graph.rebuilding",
    "operations.graph.recovery",
    "operations.graph.relation_types",
    "operations.graph.relationships",
    "operations.inspection",
    "operations.lifecycle",
    "operations.lists",
    "operations.merging",
    "operations.overview",
    "operations.reading",
    "operations.pages",
    "operations.statements",
    "operations.searching",
)


@cache
def load() -> None:
    """Import the operations."""
    for name in MODULES:
        import_module(f"vault_kg.{name}")
