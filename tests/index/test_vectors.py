"""Vectors: kept by content and model, never mixed, and compared exactly."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.index.test_search import NOW, Given, add
from tests.operations.builder import VaultBox
from vault_kg.embedding.convert import convert
from vault_kg.index import schema, scope
from vault_kg.index.listing import Filter
from vault_kg.index.nearest import NARROW
from vault_kg.index.vector_models import load_extension
from vault_kg.index.vectors import PART_TOKENS, Vectors, embedded_texts
from vault_kg.records.passages import estimate_tokens
from vault_kg.state.database import Database

DIMENSION = 16
WANTED = Filter(NOW)


class Random:
    """A vector of its own for each text."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)

    def embed_passages(self, texts: list[str]):
        found = self.random.standard_normal((len(texts), DIMENSION))
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return type("Made", (), {"vectors": found.astype(np.float32), "failed": {}})()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Vectors]]:
    """More passages than are scored one by one, each with a random vector."""
    folder = tmp_path_factory.mktemp("vectors")
    db = Database(folder / "state.sqlite", create=True)
    schema.ensure(db, "test")
    with db.write():
        for n in range(NARROW + 1_000):
            add(db, f"n{n:05}", f"text {n}")
        db.execute("UPDATE record SET partition = 'rare' WHERE key % 400 = 0")
    store = Vectors(db, "random", DIMENSION, folder)
    store.embed_pending(Random())  # type: ignore[arg-type]
    yield db, store
    db.close()


def query(seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (found / np.linalg.norm(found)).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_are_those_of_the_exact_scan_of_sqlite_vec(
    many: tuple[Database, Vectors], seed: int
) -> None:
    db, store = many
    load_extension(db)
    theirs = db.rows(
        "SELECT rowid, vec_distance_cosine(vector, ?1) AS distance FROM passage_vec_1 "
        "ORDER BY distance LIMIT 50",
        (query(seed).tobytes(),),
    )
    of = dict(db.rows("SELECT vector.number, passage.key FROM vector JOIN passage USING (hash)"))
    ours = store.compare(query(seed)).nearest(50, scope.of(db, WANTED))
    assert [one.passage for one in ours] == [of[number] for number, _ in theirs]
    assert [one.similarity for one in ours] == pytest.approx(
        [1 - distance for _, distance in theirs], abs=1e-5
    )


@pytest.mark.parametrize("limit", [1, 5, 100])
def test_a_filter_holds_before_the_nearest_are_taken(
    many: tuple[Database, Vectors], limit: int
) -> None:
    db, store = many
    rare = scope.of(db, Filter(NOW, partitions=["rare"]))
    assert 0 < rare.size < 10
    compared = store.compare(query(9))
    found = compared.nearest(limit, rare)
    assert len(found) == min(limit, rare.size)
    everything = compared.nearest(NARROW + 1_000, scope.of(db, WANTED))
    wanted = set(rare.passages[rare.wanted].tolist())
    assert found == [one for one in everything if one.passage in wanted][:limit]


def test_one_by_one_and_all_at_once_give_the_same_similarities(
    many: tuple[Database, Vectors],
) -> None:
    db, store = many
    compared = store.compare(query(3))
    some = list(range(1, 200))
    before = compared.similarities(some)
    compared.nearest(10, scope.of(db, WANTED))
    assert compared.similarities(some) == before


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "state.sqlite", create=True)
    schema.ensure(database, "test")
    yield database
    database.close()


