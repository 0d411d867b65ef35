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

from vault_kg.records.words import index_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vault_kg.records.passages import Passage
    from vault_kg.state.database import Database

VERSION: Final = "1"
"""The rules of words and columns; another one makes the table anew."""

TOKENIZER: Final = ("porter", "unicode61", "remove_diacritics", "0", "categories", "L* N* Co M*")
"""Accents are folded before, so that a word as written can be a token of its own beside it."""

WEIGHTS: Final = (4.0, 2.0, 1.0, 1.0)
"""What an occurrence counts in title, heading path, body and grams."""

_COLUMNS: Final = "title, heading, body, grams"
_SCORE: Final = f"bm25(passage_fts, {', '.join(map(str, WEIGHTS))})"
_JOINED: Final = """
    FROM passage_fts
    JOIN passage ON passage.key = passage_fts.rowid
    JOIN record ON record.key = passage.record
    WHERE passage_fts MATCH :match
"""


class Hit(NamedTuple):
    """A passage that matches, the record it belongs to, and its BM25 score: more is better."""

    passage: int
    record: int
    score: float


def create(db: Database) -> None:
    """Make the table, where there is none."""
    tokenizer = " ".join(f"'{part}'" if " " in part else part for part in TOKENIZER)
    db.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS passage_fts USING fts5({_COLUMNS}, content='', "
        f'contentless_delete=1, tokenize="{tokenizer}")'
    )


def put_record(
    db: Database, record: int, title: str, passages: Sequence[tuple[Passage, bytes]]
) -> None:
    """Write a record's passages and index them.

    Args:
        db: the state, in a write transaction.
        record: the key of the record's row.
        title: its title, which every passage of it is found by.
        passages: the passages with their content hashes.
    """
    for passage, content_hash in passages:
        heading = "\n".join(passage.heading_path)
        key = db.value(
            "INSERT INTO passage (record, ordinal, heading, start_line, end_line, hash, text) "
            "VALUES (?,?,?,?,?,?,?) RETURNING key",
            (
                record,
                passage.ordinal,
                heading,
                passage.start_line,
                passage.end_line,
                content_hash,
                passage.text,
            ),
        )
        insert(db, key, title, heading, passage.text)


def delete_record(db: Database, record: int) -> None:
    """Remove a record's passages, and them from the index."""
    keys = db.rows("SELECT key FROM passage WHERE record = ?", (record,))
    delete(db, (key for (key,) in keys))
    db.execute("DELETE FROM passage WHERE record = ?", (record,))


def insert(db: Database, key: int, title: str, heading: str, body: str) -> None:
    """Index one passage under its key.

    The grams of title and heading have no column of their own; repeating them gives them weight.
    """
    parts = [index_text(part) for part in (title, heading, body)]
    words = [part.words for part in parts]
    grams = " ".join(
        part.grams
        for part, weight in zip(parts, WEIGHTS, strict=False)
        for _ in range(int(weight))
        if part.grams
    )
    db.execute(
        f"INSERT INTO passage_fts (rowid, {_COLUMNS}) VALUES (?,?,?,?,?)", (key, *words, grams)
    )


def delete(db: Database, keys: Iterable[int]) -> None:
    """Take passages out of the index."""
    db.executemany("DELETE FROM passage_fts WHERE rowid = ?", ((key,) for key in keys))


def search(
    db: Database,
    match: str,
    limit: int,
    *,
    where: str = "",
    parameters: Mapping[str, object] | None = None,
    per_record: bool = False,
) -> list[Hit]:
    """Return the best passages for an FTS5 expression, among those that the filter lets through.

    Args:
        db: the state.
        match: an expression that `query.to_match` built.
        limit: how many passages.
        where: a condition on the tables `passage` and `record`; it holds before the limit.
        parameters: the values of its named placeholders.
        per_record: take only the best passage of each record.

    Returns:
        hits by falling score; equal ones by the record's id and path, then by place.
    """
    values = {**(parameters or {}), "match": match}
    sql = (
        f"SELECT passage.key, passage.record, -{_SCORE} AS score {_JOINED} {_and(where)} "
        "ORDER BY score DESC, record.id, record.path, passage.ordinal"
    )
    if not per_record:
        return [Hit(*row) for row in db.rows(f"{sql} LIMIT :limit", values | {"limit": limit})]
    found = db.connection.execute(sql, values)
    return list(_first_of_each_record(found, limit))


def count(
    db: Database,
    match: str,
    *,
    where: str = "",
    parameters: Mapping[str, object] | None = None,
    per_record: bool = False,
) -> int:
    """Return how many passages, or records, `search` would find without a limit."""
    values = {**(parameters or {}), "match": match}
    what = "count(DISTINCT passage.record)" if per_record else "count(*)"
    return int(db.value(f"SELECT {what} {_JOINED} {_and(where)}", values))


def _and(where: str) -> str:
    return f"AND ({where})" if where else ""


def _first_of_each_record(rows: Iterable[tuple[int, int, float]], limit: int) -> Iterator[Hit]:
    seen: set[int] = set()
    for row in rows:
        if len(seen) == limit:
            return
        if row[1] not in seen:
            seen.add(row[1])
            yield Hit(*row)


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
