"""Words as search and links compare them: folding, names, and terms for scripts without spaces.

FTS5's `unicode61` splits text where no letter, mark, digit or private-use character stands. What it
cannot know is prepared here and given to it as extra tokens, in a column of their own:

- runs of scripts written without spaces as overlapping bigrams (`東京都` gives `東京 京都 都`: one
  token for each character, so a phrase of bigrams is a substring and a prefix is a character);
- words whose accents folding takes away, as they were written;
- words held together by symbols (`v1.2.3`, `foo_bar`, `C++`, `a-b`), each as one token, its symbols
  replaced by private-use characters. Such characters in a text itself are taken as spaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_ACCENTS: Final = re.compile(
    "["
    "\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u00ad\u200c-\u200f\u2060\ufeff\ufe00-\ufe0f"
    "]+"
)
"""Accents of Latin, Greek and Cyrillic, Hebrew and Arabic vowel signs, and invisible joiners.

The vowel signs of Indic and South-East Asian scripts and the voicing marks of kana are letters to
their readers and stay.
"""

_BASE_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d"}
)
"""Letters with a stroke and ligatures, which Unicode does not decompose."""

_SPACELESS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17dc\u17dd\u1950-\u1974\u1980-\u19c9\u1a20-\u1a7c\ua980-\ua9c0"  # Khmer, Tai
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff"  # Han
    "\uf900-\ufaff\U00020000-\U000323af"
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\u3105-\u312f\u31a0-\u31bf\ua000-\ua48c"  # Kana, Bopomofo, Yi
)
_EMOJI: Final = "\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff"

SPACELESS_RUN: Final = re.compile(f"[{_SPACELESS}]+|[{_EMOJI}]")
"""A run of letters of scripts written without spaces, or one emoji."""

WORD: Final = re.compile("(?:[^\\W_]|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0f71-\u0fbc])+")
"""A word of folded text, as `unicode61` divides it; spaceless runs are to be taken out before."""

_PRIVATE: Final = re.compile("[\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010fffd]+")
_EMOJI_SHIFT: Final = 0xE0000
_SYMBOLS: Final = "-_.+#:/@$&%~"
_SYMBOL_CODES: Final = {ord(symbol): 0xE000 + ord(symbol) for symbol in _SYMBOLS}
_WRITTEN: Final = re.compile(rf"[\w{re.escape(_SYMBOLS)}]+")
_SPACES: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BREAKS: Final = str.maketrans(dict.fromkeys("!\"'()*,;<=>?[\\]^`{|}“”‘’„«»…" + _SPACES, " "))
"""What stands beside words and never in them."""

_HELD: Final = re.compile(r"[-_.:/@&~+#$%](?:(?=[^ \-_.:/@&~])|(?<=[+#$%]))")
"""A symbol that holds a word together: one at its end may only be the end of a sentence."""

_WRITTEN_LIMIT: Final = 64
_CLUSTER: Final = re.compile(".[\u0300-\u036f\u3099\u309a\u1160-\u11ff\uff9e\uff9f]*", re.DOTALL)
"""A character with the marks that compose with it: accents, voicing, Hangul vowels and finals."""

_LETTER: Final = re.compile(r"[^\W_]")


def fold(text: str) -> str:
    """Return text with case, accents and compatibility forms folded away, as search compares it."""
    if text.isascii():
        return text.lower()
    return _NON_ASCII.sub(_folded, text).lower()


def _folded(match: re.Match[str]) -> str:
    run = match.group()
    return _fold_word(run) if len(run) <= _CACHED_LENGTH else _fold_run(run)


def _fold_run(run: str) -> str:
    folded = unicodedata.normalize("NFKC", _PRIVATE.sub(" ", run)).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", folded))
    return unicodedata.normalize("NFC", bare).translate(_BASE_LETTERS)


_CACHED_LENGTH: Final = 16
_fold_word: Final = lru_cache(maxsize=32768)(_fold_run)
"""Words repeat; whole lines of Chinese do not."""


def fold_with_offsets(text: str) -> tuple[str, list[int]]:
    """Fold a text and say where each folded character comes from.

    Returns:
        the folded text, and for each of its characters the index in `text` of the one it stands
        for, with the length of `text` at the end.
    """
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    parts: list[str] = []
    offsets: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        piece = fold(cluster.group())
        parts.append(piece)
        offsets.extend([cluster.start()] * len(piece))
    offsets.append(len(text))
    return "".join(parts), offsets


class IndexText(NamedTuple):
    """What the index is given for a text: its folded words, and the extra tokens."""

    words: str
    grams: str


def index_text(text: str) -> IndexText:
    """Prepare a text for the full-text index.

    Returns:
        the text folded and without spaceless runs, and its bigrams, accented words and words with
        symbols, in this order, separated by spaces.
    """
    if text.isascii():
        return IndexText(text, " ".join(written_words(text)))
    folded = fold(text)
    extra = [*accented_words(text), *written_words(folded)]
    words, runs = SPACELESS_RUN.subn(" ", folded)
    grams = cjk_bigrams(folded) if runs else ""
    return IndexText(words, " ".join(filter(None, (grams, *extra))))


def cjk_bigrams(text: str) -> str:
    """Return the runs of scripts without spaces as overlapping bigrams; nothing for other text."""
    if text.isascii():
        return ""
    return " ".join(" ".join(bigrams(run)) for run in SPACELESS_RUN.findall(text))


def bigrams(run: str) -> list[str]:
    """Return the tokens of one spaceless run: a bigram from each character on, the last alone."""
    if len(run) == 1:
        code = ord(run)
        return [chr(code + _EMOJI_SHIFT)] if _is_emoji(code) else [run]
    return [run[i : i + 2] for i in range(len(run))]


def _is_emoji(code: int) -> bool:
    return 0x2600 <= code <= 0x27BF or 0x2B05 <= code <= 0x2B55 or 0x1F000 <= code <= 0x1FAFF


def accented_words(text: str) -> list[str]:
    """Return the words that folding changes more than in case, composed and in lower case."""
    found = (_accented(word) for word in text.split() if not word.isascii())
    return [word for words in found for word in words]


@lru_cache(maxsize=8192)
def _accented(chunk: str) -> tuple[str, ...]:
    written = unicodedata.normalize("NFC", _PRIVATE.sub(" ", chunk)).casefold()
    words = re.findall(r"(?:[^\W_]|[\u0300-\u036f\u064b-\u065f])+", written)
    return tuple(
        word for word in words if fold(word) != word and not SPACELESS_RUN.search(fold(word))
    )


def written_words(text: str) -> list[str]:
    """Return each word held together by symbols once, as a single token of the index."""
    spaced = text.translate(_BREAKS)
    found: dict[str, None] = {}
    end = 0
    while held := _HELD.search(spaced, end):
        start = max(spaced.rfind(" ", end, held.start()) + 1, end)
        end = spaced.find(" ", held.end())
        end = len(spaced) if end < 0 else end
        found.update(dict.fromkeys(_compounds(spaced[start:end])))
    return list(found)


@lru_cache(maxsize=8192)
def _compounds(chunk: str) -> tuple[str, ...]:
    if _without_stops(chunk).isalnum():
        return ()
    return tuple(token for token, _, _ in written_spans(chunk))


def written_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield every word held together by symbols as its token, with its place in the text.

    Of a path, its parts follow, where they are such words themselves.
    """
    for chunk in _WRITTEN.finditer(text):
        word, start = _without_stops(chunk.group()), chunk.start()
        if token := _written_token(word):
            yield token, start, start + len(word)
        if "/" in word:
            for part in word.split("/"):
                bare = _without_stops(part)
                if token := _written_token(bare):
                    yield token, start, start + len(bare)
                start += len(part) + 1


def _written_token(word: str) -> str:
    if len(word) > _WRITTEN_LIMIT or word.isalnum() or not _LETTER.search(word):
        return ""
    return word.lower().translate(_SYMBOL_CODES)


def _without_stops(word: str) -> str:
    """Take off what ends a sentence, not a word; `__init__` keeps its underscores."""
    return word.rstrip("-.:/@&~" if word.startswith("_") else "-.:/@&~_")
