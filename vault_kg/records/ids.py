"""Opaque record ids: a kind prefix and 26 lower-case Crockford base-32 characters.

A new id carries 48 bits of time and 80 random bits (the ULID layout), so that ids sort by age. A
source's id is computed from its partition and content, so that the same bytes are the same source.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 26

PREFIXES = {"page": "pg", "claim": "cl", "relationship": "re"}
SOURCE_PREFIX = "sr"
NOTE_PREFIX = "doc:file:"

_ID = re.compile(rf"(pg|cl|re|sr)_[{ALPHABET}]{{{LENGTH}}}")
_UID = re.compile(rf"\b{_ID.pattern}\b|{NOTE_PREFIX}[^\s'\"\],]+")


def new_id(kind: str, milliseconds: int) -> str:
    """Return a fresh id of a record kind for a time in milliseconds since 1970."""
    return f"{PREFIXES[kind]}_{_base32((milliseconds << 80) | secrets.randbits(80))}"


def source_id(partition: str, sha256: str) -> str:
    """Return the id of the source that holds the bytes with this SHA-256 (hex) in a partition."""
    digest = hashlib.sha256(f"{partition}\n{sha256}".encode()).digest()
    return f"{SOURCE_PREFIX}_{_base32(int.from_bytes(digest, 'big') >> (256 - 130), exact=True)}"


def note_id(path: str) -> str:
    """Return the uid of a plain note at a vault-relative POSIX path."""
    return NOTE_PREFIX + path


def is_id(text: str) -> bool:
    """Say whether the text has the form of a record or source id."""
    return _ID.fullmatch(text) is not None


def replaced(text: str, name: Callable[[str], str]) -> str:
    """Return a text in which each record or source id, and each uid of a note, is named anew."""
    return _UID.sub(lambda found: name(found[0]), text)


def found_in(text: str) -> list[str]:
    """Return the ids of records in a text, in order."""
    return [match.group() for match in _ID.finditer(text)]


def is_note(uid: str) -> bool:
    """Say whether a uid is that of a plain note."""
    return uid.startswith(NOTE_PREFIX)


def kind_of(record_id: str) -> str | None:
    """Return the record kind that an id's prefix names, or None."""
    prefix = record_id.partition("_")[0]
    return next((kind for kind, known in PREFIXES.items() if known == prefix), None)


def _base32(number: int, *, exact: bool = False) -> str:
    if not exact:
        number &= (1 << 128) - 1
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
