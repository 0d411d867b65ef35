"""What is found by meaning alone and is hardly alike is not listed, unless it is asked for."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from vault_kg.embedding.models import DEFAULT_MODEL, model_path
from vault_kg.operations.searching import LEAST_ALIKE

NOTES = {
    "baking": "Knead the dough, let it rise for an hour and bake the loaf until the crust is brown.",
    "soup": "Simmer onions and carrots in broth, and season the soup with thyme.",
    "engine": "The mill of the machine adds and multiplies what its store holds on brass wheels.",
    "lawsuit": "The court dismissed the appeal, for the statute of limitations had expired.",
    "orbit": "The probe fired its thrusters and entered an orbit around the moon of Jupiter.",
    "knitting": "Cast on forty stitches, and purl the second row of the scarf.",
}


@pytest.fixture(scope="module")
def box(_no_model: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultBox]:
    if importlib.util.find_spec("llama_cpp") is None or not model_path(DEFAULT_MODEL).exists():
        pytest.skip("no embedding model: run `make setup`")
    folder: Path = tmp_path_factory.mktemp("floor")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VAULT_KG_EMBEDDING_MODEL", raising=False)
        made = VaultBox(folder / "vault")
        for name, text in NOTES.items():
            made.put(f"notes/{name}.md", f"{text}\n")
        made.scan()
        made.ws.semantics.embed_pending()
        yield made
        made.ws.close()


def found(box: VaultBox, query: str, **more: object) -> dict[str, float | None]:
    answer = box.call("knowledge_search", query=query, limit=100, **more)
    assert answer["semantic"]["state"] == "ready" and answer["total"] == len(answer["hits"])
    return {hit["title"]: hit["search"]["similarity"] for hit in answer["hits"]}


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_what_is_hardly_alike_is_not_listed_unless_all_is_asked_for(
    box: VaultBox, mode: str
) -> None:
    every = found(box, "homemade bread recipe", mode=mode, minSimilarity=0)
    assert set(every) == set(NOTES), "0 lists all, also what is the opposite"
    listed = found(box, "homemade bread recipe", mode=mode)
    assert listed == {name: near for name, near in every.items() if (near or 0) >= LEAST_ALIKE}
    assert next(iter(listed)) == "baking" and "lawsuit" not in listed
    stricter = found(box, "homemade bread recipe", mode=mode, minSimilarity=0.4)
    assert set(stricter) < set(listed) or len(listed) == 1


def test_what_words_find_is_listed_however_unlike_it_is(box: VaultBox) -> None:
    listed = found(box, "homemade bread, said the appeal")
    assert (listed["lawsuit"] or 0) < LEAST_ALIKE


def test_gibberish_finds_nothing(box: VaultBox) -> None:
    assert found(box, "zqxv jkwp vvbn", minSimilarity=0) and not found(box, "zqxv jkwp vvbn")


def test_an_exact_title_is_first_whatever_it_means(box: VaultBox) -> None:
    assert next(iter(found(box, "orbit"))) == "orbit"
