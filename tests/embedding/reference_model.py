"""The embedding model written out in numpy: WordPiece tokenizer, BERT forward pass, mean pooling.

It follows the published description of the model and shares no code with llama.cpp or with the
package, so that agreement between the two means something. It is slow and exact (float32 weights,
error-function GELU), and reads the original safetensors.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

MAX_WORD_CHARS = 100


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read every float32 tensor of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] != "F32":
            continue
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return tensors


class WordPiece:
    """The uncased BERT tokenizer."""

    def __init__(self, vocab: Path) -> None:
        words = vocab.read_text(encoding="utf-8").split("\n")
        self.ids = {word: number for number, word in enumerate(words) if word}

    def __call__(self, text: str, limit: int) -> list[int]:
        ids = [piece for word in self._words(text) for piece in self._pieces(word)]
        return [self.ids["[CLS]"], *ids[: limit - 2], self.ids["[SEP]"]]

    def _words(self, text: str) -> list[str]:
        cleaned = "".join(_clean(char) for char in text)
        decomposed = unicodedata.normalize("NFD", cleaned)
        bare = "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
        lowered = "".join(char.lower() for char in bare)
        return "".join(_spaced_punctuation(char) for char in lowered).split()

    def _pieces(self, word: str) -> list[int]:
        if len(word) > MAX_WORD_CHARS:
            return [self.ids["[UNK]"]]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            end = self._longest(word, start)
            if end is None:
                return [self.ids["[UNK]"]]
            pieces.append(self.ids[("##" if start else "") + word[start:end]])
            start = end
        return pieces

    def _longest(self, word: str, start: int) -> int | None:
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            if prefix + word[start:end] in self.ids:
                return end
        return None


def _clean(char: str) -> str:
    if char in "\t\n\r" or unicodedata.category(char) == "Zs":
        return " "
    if char in "\0\ufffd" or unicodedata.category(char).startswith("C"):
        return ""
    return f" {char} " if _is_ideograph(ord(char)) else char


def _is_ideograph(code: int) -> bool:
    ranges = (
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    )
    return any(low <= code <= high for low, high in ranges)


def _spaced_punctuation(char: str) -> str:
    ascii_symbol = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    punctuation = ascii_symbol or unicodedata.category(char).startswith("P")
    return f" {char} " if punctuation else char


def _erf(x: Array) -> Array:
    """Abramowitz and Stegun 7.1.26, within 1.5e-7 of the error function."""
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return (np.sign(x) * (1.0 - series * np.exp(-x * x))).astype(np.float32)


def _gelu(x: Array) -> Array:
    return (0.5 * x * (1.0 + _erf(x / np.float32(np.sqrt(2.0))))).astype(np.float32)


class ReferenceModel:
    """A sentence encoder of the BERT family, from the folder that its authors publish."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.weights = read_safetensors(folder / "model.safetensors")
        self.tokenize = WordPiece(folder / "vocab.txt")
        self.layers = int(config["num_hidden_layers"])
        self.heads = int(config["num_attention_heads"])
        self.epsilon = float(config["layer_norm_eps"])
        self.limit = int(config["max_position_embeddings"])

    def embed(self, text: str) -> Array:
        """Return the mean-pooled, L2-normalised vector of one text."""
        hidden = self._embeddings(self.tokenize(text, self.limit))
        for layer in range(self.layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        pooled = hidden.mean(axis=0)
        return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)

    def _embeddings(self, ids: list[int]) -> Array:
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        places = self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        sentence = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm(words + places + sentence, "embeddings.LayerNorm")

    def _layer(self, hidden: Array, name: str) -> Array:
        attended = self._dense(self._attention(hidden, name), f"{name}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(hidden, f"{name}.intermediate.dense"))
        outer = self._dense(inner, f"{name}.output.dense")
        return self._norm(hidden + outer, f"{name}.output.LayerNorm")

    def _attention(self, hidden: Array, name: str) -> Array:
        query, key, value = (
            self._heads(self._dense(hidden, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return np.asarray(mixed.transpose(1, 0, 2).reshape(hidden.shape), dtype=np.float32)

    def _heads(self, x: Array) -> Array:
        return x.reshape(len(x), self.heads, -1).transpose(1, 0, 2)

    def _dense(self, x: Array, name: str) -> Array:
        product = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return np.asarray(product, dtype=np.float32)

    def _norm(self, x: Array, name: str) -> Array:
        mean = x.mean(axis=-1, keepdims=True)
        variance = x.var(axis=-1, keepdims=True)
        scaled = (x - mean) / np.sqrt(variance + np.float32(self.epsilon))
        return np.asarray(
            scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"],
            dtype=np.float32,
        )
