"""The ontology: the page types, claim kinds and relationship types of a vault, and their rules.

The built-in vocabulary is extended by the vault's `ontology.yaml` and, where there is one, by the
partition's. This module answers questions about the result; `ontology_files` reads the manifests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from vault_kg.records import ontology_files, ontology_views
from vault_kg.records.field_types import FieldProblem, FieldType, Level, fold
from vault_kg.records.ontology_types import (
    ROOT_TYPE,
    ClaimKind,
    Definition,
    Endpoints,
    Kind,
    Layer,
    Mode,
    OntologyIssue,
    PageType,
    RelationshipType,
    default_filing,
    name_index,
    pascal_case,
    snake_case,
)

__all__ = [
    "ClaimKind",
    "Definition",
    "Endpoints",
    "FieldProblem",
    "FieldType",
    "Kind",
    "Layer",
    "Mode",
    "Ontology",
    "OntologyIssue",
    "PageType",
    "RelationshipType",
    "load_ontology",
    "pascal_case",
    "snake_case",
]


@dataclass(frozen=True)
class Ontology:
    """The effective vocabulary: built-in, extended by the vault and the partition."""

    mode: Mode = "open"
    page_types: Mapping[str, PageType] = field(default_factory=dict)
    claim_kinds: Mapping[str, ClaimKind] = field(default_factory=dict)
    relationship_types: Mapping[str, RelationshipType] = field(default_factory=dict)
    issues: tuple[OntologyIssue, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether a manifest could not be used at all, so that structured writes are refused."""
        return any(issue.level == "error" for issue in self.issues)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of what the vocabulary means, in canonical JSON.

        Names, parents, fields with their types and values, endpoints, aliases, keywords, filing,
        layer, flags and mode count. Labels, descriptions, provenance, comments and the order of
        definitions do not: they change no answer of validation.
        """
        meaning = ontology_views.meaning(
            self.mode, self.page_types, self.claim_kinds, self.relationship_types
        )
        text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    # Names

    def page_type(self, name: str | None) -> PageType | None:
        """Return the page type that a name or another spelling of it declares, or None."""
        return self.page_types.get(self._names["page"].get(fold(name or ""), ""))

    def claim_kind(self, name: str | None) -> ClaimKind | None:
        """Return the claim kind that a name or another spelling of it declares, or None."""
        return self.claim_kinds.get(self._names["claim"].get(fold(name or ""), ""))

    def relationship_type(self, name: str | None) -> RelationshipType | None:
        """Return the relationship type that a name or another spelling declares, or None."""
        return self.relationship_types.get(self._names["relationship"].get(fold(name or ""), ""))

    # Faults

    def doubt(self, names: Iterable[str | None]) -> OntologyIssue | None:
        """Return the issue for which a rule about these names may be wrong; an error goes first.

        Args:
            names: of page types, claim kinds and relationship types; ancestors count with them.
        """
        known = [name for name in names if name]
        spelled = {fold(n) for name in known for n in (name, *self._canonicals(name))}
        found = (i for i in self.issues if i.costs and i.definition in (None, *spelled))
        return min(found, key=lambda issue: issue.level != "error", default=None)

    def _canonicals(self, name: str) -> tuple[str, ...]:
        declared = (self.page_type(name), self.claim_kind(name), self.relationship_type(name))
        return (*(d.name for d in declared if d), *self.ancestors(name))

    # Inheritance

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Return the types above a page type, nearest first; an undeclared type is an Entity."""
        declared = self.page_type(name)
        if declared is None:
            return (ROOT_TYPE,)
        chain: list[str] = []
        while declared is not None and declared.parent is not None:
            chain.append(declared.parent)
            declared = self.page_types.get(declared.parent)
        return tuple(chain)

    def is_a(self, name: str, ancestor: str) -> bool:
        """Say whether a page type is another one or inherits from it."""
        wanted = self._canonical(ancestor)
        return fold(self._canonical(name)) == fold(wanted) or wanted in self.ancestors(name)

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the labels of a page in the service's terms: Entity, ancestors, the type."""
        above = [a for a in reversed(self.ancestors(name)) if a != ROOT_TYPE]
        own = self._canonical(name)
        return (ROOT_TYPE, *above, *(() if own == ROOT_TYPE else (own,)))

    def fields_of(self, name: str) -> dict[str, FieldType]:
        """Return every field of a page type by name, inherited ones first."""
        found: dict[str, FieldType] = {}
        for type_name in (*reversed(self.ancestors(name)), self._canonical(name)):
            declared = self.page_types.get(type_name)
            found |= declared.fields if declared else {}
        return found

    # Rules

    def check_fields(
        self, type_name: str | None, fields: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[FieldProblem]]:
        """Check the fields of a page against its type.

        Args:
            type_name: the page's type; None counts as Entity.
            fields: field values as read or sent; None means no value.

        Returns:
            The fields in their stored form (declared names and allowed values as declared, fields
            without a value left out), and what is wrong with them. A field that the type does not
            declare is kept: with a warning in an open ontology, with an error in a strict one.
        """
        name = type_name or ROOT_TYPE
        declared = self.fields_of(name)
        spellings = {fold(known): known for known in declared}
        checked: dict[str, Any] = {}
        problems: list[FieldProblem] = []
        for given, value in fields.items():
            stored = spellings.get(fold(given), given)
            if value is None:
                continue
            if stored in checked:
                reason = f"is another spelling of {stored}, given twice"
                problems.append(FieldProblem(given, reason))
            elif stored not in declared:
                checked[stored] = value
                problems += self._undeclared_field(name, given)
            else:
                checked[stored], refusal = declared[stored].check(value)
                problems += [FieldProblem(stored, refusal)] if refusal else []
        missing = (f for f, rule in declared.items() if rule.required and f not in checked)
        problems += [FieldProblem(f, f"is required for {self._canonical(name)}") for f in missing]
        return checked, problems

    def _undeclared_field(self, type_name: str, given: str) -> Iterator[FieldProblem]:
        declared = self.page_type(type_name)
        if declared is None and self.mode == "open":
            return
        level: Level = "error" if self.mode == "strict" else "warning"
        allowed = ", ".join(sorted(self.fields_of(type_name))) or "none"
        label = declared.name if declared else type_name
        yield FieldProblem(given, f"is not declared for {label} (declared: {allowed})", level)

    def allows_endpoints(
        self, relationship: str, from_type: str | None, to_type: str | None
    ) -> str | None:
        """Say why a relationship type may not join two page types, or None where it may.

        An undeclared relationship type is refused in a strict ontology only. A page without a type
        counts as an Entity.
        """
        declared = self.relationship_type(relationship)
        if declared is None:
            strict = self.mode == "strict"
            return f"relationship type {relationship!r} is not declared" if strict else None
        source, target = from_type or ROOT_TYPE, to_type or ROOT_TYPE
        if declared.same_type and self._canonical(source) != self._canonical(target):
            return f"{declared.name} joins two pages of one type, not {source} and {target}"
        ways = [(source, target), *([(target, source)] if declared.symmetric else [])]
        if not declared.endpoints or any(self._fits(declared, *way) for way in ways):
            return None
        allowed = "; ".join(_shown(pair) for pair in declared.endpoints)
        return f"{declared.name} does not join {source} to {target} (allowed: {allowed})"

    def _fits(self, declared: RelationshipType, source: str, target: str) -> bool:
        return any(
            self._is_any(source, pair.sources) and self._is_any(target, pair.targets)
            for pair in declared.endpoints
        )

    def _is_any(self, name: str, wanted: tuple[str, ...]) -> bool:
        return not wanted or any(self.is_a(name, ancestor) for ancestor in wanted)

    # Filing

    def folder(self, type_name: str) -> str:
        """Return the folder, relative to the partition, in which new pages of a type are filed."""
        declared = self.page_type(type_name)
        return declared.filing[0] if declared and declared.filing else default_filing(type_name)

    # Views

    def describe(
        self,
        view: ontology_views.View = "catalog",
        *,
        name: str | None = None,
        kind: Kind | None = None,
    ) -> list[dict[str, Any]]:
        """Describe the vocabulary for a reader, sorted by kind and name.

        Args:
            view: `catalog` names and describes; `definitions` adds every rule.
            name: only what this name, another spelling or an alias declares, of every kind.
            kind: only this kind.
        """
        return ontology_views.describe(self, view, name, kind)

    # Indexes

    def _canonical(self, name: str) -> str:
        declared = self.page_type(name)
        return declared.name if declared else name

    @cached_property
    def _names(self) -> dict[Kind, dict[str, str]]:
        return {
            "page": name_index(self.page_types),
            "claim": name_index(self.claim_kinds),
            "relationship": name_index(self.relationship_types),
        }


@lru_cache(maxsize=32)
def load_ontology(vault_yaml: str | None, partition_yaml: str | None = None) -> Ontology:
    """Return the vocabulary in force: the built-in one, extended by the given manifests.

    Args:
        vault_yaml: text of the vault's `ontology.yaml`, or None where there is none.
        partition_yaml: text of the partition's, or None.

    Returns:
        The ontology. Nothing in a manifest raises: what cannot be used is left out and listed in
        `issues` with its line; a manifest that cannot be used at all also sets `broken`.
    """
    found = ontology_files.read_manifests(vault_yaml, partition_yaml)
    return Ontology(
        found.mode,
        found.page_types,
        found.claim_kinds,
        found.relationship_types,
        tuple(found.issues),
    )


def _shown(pair: Endpoints) -> str:
    source = " or ".join(pair.sources) or "any"
    return f"{source} to {' or '.join(pair.targets) or 'any'}"
