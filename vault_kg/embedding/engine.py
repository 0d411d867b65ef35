"""The model as llama.cpp runs it; imported in the worker process only."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from vault_kg.embedding.normalise import normalise

Tokens = NDArray[np.int32]
Vectors = NDArray[np.float32]

_NORMALIZER = "tokenizer.ggml.normalizer."
_LOG_ERROR = 4


class EngineError(Exception):
    """The library refused something; the process is still sound."""


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _log_errors(level: int, text: bytes, _data: Any) -> None:
    if level == _LOG_ERROR:
        sys.stderr.write(text.decode("utf-8", "replace"))


class Engine:
    """One loaded embedding model; not for use by two threads.

    Args:
        model: The GGUF file.
        header: Its metadata, as `read_header` gives it.
        batch_tokens: The most tokens of one batch, and so of one window.
        sequences: The most windows of one batch.
    """

    def __init__(
        self, model: Path, header: dict[str, Any], *, batch_tokens: int, sequences: int
    ) -> None:
        llama_cpp.llama_log_set(_log_errors, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self._bert = header.get("tokenizer.ggml.model") == "bert"
        self._uncased = bool(header.get(f"{_NORMALIZER}lowercase", True))
        self._batch_tokens, self._sequences = batch_tokens, sequences
        self._model = self._load(model)
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._context = self._open()
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._buffers = _Buffers(batch_tokens)
        self.dimension = int(llama_cpp.llama_model_n_embd_out(self._model))
        self.prefix, self.suffix = self._frame_tokens()

    def _load(self, model: Path) -> Any:
        params = llama_cpp.llama_model_default_params()
        if self._bert:
            self._overrides = _without_normalizer()
            params.kv_overrides = self._overrides
        loaded = llama_cpp.llama_model_load_from_file(bytes(model), params)
        if not loaded:
            raise EngineError(f"llama.cpp cannot load {model}")
        return loaded

    def _open(self) -> Any:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._batch_tokens
        params.n_seq_max = self._sequences
        params.kv_unified = True
        params.embeddings = True
        params.no_perf = True
        context = llama_cpp.llama_init_from_model(self._model, params)
        pooled = context and llama_cpp.llama_pooling_type(context)
        if pooled == llama_cpp.LLAMA_POOLING_TYPE_NONE:
            llama_cpp.llama_free(context)
            params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_MEAN
            context = llama_cpp.llama_init_from_model(self._model, params)
        if not context:
            raise EngineError("llama.cpp cannot open a context of this model (is there memory?)")
        if pooled == llama_cpp.LLAMA_POOLING_TYPE_RANK:
            raise EngineError("this model ranks pairs of texts and gives no embeddings")
        return context

    def tokenize(self, text: str) -> Tokens:
        """Return the tokens of a text, without those that frame a sequence."""
        if self._bert:
            text = normalise(text, uncased=self._uncased)
        return self._tokenize(text, special=False)

    def _tokenize(self, text: str, *, special: bool) -> Tokens:
        data = text.encode("utf-8", "replace")
        room = len(data) + 16
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, special, False)
        if count < 0:
            raise EngineError(f"llama.cpp cannot tokenize a text of {len(data)} bytes")
        return np.array(tokens[:count], dtype=np.int32)

    def _frame_tokens(self) -> tuple[Tokens, Tokens]:
        """Find what the model wants before and after a sequence, by asking for both forms."""
        bare, framed = (self._tokenize("a", special=special) for special in (False, True))
        for start in range(len(framed) - len(bare) + 1):
            if np.array_equal(framed[start : start + len(bare)], bare):
                return framed[:start], framed[start + len(bare) :]
        raise EngineError("the model's tokenizer changes a text when it frames it")

    def embed(self, windows: Sequence[Tokens], threads: int) -> Vectors:
        """Return one pooled vector, not normalised, for each window of tokens."""
        batch = self._fill(windows)
        llama_cpp.llama_set_n_threads(self._context, threads, threads)
        if self._memory:
            llama_cpp.llama_memory_clear(self._memory, True)
            failed = llama_cpp.llama_decode(self._context, batch)
        else:
            failed = llama_cpp.llama_encode(self._context, batch)
        if failed:
            raise EngineError(f"llama.cpp refused a batch (code {failed})")
        return np.stack([self._pooled(sequence) for sequence in range(len(windows))])

    def _fill(self, windows: Sequence[Tokens]) -> llama_cpp.llama_batch:
        lengths = [len(window) for window in windows]
        if sum(lengths) > self._batch_tokens or len(windows) > self._sequences:
            raise EngineError(
                f"a batch of {sum(lengths)} tokens in {len(lengths)} windows is too large"
            )
        return self._buffers.filled(windows, lengths)

    def _pooled(self, sequence: int) -> Vectors:
        pointer = llama_cpp.llama_get_embeddings_seq(self._context, sequence)
        if not pointer:
            raise EngineError("llama.cpp gave no vector for a sequence")
        return np.ctypeslib.as_array(pointer, shape=(self.dimension,)).copy()


class _Buffers:
    """The arrays of a llama.cpp batch, filled by numpy instead of token by token."""

    def __init__(self, size: int) -> None:
        self._tokens, self._places, self._sequences = (np.zeros(size, np.int32) for _ in range(3))
        self._ones, self._outputs = np.ones(size, np.int32), np.ones(size, np.int8)
        first = self._sequences.ctypes.data
        self._pointers = np.arange(first, first + 4 * size, 4, dtype=np.uintp)

    def filled(self, windows: Sequence[Tokens], lengths: Sequence[int]) -> llama_cpp.llama_batch:
        """Return the windows as one batch; it is good until the next is filled."""
        total = sum(lengths)
        self._tokens[:total] = np.concatenate(windows)
        self._places[:total] = np.concatenate([np.arange(length) for length in lengths])
        self._sequences[:total] = np.repeat(np.arange(len(lengths)), lengths)
        batch = llama_cpp.llama_batch()
        batch.n_tokens = total
        batch.token = _pointer(self._tokens, llama_cpp.llama_token)
        batch.pos = _pointer(self._places, llama_cpp.llama_pos)
        batch.n_seq_id = _pointer(self._ones, ctypes.c_int32)
        batch.seq_id = _pointer(self._pointers, ctypes.POINTER(llama_cpp.llama_seq_id))
        batch.logits = _pointer(self._outputs, ctypes.c_int8)
        return batch


def _pointer(array: NDArray[Any], kind: Any) -> Any:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind))


def _without_normalizer() -> Any:
    """Switch the library's own accent stripping and lower-casing off (see `normalise`)."""
    overrides = (llama_cpp.llama_model_kv_override * 3)()
    for override, name in zip(overrides, ("lowercase", "strip_accents"), strict=False):
        override.tag = llama_cpp.LLAMA_KV_OVERRIDE_TYPE_BOOL
        override.key = f"{_NORMALIZER}{name}".encode()
        override.value.val_bool = False
    return overrides
