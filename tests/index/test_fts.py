"""The full-text index: what is found, in which order, under which filter."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_kg.index import fts, schema
from vault_kg.index.query import parse_query, to_match
from vault_kg.index.snippets import CLOSENESS_BONUS, closeness
from vault_kg.records.passages import Passage, passage_hash, split_passages
from vault_kg.state.database import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = new_database(tmp_path / "state.sqlite")
    yield database
    database.close()


def new_database(path: Path) -> Database:
    database = Database(path, create=True)
    schema.ensure(database, "test")
    fts.create(database)
    return database


def add(db: Database, name: str, text: str, *, title: str = "", partition: str = "main") -> int:
    """Add a record of one name and its passages; returns its key."""
    key = db.value(
        "INSERT INTO record (path, id, kind, partition, title, title_key, revision, hash,"
        " lifecycle, recorded_at, updated_at, valid, eligible)"
        " VALUES (?,?,'page',?,?,'',1,'','active','','',1,1) RETURNING key",
        (f"{name}.md", name, partition, title),
    )
    hashed = [
        (passage, passage_hash(title, passage.heading_path, passage.text))
        for passage in split_passages(text, 1, title) or [Passage((), "", 1, 1, 0)]
    ]
    fts.put_record(db, key, title, hashed)
    return int(key)


def names(db: Database, hits: list[fts.Hit]) -> list[str]:
    return [db.value("SELECT id FROM record WHERE key = ?", (hit.record,)) for hit in hits]


def found(db: Database, text: str, limit: int = 10, **options: object) -> list[str]:
    match = to_match(parse_query(text))
    assert match is not None
    return names(db, fts.search(db, match, limit, **options))  # type: ignore[arg-type]


def test_the_best_match_comes_first_and_partial_ones_after(db: Database) -> None:
    for n in range(9):
        add(db, f"part{n}", f"the engine number {n} and more words about other things")
    add(db, "exact", "the analytical engine of Babbage")
    order = found(db, "analytical engine Babbage", 20)
    assert order[0] == "exact"
    assert order[1:] == sorted(order[1:])
    assert order == found(db, "analytical engine Babbage", 20)


def test_a_word_in_the_title_or_heading_counts_more_than_one_in_the_text(db: Database) -> None:
    add(db, "body", "# Other\nkiwi and some more words")
    add(db, "heading", "# Kiwi\nother and some more words")
    add(db, "title", "# Other\nother and some more words", title="Kiwi")
    assert found(db, "kiwi") == ["title", "heading", "body"]


def test_a_title_without_spaces_counts_as_one_with_them(db: Database) -> None:
    add(db, "body", "这里有双向链接")
    add(db, "title", "这里什么都没有", title="双向链接")
    assert found(db, "链接") == ["title", "body"]


def test_a_heading_that_stands_above_is_found(db: Database) -> None:
    add(db, "a", "# Zebra\n## Stripes\ntext")
    assert found(db, "zebra") == ["a"]


def test_gibberish_finds_nothing(db: Database) -> None:
    add(db, "a", "some text")
    assert found(db, "zxqv wvkj") == []


def test_a_filter_holds_before_the_limit(db: Database) -> None:
    for n in range(300):
        add(db, f"many{n:03}", "kiwi kiwi kiwi")
    for n in range(3):
        add(db, f"few{n}", "kiwi and a great many other words " * 5, partition="small")
    options = {"where": "record.partition = :partition", "parameters": {"partition": "small"}}
    assert found(db, "kiwi", 3, **options) == ["few0", "few1", "few2"]
    assert fts.count(db, '"kiwi"') == 303
    assert fts.count(db, '"kiwi"', **options) == 3  # type: ignore[arg-type]


def test_a_record_is_found_once_by_its_best_passage_where_that_is_asked(db: Database) -> None:
    add(db, "a", "# One\nkiwi\n# Two\nkiwi kiwi kiwi\n# Three\nkiwi")
    add(db, "b", "kiwi and other words and yet more other words")
    assert found(db, "kiwi").count("a") == 3
    hits = fts.search(db, '"kiwi"', 10, per_record=True)
    assert names(db, hits) == ["a", "b"]
    assert db.value("SELECT heading FROM passage WHERE key = ?", (hits[0].passage,)) == "Two"
    assert fts.count(db, '"kiwi"', per_record=True) == 2
    assert len(fts.search(db, '"kiwi"', 1, per_record=True)) == 1


def test_equal_scores_go_by_id_and_place(db: Database) -> None:
    for name in ("c", "a", "b"):
        add(db, name, "# X\nkiwi\n# X\nkiwi")
    assert found(db, "kiwi") == ["a", "a", "b", "b", "c", "c"]
    ordinals = [
        db.value("SELECT ordinal FROM passage WHERE key = ?", (hit.passage,))
        for hit in fts.search(db, '"kiwi"', 10)
    ]
    assert ordinals == [0, 1] * 3


def ranked(db: Database, text: str) -> list[str]:
    """Rank as the search operation does: BM25, raised by how exactly the words stand there."""
    query = parse_query(text)
    match = to_match(query)
    assert match is not None
    scored = []
    for hit in fts.search(db, match, 100):
        body = db.value("SELECT text FROM passage WHERE key = ?", (hit.passage,))
        scored.append((-hit.score * (1 + CLOSENESS_BONUS * closeness(body, query)), hit))
    return names(db, [hit for _, hit in sorted(scored)])


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
    assert ranked(db, query) == (["x", "y"] if exact_first else ["y", "x"])


def test_a_record_removed_is_found_no_more(db: Database) -> None:
    key = add(db, "a", "kiwi")
    add(db, "b", "kiwi")
    fts.delete_record(db, key)
    assert found(db, "kiwi") == ["b"]
    assert db.value("SELECT count(*) FROM passage") == 1


DOCUMENTS = st.lists(
    st.lists(
        st.sampled_from(["kiwi", "apple", "pear", "東京", "naïve", "foo_bar"]), max_size=8
    ).map(" ".join),
    min_size=1,
    max_size=8,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(DOCUMENTS, st.data())
def test_what_was_removed_and_added_leaves_no_trace_in_the_scores(
    tmp_path_factory: pytest.TempPathFactory, documents: list[str], data: st.DataObject
) -> None:
    """An index with a history answers exactly as one that was built from what stands now."""
    folder = tmp_path_factory.mktemp("fts")
    lived, fresh = new_database(folder / "a.sqlite"), new_database(folder / "b.sqlite")
    removed = data.draw(st.sets(st.integers(0, len(documents) - 1)))
    keys = [add(lived, f"n{n}", text) for n, text in enumerate(documents)]
    for n in sorted(removed, reverse=True):
        fts.delete_record(lived, keys[n])
    for n, text in reversed(list(enumerate(documents))):
        if n not in removed:
            add(fresh, f"n{n}", text)
    for query in ("kiwi apple", "東京 naïve foo_bar", "pear -kiwi"):
        match = to_match(parse_query(query))
        assert match is not None
        answers = []
        for db in (lived, fresh):
            hits = fts.search(db, match, 10)
            answers.append(
                [(name, hit.score) for name, hit in zip(names(db, hits), hits, strict=True)]
            )
        assert answers[0] == answers[1]
    lived.close()
    fresh.close()


def test_a_record_without_words_is_found_by_its_title(db: Database) -> None:
    add(db, "a", "", title="Lonely")
    assert found(db, "lonely") == ["a"]


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("Running", "run"),
        ("naïve", "naïv"),
        ("東京", "東京"),
        ("हिन्दी", "हिन्दी"),
        ("--", ""),
        ("", ""),
    ],
)
def test_a_stem_is_what_the_table_keeps(word: str, kept: str) -> None:
    assert fts.stem(word) == kept


def test_stems_are_the_same_in_every_thread() -> None:
    kept: list[str] = []
    fts.stem.cache_clear()
    threads = [
        threading.Thread(
            target=lambda n=n: kept.extend(fts.stem(f"running{w}s") for w in range(n, n + 50))
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(kept) == {f"running{n}" for n in range(53)}
