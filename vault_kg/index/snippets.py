"""Why a passage was found: the words that matched, where they stand, and the part worth showing.

A text is read here as the index reads it (the same folding, tokens and stems), so that what is
marked is what matched.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_kg.index.fts import stem
from vault_kg.index.needles import strict_needles
from vault_kg.index.query import Query, term_needles
from vault_kg.records.words import (
    SPACELESS_RUN,
    WORD,
    accented_words,
    bigrams,
    fold_with_offsets,
    written_spans,
)

if TYPE_CHECKING:
    from vault_kg.index.needles import Needle

Span = tuple[int, int]

MAX_CHARS: Final = 240
CLOSENESS_BONUS: Final = 0.2
"""What a BM25 score gains at `closeness` 1, as a share of it; chosen on LoCoMo and Cranfield."""

_CUT: Final = "…"


class Snippet(NamedTuple):
    """A part of a text on one line, and the `[start, end)` offsets in it of what matched."""

    text: str
    marks: list[Span]


def explain(
    text: str, names: str, query: Query, max_chars: int = MAX_CHARS
) -> tuple[Snippet, list[str]]:
    """Return a passage's snippet and the matched terms of all that it is found by, in one pass.

    Args:
        text: the text of a passage.
        names: its record's title and aliases and the headings above it, a line each.
        query: what was asked.
        max_chars: the most characters of the snippet, `…` at either end among them.

    Returns:
        The part of the text where most of the query's words stand together, with white space
        collapsed and marks that do not overlap; its beginning, without marks, where nothing
        matches. And the words and phrases that match, spelled as in the query; of a word that is
        found in part only (`双向链接` in `双向`, `src/main.rs` in `main`), the part.
    """
    line = _one_line(text)
    found = _matches(line, query)
    matched = {label for label, places in (*found, *_matches(names, query)) if places}
    asked = (*query.phrases, *(one.label for group in term_needles(query) for one in group))
    return _cut_out(line, found, max_chars), [
        label for label in dict.fromkeys(asked) if label in matched
    ]


def _one_line(text: str) -> str:
    return _UNSHOWABLE.sub("\ufffd", " ".join(text.split()))


def _cut_out(line: str, found: list[tuple[str, list[Span]]], max_chars: int) -> Snippet:
    spans = sorted((start, end, label) for label, places in found for start, end in places)
    start, end = _window(line, spans, max_chars)
    head = _CUT if start > 0 else ""
    tail = _CUT if end < len(line) else ""
    marks = _merged([(s, e) for s, e, _ in spans if s >= start and e <= end])
    shift = len(head) - start
    return Snippet(head + line[start:end] + tail, [(s + shift, e + shift) for s, e in marks])


def closeness(text: str, query: Query) -> float:
    """Return which share of a query's words and phrases a text holds exactly as they were typed.

    Case does not matter; accents and symbols do, and a stem is not the word. It tells `naïve` from
    `naive` for either query, and `v1.2.3` from `v1 2 3`.

    Args:
        text: all that the passage is found by: title, headings and text, a line each.
        query: what was asked.

    Returns:
        0 to 1; 0 for a query without words.
    """
    asked = (*query.telling_terms, *query.phrases)
    if not asked:
        return 0.0
    written = " ".join(_as_written(text).split())
    return sum(_stands_in(written, _as_written(term)) for term in asked) / len(asked)


class _Places:
    """Where tokens stand in a text: their position among all, and their place in it folded.

    Only those that begin with a letter of `initials` are kept; a stem begins as its word does.
    """

    def __init__(self, text: str, initials: frozenset[str]) -> None:
        self.text = text
        self.initials = initials
        self.folded, self.offsets = fold_with_offsets(text)
        self.at: dict[str, list[tuple[int, Span]]] = defaultdict(list)
        self._read_runs()
        self._read_words()
        for token, start, end in written_spans(self.folded):
            self._keep(token, -1, (start, end))

    def _keep(self, token: str, position: int, place: Span) -> None:
        if token[0] in self.initials:
            self.at[stem(token)].append((position, place))

    def find(self, needle: Needle) -> list[Span]:
        """Return the spans of the text where a needle's tokens stand side by side."""
        return [self._span(start, end) for start, end in self._find_folded(needle)]

    def _find_folded(self, needle: Needle) -> list[Span]:
        tokens = [stem(token) for token in needle.tokens]
        if needle.prefix:
            keys = [key for key in self.at if key.startswith(tokens[0])]
            typed = len(needle.label)
            places = (place for key in keys for _, place in self.at[key])
            return [(start, min(end, start + typed)) for start, end in places]
        first = self.at.get(tokens[0], [])
        if len(tokens) == 1:
            return [place for _, place in first]
        rest = [dict(self.at.get(token, ())) for token in tokens[1:]]
        return [
            (place[0], rest[-1][position + len(rest)][1])
            for position, place in first
            if all(position + n in places for n, places in enumerate(rest, 1))
        ]

    def _read_runs(self) -> None:
        position = 0
        for run in SPACELESS_RUN.finditer(self.folded):
            for index, token in enumerate(bigrams(run.group())):
                start = run.start() + index
                self._keep(token, position, (start, min(start + 2, run.end())))
                position += 1

    def _read_words(self) -> None:
        bare = SPACELESS_RUN.sub(lambda run: " " * len(run.group()), self.folded)
        for position, word in enumerate(WORD.finditer(bare)):
            self._keep(word.group(), position, word.span())
            written = self.text[slice(*self._span(*word.span()))]
            if not written.isascii():
                for accented in accented_words(written):
                    self._keep(accented, -1, word.span())

    def _span(self, start: int, end: int) -> Span:
        """Return the span in the text of what was folded; a letter is never taken in part."""
        last = self.offsets[end - 1]
        while self.offsets[end] == last:
            end += 1
        return self.offsets[start], self.offsets[end]


