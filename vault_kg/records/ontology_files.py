"""Adds up the manifests of a vocabulary: the built-in one, the vault's, the partition's.

A manifest that cannot be read, or a section of which has no form, has no part in the result. Below
that, one bad definition costs that definition (or the part of it that is bad) and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import TypeVar, cast

from vault_kg.records import ontology_definitions as definitions
from vault_kg.records.field_types import FieldType, Origin, fold
from vault_kg.records.ontology_types import (
    ROOT_TYPE,
    ClaimKind,
    Definition,
    Mode,
    OntologyIssue,
    PageType,
    RelationshipType,
    name_index,
    pascal_case,
    snake_case,
)
from vault_kg.records.ontology_yaml import Block, Findings, read_manifest

_SECTIONS = ("page_types", "claim_kinds", "relationship_types")

D = TypeVar("D", bound=Definition)


@dataclass
class Vocabulary:
    """What the manifests add up to."""

    mode: Mode = "open"
    page_types: dict[str, PageType] = field(default_factory=dict)
    claim_kinds: dict[str, ClaimKind] = field(default_factory=dict)
    relationship_types: dict[str, RelationshipType] = field(default_factory=dict)
    issues: list[OntologyIssue] = field(default_factory=list)


def read_manifests(vault_yaml: str | None, partition_yaml: str | None) -> Vocabulary:
    """Return the vocabulary of the built-in manifest, extended by the two given ones.

    Args:
        vault_yaml: text of the vault's manifest, or None.
        partition_yaml: text of the partition's manifest, or None.
    """
    vocabulary = _copy(_builtin())
    if vault_yaml is not None:
        _extend(vocabulary, vault_yaml, "vault")
    if partition_yaml is not None:
        _extend(vocabulary, partition_yaml, "partition")
    return vocabulary


@lru_cache(maxsize=1)
def _builtin() -> Vocabulary:
    """Return the built-in vocabulary, read once; it is extended in copies only."""
    manifest = resources.files("vault_kg.records").joinpath("default_ontology.yaml")
    vocabulary = Vocabulary()
    _extend(vocabulary, manifest.read_text(encoding="utf-8"), "builtin")
    return vocabulary


def _copy(known: Vocabulary) -> Vocabulary:
    return Vocabulary(
        known.mode,
        dict(known.page_types),
        dict(known.claim_kinds),
        dict(known.relationship_types),
        list(known.issues),
    )


def _extend(known: Vocabulary, text: str, origin: Origin) -> None:
    findings = Findings(origin)
    top = read_manifest(text, findings)
    if top is not None:
        _check_top(top)
    if top is not None and not findings.unusable:
        known.mode = cast(Mode, top.text("mode") or known.mode)
        _extend_page_types(known.page_types, top, origin)
        _extend_claim_kinds(known.claim_kinds, top, origin)
        _extend_relationship_types(known, top, origin)
    known.issues += findings.issues


def _check_top(top: Block) -> None:
    """Report as errors what makes a whole manifest useless: its mode or the form of a section."""
    top.refuse_unknown(("mode", *_SECTIONS))
    if "mode" in top.entries and top.entries["mode"].node.value not in ("open", "strict"):
        line = top.entries["mode"].line
        top.findings.add("invalid_mode", "mode must be open or strict", line, "error")
    for section in _SECTIONS:
        if not top.is_section(section):
            message = f"{section} must be a mapping of names to definitions"
            top.findings.add("invalid_section", message, top.entries[section].line, "error")


def _extend_page_types(known: dict[str, PageType], top: Block, origin: Origin) -> None:
    blocks = dict(_definitions(known, top, "page_types", "page type", pascal_case))
    new = [name for name in blocks if name not in known]
    for name, block in blocks.items():
        known[name] = definitions.page_type(known.get(name), name, block, origin)
    _settle_aliases(known, blocks)
    _settle_parents(known, blocks, new)
    _settle_fields(known, blocks)
    _settle_filing(known, blocks)


def _extend_claim_kinds(known: dict[str, ClaimKind], top: Block, origin: Origin) -> None:
    blocks = dict(_definitions(known, top, "claim_kinds", "claim kind", snake_case))
    for name, block in blocks.items():
        known[name] = definitions.claim_kind(known.get(name), name, block, origin)
    _settle_aliases(known, blocks)


def _extend_relationship_types(vocabulary: Vocabulary, top: Block, origin: Origin) -> None:
    known = vocabulary.relationship_types
    page_types = name_index(vocabulary.page_types)
    what = "relationship type"
    blocks = dict(_definitions(known, top, "relationship_types", what, snake_case))
    for name, block in blocks.items():
        standing = known.get(name)
        known[name] = definitions.relationship_type(standing, name, block, origin, page_types)
    _settle_aliases(known, blocks)


def _definitions(
    known: Mapping[str, Definition],
    top: Block,
    section: str,
    what: str,
    spell: Callable[[str], str],
) -> Iterator[tuple[str, Block]]:
    """Yield the canonical name and mapping of each definition of a section, each name once."""
    names = {fold(name): name for name in known}
    seen: set[str] = set()
    for given, block in top.blocks(section, what):
        name = names.setdefault(fold(given), spell(given))
        if not fold(given):
            block.report("invalid_name", "a name needs letters or digits; it is left out")
        elif name in seen:
            block.report("duplicate_definition", f"is {name} again; the first one counts")
        else:
            seen.add(name)
            yield name, block


def _settle_aliases(known: dict[str, D], blocks: Mapping[str, Block]) -> None:
    """Give every alias to one definition: a name goes before any alias, then the first claim."""
    names = {fold(name): name for name in known}
    taken: dict[str, str] = {}
    for definition in list(known.values()):
        kept: dict[str, str] = {}
        for alias in definition.aliases:
            key = fold(alias)
            holder = names.get(key) or taken.setdefault(key, definition.name)
            if holder != definition.name:
                _report_alias(blocks.get(definition.name), alias, holder)
            elif key and key not in names:
                kept.setdefault(key, alias)
        known[definition.name] = replace(definition, aliases=tuple(kept.values()))


def _report_alias(block: Block | None, alias: str, holder: str) -> None:
    """Report an alias that another definition holds, where this manifest is what gave it."""
    if block is not None and alias in block.texts("aliases"):
        block.report("alias_taken", f"alias {alias!r} belongs to {holder}; left out", "aliases")


def _settle_parents(
    known: dict[str, PageType], blocks: Mapping[str, Block], new: list[str]
) -> None:
    """Resolve the parents of new types; an unknown parent or a loop leaves an Entity."""
    names = name_index(known)
    for name in new:
        given = known[name].parent
        parent = names.get(fold(given or ""))
        if given and parent is None:
            message = f"parent {given!r} is not declared; {name} is read as an {ROOT_TYPE}"
            blocks[name].report("unknown_parent", message, "parent")
        known[name] = replace(known[name], parent=parent or (ROOT_TYPE if given else None))
    for name in [name for name in new if name in _ancestors(known, name)]:
        message = f"{name} is its own ancestor; it is read as an {ROOT_TYPE}"
        blocks[name].report("parent_loop", message, "parent")
        known[name] = replace(known[name], parent=ROOT_TYPE)


def _ancestors(known: Mapping[str, PageType], name: str) -> list[str]:
    """Return the types above a type, nearest first; a loop is walked once."""
    chain: list[str] = []
    parent = known[name].parent
    while parent is not None and parent not in chain:
        chain.append(parent)
        parent = known[parent].parent
    return chain


def _settle_fields(known: dict[str, PageType], blocks: Mapping[str, Block]) -> None:
    """Keep a field's type the same down the chain; the definition that came later gives way."""
    for name in list(known):
        for ancestor in _ancestors(known, name):
            for inherited in list(known[ancestor].fields.values()):
                own = _same_field(known[name], inherited)
                if own is not None and not _agree(own, inherited):
                    later, rule = (name, own) if name in blocks else (ancestor, inherited)
                    _drop_field(known, later, rule, blocks[later], name, ancestor)


