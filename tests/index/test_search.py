"""Ranking: what of the words and of the meaning counts, and how equal answers are ordered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.index import fts, schema, search
from vault_kg.index.listing import Filter
from vault_kg.index.nearest import Compared
from vault_kg.index.query import parse_query
from vault_kg.index.ranked import Ranked
from vault_kg.index.search import highest
from vault_kg.index.vectors import Vectors
from vault_kg.records.passages import Passage, split_passages
from vault_kg.state.database import Database

NOW = "2026-01-05T10:00:00Z"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "state.sqlite", create=True)
    schema.ensure(database, "test")
    yield database
    database.close()


def add(db: Database, name: str, text: str, title: str = "", until: str | None = None) -> int:
    """Add a page of one name and its passages; returns its key."""
    key = int(
        db.value(
            "INSERT INTO record (path, id, kind, partition, title, title_key, revision, hash,"
            " lifecycle, recorded_at, updated_at, valid, eligible, eligible_until)"
            " VALUES (?,?,'page','main',?,'',1,'','active','','',1,1,?) RETURNING key",
            (f"{name}.md", name, title, until),
        )
    )
    passages = split_passages(text, 1, title) or [Passage((), "", 1, 1, 0)]
    with db.write():
        fts.put(db, [(key, fts.prepare(title, passages))])
    return key


def ranked(db: Database, text: str, compared: Compared | None = None, **more: object) -> Ranked:
    wanted = Filter(str(more.pop("now", NOW)))
    return search.rank(db, parse_query(text), wanted, compared, **more)  # type: ignore[arg-type]


def found(db: Database, text: str, compared: Compared | None = None, **more: object) -> list[str]:
    hits = ranked(db, text, compared, **more).page(db, 0, 100)
    return [db.value("SELECT id FROM record WHERE key = ?", (hit.record,)) for hit in hits]


@pytest.mark.parametrize(
    ("exact", "near", "query"),
    [
        ("a naïve view", "a naive view", "naïve"),
        ("a naive view", "a naïve view", "naive"),
        ("in Łódź now", "in Lodz now", "Łódź"),
        ("in v1.2.3 now", "in v1 2 3 now", "v1.2.3"),
        ("the foo_bar call", "the foo bar call", "foo_bar"),
        ("the a-b line", "the a b line", "a-b"),
        ("he runs far", "he running far", "runs"),
    ],
)
@pytest.mark.parametrize("exact_first", [True, False])
def test_what_stands_as_typed_goes_before_what_only_folds_to_it(
    db: Database, exact: str, near: str, query: str, exact_first: bool
) -> None:
    add(db, "x", exact if exact_first else near)
    add(db, "y", near if exact_first else exact)
    for n in range(5):
        add(db, f"z{n}", "something else")
    assert found(db, query) == (["x", "y"] if exact_first else ["y", "x"])


def test_a_record_is_as_good_as_its_best_passage(db: Database) -> None:
    add(db, "best", "# One\nkiwi\n# Two\nother words\n# Three\nmore of them")
    add(db, "often", "# One\nkiwi and a word\n# Two\nkiwi and a word\n# Three\nkiwi and a word")
    for n in range(20):
        add(db, f"z{n}", "and some other words here")
    assert found(db, "kiwi") == ["best", "often"]
    assert found(db, "kiwi", per_record=False) == ["best", "often", "often", "often"]


def test_equal_answers_go_by_id_then_place_whatever_was_indexed_first(db: Database) -> None:
    for name in ("c", "a", "b"):
        add(db, name, "# X\nkiwi\n# X\nkiwi")
    assert found(db, "kiwi") == ["a", "b", "c"]
    hits = ranked(db, "kiwi", per_record=False).page(db, 0, 10)
    ordinals = [
        db.row(
            "SELECT id, ordinal FROM passage JOIN record ON record.key = record "
            "WHERE passage.key = ?",
            (hit.passage,),
        )
        for hit in hits
    ]
    assert ordinals == [(name, n) for name in "abc" for n in (0, 1)]


def test_a_part_of_the_answers_is_that_part_of_all(db: Database) -> None:
    for n in range(30):
        add(db, f"n{n:02}", "kiwi " * (1 + n % 3) + "word " * (n % 5))
    answers = ranked(db, "kiwi")
    whole = answers.page(db, 0, 100)
    assert answers.total == len(whole) == 30
    for size in (1, 4, 7, 30):
        parts = [answers.page(db, start, size) for start in range(0, 35, size)]
        assert [hit for part in parts for hit in part] == whole


def test_what_ends_is_found_until_it_ends(db: Database) -> None:
    add(db, "ends", "kiwi", until="2026-01-05T10:00:05Z")
    add(db, "stays", "kiwi")
    assert found(db, "kiwi", now="2026-01-05T10:00:00Z") == ["ends", "stays"]
    assert found(db, "kiwi", now="2026-01-05T10:00:04Z") == ["ends", "stays"]
    assert found(db, "kiwi", now="2026-01-05T10:00:05Z") == ["stays"]
    assert found(db, "kiwi", now="2026-01-05T10:00:01Z") == ["ends", "stays"]


def test_another_connection_sees_what_this_one_wrote_at_once(db: Database, tmp_path: Path) -> None:
    other = Database(tmp_path / "state.sqlite")
    add(db, "a", "kiwi")
    assert found(db, "kiwi") == found(other, "kiwi") == ["a"]
    add(db, "b", "kiwi")
    assert found(db, "kiwi") == found(other, "kiwi") == ["a", "b"]
    with db.write():
        db.execute("UPDATE record SET eligible = 0 WHERE id = 'a'")
    assert found(db, "kiwi") == found(other, "kiwi") == ["b"]
    other.close()


# Meaning


class Given:
    """Vectors that a test gives, in the place of a model's."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed_passages(self, texts: list[str]):
        found = np.array([self.of(text) for text in texts], np.float32)
        return type("Made", (), {"vectors": found, "failed": {}})()

    def of(self, text: str) -> list[float]:
        near = next((v for name, v in self.vectors.items() if name in text), [0.0, 0.0, 1.0])
        return [float(x) for x in np.array(near) / np.linalg.norm(near)]


