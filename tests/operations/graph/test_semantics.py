"""The graph with a real model: similarity as evidence, floors, and the nearest description."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import Clock
from tests.operations.graph.graphs import Graph
from vault_kg.embedding.models import DEFAULT_MODEL, model_path


@pytest.fixture
def meaning(folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    if importlib.util.find_spec("llama_cpp") is None or not model_path(DEFAULT_MODEL).exists():
        pytest.fail("run `make setup` first: it builds llama-cpp-python and fetches the model")
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", DEFAULT_MODEL)
    box = Graph(folder / "vault", clock)
    yield box
    box.ws.close()


def test_meaning_finds_and_a_floor_keeps_filler_out(meaning: Graph) -> None:
    engine = meaning.entity("Difference Engine", summary="A machine for calculating tables.")
    meaning.entity("Rose garden", summary="Flowers behind the house.")
    done = meaning.ask("backfill_summary_embeddings", group_id="main")
    assert (done["backfilled"], done["total_entities"], done["pending"]) == (2, 2, 0)

    found = meaning.ask("find_entities", query="arithmetic device")
    assert found["nodes"][0]["uuid"] == engine and found["semantic"]["state"] == "ready"
    search = found["nodes"][0]["search"]
    assert not search["text_match"] and search["bm25_score"] is None
    assert search["similarity"] == search["summary_similarity"] == search["name_similarity"] > 0.3
    assert meaning.ask("find_entities", query="zxqv wvkj qqrt", min_similarity=0.5)["nodes"] == []
    few = meaning.ask("find_entities", query="arithmetic device", min_similarity=0.3)
    assert [n["uuid"] for n in few["nodes"]] == [engine]
    assert meaning.ask("search_passages", query="arithmetic device", min_score=0.3)["count"] == 1


def test_changed_text_is_embedded_anew(meaning: Graph) -> None:
    meaning.entity("X", summary="Flowers behind the house.")
    meaning.ask("backfill_summary_embeddings", group_id="main")
    done = meaning.ask("assert_entity", name="X", summary="A machine for calculating tables.")
    assert done["embedding_warning"] is None
    assert meaning.ask("backfill_summary_embeddings", group_id="main")["backfilled"] == 1
    (node,) = meaning.ask("find_entities", query="arithmetic device", min_similarity=0.3)["nodes"]
    assert node["name"] == "X"


def test_what_words_leave_is_typed_by_the_nearest_description(meaning: Graph) -> None:
    meaning.entity("Ada", "Person")
    meaning.entity("Bob", "Person")
    meaning.edge("Ada", "zz1", "Bob", fact="Ada and Bob are married to each other.")
    meaning.edge("Ada", "zz2", "Bob", fact="Purple rain falls sideways on Tuesdays.")
    done = meaning.ask("canonicalize_relations", group_id="main", embedding_threshold=0.35)
    assert (done["embedding_fallback_promoted"], done["residual_count"]) == (1, 1)
    assert done["embedding_warning"] is None
    types = {e["name"]: e["relation_type"] for e in meaning.edges()}
    assert types == {"zz1": "married_to", "zz2": "UNCLASSIFIED"}
