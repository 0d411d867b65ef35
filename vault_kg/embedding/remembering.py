"""An embedder that remembers what it embedded of late, for texts that are soon asked for again.

What a consolidation session compares is the text of the pages that its commit writes: it is
embedded once. Vectors are kept in memory only, under the model and the text.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vault_kg.embedding.client import Done, Embedder
from vault_kg.embedding.job import PassageVectors

REMEMBERED = 4_000
"""Texts; of 384 numbers each they take about 6 MB."""

_Key = tuple[str, bytes]


class _Made(NamedTuple):
    vector: NDArray[np.float32]
    tokens: int
    windows: int


class Remembering(Embedder):
    """An `Embedder` whose `embed_passages` can keep what it makes, and uses what is kept."""

    def __init__(self, model: Path | str) -> None:
        """Stand for a model, as `Embedder` does.

        Raises:
            NotFound: No model has this name.
        """
        super().__init__(model)
        self._lock = threading.Lock()
        self._made: OrderedDict[_Key, _Made] = OrderedDict()

    def embed_passages(
        self, texts: Sequence[str], *, on_progress: Done | None = None, keep: bool = False
    ) -> PassageVectors:
        """Return the vectors of passages, as `Embedder.embed_passages` does.

        Args:
            texts: Texts of any length and number, empty ones included.
            on_progress: Called in this thread with the texts done and in all.
            keep: Whether the same texts are soon asked for again.

        Raises:
            EmbedderUnavailable: The worker cannot be had; nothing of this call is kept.
        """
        fingerprint = self.info.fingerprint
        keys = [_key(fingerprint, text) for text in texts]
        known = self._known(keys)
        found = (
            self._besides(known, keys, texts, on_progress)
            if known
            else super().embed_passages(texts, on_progress=on_progress)
        )
        if keep:
            self._keep(keys, found)
        return found

    def _besides(
        self,
        known: dict[_Key, _Made],
        keys: Sequence[_Key],
        texts: Sequence[str],
        on_progress: Done | None,
    ) -> PassageVectors:
        """Embed what is not known, and return all of it."""
        missing = [n for n, key in enumerate(keys) if key not in known]
        if not missing:
            return _joined(keys, known, (), None)
        made = super().embed_passages([texts[n] for n in missing], on_progress=on_progress)
        if made.fingerprint != keys[0][0]:  # the model's file was replaced meanwhile
            return super().embed_passages(texts, on_progress=on_progress)
        return _joined(keys, known, missing, made)

    def _known(self, keys: Sequence[_Key]) -> dict[_Key, _Made]:
        with self._lock:
            return {key: self._made[key] for key in keys if key in self._made}

    def _keep(self, keys: Sequence[_Key], found: PassageVectors) -> None:
        with self._lock:
            for n, (_, digest) in enumerate(keys):
                if n not in found.failed:
                    key = found.fingerprint, digest
                    vector = found.vectors[n].copy()
                    self._made[key] = _Made(vector, int(found.tokens[n]), int(found.windows[n]))
                    self._made.move_to_end(key)
            while len(self._made) > REMEMBERED:
                self._made.popitem(last=False)


def _key(fingerprint: str, text: str) -> _Key:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()
    return fingerprint, digest


def _joined(
    keys: Sequence[_Key],
    known: dict[_Key, _Made],
    missing: Sequence[int],
    made: PassageVectors | None,
) -> PassageVectors:
    """Return what is known and what was made, in the order of the texts."""
    ones = [known.get(key) for key in keys]
    if made is not None:
        for place, n in enumerate(missing):
            numbers = int(made.tokens[place]), int(made.windows[place])
            ones[n] = _Made(made.vectors[place], *numbers)
    every = [one for one in ones if one is not None]
    return PassageVectors(
        np.stack([one.vector for one in every]),
        {missing[place]: why for place, why in made.failed.items()} if made else {},
        np.array([one.tokens for one in every], np.int32),
        np.array([one.windows for one in every], np.int32),
        keys[0][0],
    )
