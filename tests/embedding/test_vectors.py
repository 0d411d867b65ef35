"""The vectors are those of the published model, to a cosine of 0.999."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.embedding.reference_model import MAX_WORD_CHARS, ReferenceModel
from vault_kg.embedding.client import Embedder
from vault_kg.embedding.process import WorkerProcess

TEXTS = [
    "",
    "a",
    "hello world",
    "The quick brown fox jumps over the lazy dog.",
    "Ünïcödé café naïve ÀÉÎ",
    "双向链接 是 知识库的核心",
    "繁體中文,含標點。",
    "リンクを張る。ひらがなカタカナ",
    "한국어 문장을 임베딩합니다",
    "Привет, мир! Съешь же ещё этих мягких французских булок",
    "مرحبا بالعالم كيف حالك",
    "שלום עולם",
    "สวัสดีชาวโลก",
    "हिन्दी में एक वाक्य लिखें",
    "தமிழ் வாக்கியம்",
    "বাংলা বাক্য",
    "Ελληνικά γράμματα ΣΊΣΥΦΟΣ",
    "İstanbul'da güneşli bir gün",
    "tiếng Việt có dấu",
    "ß ẞ Straße",
    "😀 emoji 👩\u200d👩\u200d👧 test 🎉",
    "🏳️\u200d🌈",
    "C++ and v1.2.3 foo_bar a-b",
    "x²+y² ≤ ½ € £ ™ ﬁ ligature",
    "zero\u200bwidth\u200djoin\u00adsoft",
    "\u0000nul\u0007bell \ufffd",
    "Ⅷ Ｆｕｌｌｗｉｄｔｈ",
    "   leading\nand\ttrailing \r\n space  ",
    "#tags [[wikilink|alias]] ![[embed]] ```python\nprint('x')\n```",
    "[CLS] and [SEP] are ordinary text here",
    "a" * 90,
    "word " * 400,
    "The embedder keeps a queue of passages and a worker process. " * 25,
]


@pytest.fixture(scope="module")
def embedder(minilm: Path) -> Iterator[Embedder]:
    with Embedder(minilm) as embedder:
        yield embedder


def test_passages_have_the_vectors_of_the_published_model(
    embedder: Embedder, reference: ReferenceModel
) -> None:
    found = embedder.embed_passages(TEXTS)
    cosines = {
        text: float(found.vectors[index] @ reference.embed(text))
        for index, text in enumerate(TEXTS)
    }
    assert not {text: cosine for text, cosine in cosines.items() if cosine < 0.999}
    assert found.failed == {}


def test_queries_have_the_same_vectors(embedder: Embedder, reference: ReferenceModel) -> None:
    for text in TEXTS[:12]:
        assert float(embedder.embed_query(text) @ reference.embed(text)) > 0.999


def test_what_is_like_in_meaning_is_near(embedder: Embedder) -> None:
    boat, ship, tax = embedder.embed_passages(
        ["A boat sails on the lake.", "The ship crosses the sea.", "Income tax is due in May."]
    ).vectors
    assert float(boat @ ship) > float(boat @ tax) + 0.2


def test_a_text_of_many_windows_is_the_mean_over_its_tokens(
    embedder: Embedder, reference: ReferenceModel
) -> None:
    half = "The embedder keeps a queue of passages and a worker process. " * 30
    found = embedder.embed_passages([half + half])
    assert found.windows[0] == 2
    assert float(found.vectors[0] @ reference.embed(half)) > 0.999


@pytest.fixture(scope="module")
def worker(minilm: Path) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(minilm, window_tokens=512, start_seconds=60)
    yield worker
    worker.close()


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_has_the_tokens_of_the_published_tokenizer(
    worker: WorkerProcess, reference: ReferenceModel, text: str
) -> None:
    if any(len(word) > MAX_WORD_CHARS for word in text.split()):
        return
    (tokens,) = worker.tokenize([text], seconds=20)
    framed = np.concatenate([worker.prefix, tokens, worker.suffix])
    assert framed.tolist() == reference.tokenize(text, 10_000)
