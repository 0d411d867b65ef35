"""English words that say nothing of what is looked for."""

from __future__ import annotations

from typing import Final

from vault_kg.records.words import fold

STOPWORDS: Final = frozenset(
    """
    a about am an and are aren't as at be been being but by can't couldn't did didn't do does
    doesn't doing don't for from had hadn't has hasn't have haven't having he her his how i if in is
    isn't it it's its me my of on or our she shouldn't so than that that's the their them then these
    they this those to us was wasn't we were weren't what what's when where which who whom whose why
    with won't wouldn't you your
    """.split()
)
"""They count where nothing else was asked."""


def is_stopword(term: str) -> bool:
    """Say whether a term as it was typed is one."""
    return fold(term).replace("’", "'") in STOPWORDS
