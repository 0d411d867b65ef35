"""Names every module that registers operations; a new family is added here.

Families that stand on the core (`consolidation`, `extract`, `ingest`, `maintain`) are named too, and
are imported by nothing else of this package. A command that asks one thing imports the families whose
operations begin so, since reading the schemas of all takes longer than most answers.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple


class Family(NamedTuple):
    """Modules of one package, and how the names of their operations begin."""

    package: str
    prefixes: tuple[str, ...]
    modules: tuple[str, ...]


FAMILIES = (
    Family(
        "consolidation",
        ("kg_",),
        (
            "adding_edges",
            "adding_nodes",
            "auditing",
            "committing",
            "context",
            "events",
            "proposing",
            "reading",
            "relating",
            "sessions",
            "subscribing",
            "undoing",
        ),
    ),
    Family(
        "extract",
        ("graph_",),
        (
            "tools.changes",
            "tools.context",
            "tools.doctor",
            "tools.export",
            "tools.finding",
            "tools.hygiene",
            "tools.impact",
            "tools.paths",
            "tools.rename",
            "tools.similar",
            "tools.structure",
            "tools.surface",
        ),
    ),
    Family(
        "ingest",
        ("knowledge_",),
        (
            "passes_entities",
            "passes_relations",
            "tools",
        ),
    ),
    Family(
        "maintain",
        ("kg_", "maintain_"),
        (
            "tools_chores",
            "tools_dispatch",
            "tools_edges",
            "tools_nodes",
            "tools_read",
            "tools_rename",
            "tools_search",
            "tools_status",
            "tools_usage",
        ),
    ),
    Family(
        "operations",
        ("knowledge_",),
        (
            "activity",
            "connections",
            "curation",
            "evidence",
            "filing",
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
            "history",
            "inspection",
            "lifecycle",
            "lists",
            "lookup",
            "merging",
            "ontology",
            "overview",
            "pages",
            "reading",
            "searching",
            "statements",
        ),
    ),
)


@cache
def load() -> None:
    """Import all operations."""
    for family in FAMILIES:
        _load(family)


@cache
def load_for(name: str) -> None:
    """Import the families that an operation of this name may be of."""
    for family in FAMILIES:
        if name.startswith(family.prefixes):
            _load(family)


@cache
def _load(family: Family) -> None:
    for module in family.modules:
        import_module(f"vault_kg.{family.package}.{module}")
