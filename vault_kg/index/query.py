"""What a person or an agent asks for, as text: words, phrases, exclusions and filters.

Nothing that is typed is FTS5 syntax. A query is read into words first, and the expression is built
from those words alone, each of them quoted.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from vault_kg.index.needles import TRAILING, Needle, half_typed, needles, strict_needles
from vault_kg.index.stopwords import is_stopword
from vault_kg.records.words import SPACELESS_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_NEEDLES: Final = 64
"""The most alternatives that one expression looks for; of a pasted text the longest words."""

MAX_PHRASES: Final = 16
MAX_EXCLUDED: Final = 16


@dataclass(frozen=True, slots=True)
class Query:
    """A query as understood; every text is spelled as it was typed."""

    raw: str
    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    half: str | None = None
    """The term that may be half typed: it also finds the words that begin so."""

    @property
    def telling_terms(self) -> tuple[str, ...]:
        """The terms without stop words, unless there is nothing else."""
        telling = tuple(term for term in self.terms if not is_stopword(term))
        return telling if telling or self.phrases else self.terms


_PIECE: Final = re.compile(
    r"""(?P<minus>(?<!\S)-(?=["\w]))?"""
    r"""(?:(?P<key>(?i:tag|type)):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))"""
    r"""|(?(minus)|(?<![^\s(]))"(?P<phrase>[^"]*)"|(?P<word>\S+))"""
)
_CURLY: Final = str.maketrans("“”„‟＂", '"""""')
_TYPED: Final = re.compile(r"[^\s\"()\[\]{}<>|,;!?*=^`“”„«»‹›…、。，；！？（）「」『』【】]+")
_LEADING: Final = ".-_$@#~/"
_POSSESSIVE: Final = re.compile(r"['’][sS]?$")


def parse_query(text: str, *, as_typed: bool = False) -> Query:
    """Read a query.

    `"a phrase"` asks for the phrase, `-word` and `-"a phrase"` exclude, `tag:x` and `type:x` (also
    with a quoted value) filter. Everything else is words: `a-b`, `--flag`, `AND`, `foo:bar`, `*`.

    Args:
        text: what was typed, of any length and content.
        as_typed: the word at the very end may be half typed.

    Returns:
        the query, its words distinct and in order; empty where it holds no word and no filter.
    """
    terms: dict[str, str] = {}
    phrases: dict[str, str] = {}
    excluded: dict[str, str] = {}
    filters: dict[str, dict[str, None]] = {}
    half = None
    for piece in _PIECE.finditer(text.translate(_CURLY)):
        key, phrase, word = piece["key"], piece["phrase"], piece["word"]
        value = (piece["quoted"] or piece["value"] or "").strip().removeprefix("#")
        negative = piece["minus"] is not None and not _is_number(word)
        if key and value and not negative:
            filters.setdefault(key.lower(), {})[value] = None
        elif phrase is not None:
            _remember(excluded if negative else phrases, [" ".join(phrase.split())])
        else:
            words = list(_typed_words(word or piece.group().removeprefix("-")))
            _remember(excluded if negative else terms, words)
            if as_typed and words and not negative and text.endswith(words[-1]):
                half = words[-1]
    return Query(
        text,
        tuple(terms.values()),
        tuple(phrases.values()),
        tuple(excluded.values()),
        {key: tuple(values) for key, values in filters.items()},
        half if half in terms.values() else None,
    )


def to_match(query: Query, mode: Literal["any", "all"] = "any") -> str | None:
    """Return the FTS5 expression of a query.

    Args:
        query: a query that was read.
        mode: whether a passage must hold any or all of the words. Phrases must always be there.

    Returns:
        the expression, or None where the query asks for no word.
    """
    phrases = [clause for phrase in query.phrases[:MAX_PHRASES] if (clause := _strict(phrase))]
    groups = [f"({' OR '.join(of)})" if len(of) > 1 else of[0] for of in alternatives(query)]
    wanted = [*phrases]
    if mode == "all":
        wanted += groups
    elif groups:
        wanted.append(f"({' OR '.join([*phrases, *groups])})")
    if not wanted:
        return None
    match = " AND ".join(wanted)
    unwanted = to_exclusion(query)
    return f"({match}) NOT ({unwanted})" if unwanted else match


def to_exclusion(query: Query) -> str | None:
    """Return the FTS5 expression of what a query excludes, or None where it excludes nothing."""
    unwanted = [clause for term in query.excluded[:MAX_EXCLUDED] if (clause := _strict(term))]
    return " OR ".join(unwanted) or None


def alternatives(query: Query) -> list[list[str]]:
    """Return for each term that counts the FTS5 strings that it is found by."""
    return [[_quoted(needle) for needle in group] for group in term_needles(query)]


def term_needles(query: Query) -> list[list[Needle]]:
    """Return for each term that counts the alternatives it is found by, within `MAX_NEEDLES`.

    Where a query has more, as a pasted page does, the longest words are taken: they tell most.
    """
    found = [group for term in query.telling_terms if (group := _needles_of(query, term))]
    if sum(map(len, found)) > MAX_NEEDLES:
        ranked = sorted(range(len(found)), key=lambda i: (-len(found[i][0].label), i))
        kept = sorted(ranked[:MAX_NEEDLES])
        found = [found[i] for i in kept]
    budget = MAX_NEEDLES
    limited: list[list[Needle]] = []
    for group in found:
        limited.append(list(group[:budget]))
        budget -= len(limited[-1])
        if budget <= 0:
            break
    return limited


def _needles_of(query: Query, term: str) -> tuple[Needle, ...]:
    return half_typed(term) if term == query.half else needles(term)


def _typed_words(chunk: str) -> Iterator[str]:
    for typed in _TYPED.findall(chunk):
        word = _trim(typed)
        if needles(word):
            yield word


def _trim(typed: str) -> str:
    """Take off punctuation around a word, and a possessive; what may belong to it stays."""
    start, end = 0, len(typed)
    while start < end and _is_mark(typed[start]) and typed[start] not in _LEADING:
        start += 1
    while end > start and _is_mark(typed[end - 1]) and typed[end - 1] not in TRAILING:
        end -= 1
    return _POSSESSIVE.sub("", typed[start:end])


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] in "PSZC" and not SPACELESS_RUN.match(char)


def _is_number(word: str | None) -> bool:
    return word is not None and word[:1].isdigit()


def _remember(into: dict[str, str], words: Iterable[str]) -> None:
    for word in words:
        if needles(word):
            into.setdefault(unicodedata.normalize("NFC", word).casefold(), word)


def _strict(term: str) -> str:
    clauses = [_quoted(needle) for needle in strict_needles(term)]
    return clauses[0] if len(clauses) == 1 else f"({' AND '.join(clauses)})" if clauses else ""


def _quoted(needle: Needle) -> str:
    """Write a needle as an FTS5 string; its tokens hold letters, digits and marks only."""
    return f'"{" ".join(needle.tokens)}"' + ("*" if needle.prefix else "")
