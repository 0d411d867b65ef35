"""Builds one definition of an ontology from a mapping of a manifest and what stands already.

A definition that stands is extended: fields, aliases, endpoints, keywords and filing are added,
labels and descriptions reworded. What it means (a parent, a field's type, a reserved layer) stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from vault_kg.records.field_types import TYPE_NAMES, FieldType, Origin, fold, parse_scalar
from vault_kg.records.ontology_types import (
    ROOT_TYPE,
    ClaimKind,
    Definition,
    Endpoints,
    Layer,
    PageType,
    RelationshipType,
    default_filing,
    pascal_case,
)
from vault_kg.records.ontology_yaml import Block

_COMMON_KEYS = ("label", "description", "aliases", "extract")
_PAGE_KEYS = (*_COMMON_KEYS, "parent", "fields", "filing", "identity")
_RELATIONSHIP_KEYS = (
    *_COMMON_KEYS,
    *("from", "to", "endpoints", "same_type", "symmetric", "keywords", "layer"),
)
_FIELD_KEYS = ("type", "required", "many", "values", "minimum", "maximum", "description")
_FIELD_NAME = re.compile(r"\w[\w .-]{0,63}")
_UNSAFE_PART = re.compile(r"\.|$|.*[\x00-\x1f\x7f\\:*?\"<>|]")


def page_type(standing: PageType | None, name: str, block: Block, origin: Origin) -> PageType:
    """Return a page type as a mapping declares or extends it; its parent is not resolved yet."""
    block.refuse_unknown(_PAGE_KEYS)
    identity = block.flag("identity")
    filing = (*_prefixes(block), *(standing.filing if standing else ()))
    return PageType(
        **_common(standing, name, block, origin),
        parent=_parent(standing, name, block),
        fields=_fields(standing, block, origin),
        filing=tuple(dict.fromkeys(filing)) or (default_filing(name),),
        identity=_or(identity, standing is not None and standing.identity),
    )


def claim_kind(standing: ClaimKind | None, name: str, block: Block, origin: Origin) -> ClaimKind:
    """Return a claim kind as a mapping declares or extends it."""
    block.refuse_unknown(_COMMON_KEYS)
    return ClaimKind(**_common(standing, name, block, origin))


def relationship_type(
    standing: RelationshipType | None,
    name: str,
    block: Block,
    origin: Origin,
    page_types: Mapping[str, str],
) -> RelationshipType:
    """Return a relationship type as a mapping declares or extends it.

    Args:
        standing: the definition that stands, if one does.
        name: the canonical name.
        block: the mapping.
        origin: which manifest the mapping is of.
        page_types: the declared page type of every folded spelling.
    """
    block.refuse_unknown(_RELATIONSHIP_KEYS)
    pairs = tuple(_endpoints(block, page_types))
    keywords = tuple(word.casefold() for word in block.texts("keywords"))
    layer = cast("Layer | None", block.choice("layer", ("cognitive", "deterministic")))
    before = standing or RelationshipType(
        name,
        endpoints=pairs,
        same_type=_or(block.flag("same_type"), False),
        symmetric=_or(block.flag("symmetric"), False),
    )
    if standing:
        layer, pairs = _extension(standing, block, layer, pairs)
    declared = replace(
        before,
        **_common(standing, name, block, origin),
        endpoints=tuple(dict.fromkeys((*before.endpoints, *pairs))),
        keywords=tuple(dict.fromkeys((*before.keywords, *keywords))),
        layer=layer or before.layer,
    )
    return replace(declared, extract=False) if declared.reserved else declared


def _common(standing: Definition | None, name: str, block: Block, origin: Origin) -> dict[str, Any]:
    before = standing or Definition(name, label=name, provenance=())
    return {
        "name": name,
        "label": block.text("label") or before.label,
        "description": block.text("description") or before.description,
        "aliases": (*before.aliases, *block.texts("aliases")),
        "extract": _or(block.flag("extract"), before.extract),
        "provenance": (*before.provenance, origin),
    }


def _parent(standing: PageType | None, name: str, block: Block) -> str | None:
    given = block.text("parent")
    if standing is None:
        outside = name == ROOT_TYPE or block.is_null("parent")
        return given or (None if outside else ROOT_TYPE)
    if "parent" in block.entries and fold(given or "") != fold(standing.parent or ""):
        block.report("redefined", f"the parent of {name} stands and is not changed", "parent")
    return standing.parent


def _prefixes(block: Block) -> Iterator[str]:
    for given in block.texts("filing"):
        prefix = given.rstrip("/")
        if any(_UNSAFE_PART.match(part) for part in prefix.split("/")):
            message = f"filing {given!r} is not a plain relative folder; it is left out"
            block.report("invalid_filing", message, "filing")
        else:
            yield f"{prefix}/"


def _fields(standing: PageType | None, block: Block, origin: Origin) -> dict[str, FieldType]:
    fields = dict(standing.fields) if standing else {}
    spellings = {fold(name): name for name in fields}
    seen: set[str] = set()
    for given, field_block in block.blocks("fields", f"{block.what}, field"):
        name = spellings.setdefault(fold(given), given)
        if not fold(given) or not _FIELD_NAME.fullmatch(given):
            field_block.report("invalid_name", "is not a field name; it is left out")
        elif name in seen:
            field_block.report("duplicate_definition", f"is {name} again; the first one counts")
        elif (rule := _field(fields.get(name), name, field_block, origin)) is not None:
            fields[name] = rule
        seen.add(name)
    return fields


def _field(standing: FieldType | None, name: str, block: Block, origin: Origin) -> FieldType | None:
    block.refuse_unknown(_FIELD_KEYS)
    before = standing or FieldType(name, origin=origin)
    type_name = block.text("type") or before.type
    many = _or(block.flag("many"), before.many)
    if type_name not in TYPE_NAMES:
        wanted = ", ".join(TYPE_NAMES)
        block.report("unknown_field_type", f"type must be one of {wanted}; it is left out", "type")
        return None
    if standing and (standing.type, standing.many) != (type_name, many):
        block.report("redefined", "is declared with another type already, which stands")
        return None
    return replace(
        before,
        type=type_name,
        many=many,
        required=_or(block.flag("required"), before.required),
        values=_values(type_name, block) or before.values,
        minimum=_bound("minimum", type_name, block, before.minimum),
        maximum=_bound("maximum", type_name, block, before.maximum),
        description=block.text("description") or before.description,
    )


def _values(type_name: str, block: Block) -> tuple[str | int | float, ...]:
    values: list[str | int | float] = []
    for given in block.texts("values"):
        value = parse_scalar(type_name, given)
        if value is None:
            message = f"value {given!r} is not of type {type_name}; it is left out"
            block.report("invalid_value", message, "values")
        else:
            values.append(value)
    return tuple(values)


def _bound(key: str, type_name: str, block: Block, before: float | None) -> float | None:
    bound = block.number(key)
    if bound is not None and type_name not in ("integer", "number"):
        block.report("invalid_value", f"{key} is for numbers; it is left out", key)
        return before
    return before if bound is None else bound


def _extension(
    standing: RelationshipType, block: Block, layer: Layer | None, pairs: tuple[Endpoints, ...]
) -> tuple[Layer | None, tuple[Endpoints, ...]]:
    """Return the layer and endpoints that may be added to a relationship type that stands."""
    for key in ("same_type", "symmetric"):
        if block.flag(key) not in (None, getattr(standing, key)):
            block.report("redefined", f"{key} of {standing.name} stands", key)
    if standing.reserved and (layer == "cognitive" or pairs):
        message = f"{standing.name} is reserved; its layer and endpoints stand"
        block.report("reserved_type", message, "layer" if layer == "cognitive" else None)
        return None, ()
    if pairs and not standing.endpoints:
        block.report("redefined", f"{standing.name} joins any types already")
        return layer, ()
    return layer, pairs


def _endpoints(block: Block, page_types: Mapping[str, str]) -> Iterator[Endpoints]:
    yield from _pair(block, page_types)
    for pair in block.sequence("endpoints"):
        pair.refuse_unknown(("from", "to"))
        yield from _pair(pair, page_types)


def _pair(block: Block, page_types: Mapping[str, str]) -> Iterator[Endpoints]:
    sources = tuple(_types(block, "from", page_types))
    targets = tuple(_types(block, "to", page_types))
    if sources or targets:
        yield Endpoints(sources, targets)


def _types(block: Block, key: str, page_types: Mapping[str, str]) -> Iterator[str]:
    for given in block.texts(key):
        if fold(given) not in page_types:
            # Kept all the same: an open vault may hold pages of a type that nobody declared.
            block.report("unknown_type", f"page type {given!r} ({key}) is not declared", key)
        yield page_types.get(fold(given)) or pascal_case(given)


def _or(flag: bool | None, default: bool) -> bool:
    return default if flag is None else flag
