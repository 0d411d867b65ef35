"""Words that are typed in part: by which tokens of the index the whole word is found.

The index keeps stems. Those that begin as what was typed are found by it; where more was typed than
the stem (`happine` of `happiness`), the stem is what is left without the beginning of an ending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.index.fts import stem
from vault_kg.records.words import SPACELESS_RUN, WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST: Final = 3
"""So many letters must be typed of a word before others that begin so are looked for."""

_LEAST_STEM: Final = 4
_LONGEST_ENDING: Final = 6
_FIRSTS: Final = "ain"
_ENDINGS: Final = tuple(
    """
    able ably age al ally ality ance ances ant ants ate ated ates ation ational ations ed edly ence
    ences ent ents er ers es est ful fully ial ible ical ically ing ingly ings ion
    ional ions isation ise ised ises ish ism isms ist ists ities ity ive ively iveness ization ize
    ized izes izing less ly ment mental ments ness ous ously ousness ward y
    """.split()
)


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
    within = (_whose_stem_is(stem) for stem in _stems_within(folded))
    return [(_whose_stem_is(folded) or folded, True), *((each, False) for each in within if each)]


def _stems_within(word: str) -> Iterator[str]:
    for at in range(max(_LEAST_STEM, len(word) - _LONGEST_ENDING), len(word)):
        if _begins_an_ending(word[at:]):
            yield word[:at]
            if word[at - 1] == word[at - 2]:
                yield word[: at - 1]  # runnin, run
    if len(word) >= _LEAST_STEM and word[-1] == word[-2]:
        yield word[:-1]  # runn, run


def _begins_an_ending(rest: str) -> bool:
    """Say whether an ending begins so; of a single letter only where it seldom ends a stem."""
    return rest in _FIRSTS if len(rest) == 1 else any(e.startswith(rest) for e in _ENDINGS)


def _whose_stem_is(wanted: str) -> str | None:
    """Return a word with this very stem: `bus` itself would be looked for as `bu`."""
    return next((w for w in (wanted, f"{wanted}e", f"{wanted}ness") if stem(w) == wanted), None)
