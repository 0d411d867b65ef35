"""What a person or an agent asks for, as text: words, phrases, exclusions and filters.

Nothing that is typed is FTS5 syntax. A query is read into words first, and the expression is built
from those words alone, each of them quoted.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from vault_kg.index import half_words
from vault_kg.records.words import (
    SPACELESS_RUN,
    WORD,
    accented_words,
    bigrams,
    fold,
    written_spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_NEEDLES: Final = 64
"""The most alternatives that one expression looks for; of a pasted text the longest words."""

MAX_PHRASE: Final = 32
MAX_PHRASES: Final = 16
MAX_EXCLUDED: Final = 16
FILTERS: Final = ("tag", "type")

STOPWORDS: Final = frozenset(
    """
    a about am an and are aren't as at be been being but by can't couldn't did didn't do does
    doesn't doing don't for from had hadn't has hasn't have haven't having he her his how i if in is
    isn't it it's its me my of on or our she shouldn't so than that that's the their them then these
    they this those to us was wasn't we were weren't what what's when where which who whom whose why
    with won't wouldn't you your
    """.split()
)
"""English words that say nothing of what is looked for; they count where nothing else was asked."""


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
        telling = tuple(term for term in self.terms if not _is_stopword(term))
        return telling if telling or self.phrases else self.terms


def _is_stopword(term: str) -> bool:
    return fold(term).replace("’", "'") in STOPWORDS


class Needle(NamedTuple):
    """Index tokens that stand side by side where a term matches, and what they are shown as."""

    label: str
    tokens: tuple[str, ...]
    prefix: bool = False


_PIECE: Final = re.compile(
    r"""(?P<minus>(?<!\S)-(?=["\w]))?"""
    r"""(?:(?P<key>(?i:tag|type)):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))"""
    r"""|(?(minus)|(?<![^\s(]))"(?P<phrase>[^"]*)"|(?P<word>\S+))"""
)
_CURLY: Final = str.maketrans("“”„‟＂", '"""""')
_TYPED: Final = re.compile(r"[^\s\"()\[\]{}<>|,;!?*=^`“”„«»‹›…、。，；！？（）「」『』【】]+")
_LEADING: Final = ".-_$@#~/"
_TRAILING: Final = "+#%$_"
_COMPOUND: Final = re.compile(r"\w[\w.]*(?:[-/][\w.]+)+")
_ELIDED: Final = re.compile(r"\w{1,2}['’](?=\w{2})")
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
    found = needles(term)
    if term != query.half:
        return found
    folded = fold(term)
    more = half_words.tokens(folded, _written(folded))
    return tuple(dict.fromkeys((*found, *(Needle(term, (t,), begins) for t, begins in more))))


@lru_cache(maxsize=1024)
def needles(term: str) -> tuple[Needle, ...]:
    """Return the alternatives by which a term is found, the closest to what was typed first."""
    folded = fold(term)
    runs = SPACELESS_RUN.findall(folded)
    words = tuple(WORD.findall(SPACELESS_RUN.sub(" ", folded)))
    found = [Needle(term, (token,), _open_ended(folded)) for token in _written(folded)]
    found += [Needle(term, (word,)) for word in accented_words(term)]
    if words and not (found and _says_little(folded, words)):
        found.append(Needle(term, words[:MAX_PHRASE]))
    if _ELIDED.match(term) and len(words) > 1:
        found.append(Needle(term, words[1 : MAX_PHRASE + 1]))
    if _COMPOUND.fullmatch(folded):
        parts = (word for word in words if len(word) > 2 and not _is_stopword(word))
        found += [Needle(word, (word,)) for word in parts if word.isalpha()]
    for run in runs:
        found += _run_needles(term if run == folded else run, run)
    return tuple(dict.fromkeys(found))


def strict_needles(term: str) -> list[Needle]:
    """Return what must all be found where a phrase, or an excluded word, stands as typed."""
    folded = fold(term)
    words = tuple(WORD.findall(SPACELESS_RUN.sub(" ", folded)))
    found = [Needle(term, (token,), _open_ended(folded)) for token in _written(folded)]
    if words and not (found and _says_little(folded, words)):
        found = [Needle(term, words[:MAX_PHRASE])]
    runs = dict.fromkeys(SPACELESS_RUN.findall(folded))
    return found + [_run_needles(term, run)[0] for run in runs][:MAX_PHRASE]


def _run_needles(label: str, run: str) -> list[Needle]:
    """Return how a spaceless run is found: whole, and by parts long enough to be words."""
    if len(run) == 1:
        token = bigrams(run)[0]
        return [Needle(label, (token,), prefix=token == run)]
    grams = bigrams(run)[:-1]
    size = 1 if _is_cjk(run) else 3
    parts = [
        Needle(run[i : i + size + 1], tuple(grams[i : i + size]))
        for i in range(len(grams) - size + 1)
    ]
    telling = [part for part in parts if not _HIRAGANA.fullmatch(part.label)]
    return [
        Needle(label, tuple(grams[:MAX_PHRASE])),
        *((telling or parts) if len(grams) > size else ()),
    ]


_HIRAGANA: Final = re.compile("[\u3041-\u309f]+")
_SOUTH_EAST_ASIAN: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\ua980-\uaa7f]"
)


def _is_cjk(run: str) -> bool:
    """Whether two characters make a word; in Thai, Lao, Khmer and Myanmar four letters do."""
    return _SOUTH_EAST_ASIAN.match(run) is None


def _written(folded: str) -> list[str]:
    """Return the token of a term that is one word held together by symbols."""
    spans = list(written_spans(folded))[:1]
    return [token for token, start, end in spans if end - start == len(folded)]


def _open_ended(folded: str) -> bool:
    """Whether `C++` should find `C++17`: what follows a symbol at the end is another word."""
    return not folded[-1:].isalnum()


def _says_little(folded: str, words: tuple[str, ...]) -> bool:
    """Whether the letters alone, as those of `C++`, are no word to look for."""
    return len(words) == 1 and len(words[0]) <= 2 and folded[-1:] in _TRAILING


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
    while end > start and _is_mark(typed[end - 1]) and typed[end - 1] not in _TRAILING:
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