def _matches(text: str, query: Query) -> list[tuple[str, list[Span]]]:
    """Return each word and phrase of the query with its places; parts only of what is not whole."""
    phrases = [(phrase, strict_needles(phrase)) for phrase in query.phrases]
    groups = term_needles(query)
    every = [needle for group in (*groups, *(each for _, each in phrases)) for needle in group]
    places = _Places(text, frozenset(token[0] for needle in every for token in needle.tokens))
    found: list[tuple[str, list[Span]]] = []
    for phrase, parts in phrases:
        spans = [places.find(needle) for needle in parts]
        found.append((phrase, [span for each in spans for span in each] if all(spans) else []))
    for group in groups:
        term = group[0].label
        spans_of = [(needle.label, places.find(needle)) for needle in group]
        whole = [span for label, spans in spans_of if label == term for span in spans]
        found += [(term, whole)] if whole else spans_of
    return found


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _window(text: str, spans: list[tuple[int, int, str]], max_chars: int) -> Span:
    """Return the part to show: the one with most different words, then with most of them."""
    if len(text) <= max_chars:
        return 0, len(text)
    room = max(max_chars - 2 * len(_CUT), 1)
    first, last = _densest(spans, room)
    start = max(0, min(first - (room - (last - first)) // 2, len(text) - room))
    end = min(start + room, len(text))
    if 0 < start < first:
        start = _after_space(text, start, first)
    if last < end < len(text):
        end = _before_space(text, last, end)
    while start < first and _joins(text, start):
        start += 1
    while end > max(last, start + 1) and end < len(text) and _joins(text, end):
        end -= 1
    return start, end


def _densest(spans: list[tuple[int, int, str]], room: int) -> Span:
    """Return where the best stretch of matches begins and ends."""
    best, best_rank = (0, 0), (0, 0)
    labels: dict[str, int] = defaultdict(int)
    tail = 0
    for head, (start, end, label) in enumerate(spans):
        labels[label] += 1
        while tail < head and end - spans[tail][0] > room:
            labels[spans[tail][2]] -= 1
            if not labels[spans[tail][2]]:
                del labels[spans[tail][2]]
            tail += 1
        rank = (len(labels), head - tail)
        if rank > best_rank:
            best, best_rank = (spans[tail][0], max(end, start)), rank
    return best[0], min(best[1], best[0] + room)


def _after_space(text: str, start: int, limit: int) -> int:
    found = text.find(" ", start - 1, min(start + 30, limit))
    return found + 1 if found >= 0 else start


def _before_space(text: str, limit: int, end: int) -> int:
    found = text.rfind(" ", max(end - 30, limit), end + 1)
    return found if found >= 0 else end


_UNSHOWABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]")
_CONTINUES: Final = re.compile("[\u200d\ufe00-\ufe0f\u1160-\u11ff\U0001f3fb-\U0001f3ff]")


def _joins(text: str, at: int) -> bool:
    """Whether the character at an index is shown as one with what stands before it."""
    char, before = text[at], text[at - 1]
    if unicodedata.category(char)[0] == "M" or _CONTINUES.match(char) or before == "\u200d":
        return True
    return bool(_FLAG.match(char) and _FLAG.match(before))


def _as_written(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _stands_in(text: str, word: str) -> bool:
    """Whether a word or phrase stands in a text and not inside a longer word."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        bounded = not (
            _same_word(text[at - 1 : at], word[0]) or _same_word(word[-1], text[end : end + 1])
        )
        if bounded:
            return True
        at = text.find(word, at + 1)
    return False


def _same_word(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not SPACELESS_RUN.match(left + right)