def test_the_same_text_has_one_vector_and_equal_texts_are_equally_near(
    db: Database, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        add(db, name, "the same")
    store = Vectors(db, "random", DIMENSION, tmp_path)
    assert store.embed_pending(Random()) == 1  # type: ignore[arg-type]
    assert (store.coverage().ready, store.coverage().pending) == (3, 0)
    assert len(store.compare(query(0)).nearest(3, scope.of(db, WANTED))) == 3


def test_another_model_is_another_set_of_vectors(db: Database, tmp_path: Path) -> None:
    add(db, "a", "text")
    old, new = (Vectors(db, name, DIMENSION, tmp_path) for name in ("old", "new"))
    old.embed_pending(Random(1))  # type: ignore[arg-type]
    assert (old.coverage().ready, new.coverage().pending) == (1, 1)
    assert new.compare(query(0)).nearest(5, scope.of(db, WANTED)) == []
    new.embed_pending(Random(2))  # type: ignore[arg-type]
    new.forget_others()
    assert old.coverage().ready == 0 and new.coverage().ready == 1
    assert len(list(tmp_path.glob("vectors-*.f32"))) <= 1


def test_what_is_embedded_during_a_comparison_is_not_taken_for_part_of_it(
    db: Database, tmp_path: Path
) -> None:
    for n in range(4):
        add(db, f"n{n}", f"text {n}")
    store = Vectors(db, "random", DIMENSION, tmp_path)
    store.embed_pending(Random())  # type: ignore[arg-type]
    compared = store.compare(query(0))
    before = compared.similarities(range(1, 20))
    for n in range(4, 8):
        add(db, f"n{n}", f"text {n}")
    Vectors(db, "random", DIMENSION, tmp_path).embed_pending(Random(1))  # type: ignore[arg-type]
    assert compared.similarities(range(1, 20)) == before
    assert len(store.compare(query(0)).similarities(range(1, 20))) == 8


def test_a_model_that_was_dropped_while_it_embeds_is_not_taken_for_the_next(
    db: Database, tmp_path: Path
) -> None:
    add(db, "a", "text")
    first, second = (Vectors(db, name, DIMENSION, tmp_path) for name in ("first", "second"))
    first.embed_pending(Random(1))  # type: ignore[arg-type]
    first.forget_others()
    third = Vectors(db, "third", DIMENSION, tmp_path)
    assert second.embed_pending(Random(2)) == 1  # type: ignore[arg-type]
    assert (third.coverage().ready, second.coverage().ready) == (0, 1)
    assert len(second.compare(query(0)).nearest(5, scope.of(db, WANTED))) == 1


def test_what_could_not_be_embedded_is_counted_and_not_tried_again(
    db: Database, tmp_path: Path
) -> None:
    class Refusing(Random):
        def embed_passages(self, texts: list[str]):
            made = super().embed_passages(texts)
            made.failed = {n: "no" for n, text in enumerate(texts) if "poison" in text}
            return made

    add(db, "a", "poison")
    add(db, "b", "bread")
    store = Vectors(db, "random", DIMENSION, tmp_path)
    assert store.embed_pending(Refusing()) == 2  # type: ignore[arg-type]
    coverage = store.coverage()
    assert (coverage.ready, coverage.pending, coverage.failed) == (1, 0, 1)
    assert store.embed_pending(Refusing()) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", ["gone", "longer", "other"])
def test_the_matrix_beside_the_table_is_made_again_where_it_is_not_that_of_the_table(
    db: Database, tmp_path: Path, damage: str
) -> None:
    for n in range(10):
        add(db, f"n{n}", f"text {n}")
    Vectors(db, "random", DIMENSION, tmp_path).embed_pending(Random())  # type: ignore[arg-type]
    expected = _nearest(db, tmp_path)
    (file,) = tmp_path.glob("vectors-*.f32")
    if damage == "gone":
        file.unlink()
    elif damage == "longer":
        file.write_bytes(file.read_bytes() + b"\1" * 640)
    else:
        file.write_bytes(b"\1" * file.stat().st_size)
    assert _nearest(db, tmp_path) == expected


def test_without_a_folder_to_write_into_the_table_itself_is_compared(
    db: Database, tmp_path: Path
) -> None:
    add(db, "a", "text")
    Vectors(db, "random", DIMENSION, tmp_path).embed_pending(Random())  # type: ignore[arg-type]
    expected = _nearest(db, tmp_path)
    (tmp_path / "a file").write_text("")
    assert _nearest(db, tmp_path / "a file" / "below it") == expected


def _nearest(db: Database, folder: Path) -> list[tuple[int, int, float]]:
    store = Vectors(db, "random", DIMENSION, folder)
    return list(store.compare(query(1)).nearest(20, scope.of(db, WANTED)))


# With a model


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two models of one form with other weights."""
    pytest.importorskip("llama_cpp")
    from tests.embedding.tiny_model import write_folder

    folder = tmp_path_factory.mktemp("models")
    made = []
    for seed in (1, 2):
        path = folder / f"tiny-{seed}.gguf"
        convert(write_folder(folder / f"tiny-{seed}", seed), path, name=f"tiny-{seed}")
        made.append(path)
    return made[0], made[1]


@pytest.fixture
def box(
    tmp_path: Path, models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[VaultBox]:
    model = tmp_path / "model.gguf"
    shutil.copy(models[0], model)
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", str(model))
    made = VaultBox(tmp_path / "vault")
    yield made
    made.ws.close()


def test_a_search_says_what_is_pending_and_uses_what_is_there(box: VaultBox) -> None:
    box.put("one.md", "the word und das")
    box.scan()
    before = box.call("knowledge_search", query="das")
    assert (before["semantic"]["state"], before["semantic"]["pending"]) == ("ready", 1)
    assert before["semantic"]["reason"].startswith("1 passage is not embedded yet")
    assert before["hits"][0]["search"]["similarity"] is None
    box.ws.semantics.embed_pending()
    after = box.call("knowledge_search", query="das")
    assert (after["semantic"]["state"], after["semantic"]["pending"]) == ("ready", 0)
    assert after["hits"][0]["search"]["similarity"] is not None
    box.put("two.md", "another word")
    box.scan()
    assert box.call("knowledge_search", query="das")["semantic"]["pending"] == 1


def test_another_model_file_embeds_again_and_mixes_nothing(
    box: VaultBox, models: tuple[Path, Path], tmp_path: Path
) -> None:
    for n in range(5):
        box.put(f"{n}.md", f"the word {n} und das")
    box.scan()
    assert box.ws.semantics.embed_pending() == (5, None)
    first = _similarities(box)
    shutil.copy(models[1], tmp_path / "model.gguf")
    said = box.call("knowledge_search", query="das")
    assert said["semantic"]["pending"] == 5
    assert all(hit["search"]["similarity"] is None for hit in said["hits"])
    assert box.ws.semantics.embed_pending() == (5, None)
    assert _similarities(box) != first
    assert box.ws.database.value("SELECT count(*) FROM vector") == 5


def _similarities(box: VaultBox) -> dict[str, float]:
    found = box.call("knowledge_search", query="das", mode="semantic")["hits"]
    assert len(found) == 5
    return {hit["id"]: hit["search"]["similarity"] for hit in found}


def test_a_model_that_cannot_be_read_any_more_costs_only_the_meaning(
    box: VaultBox, tmp_path: Path
) -> None:
    box.put("one.md", "the word und das")
    box.scan()
    box.ws.semantics.embed_pending()
    (tmp_path / "model.gguf").write_bytes(b"not a model")
    found = box.call("knowledge_search", query="word")
    assert found["semantic"]["state"] == "degraded" and found["semantic"]["reason"]
    assert [hit["title"] for hit in found["hits"]] == ["one"]
    assert box.call("knowledge_status")["semantic"]["state"] == "degraded"


def test_vectors_stay_when_everything_derived_is_made_anew(box: VaultBox) -> None:
    box.put("one.md", "the word und das")
    box.scan()
    box.ws.semantics.embed_pending()
    schema.drop(box.ws.database)
    box.reopen()
    box.scan()
    assert box.ws.semantics.state()["ready"] == 1


# Parts


def test_a_long_passage_has_a_vector_for_each_part_and_is_as_near_as_the_nearest(
    db: Database, tmp_path: Path
) -> None:
    text = "kiwi " * 150 + "\n\n" + "stone " * 150
    key = add(db, "long", text, title="Title")
    parts = embedded_texts("Title", "", text)
    assert len(parts) == 2 and all(part.startswith("Title\n") for part in parts)
    assert all(estimate_tokens(part) < PART_TOKENS * 1.1 for part in parts)
    assert sorted(" ".join(parts).split()) == sorted(["Title", "Title", *text.split()])
    store = Vectors(db, "given", 3, tmp_path)
    given = Given({"kiwi": [1, 0, 0], "stone": [0, 1, 0]})
    assert store.embed_pending(given) == 1  # type: ignore[arg-type]
    assert db.value("SELECT count(*) FROM vector") == 2
    passage = db.value("SELECT key FROM passage WHERE record = ?", (key,))
    for query_vector in ([1, 0, 0], [0, 1, 0]):
        compared = store.compare(np.array(query_vector, np.float32))
        assert compared.similarities([passage]) == {passage: 1.0}
        assert len(compared.nearest(5, scope.of(db, WANTED))) == 1


def test_a_passage_of_which_a_part_failed_is_counted_as_failed(
    db: Database, tmp_path: Path
) -> None:
    class Refusing(Random):
        def embed_passages(self, texts: list[str]):
            made = super().embed_passages(texts)
            made.failed = {n: "no" for n, text in enumerate(texts) if "poison" in text}
            return made

    add(db, "a", "bread " * 150 + "\n\n" + "poison " * 150)
    store = Vectors(db, "random", DIMENSION, tmp_path)
    store.embed_pending(Refusing())  # type: ignore[arg-type]
    coverage = store.coverage()
    assert (coverage.ready, coverage.pending, coverage.failed) == (0, 0, 1)
    assert len(store.compare(query(0)).nearest(5, scope.of(db, WANTED))) == 1
