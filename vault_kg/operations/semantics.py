"""Search by meaning in one vault: which model, how much is embedded, and why it is off if it is.

Nothing here is called under the write lane, and nothing here fails a search: the answer is a
reason.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.errors import NotFound, Unavailable
from vault_kg.state.database import Database

if TYPE_CHECKING:
    from vault_kg.embedding.client import ModelInfo
    from vault_kg.embedding.remembering import Remembering
    from vault_kg.index.listing import Filter
    from vault_kg.index.nearest import Compared
    from vault_kg.index.vectors import Vectors

Progress = Callable[[int, int], None]

MODEL_ENVIRONMENT = "VAULT_KG_EMBEDDING_MODEL"
OFF = "off"


class Semantics:
    """The embedding model and the vectors of one vault, found when first asked for."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder
        self._lock = threading.Lock()
        self._found = False
        self._embedder: Remembering | None = None
        self._reason: str | None = None
        self._of: dict[str, Vectors] = {}

    def state(self) -> dict[str, Any]:
        """Return `{state, reason?, pending, failed, ready, model?}` as it is now."""
        said: dict[str, Any] = {"pending": 0, "failed": 0, "ready": 0}
        embedder = self._model()
        if embedder is None:
            return said | {"state": "off", "reason": self._reason}
        try:
            coverage = self._vectors(embedder).coverage()
            model = embedder.info.name
        except Unavailable as error:
            return said | {"state": "degraded", "reason": error.message}
        reason = _said_of_pending(coverage.pending) if coverage.pending else None
        return asdict(coverage) | {"state": "ready", "reason": reason, "model": model}

    def model(self) -> ModelInfo | None:
        """Return the model that search by meaning uses, or None where it is off."""
        embedder = self._model()
        try:
            return embedder.info if embedder is not None else None
        except Unavailable:
            return None

    def missing(self) -> str | None:
        """Return why search by meaning is off, or None where it is on."""
        return self._reason if self._model() is None else None

    def compare(self, text: str, seconds: float) -> tuple[Compared | None, str | None]:
        """Set a query against the vectors of the vault.

        Args:
            text: the words of the query.
            seconds: how long to wait for the model.

        Returns:
            The comparison, or None and why; None without a reason where no vectors are there yet.
        """
        embedder = self._model()
        if embedder is None:
            return None, self._reason
        try:
            vectors = self._vectors(embedder)
            if vectors.coverage().ready == 0:
                return None, None
            return vectors.compare(embedder.embed_query(text, timeout=seconds)), None
        except Unavailable as error:
            return None, error.message

    def embed_texts(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> tuple[Any, str | None]:
        """Return the vectors of texts, one row each, or None and why.

        They are remembered for a while: the same text costs nothing again.

        Args:
            texts: the texts.
            progress: called with (done, total) texts; what it raises ends the call.
        """
        embedder = self._model()
        if embedder is None:
            return None, self._reason
        try:
            return embedder.embed_passages(texts, on_progress=progress, keep=True).vectors, None
        except Unavailable as error:
            return None, error.message

    def nearest_records(
        self,
        texts: Sequence[Sequence[str]],
        wanted: Filter,
        limit: int,
        floor: float,
        progress: Progress | None = None,
    ) -> tuple[list[list[tuple[int, float]]] | None, str | None]:
        """Find the records whose passages are nearest to each of several texts, given in parts.

        Args:
            texts: of each text the parts that its page would have.
            wanted: which records may answer.
            limit: how many records for each text.
            floor: leave out what is less similar.
            progress: called with (done, total) parts; what it raises ends the call.

        Returns:
            For each text (key, cosine similarity) of records, the most similar first; or None and
            why.
        """
        from vault_kg.index import nearest, scope

        vectors, reason = self.embed_texts([part for text in texts for part in text], progress)
        embedder = self._model()
        if vectors is None or embedder is None:
            return None, reason
        try:
            compared = self._vectors(embedder).compare(vectors[0])
        except Unavailable as error:
            return None, error.message
        inside = scope.of(self._db, wanted)
        parts = [len(text) for text in texts]
        return nearest.nearest_records(compared, vectors, parts, inside, limit, floor), None

    def embed_pending(
        self,
        progress: Progress | None = None,
        stopped: Callable[[], bool] = lambda: False,
        wanted: Filter | None = None,
    ) -> tuple[int, str | None]:
        """Embed what has no vector yet; returns how many, and why it stopped early if it did.

        Args:
            progress: called with (done, total) passages; what it raises ends the call.
            stopped: asked between batches.
            wanted: only passages of these records.
        """
        embedder = self._model()
        if embedder is None:
            return 0, self._reason
        try:
            vectors = self._vectors(embedder)
            done = vectors.embed_pending(embedder, progress, stopped, wanted)
        except Unavailable as error:
            return 0, error.message
        if vectors.coverage().pending == 0:
            vectors.forget_others()
        return done, None

    def pending(self, wanted: Filter) -> int:
        """Return how many passages of some records have no vector; 0 where there is no model."""
        embedder = self._model()
        try:
            return self._vectors(embedder).pending(wanted) if embedder is not None else 0
        except Unavailable:
            return 0

    def close(self) -> None:
        """Stop the model's process."""
        with self._lock:
            if self._embedder is not None:
                self._embedder.close()
            self._embedder, self._found = None, False

    def _vectors(self, embedder: Remembering) -> Vectors:
        """Return the vectors of the model as its file is now; another file is another model."""
        from vault_kg.index.vectors import Vectors  # with numpy, which nothing else needs

        info = embedder.info
        with self._lock:
            known = self._of.get(info.fingerprint)
            if known is None:
                known = Vectors(self._db, info.fingerprint, info.dimension, self._folder)
                self._of = {info.fingerprint: known}
            return known

    def _model(self) -> Remembering | None:
        with self._lock:
            if not self._found:
                self._embedder, self._reason = _find_model()
                self._found = self._embedder is not None
            return self._embedder


def _said_of_pending(count: int) -> str:
    subject = "1 passage is" if count == 1 else f"{count:,} passages are"
    return f"{subject} not embedded yet, and found by words only; `vault-kg reindex` does it now"


def _find_model() -> tuple[Remembering | None, str | None]:
    from importlib.util import find_spec

    from vault_kg.embedding.client import EmbedderUnavailable
    from vault_kg.embedding.models import DEFAULT_MODEL
    from vault_kg.embedding.remembering import Remembering

    wanted = os.environ.get(MODEL_ENVIRONMENT) or DEFAULT_MODEL
    if wanted == OFF:
        return None, f"{MODEL_ENVIRONMENT}={OFF}"
    if find_spec("llama_cpp") is None:
        return None, "llama-cpp-python is not installed; `make setup` builds and installs it"
    try:
        embedder = Remembering(wanted)
        _ = embedder.info
    except NotFound as error:
        return None, error.message
    except EmbedderUnavailable as error:
        return None, f"{error}; `vault-kg models fetch {wanted}` installs it"
    return embedder, None
