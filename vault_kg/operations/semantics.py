"""Search by meaning in one vault: which model, how much is embedded, and what to say when it is off.

Nothing here is called under the write lane, and nothing here fails a search: the answer is a reason.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.index.vectors import Similar, Vectors
from vault_kg.state.database import Database

if TYPE_CHECKING:
    from vault_kg.embedding.client import Embedder

MODEL_ENVIRONMENT = "VAULT_KG_EMBEDDING_MODEL"
OFF = "off"


class Semantics:
    """The embedding model and the vectors of one vault, found when first asked for."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder
        self._lock = threading.Lock()
        self._found = False
        self._embedder: Embedder | None = None
        self._reason: str | None = None

    def state(self) -> dict[str, Any]:
        """Return `{state, reason?, pending, failed, ready, model?}` as it is now."""
        embedder = self._model()
        if embedder is None:
            return {"state": "off", "reason": self._reason, "pending": 0, "failed": 0}
        coverage = self._vectors(embedder).coverage()
        said: dict[str, Any] = {
            "state": "ready", "reason": None, "pending": coverage.pending,
            "failed": coverage.failed, "model": embedder.info.name,
        }  # fmt: skip
        if coverage.pending:
            said["reason"] = f"{coverage.pending} passages are not embedded yet; `vault-kg reindex`"
        return said

    def missing(self) -> str | None:
        """Return why search by meaning is off, or None where it is on."""
        return self._reason if self._model() is None else None

    def coverage(self) -> dict[str, Any]:
        """Return the state with how many passages have vectors, for status."""
        said = self.state()
        embedder = self._model()
        said["ready"] = self._vectors(embedder).coverage().ready if embedder else 0
        return said

    def embed_query(self, text: str, seconds: float) -> tuple[Any, str | None]:
        """Return the vector of a query, or None and why."""
        from vault_kg.embedding.client import EmbedderUnavailable

        embedder = self._model()
        if embedder is None:
            return None, self._reason
        try:
            return embedder.embed_query(text, timeout=seconds), None
        except EmbedderUnavailable as error:
            return None, str(error)

    def nearest(
        self, vector: Any, limit: int, where: str, values: dict[str, Any], floor: float | None
    ) -> list[Similar]:
        """Return the nearest passages among those that a filter lets through."""
        embedder = self._model()
        return (
            self._vectors(embedder).nearest(vector, limit, where, values, floor) if embedder else []
        )

    def embed_pending(
        self,
        progress: Callable[[int, int], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[int, str | None]:
        """Embed what has no vector yet; returns how many, and why it stopped early if it did."""
        from vault_kg.embedding.client import EmbedderUnavailable

        embedder = self._model()
        if embedder is None:
            return 0, self._reason
        vectors = self._vectors(embedder)
        try:
            done = vectors.embed_pending(embedder, progress, stopped)
        except EmbedderUnavailable as error:
            return 0, str(error)
        if vectors.coverage().pending == 0:
            vectors.forget_others()
        return done, None

    def close(self) -> None:
        """Stop the model's process."""
        with self._lock:
            if self._embedder is not None:
                self._embedder.close()
            self._embedder, self._found = None, False

    def _vectors(self, embedder: Embedder) -> Vectors:
        info = embedder.info
        return Vectors(self._db, info.fingerprint, info.dimension, self._folder)

    def _model(self) -> Embedder | None:
        with self._lock:
            if not self._found:
                self._embedder, self._reason = _find_model()
                self._found = self._embedder is not None
            return self._embedder


def _find_model() -> tuple[Embedder | None, str | None]:
    from importlib.util import find_spec

    from vault_kg.embedding.client import Embedder, EmbedderUnavailable
    from vault_kg.embedding.models import DEFAULT_MODEL
    from vault_kg.errors import NotFound

    wanted = os.environ.get(MODEL_ENVIRONMENT) or DEFAULT_MODEL
    if wanted == OFF:
        return None, f"{MODEL_ENVIRONMENT}={OFF}"
    if find_spec("llama_cpp") is None:
        return None, "llama-cpp-python is not installed; `make setup` builds and installs it"
    try:
        embedder = Embedder(wanted)
        _ = embedder.info
    except NotFound as error:
        return None, error.message
    except EmbedderUnavailable as error:
        return None, f"{error}; `vault-kg models fetch {wanted}` installs it"
    return embedder, None
