"""By which names references may spell what a uid, an export or a reference means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from vault_kg.extract import uids
from vault_kg.extract.model import Reference

_PARTS = re.compile(r"[^\W]+", re.UNICODE)


def parts(text: str) -> list[str]:
    """Return the names that a text is made of."""
    return _PARTS.findall(text)


def names_in(reference: Reference) -> frozenset[str]:
    """Return every name in a reference: a change of what one of them means may change its target."""
    return _names(reference.name, reference.module)


@lru_cache(maxsize=16_384)
def _names(name: str, module: str | None) -> frozenset[str]:
    return frozenset(_PARTS.findall(f"{name} {module or ''}"))


def names_for(uid: str) -> set[str]:
    """Return the names by which references may spell what has this uid."""
    found = uids.parse(uid)
    if found is None:
        return set()
    if found.name:
        return set(_PARTS.findall(found.name.rpartition(".")[2]))
    return {part for piece in (found.path or "").split("/")[-2:] for part in _PARTS.findall(piece)}


def parts_of(exports: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return each name that a target holds, with the name that stands for it."""
    return {
        (part, _last(name)) for name, target in exports.items() for part in _PARTS.findall(target)
    }


def _last(name: str) -> str:
    found = _PARTS.findall(name.partition("^")[0])
    return found[-1] if found else name
