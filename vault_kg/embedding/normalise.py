"""The text normalisation of BERT models, done exactly as their published tokenizer does it.

llama.cpp's own keeps only the first code point of a decomposition, which loses every Korean
syllable, and drops the vowel signs of the Indic scripts. So the worker turns that step off in the
library, and hands it text that went through here. Words longer than 100 characters are not replaced
by the unknown token, as the published tokenizer would: in scripts without spaces that is a whole
sentence.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def normalise(text: str, *, uncased: bool) -> str:
    """Return the text as a BERT vocabulary expects it.

    Args:
        text: Any text; lone surrogates and control characters are dropped.
        uncased: Whether the vocabulary is without case and accents.

    Returns:
        The cleaned text, decomposed, without accents and in lower case where `uncased`.
    """
    if uncased and not text.isascii():
        text = unicodedata.normalize("NFD", text)
    fold = _uncased_char if uncased else _clean_char
    return text.translate({ord(char): fold(char) for char in set(text)})


@lru_cache(maxsize=16_384)
def _uncased_char(char: str) -> str:
    if unicodedata.category(char) == "Mn":
        return ""
    return _clean_char(char).lower()


@lru_cache(maxsize=16_384)
def _clean_char(char: str) -> str:
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category.startswith("C") or char == "\ufffd":
        return ""
    if "\U0002b820" <= char <= "\U0002b91f":
        return f" {char} "  # ideographs that llama.cpp does not take for words of their own
    return " " if category.startswith("Z") else char
