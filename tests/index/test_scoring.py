"""Scoring only what can come first gives the order that scoring everything gives."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tests.index.test_search import NOW, add
from vault_kg.index import schema, scope, scoring, search
from vault_kg.index.listing import Filter
from vault_kg.index.query import Query, parse_query, to_match
from vault_kg.index.vectors import Vectors
from vault_kg.state.database import Database

RECORDS = 1_500
COMMON = ("one", "two", "three", "four")
RARE = tuple(f"rare{n}" for n in range(40))
WANTED = Filter(NOW)
NOTHING = np.empty(0, np.int64)


class Unlike:
    """A vector of its own for each text, the same whenever it is asked for."""

    def embed_passages(self, texts: list[str]):
        chance = np.random.default_rng([sum(map(ord, text)) for text in texts])
        found = chance.standard_normal((len(texts), 8))
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return type("Made", (), {"vectors": found.astype(np.float32), "failed": {}})()


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Vectors]]:
    """Records of two passages, in most of which stand the common words."""
    folder = tmp_path_factory.mktemp("scoring")
    db = Database(folder / "state.sqlite", create=True)
    schema.ensure(db, "test")
    chance = random.Random(5)
    with db.write():
        for n in range(RECORDS):
            add(db, f"n{n:04}", f"# A\n{_text(chance)}\n# B\n{_text(chance)}", title=f"Note {n}")
        db.execute("UPDATE record SET partition = 'few' WHERE key % 40 = 0")
    vectors = Vectors(db, "unlike", 8, folder)
    vectors.embed_pending(Unlike())  # type: ignore[arg-type]
    yield db, vectors
    db.close()


def _text(chance: random.Random) -> str:
    words = [word for word in COMMON for _ in range(chance.choice((0, 1, 1, 2)))]
    words += chance.choices(RARE, [1 / (n + 1) for n in range(40)], k=chance.randint(0, 6))
    return " ".join(words + ["filler"] * chance.randint(0, 20))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for what can come first however few there are."""
    monkeypatch.setattr(scoring, "FEW", 0)


QUERIES = (
    "one", "one two", "one rare3", "one two three rare0", "rare0 rare1 rare2", "rare30 one",
    "one rare5 -rare1", '"one two" rare2', "two note", "zzz one", "note 77", "rare0 rare1",
)  # fmt: skip


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("per_record", [True, False])
@pytest.mark.parametrize("depth", [1, 10, 100])
@pytest.mark.parametrize("text", QUERIES)
def test_what_can_come_first_is_all_there_with_the_scores_of_fts5(
    vault: tuple[Database, Vectors], text: str, depth: int, per_record: bool
) -> None:
    db, _ = vault
    query, allowed = parse_query(text), scope.of(db, WANTED)
    total, found = scoring.words(db, query, allowed, depth, NOTHING, per_record=per_record)
    every = _every(db, query, per_record)
    assert total == len(every)
    falling = sorted(every.values(), reverse=True)
    units = (found.records if per_record else found.passages).tolist()
    got = dict(zip(units, found.scores.tolist(), strict=True))
    assert all(every[unit] == score for unit, score in got.items())
    least = falling[min(depth, len(falling)) - 1] if falling else 0
    assert {unit for unit, score in every.items() if score >= least} <= set(got)


@pytest.mark.usefixtures("few")
def test_most_of_what_holds_common_words_alone_is_not_scored(
    vault: tuple[Database, Vectors],
) -> None:
    db, _ = vault
    allowed = scope.of(db, WANTED)
    total, found = scoring.words(
        db, parse_query("one two rare9"), allowed, 20, NOTHING, per_record=True
    )
    assert total > RECORDS * 0.9 and 20 <= len(found.scores) < RECORDS / 4


@pytest.mark.usefixtures("few")
def test_what_was_asked_for_besides_is_scored_too(vault: tuple[Database, Vectors]) -> None:
    db, _ = vault
    query, allowed = parse_query("one two rare9"), scope.of(db, WANTED)
    every = _every(db, query, per_record=True)
    last = min(every, key=lambda record: every[record])
    _, found = scoring.words(
        db, query, allowed, 5, allowed.of_records(np.array([last])), per_record=True
    )
    assert dict(zip(found.records.tolist(), found.scores, strict=True))[last] == every[last]


@pytest.mark.parametrize("partition", [None, "few"])
@pytest.mark.parametrize("mode", ["text", "hybrid"])
@pytest.mark.parametrize("text", QUERIES)
def test_pages_are_the_same_however_much_was_scored(
    vault: tuple[Database, Vectors], monkeypatch: pytest.MonkeyPatch, text: str, mode: str,
    partition: str | None,
) -> None:  # fmt: skip
    db, vectors = vault
    wanted = Filter(NOW, partitions=[partition] if partition else None)
    near = vectors.compare(Unlike().embed_passages([text]).vectors[0]) if mode != "text" else None

    def pages(few: int) -> list[object]:
        monkeypatch.setattr(scoring, "FEW", few)
        found: list[object] = []
        for start, limit in ((0, 10), (10, 10), (95, 30), (600, 20)):
            ranked = search.rank(
                db, parse_query(text), wanted, near, mode=mode, depth=start + limit  # type: ignore[arg-type]
            )  # fmt: skip
            found += [ranked.total, *ranked.page(db, start, limit)]
        return found

    assert pages(0) == pages(1_000_000)


def _every(db: Database, query: Query, per_record: bool) -> dict[int, float]:
    """Return the best score of every answer, each of them scored."""
    match = to_match(query)
    assert match is not None
    of = dict(db.rows("SELECT key, record FROM passage"))
    best: dict[int, float] = {}
    for key, score in zip(*(found.tolist() for found in scoring.scores(db, match)), strict=True):
        unit = of[key] if per_record else key
        best[unit] = max(score, best.get(unit, 0.0))
    return best