def _same_field(page_type: PageType, rule: FieldType) -> FieldType | None:
    wanted = fold(rule.name)
    return next((own for own in page_type.fields.values() if fold(own.name) == wanted), None)


def _agree(one: FieldType, other: FieldType) -> bool:
    return (one.name, one.type, one.many) == (other.name, other.type, other.many)


def _drop_field(
    known: dict[str, PageType],
    holder: str,
    rule: FieldType,
    block: Block,
    name: str,
    ancestor: str,
) -> None:
    message = f"field {rule.name} is not the same in {ancestor} and {name}; it is left out"
    block.report("field_conflict", message, "fields")
    rest = {key: kept for key, kept in known[holder].fields.items() if key != rule.name}
    known[holder] = replace(known[holder], fields=rest)


def _settle_filing(known: dict[str, PageType], blocks: Mapping[str, Block]) -> None:
    """Give every filing prefix to one type: the first that claims it."""
    taken: dict[str, str] = {}
    for page_type in list(known.values()):
        kept = tuple(
            p for p in page_type.filing if taken.setdefault(p, page_type.name) == page_type.name
        )
        known[page_type.name] = replace(page_type, filing=kept)
        for prefix in set(page_type.filing) - set(kept):
            message = f"filing {prefix!r} belongs to {taken[prefix]}; it is left out"
            blocks[page_type.name].report("filing_taken", message, "filing")
