"""What a model calls a thing, a claim or a relation, in the words of the vocabulary."""

from __future__ import annotations

from typing import NamedTuple

from vault_kg.ingest.items import Statement
from vault_kg.operations.graph.views import UNCLASSIFIED
from vault_kg.records.ontology import Ontology, pascal_case, snake_case
from vault_kg.records.ontology_types import ROOT_TYPE

FACT = "fact"


class Typed(NamedTuple):
    """A type as it is stored, and why it is not the one that was given, if so."""

    name: str
    why: str | None = None
    given: str | None = None

    @property
    def tags(self) -> list[str]:
        """The type that was given, where another one is stored, as a tag."""
        return [f"original-type/{self.given}"] if self.why and self.given else []


def of_entity(ontology: Ontology, given: str) -> Typed:
    """Return the page type of a thing; Entity where the vocabulary does not allow the given one.

    In an open ontology an undeclared type is taken, in the form of page types.
    """
    declared = ontology.page_type(given)
    if declared is not None and declared.extract:
        return Typed(declared.name)
    if declared is not None:
        return Typed(ROOT_TYPE, f"{declared.name} is not for extraction", declared.name)
    name = pascal_case(given)
    if not name:
        return Typed(ROOT_TYPE)
    if ontology.mode == "strict":
        return Typed(ROOT_TYPE, f"{name} is not declared", name)
    return Typed(name)


def of_claim(ontology: Ontology, given: str) -> Typed:
    """Return the kind of a claim; fact where the vocabulary does not allow the given one."""
    declared = ontology.claim_kind(given)
    if declared is not None and declared.extract:
        return Typed(declared.name)
    name = snake_case(given)
    if not name:
        return Typed(FACT)
    if declared is not None or ontology.mode == "strict":
        return Typed(FACT, f"{name} is not declared, or not for extraction", name)
    return Typed(name)


def of_relation(ontology: Ontology, statement: Statement, source: str, target: str) -> Typed:
    """Return the type of a relation; unclassified where no type that it may have was given.

    Args:
        ontology: the vocabulary.
        statement: the relation.
        source: the type of the page that it comes from.
        target: the type of the page that it leads to.
    """
    declared = ontology.relationship_type(statement.type)
    given = declared.name if declared else snake_case(statement.type)
    if not given:
        return Typed(UNCLASSIFIED, "it has no type")
    if declared is not None and declared.reserved:
        return Typed(UNCLASSIFIED, f"{given} is written by the extractor of code only", given)
    if declared is not None and not declared.extract:
        return Typed(UNCLASSIFIED, f"{given} is not for extraction", given)
    if declared is None and ontology.mode == "strict":
        return Typed(UNCLASSIFIED, f"{given} is not declared", given)
    refused = ontology.allows_endpoints(given, source, target)
    return Typed(UNCLASSIFIED, refused, given) if refused else Typed(given)