def compared(db: Database, folder: Path, vectors: dict[str, list[float]]) -> Compared:
    """Embed everything and compare it with the first axis."""
    store = Vectors(db, "given", 3, folder)
    store.embed_pending(Given(vectors))  # type: ignore[arg-type]
    return store.compare(np.array([1, 0, 0], np.float32))


def test_meaning_brings_in_what_words_do_not_find_and_a_floor_leaves_it_out(
    db: Database, tmp_path: Path
) -> None:
    add(db, "words", "kiwi word")
    add(db, "near", "a green fruit")
    add(db, "far", "stone")
    near = compared(db, tmp_path, {"kiwi": [1, 1, 0], "green": [9, 1, 0], "stone": [0, 1, 0]})
    assert found(db, "kiwi", near) == ["words", "near", "far"]
    assert found(db, "kiwi", near, floor=0.5) == ["words", "near"]
    assert found(db, "kiwi", near, floor=0.999) == ["words"]
    assert found(db, "kiwi", near, mode="text") == ["words"]
    assert found(db, "kiwi", near, mode="semantic") == ["near", "words", "far"]
    assert found(db, "kiwi", near, mode="semantic", floor=0.5) == ["near", "words"]


def test_meaning_orders_what_words_find_alike(db: Database, tmp_path: Path) -> None:
    add(db, "a", "kiwi one")
    add(db, "b", "kiwi two")
    near = compared(db, tmp_path, {"one": [0, 1, 0], "two": [1, 0, 0]})
    assert found(db, "kiwi") == ["a", "b"]
    assert found(db, "kiwi", near) == ["b", "a"]
    best, other = ranked(db, "kiwi", near).page(db, 0, 2)
    assert (best.similarity, other.similarity) == (1.0, 0.0)
    assert best.bm25 == other.bm25


def test_similarity_alone_never_goes_before_words_where_nothing_is_alike(
    db: Database, tmp_path: Path
) -> None:
    add(db, "words", "kiwi")
    add(db, "noise", "other")
    near = compared(db, tmp_path, {"kiwi": [-1, 9, 0], "other": [1, 20, 0]})
    best, noise = ranked(db, "kiwi", near).page(db, 0, 2)
    assert best.bm25 is not None and noise.bm25 is None
    assert noise.score < 0.1 < best.score


def test_a_phrase_and_a_word_left_out_hold_for_what_meaning_finds(
    db: Database, tmp_path: Path
) -> None:
    add(db, "a", "green kiwi")
    add(db, "b", "a fruit")
    near = compared(db, tmp_path, {"kiwi": [1, 1, 0], "fruit": [1, 0, 0]})
    assert found(db, '"green kiwi"', near) == ["a"]
    assert found(db, "kiwi -fruit", near) == ["a"]


@given(st.lists(st.integers(0, 5)), st.integers(1, 10))
def test_the_highest_do_not_depend_on_where_they_stand(numbers: list[int], count: int) -> None:
    values = np.array(numbers, np.float64)
    chosen = sorted(values[highest(values, count)])
    backwards = values[::-1]
    assert chosen == sorted(backwards[highest(backwards, count)])
    assert len(chosen) <= 2 * count and all(value > 0 for value in chosen)
    left = sorted(values)[: len(values) - len(chosen)]
    assert not chosen or not left or left[-1] < chosen[0] or left[-1] <= 0
