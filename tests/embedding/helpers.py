"""What the tests of the embedder share besides fixtures."""

from __future__ import annotations

from collections.abc import Callable

from vault_kg.embedding.client import Embedder
from vault_kg.embedding.job import PassageVectors

NewEmbedder = Callable[..., Embedder]

TEXTS = [f"the word {number} und das " + "word " * (number % 17) for number in range(300)]


def same(found: PassageVectors, expected: PassageVectors) -> bool:
    """Say whether two sets of vectors point the same way."""
    return bool(((found.vectors * expected.vectors).sum(axis=1) > 0.9999).all())


def worker_pid(embedder: Embedder) -> int:
    """Return the process id of the embedder's worker, which must be running."""
    pid = embedder.status().worker_pid
    assert pid is not None
    return pid
