from __future__ import annotations

from pathlib import Path

import pytest

from tests.embedding.helpers import TEXTS, NewEmbedder
from vault_kg.embedding.client import Embedder, EmbedderUnavailable


def test_a_text_at_which_the_worker_dies_three_times_is_named_and_the_others_go_on(
    tiny_gguf: Path, tiny: Embedder, embedder: NewEmbedder, poisonable: None
) -> None:
    expected = tiny.embed_passages(TEXTS)
    texts = list(TEXTS)
    texts[11] = texts[200] = "das poison"
    found = embedder(tiny_gguf).embed_passages(texts)
    assert set(found.failed) == {11, 200}
    assert "given up after 3 tries: the worker was ended by SIGSEGV" in found.failed[11]
    assert not found.vectors[[11, 200]].any()
    others = [index for index in range(300) if index not in found.failed]
    assert ((found.vectors * expected.vectors).sum(axis=1)[others] > 0.9999).all()


def test_a_query_at_which_the_worker_dies_is_refused_and_the_next_is_answered(
    tiny_gguf: Path, embedder: NewEmbedder, poisonable: None
) -> None:
    made = embedder(tiny_gguf)
    with pytest.raises(EmbedderUnavailable, match="this query cannot be embedded"):
        made.embed_query("poison")
    assert made.embed_query("word").shape == (32,)


def test_a_text_of_a_megabyte_goes_in_whole(tiny: Embedder) -> None:
    found = tiny.embed_passages(["short", "the word poison " * 65_536, "a"])
    assert found.failed == {}
    assert found.tokens.tolist() == [5, 3 * 65_536, 1]
    assert found.windows[1] == -(-3 * 65_536 // 62)


def test_a_huge_text_without_a_space_goes_in_whole(tiny: Embedder) -> None:
    found = tiny.embed_passages(["a" * 250_000])
    assert found.failed == {}
    assert found.tokens[0] == 250_000
