"""Slugs as readable ids: how long one is, whether it carries a date, and the terms of a page."""

from __future__ import annotations

import re
from collections.abc import Container

MAX_WORDS = 5
"""An id of more words says what the summary should (kg-maintain: "over five words")."""

_PARTS = re.compile(r"[\W_]+")
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?(?!\d)"
)
_TERM = re.compile(r"[^\W\d_]\w{4,}")


def words(slug: str) -> list[str]:
    """Return the words of a slug, folded."""
    return [part for part in _PARTS.split(slug.casefold()) if part]


def is_dated(slug: str) -> bool:
    """Say whether a slug carries a date (2026-01, 20260105, 2026-01-05)."""
    return _DATE.search(slug) is not None


def is_long(slug: str) -> bool:
    """Say whether a slug is to be shortened: over five words, or dated."""
    return len(words(slug)) > MAX_WORDS or is_dated(slug)


def terms(text: str, stops: Container[str]) -> set[str]:
    """Return the telling terms of a text: words of five characters or more that are no stop words."""
    return {found for found in _TERM.findall(text.casefold()) if found not in stops}


def one_line(text: str | None) -> str:
    """Return a text on one line."""
    return " ".join((text or "").split())


def title_of(slug: str) -> str:
    """Return the title that a page gets from its slug."""
    said = " ".join(part for part in re.split(r"[-_.\s]+", slug) if part) or slug
    return said[:1].upper() + said[1:]
