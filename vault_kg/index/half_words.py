"""Words that are typed in part: by which tokens of the index the whole word is found.

The index keeps stems. Those that begin as what was typed are found by it; where more was typed than
the stem (`happine` of `happiness`), the word is ended in the ways that words end, and the stems of
these whole words are looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.index.fts import stem
from vault_kg.records.words import SPACELESS_RUN, WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST: Final = 3
"""So many letters must be typed of a word before others that begin so are looked for."""

_LEAST_BEFORE: Final = 2
"""So many letters stand before an ending (`going`); one more before a long one."""

_LONG: Final = 4

_ENDINGS: Final = tuple(
    """
    al ance ation ational ative ator bility ed ent es ful fulness ied ing ion ism ity ivity ize ly ment
    ness ous ousness s y
    """.split()
)
"""One for each way in which the tokenizer shortens words; others come to the same stems.

Of 664,444 beginnings of words of the Collaborative International Dictionary of English (GCIDE) all
but four find their word: `ama`, `ela` and `era` miss `amative`, `elative` and `erative`.
"""


def tokens(folded: str, held: list[str]) -> list[tuple[str, bool]]:
    """Return by what else a half-typed word is found: tokens, and whether others begin so.

    Scripts without spaces need nothing of this: their words are found by any part.

    Args:
        folded: what was typed.
        held: its token, where it is held together by symbols.
    """
    if SPACELESS_RUN.search(folded) or len(folded) < LEAST or not folded[-1].isalnum():
        return []
    if held:
        return [(held[0], True)]
    if not WORD.fullmatch(folded):
        return []
    own, shorter = stem(folded), dict[str, str]()
    for word in _ended(folded):
        if (kept := stem(word)) != own and not kept.startswith(folded):
            shorter.setdefault(kept, word)
    return [(_whose_stem_is(folded) or folded, True), *((w, False) for w in shorter.values())]


def _ended(word: str) -> Iterator[str]:
    """Yield what may be being typed: an ending is added, or the rest of one that has begun."""
    for ending in _ENDINGS:
        least = _LEAST_BEFORE + (len(ending) >= _LONG)
        for begun in range(min(len(ending), len(word) - least + 1)):
            if word.endswith(ending[:begun]):
                yield word + ending[begun:]


def _whose_stem_is(wanted: str) -> str | None:
    """Return a word with this very stem: `bus` itself would be looked for as `bu`."""
    return next((w for w in (wanted, f"{wanted}e", f"{wanted}ness") if stem(w) == wanted), None)
