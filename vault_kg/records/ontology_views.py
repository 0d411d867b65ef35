"""The vocabulary as plain data: for a reader to look at, and as the text that is fingerprinted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from vault_kg.records.field_types import FieldType, fold
from vault_kg.records.ontology_types import (
    ClaimKind,
    Definition,
    Kind,
    Mode,
    PageType,
    RelationshipType,
)

if TYPE_CHECKING:
    from vault_kg.records.ontology import Ontology

View = Literal["catalog", "definitions"]


def describe(
    ontology: Ontology, view: View, name: str | None, kind: Kind | None
) -> list[dict[str, Any]]:
    """Return one mapping for each definition asked for, sorted by kind and name."""
    rows: list[dict[str, Any]] = []
    for of_kind, definition in _chosen(ontology, name, kind):
        row = _catalog_row(of_kind, definition)
        rows.append(row | _rules(ontology, definition) if view == "definitions" else row)
    return rows


def meaning(
    mode: Mode,
    page_types: Mapping[str, PageType],
    claim_kinds: Mapping[str, ClaimKind],
    relationship_types: Mapping[str, RelationshipType],
) -> dict[str, Any]:
    """Return what the vocabulary means for validation, with everything else left out."""
    return {
        "mode": mode,
        "page": {t.name: _page_meaning(t) for t in page_types.values()},
        "claim": {k.name: _common_meaning(k) for k in claim_kinds.values()},
        "relationship": {r.name: _relationship_meaning(r) for r in relationship_types.values()},
    }


def _chosen(
    ontology: Ontology, name: str | None, kind: Kind | None
) -> Iterator[tuple[Kind, Definition]]:
    kinds: dict[Kind, Mapping[str, Definition]] = {
        "claim": ontology.claim_kinds,
        "page": ontology.page_types,
        "relationship": ontology.relationship_types,
    }
    for of_kind, definitions in kinds.items():
        if kind in (None, of_kind):
            for definition in sorted(definitions.values(), key=lambda d: d.name):
                if name is None or fold(name) in _spellings(definition):
                    yield of_kind, definition


def _spellings(definition: Definition) -> set[str]:
    return {fold(definition.name), *(fold(alias) for alias in definition.aliases)}


def _catalog_row(kind: Kind, definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "kind": kind,
        "label": definition.label,
        "description": definition.description,
        "aliases": list(definition.aliases),
        "provenance": list(definition.provenance),
    }


def _rules(ontology: Ontology, definition: Definition) -> dict[str, Any]:
    rules: dict[str, Any] = {"extract": definition.extract}
    if isinstance(definition, PageType):
        return rules | _page_rules(ontology, definition)
    if isinstance(definition, RelationshipType):
        return rules | _relationship_rules(definition)
    return rules


def _page_rules(ontology: Ontology, page_type: PageType) -> dict[str, Any]:
    chain = (page_type.name, *ontology.ancestors(page_type.name))
    fields = ontology.fields_of(page_type.name)
    return {
        "parent": page_type.parent,
        "inherits": list(chain[1:]),
        "identity": page_type.identity,
        "folder": ontology.folder(page_type.name),
        "filing": list(page_type.filing),
        "fields": [
            _field_row(rule) | {"declared_by": _declaring(ontology, chain, name)}
            for name, rule in fields.items()
        ],
    }


def _declaring(ontology: Ontology, chain: tuple[str, ...], field: str) -> str:
    return next(t for t in chain if field in ontology.page_types[t].fields)


def _field_row(rule: FieldType) -> dict[str, Any]:
    return {
        "name": rule.name,
        "type": rule.type,
        "required": rule.required,
        "many": rule.many,
        "values": list(rule.values),
        "minimum": rule.minimum,
        "maximum": rule.maximum,
        "description": rule.description,
        "provenance": rule.origin,
    }


def _relationship_rules(relationship: RelationshipType) -> dict[str, Any]:
    return {
        "endpoints": [
            {"from": list(pair.sources), "to": list(pair.targets)}
            for pair in relationship.endpoints
        ],
        "same_type": relationship.same_type,
        "symmetric": relationship.symmetric,
        "keywords": list(relationship.keywords),
        "layer": relationship.layer,
        "reserved": relationship.reserved,
    }


def _common_meaning(definition: Definition) -> dict[str, Any]:
    aliases = sorted({fold(alias) for alias in definition.aliases})
    return {"aliases": aliases, "extract": definition.extract}


def _page_meaning(page_type: PageType) -> dict[str, Any]:
    return _common_meaning(page_type) | {
        "parent": page_type.parent,
        "filing": list(page_type.filing),
        "identity": page_type.identity,
        "fields": {f.name: _field_meaning(f) for f in page_type.fields.values()},
    }


def _field_meaning(rule: FieldType) -> list[Any]:
    values = sorted(rule.values, key=str)
    return [rule.type, rule.required, rule.many, values, rule.minimum, rule.maximum]


def _relationship_meaning(relationship: RelationshipType) -> dict[str, Any]:
    pairs = {(tuple(sorted(p.sources)), tuple(sorted(p.targets))) for p in relationship.endpoints}
    return _common_meaning(relationship) | {
        "endpoints": sorted(pairs),
        "same_type": relationship.same_type,
        "symmetric": relationship.symmetric,
        "keywords": sorted(set(relationship.keywords)),
        "layer": relationship.layer,
    }
