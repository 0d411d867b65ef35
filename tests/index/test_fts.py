"""The full-text index: what matches, how well, and that nothing of what was removed stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.index import fts, schema, scoring
from vault_kg.index.query import parse_query, to_match
from vault_kg.records.passages import Passage, split_passages
from vault_kg.state.database import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = new_database(tmp_path / "state.sqlite")
    yield database
    database.close()


def new_database(path: Path) -> Database:
    database = Database(path, create=True)
    schema.ensure(database, "test")
    return database


def add(
    db: Database, record: int, text: str, title: str = "", aliases: tuple[str, ...] = ()
) -> None:
    """Index the passages of a record."""
    passages = split_passages(text, 1, title) or [Passage((), "", 1, 1, 0)]
    with db.write():
        fts.put(db, [(record, fts.prepare(title, passages, aliases))])


def found(db: Database, query: str) -> list[int]:
    """Return the record of each passage that a query matches, the best first."""
    return [record for record, _ in scored(db, query)]


def scored(db: Database, query: str) -> list[tuple[int, float]]:
    match = to_match(parse_query(query))
    assert match is not None
    of = dict(db.rows("SELECT key, record FROM passage"))
    best = sorted((-score, of[key]) for key, score in zip(*scoring.scores(db, match), strict=True))
    return [(record, -score) for score, record in best]


def test_a_word_in_the_title_or_heading_counts_more_than_one_in_the_text(db: Database) -> None:
    add(db, 1, "# Other\nkiwi and some more words")
    add(db, 2, "# Kiwi\nother and some more words")
    add(db, 3, "# Other\nother and some more words", title="Kiwi")
    assert found(db, "kiwi") == [3, 2, 1]


def test_a_title_without_spaces_counts_as_one_with_them(db: Database) -> None:
    add(db, 1, "这里有双向链接")
    add(db, 2, "这里什么都没有", title="双向链接")
    assert found(db, "链接") == [2, 1]


def test_a_heading_that_stands_above_and_an_alias_are_found(db: Database) -> None:
    add(db, 1, "# Zebra\n## Stripes\ntext")
    add(db, 2, "text", title="Horse", aliases=("Striped horse", "斑马"))
    assert found(db, "zebra") == [1]
    assert found(db, "斑马") == [2]


def test_gibberish_matches_nothing(db: Database) -> None:
    add(db, 1, "some text")
    assert found(db, "zxqv wvkj") == []


def test_every_match_is_returned_with_its_score_by_key(db: Database) -> None:
    for record in range(1, 301):
        add(db, record, "kiwi and other words" if record % 2 else "kiwi kiwi")
    match = '"kiwi"'
    keys, scores = scoring.scores(db, match)
    assert keys.tolist() == scoring.matching(db, match).tolist() == list(range(1, 301))
    assert all(score > 0 for score in scores)


def test_a_record_removed_is_found_no_more(db: Database) -> None:
    add(db, 1, "# One\nkiwi\n# Two\nkiwi")
    add(db, 2, "kiwi")
    fts.remove(db, [1])
    assert found(db, "kiwi") == [2]
    assert db.value("SELECT count(*) FROM passage") == 1


def test_a_record_without_words_is_found_by_its_title(db: Database) -> None:
    add(db, 1, "", title="Lonely")
    assert found(db, "lonely") == [1]


DOCUMENTS = st.lists(
    st.lists(
        st.sampled_from(["kiwi", "apple", "pear", "東京", "naïve", "foo_bar"]), max_size=8
    ).map(" ".join),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(DOCUMENTS, st.data())
def test_what_was_removed_and_added_leaves_no_trace_in_the_scores(
    tmp_path_factory: pytest.TempPathFactory, documents: list[str], data: st.DataObject
) -> None:
    """An index with a history answers exactly as one that was built from what stands now."""
    folder = tmp_path_factory.mktemp("fts")
    lived, fresh = new_database(folder / "a.sqlite"), new_database(folder / "b.sqlite")
    removed = data.draw(st.sets(st.integers(0, len(documents) - 1)))
    for n, text in enumerate(documents):
        add(lived, n, text)
    fts.remove(lived, sorted(removed, reverse=True))
    for n, text in reversed(list(enumerate(documents))):
        if n not in removed:
            add(fresh, n, text)
    for query in ("kiwi apple", "東京 naïve foo_bar", "pear -kiwi"):
        assert scored(lived, query) == scored(fresh, query)
    lived.close()
    fresh.close()


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
