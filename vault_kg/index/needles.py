"""By which tokens of the index a term is found: what a person types, as the index keeps it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from vault_kg.index import half_words
from vault_kg.index.stopwords import is_stopword
from vault_kg.records.words import (
    SPACELESS_RUN,
    WORD,
    accented_words,
    bigrams,
    fold,
    written_spans,
)

MAX_PHRASE: Final = 32
TRAILING: Final = "+#%$_"
"""Signs that belong to the word that they end."""

_COMPOUND: Final = re.compile(r"\w[\w.]*(?:[-/][\w.]+)+")
_ELIDED: Final = re.compile(r"\w{1,2}['’](?=\w{2})")


class Needle(NamedTuple):
    """Index tokens that stand side by side where a term matches, and what they are shown as."""

    label: str
    tokens: tuple[str, ...]
    prefix: bool = False


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
        parts = (word for word in words if len(word) > 2 and not is_stopword(word))
        found += [Needle(word, (word,)) for word in parts if word.isalpha()]
    for run in runs:
        found += _run_needles(term if run == folded else run, run)
    return tuple(dict.fromkeys(found))


def half_typed(term: str) -> tuple[Needle, ...]:
    """Return the alternatives by which a term is found that may be half typed."""
    folded = fold(term)
    more = half_words.tokens(folded, _written(folded))
    begun = (Needle(term, (token,), begins) for token, begins in more)
    return tuple(dict.fromkeys((*needles(term), *begun)))


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
    return len(words) == 1 and len(words[0]) <= 2 and folded[-1:] in TRAILING
