"""Full text of passages: an FTS5 table that keeps no text, only where each word stands.

The text is in `passage`; what FTS5 is given was prepared by `records.words`, so that one built-in
tokenizer serves every script. A row's id is its passage's key. Deleting every row and inserting the
passages again gives the same scores.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from vault_kg.records.passages import Passage, passage_hash
from vault_kg.records.words import IndexText, index_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_kg.state.database import Database

VERSION: Final = "1"
"""The rules of words and columns; another one makes the table anew."""

TOKENIZER: Final = ("porter", "unicode61", "remove_diacritics", "0", "categories", "L* N* Co M*")
"""Accents are folded before, so that a word as written can be a token of its own beside it."""

WEIGHTS: Final = (4.0, 2.0, 1.0, 1.0)
"""What an occurrence counts in title, heading path, body and grams."""

HASH_BYTES: Final = 16_000_000
"""What FTS5 gathers before it writes a segment: a whole transaction of the first index."""

_COLUMNS: Final = "title, heading, body, grams"
SCORE: Final = f"-bm25(passage_fts, {', '.join(map(str, WEIGHTS))})"
"""What scores a passage that matches: more is better."""

BOUND: Final = 2.2
"""BM25 gives an occurrence less than so many times its weight by rarity: FTS5's k1, 1.2, and 1."""


class Entry(NamedTuple):
    """A passage as it is kept, and what the index is given for it."""

    passage: Passage
    hash: bytes
    words: tuple[str, str, str, str]
    """Title, heading path, body and grams."""


def create(db: Database) -> None:
    """Make the table."""
    tokenizer = " ".join(f"'{part}'" if " " in part else part for part in TOKENIZER)
    db.execute(
        f"CREATE VIRTUAL TABLE passage_fts USING fts5({_COLUMNS}, content='', "
        f'contentless_delete=1, tokenize="{tokenizer}")'
    )
    db.execute("INSERT INTO passage_fts (passage_fts, rank) VALUES ('hashsize', ?)", (HASH_BYTES,))


def prepare(
    title: str, passages: Iterable[Passage], aliases: Iterable[str] = ()
) -> tuple[Entry, ...]:
    """Prepare a record's passages for the index; needs no database.

    The grams of title and heading have no column of their own; repeating them gives them weight.

    Args:
        title: the record's title, which every passage of it is found by.
        passages: its passages.
        aliases: its other names; passages are found by them too.
    """
    named = index_text(" \n".join((title, *aliases)))
    entries = []
    for passage in passages:
        parts = (named, _heading_text(passage.heading_path), index_text(passage.text))
        grams = [
            part.grams
            for part, weight in zip(parts, WEIGHTS, strict=False)
            if part.grams
            for _ in range(int(weight))
        ]
        words = (parts[0].words, parts[1].words, parts[2].words, " ".join(grams))
        content_hash = passage_hash(title, passage.heading_path, passage.text)
        entries.append(Entry(passage, content_hash, words))
    return tuple(entries)


@lru_cache(maxsize=256)
def _heading_text(path: tuple[str, ...]) -> IndexText:
    return index_text("\n".join(path))


def put(db: Database, records: Iterable[tuple[int, Sequence[Entry]]]) -> None:
    """Keep and index the passages of records that have none.

    Args:
        db: the state, in a write transaction.
        records: the key of each record's row, with its passages.
    """
    first = int(db.value("SELECT coalesce(max(key), 0) FROM passage")) + 1
    numbered = list(
        enumerate(((record, entry) for record, entries in records for entry in entries), first)
    )
    db.executemany(
        "INSERT INTO passage VALUES (?,?,?,?,?,?,?,?)",
        (
            (
                key, record, kept.ordinal, "\n".join(kept.heading_path), kept.start_line,
                kept.end_line, content_hash, kept.text,
            )
            for key, (record, (kept, content_hash, _)) in numbered
        ),
    )  # fmt: skip
    db.executemany(
        f"INSERT INTO passage_fts (rowid, {_COLUMNS}) VALUES (?,?,?,?,?)",
        ((key, *entry.words) for key, (_, entry) in numbered),
    )


def remove(db: Database, records: Iterable[int]) -> None:
    """Remove the passages of records, and them from the index."""
    many = [(record,) for record in records]
    keys = [key for one in many for key in db.rows("SELECT key FROM passage WHERE record = ?", one)]
    db.executemany("DELETE FROM passage_fts WHERE rowid = ?", keys)
    db.executemany("DELETE FROM passage WHERE record = ?", many)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word as the table's tokenizer keeps it; "" for what is no word to it."""
    tokens = _tokenizer()(
        word.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return next((token for token in tokens if isinstance(token, str)), "")


def _tokenizer() -> apsw.FTS5Tokenizer:
    """Return this thread's tokenizer: a connection serves one thread at a time."""
    found: apsw.FTS5Tokenizer | None = getattr(_local, "tokenizer", None)
    if found is None:
        _local.connection = apsw.Connection(":memory:")
        found = _local.connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        _local.tokenizer = found
    return found


_local = threading.local()
