"""What an ontology is made of: page types, claim kinds, relationship types, and their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vault_kg.records.field_types import FieldType, Level, Origin, fold

ROOT_TYPE = "Entity"

_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_HARMLESS = frozenset({"lenient_yaml", "alias_taken", "filing_taken", "invalid_filing"})

Mode = Literal["open", "strict"]
Kind = Literal["page", "claim", "relationship"]
Layer = Literal["cognitive", "deterministic"]


@dataclass(frozen=True)
class OntologyIssue:
    """One finding in an ontology manifest, at a line of that manifest (1-based).

    An error means that the manifest could not be used at all; a warning that one definition, or a
    part of it, was left out and the rest holds.
    """

    code: str
    message: str
    source: Origin
    line: int | None = None
    level: Level = "warning"
    definition: str | None = None
    """The folded name of the definition that it is of; None is the manifest as a whole."""

    @property
    def costs(self) -> bool:
        """Whether a rule may be missing for it, so that what breaks a rule may be right."""
        return self.code not in _HARMLESS


@dataclass(frozen=True)
class Definition:
    """What page types, claim kinds and relationship types have in common.

    `provenance` names the manifests that had a part in the definition, the declaring one first.
    """

    name: str
    label: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    extract: bool = True
    provenance: tuple[Origin, ...] = ("builtin",)


@dataclass(frozen=True)
class PageType(Definition):
    """A type of page: its parent, its own fields (without inherited ones) and where pages go."""

    parent: str | None = ROOT_TYPE
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    filing: tuple[str, ...] = ()
    identity: bool = False


@dataclass(frozen=True)
class ClaimKind(Definition):
    """A kind of claim."""


@dataclass(frozen=True)
class Endpoints:
    """One pair of endpoint rules; an empty side takes any type."""

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class RelationshipType(Definition):
    """A type of relationship: which types it may join, and who may write it."""

    endpoints: tuple[Endpoints, ...] = ()
    same_type: bool = False
    symmetric: bool = False
    keywords: tuple[str, ...] = ()
    layer: Layer = "cognitive"

    @property
    def reserved(self) -> bool:
        """Whether only the extractor may write relationships of this type."""
        return self.layer == "deterministic"


def name_index(definitions: Mapping[str, Definition]) -> dict[str, str]:
    """Return the declared name of every folded spelling; a name goes before an alias."""
    by_alias = {fold(a): d.name for d in definitions.values() for a in d.aliases}
    return by_alias | {fold(name): name for name in definitions}


def pascal_case(name: str) -> str:
    """Return a name in the form of page types: "lunar module" as `LunarModule`."""
    return "".join(part[:1].upper() + part[1:] for part in _parts(name))


def snake_case(name: str) -> str:
    """Return a name in the form of the other kinds: "Depends on" as `depends_on`."""
    return _lower_words(name, "_")


def default_filing(type_name: str) -> str:
    """Return the folder of a type that declares none: `APIContract` as `pages/api-contract/`."""
    return f"pages/{_lower_words(type_name, '-') or 'entity'}/"


def _lower_words(name: str, separator: str) -> str:
    words = (word for part in _parts(name) for word in _CAMEL_BOUNDARY.split(part))
    return separator.join(words).lower()


def _parts(name: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in name).split()
