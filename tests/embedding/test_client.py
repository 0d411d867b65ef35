from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.embedding.helpers import TEXTS, NewEmbedder, same, worker_pid
from vault_kg.embedding.client import Embedder, EmbedderUnavailable
from vault_kg.embedding.job import PassageVectors


def test_vectors_have_length_one_and_stand_in_the_order_of_the_texts(tiny: Embedder) -> None:
    found = tiny.embed_passages(TEXTS)
    assert found.vectors.dtype == np.float32
    assert found.vectors.shape == (300, 32)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    for index in (0, 7, 123, 299):
        assert float(found.vectors[index] @ tiny.embed_query(TEXTS[index])) > 0.9999


def test_vectors_carry_the_fingerprint_of_their_model(tiny: Embedder) -> None:
    assert tiny.embed_passages(["x"]).fingerprint == tiny.info.fingerprint


def test_no_text_and_the_empty_text_are_both_answered(tiny: Embedder) -> None:
    assert tiny.embed_passages([]).vectors.shape == (0, 32)
    found = tiny.embed_passages(["", " \n\t ", "\u200b"])
    assert found.failed == {}
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)


def test_strange_text_is_embedded(tiny: Embedder) -> None:
    strange = ["\ud800 lone", "\0", "\U0010ffff", "a\u0301" * 500, "[CLS][SEP]", "👩‍👩‍👧"]
    assert tiny.embed_passages(strange).failed == {}


def test_ten_thousand_texts_of_all_lengths_are_embedded_with_progress(tiny: Embedder) -> None:
    texts = [f"{number} " + "the word " * (number % 40) for number in range(10_000)]
    seen: list[tuple[int, int]] = []
    found = tiny.embed_passages(texts, on_progress=lambda done, all: seen.append((done, all)))
    assert found.vectors.shape == (10_000, 32)
    assert seen == sorted(seen)
    assert seen[-1] == (10_000, 10_000)
    sample = range(0, 10_000, 997)
    again = tiny.embed_passages([texts[index] for index in sample])
    assert ((found.vectors[list(sample)] * again.vectors).sum(axis=1) > 0.9999).all()


def test_several_threads_may_call_at_once(tiny: Embedder) -> None:
    expected = tiny.embed_passages(TEXTS)
    found: dict[int, PassageVectors] = {}
    queries: list[float] = []

    def passages(number: int) -> None:
        found[number] = tiny.embed_passages(TEXTS)

    def ask() -> None:
        queries.extend(float(tiny.embed_query(TEXTS[3]) @ expected.vectors[3]) for _ in range(20))

    threads = [threading.Thread(target=passages, args=(number,)) for number in range(3)]
    threads += [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(each, expected) for each in found.values())
    assert len(found) == 3
    assert len(queries) == 40
    assert min(queries) > 0.9999


def test_a_query_waits_no_longer_than_it_was_told(tiny_gguf: Path, embedder: NewEmbedder) -> None:
    made = embedder(tiny_gguf, call_timeout=20.0)
    made.embed_query("warm up")
    pid = worker_pid(made)
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"no vector within 0\.3 s"):
        made.embed_query("x", timeout=0.3)
    assert time.monotonic() - started < 3
    os.kill(pid, signal.SIGCONT)
    assert made.embed_query("x", timeout=5).shape == (32,)
    assert worker_pid(made) == pid


def test_a_model_that_is_taken_away_is_named_and_its_return_is_enough(
    tiny_copy: Path, embedder: NewEmbedder
) -> None:
    made = embedder(tiny_copy)
    made.embed_query("x")
    pid = worker_pid(made)
    aside = tiny_copy.rename(tiny_copy.with_suffix(".aside"))
    with pytest.raises(EmbedderUnavailable, match=r"copy\.gguf is not there"):
        made.embed_query("x")
    status = made.status()
    assert status.state == "unavailable"
    assert status.reason is not None
    assert "copy.gguf" in status.reason
    aside.rename(tiny_copy)
    assert made.embed_query("x").shape == (32,)
    assert made.status().state == "running"
    assert worker_pid(made) == pid


def test_a_model_that_is_replaced_is_loaded_anew_and_never_mixed(
    tiny_copy: Path, embedder: NewEmbedder
) -> None:
    made = embedder(tiny_copy)
    before = made.embed_passages(TEXTS)
    content = bytearray(tiny_copy.read_bytes())
    for place in range(len(content) - 400, len(content)):
        content[place] ^= 1
    tiny_copy.with_suffix(".new").write_bytes(content)
    tiny_copy.with_suffix(".new").replace(tiny_copy)
    after = made.embed_passages(TEXTS)
    assert before.fingerprint != after.fingerprint == made.info.fingerprint
    assert not np.allclose(before.vectors, after.vectors, atol=1e-7)


@pytest.mark.parametrize("size", [0, 3, 100, 3000, 20_000])
def test_a_model_that_is_cut_short_is_a_plain_reason(
    tiny_copy: Path, embedder: NewEmbedder, size: int
) -> None:
    tiny_copy.write_bytes(tiny_copy.read_bytes()[:size])
    made = embedder(tiny_copy)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match=r"copy\.gguf"):
            made.embed_query("x")
    assert made.status().state == "unavailable"


def test_a_model_cut_short_while_it_is_in_use_is_a_plain_reason(
    tiny_copy: Path, embedder: NewEmbedder
) -> None:
    made = embedder(tiny_copy)
    made.embed_query("x")
    with tiny_copy.open("rb+") as file:
        file.truncate(5000)
    with pytest.raises(EmbedderUnavailable):
        made.embed_query("x")


def test_a_progress_callback_that_raises_reaches_its_caller_and_harms_nobody(
    tiny: Embedder,
) -> None:
    def fail(_done: int, _all: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny.embed_passages(TEXTS * 10, on_progress=fail)
    assert tiny.embed_passages(TEXTS).failed == {}
