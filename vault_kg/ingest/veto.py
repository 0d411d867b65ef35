"""The identifier veto: when two names that look alike certainly mean two things.

A number, a single letter, a short code or a Roman numeral in a name tells it apart from its like:
ADR 2018 is not ADR 2019. The rules are those of liminis-context-graph (ADR-0645 there), with Roman
numerals and initials compared as well.
"""

from __future__ import annotations

import re
import unicodedata

_VERSION = re.compile(r"\bv(?=\d)", re.IGNORECASE)
_PART = re.compile(r"[^\W\d_]+|\d+")
_WORD = re.compile(r"\w+")
_INITIAL = re.compile(r"(?<!\w)([^\W\d_])\.")
_CODE = re.compile(r"[A-Z]{2,6}")
_ROMAN = re.compile(r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_GENITIVE = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"^a(?=\s)", re.IGNORECASE)


def differs(first: str, second: str) -> str | None:
    """Say which identifier tells two names apart, or None where none does.

    Args:
        first: a name as it is written; upper case matters.
        second: another.

    Returns:
        The reason, for a reader.
    """
    first, second = (_ARTICLE.sub("", _plain(name)) for name in (first, second))
    for what, tell, both in (
        ("number or letter", _identifiers, False),
        ("Roman numeral", _romans, True),
        ("initial", _initials, True),
    ):
        ours, theirs = tell(first), tell(second)
        if ours != theirs and (not both or (ours and theirs)):
            return f"{what}: {_shown(ours)} against {_shown(theirs)}"
    ours, theirs = _codes(first), _codes(second)
    if ours - theirs and theirs - ours:
        return f"code: {_shown(ours - theirs)} against {_shown(theirs - ours)}"
    return None


def _plain(name: str) -> str:
    return _GENITIVE.sub("", _VERSION.sub("", unicodedata.normalize("NFKC", name)))


def _identifiers(name: str) -> frozenset[str]:
    """Return the numbers of a name, and the letters that stand alone and are no initials."""
    bare = _INITIAL.sub(" ", name)
    found: set[str] = set()
    for word in _WORD.findall(bare):
        if _ROMAN.fullmatch(word):
            continue
        parts = _PART.findall(word)
        found |= {part.lstrip("0") or "0" for part in parts if part.isdigit()}
        found |= {part.casefold() for part in parts if len(part) == 1 and part.isalpha()}
    return frozenset(found)


def _romans(name: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(_INITIAL.sub(" ", name)) if _is_roman(word))


def _is_roman(word: str) -> bool:
    return _ROMAN.fullmatch(word) is not None


def _initials(name: str) -> frozenset[str]:
    return frozenset(letter.casefold() for letter in _INITIAL.findall(name))


def _codes(name: str) -> frozenset[str]:
    return frozenset(
        word for word in _WORD.findall(name) if _CODE.fullmatch(word) and not _is_roman(word)
    )


def _shown(found: frozenset[str]) -> str:
    return ", ".join(sorted(found)) or "none"
