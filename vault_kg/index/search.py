"""Hybrid search: words and meaning, fused, with the evidence of every hit.

Filters hold before either half takes its best. The fused score orders hits of one query and means
nothing beyond it: BM25 over the best one's, and the similarity between the extremes of the list, with
weights chosen by measurement (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_kg.index import catalog, fts, listing
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.index.query import Query, to_match
from vault_kg.index.snippets import Snippet, matched_terms, snippet
from vault_kg.index.vectors import Similar
from vault_kg.state.database import Database

CANDIDATES = 200
SEMANTIC_WEIGHT = 0.2
EXACT_NAME = 2.0
"""Added to the score of a record whose title or alias is the query: it always comes first."""

Mode = Literal["hybrid", "text", "semantic"]


@dataclass
class Hit:
    """One passage that answers a query, and why."""

    passage: int
    record: int
    score: float = 0.0
    bm25: float | None = None
    similarity: float | None = None
    named: bool = False


@dataclass(frozen=True)
class Shown:
    """A hit as it is given to a reader."""

    row: Row
    hit: Hit
    heading: str
    start_line: int
    end_line: int
    snippet: Snippet
    matched: Sequence[str]
    text: str


@dataclass(frozen=True)
class Ranked:
    """All hits of a query in order; `total` counts those beyond the candidates too."""

    hits: list[Hit] = field(default_factory=list)
    total: int = 0


def rank(
    db: Database,
    query: Query,
    wanted: Filter,
    similar: Sequence[Similar],
    *,
    mode: Mode,
    candidates: int = CANDIDATES,
    per_record: bool = True,
    weight: float = SEMANTIC_WEIGHT,
) -> Ranked:
    """Rank the passages that answer a query.

    Args:
        db: the state.
        query: as it was read.
        wanted: which records may answer.
        similar: the nearest passages by meaning, filtered and floored already.
        mode: which halves count.
        candidates: how many of each half are looked at.
        per_record: keep only the best passage of each record.
        weight: how much meaning counts, from 0 to 1.
    """
    condition, values = wanted.condition()
    match = to_match(query) if mode != "semantic" else None
    found: dict[int, Hit] = {}
    total = 0
    if match is not None:
        for text_hit in fts.search(
            db, match, candidates, where=condition, parameters=values, per_record=per_record
        ):
            found[text_hit.passage] = Hit(text_hit.passage, text_hit.record, bm25=text_hit.score)
        total = len(found)
        if total == candidates:
            total = fts.count(db, match, where=condition, parameters=values, per_record=per_record)
    for near in similar:
        hit = found.setdefault(near.passage, Hit(near.passage, near.record))
        hit.similarity = near.similarity
    _mark_named(db, query, wanted, found)
    _score(found.values(), weight if similar else 0.0)
    hits = _best_of_record(found.values()) if per_record else list(found.values())
    ordered = _ordered(db, hits)
    return Ranked(ordered, max(total, len(ordered)))


def show(db: Database, query: Query, hits: Sequence[Hit]) -> list[Shown]:
    """Return hits with their records, lines and snippets."""
    if not hits:
        return []
    rows = catalog.by_key(db, [hit.record for hit in hits])
    passages = _passages(db, [hit.passage for hit in hits])
    shown = []
    for hit in hits:
        heading, start, end, text = passages[hit.passage]
        row = rows[hit.record]
        words = "\n".join((row.title, heading, text))
        shown.append(
            Shown(
                row, hit, heading, start, end, snippet(text, query),
                matched_terms(words, query) if hit.bm25 is not None else (), text,
            )
        )  # fmt: skip
    return shown


def _mark_named(db: Database, query: Query, wanted: Filter, found: dict[int, Hit]) -> None:
    """Put the records that the whole query is the name of in front, found by words or not."""
    text = query.raw.strip()
    if not text or len(text) > 300:
        return
    keys = {row.key for row in listing.named(db, text, wanted)}
    present = {hit.record for hit in found.values()}
    for key in keys - present:
        passage = db.value(
            "SELECT key FROM passage WHERE record = ? ORDER BY ordinal LIMIT 1", (key,)
        )
        if passage is not None:
            found[passage] = Hit(passage, key)
    for hit in found.values():
        hit.named = hit.record in keys


def _score(hits: Any, weight: float) -> None:
    hits = list(hits)
    best = max((hit.bm25 or 0.0 for hit in hits), default=0.0)
    near = [hit.similarity for hit in hits if hit.similarity is not None]
    low, high = min(near, default=0.0), max(near, default=0.0)
    for hit in hits:
        words = (hit.bm25 or 0.0) / best if best > 0 else 0.0
        meaning = 0.0
        if hit.similarity is not None:
            meaning = (hit.similarity - low) / (high - low) if high > low else 1.0
        hit.score = (1 - weight) * words + weight * meaning + (EXACT_NAME if hit.named else 0.0)


def _best_of_record(hits: Any) -> list[Hit]:
    best: dict[int, Hit] = {}
    for hit in sorted(hits, key=lambda h: (-h.score, h.passage)):
        kept = best.setdefault(hit.record, hit)
        if kept is not hit:
            kept.bm25 = kept.bm25 if kept.bm25 is not None else hit.bm25
            kept.similarity = kept.similarity if kept.similarity is not None else hit.similarity
    return list(best.values())


def _ordered(db: Database, hits: list[Hit]) -> list[Hit]:
    ids = _ids(db, {hit.record for hit in hits})
    return sorted(hits, key=lambda h: (-round(h.score, 9), ids[h.record], h.passage))


def _ids(db: Database, keys: set[int]) -> Mapping[int, str]:
    marks = ",".join(map(str, sorted(keys))) or "NULL"
    return dict(db.rows(f"SELECT key, id || path FROM record WHERE key IN ({marks})"))


def _passages(db: Database, keys: list[int]) -> dict[int, tuple[str, int, int, str]]:
    marks = ",".join(map(str, keys))
    rows = db.rows(
        f"SELECT key, heading, start_line, end_line, text FROM passage WHERE key IN ({marks})"
    )
    return {key: (heading, start, end, text) for key, heading, start, end, text in rows}
