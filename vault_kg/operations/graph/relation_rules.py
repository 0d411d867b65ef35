"""What type a relationship has by its words alone: its predicate against the vocabulary's.

A type of the vocabulary that stands is kept. An arrow as a predicate (`A -> B`) says nothing. Types
that only the extractor writes, and those that are kept from extraction, are never chosen. Of several
types with a fitting keyword, the longest keyword decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vault_kg.operations.graph.views import UNCLASSIFIED
from vault_kg.records import names
from vault_kg.records.ontology import Ontology, RelationshipType, snake_case

_ARROW = re.compile(r"\S.*?\s*(?:→|->)\s*\S.*")


@dataclass(frozen=True)
class Verdict:
    """What words say of an edge: `mapped` to a type, `noise`, or `residual`."""

    outcome: Literal["mapped", "noise", "residual"]
    type: str | None = None


def offered(ontology: Ontology) -> list[RelationshipType]:
    """Return the types that an edge may be given, in the order of their names."""
    found = ontology.relationship_types.values()
    return sorted(
        (t for t in found if t.extract and not t.reserved and t.name != UNCLASSIFIED),
        key=lambda t: t.name,
    )


def is_noise(text: str | None) -> bool:
    """Say whether a predicate is an arrow between two names."""
    return bool(text) and _ARROW.fullmatch(str(text).strip()) is not None


def classify(ontology: Ontology, predicate: str | None, standing: str | None) -> Verdict:
    """Say what type a predicate, and the type that stands, mean.

    Args:
        ontology: the vocabulary of the group.
        predicate: the edge's name.
        standing: the type that it has.
    """
    if is_noise(predicate) or is_noise(standing):
        return Verdict("noise")
    types = offered(ontology)
    allowed = {t.name for t in types}
    stands = ontology.relationship_type(standing)
    if stands is not None and stands.name in allowed:
        return Verdict("mapped", stands.name)
    for text in (predicate, standing):
        declared = ontology.relationship_type(text)
        if declared is not None and declared.name in allowed:
            return Verdict("mapped", declared.name)
        by_keyword = _by_keyword(types, text)
        if by_keyword is not None:
            return Verdict("mapped", by_keyword)
    return Verdict("residual")


def minted(predicate: str | None, fact: str) -> str | None:
    """Return a type made of a predicate, or of the first four words of a fact."""
    if predicate and not is_noise(predicate):
        return snake_case(predicate) or None
    return snake_case(" ".join(fact.split()[:4])) or None


def _by_keyword(types: Iterable[RelationshipType], text: str | None) -> str | None:
    words = names.title_key(text or "")
    found = [
        (len(keyword), t.name)
        for t in types
        for keyword in t.keywords
        if words and keyword.strip() and keyword in words
    ]
    longest = max((length for length, _ in found), default=0)
    return min((name for length, name in found if length == longest), default=None)
