"""Names: how titles are compared, and how a title becomes a file name.

Two comparisons exist. `lookup_key` folds what a reader would call the same spelling (Unicode form,
case, white space); `title_key` folds punctuation as well and serves only to *propose* duplicates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from itertools import chain, count

MAX_SLUG = 60

_SPACE = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[\W_]+")
_NAMESPACED = re.compile(r"[a-z][a-z0-9_.-]*:\S")
_UNSEEN = ("Cc", "Cf", "Cs")
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a symbol that have no ink (Unicode: Hangul fillers, the blank Braille pattern)."""

_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))]
)
_GENERATED = frozenset({"index", "readme", "source"})


def lookup_key(text: str) -> str:
    """Return the form in which two spellings of one name are equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", folded)).strip()


def title_key(text: str) -> str:
    """Return the form in which two titles are weak evidence of one thing (C11: "GPT-4", "GPT 4")."""
    key = lookup_key(text)
    return _PUNCTUATION.sub(" ", key).strip() or key


def is_visible(text: str) -> bool:
    """Say whether a text has a character that a reader sees: a name of none cannot be told apart."""
    return any(
        unicodedata.category(c)[0] not in "ZM"
        and unicodedata.category(c) not in _UNSEEN
        and c not in _BLANKS
        for c in text
    )


def is_namespaced(alias: str) -> bool:
    """Say whether an alias is an identity in some namespace, as in `email:ada@example.org`."""
    return _NAMESPACED.match(alias) is not None and "://" not in alias


def slug(title: str, record_id: str) -> str:
    """Return a safe, readable file stem for a title; the id's end serves where no letter is left.

    Letters of every script are kept. Names that a file system or a generated page claims (`con`,
    `index`) carry the id's end, so that they stay apart.
    """
    text = unicodedata.normalize("NFKC", title).lower()
    stem = unicodedata.normalize("NFC", _dashed(text))
    stem = _clip(stem, MAX_SLUG).strip("-")
    if not stem:
        return short(record_id)
    if stem in _GENERATED or stem.partition(".")[0] in _WINDOWS_DEVICES:
        return f"{stem}-{short(record_id)}"
    return stem


def free_stem(stem: str, record_id: str, taken: Container[str]) -> str:
    """Return the stem, or the stem with the id's end, so that no taken name is equal to it.

    Args:
        stem: the wanted file stem.
        record_id: the record that the file is for.
        taken: `file_key`s of the stems in the folder; case and Unicode form are folded there.
    """
    every = chain(
        (stem, f"{stem}-{short(record_id)}", f"{stem}-{record_id[3:]}"),
        (f"{stem}-{record_id[3:]}-{n}" for n in count(2)),
    )
    return next(candidate for candidate in every if file_key(candidate) not in taken)


def file_key(name: str) -> str:
    """Return the form in which case-insensitive and normalising file systems compare names."""
    return unicodedata.normalize("NFC", name).casefold()


def short(record_id: str) -> str:
    """Return the last eight characters of an id: its most random part."""
    return record_id[-8:]


def _dashed(text: str) -> str:
    kept = (c if unicodedata.category(c)[0] in "LNM" else "-" for c in text)
    return re.sub(r"-{2,}", "-", "".join(kept)).strip("-")


def _clip(stem: str, limit: int) -> str:
    """Cut to `limit` characters and 180 UTF-8 bytes, at a word where one ends late enough."""
    cut = stem[:limit].encode()[:180].decode(errors="ignore")
    if len(cut) == len(stem):
        return stem
    head, _, _ = cut.rpartition("-")
    return head if len(head) >= limit // 2 else cut
