"""What a model file is: its dimension, context, prefixes, and the fingerprint of its vectors."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_kg.embedding.gguf_header import read_header
from vault_kg.errors import NotFound, Unavailable

VECTOR_RULES = 1
"""Version of all that shapes a vector besides the model: normalisation, windows, averaging."""

WINDOW_TOKENS_MOST = 2048

_POOLING = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}

_E5 = ("query: ", "passage: ")
_BGE_ENGLISH = ("Represent this sentence for searching relevant passages: ", "")
_FAMILY_PREFIXES = {
    "e5-small": _E5,
    "e5-base": _E5,
    "e5-large": _E5,
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "bge-small-en": _BGE_ENGLISH,
    "bge-base-en": _BGE_ENGLISH,
    "bge-large-en": _BGE_ENGLISH,
}
"""What the authors of these models prescribe before a query and before a passage."""


@dataclass(frozen=True)
class ModelInfo:
    """An embedding model file and how its vectors are made."""

    name: str
    path: Path
    dimension: int
    fingerprint: str
    context_tokens: int
    pooling: str
    query_prefix: str = ""
    passage_prefix: str = ""


Stamp = tuple[int, int, int]
"""Inode, size and modification time of a file."""

StampedInfo = tuple[Stamp, ModelInfo]

_known: dict[Path, StampedInfo] = {}


def stamp(path: Path) -> Stamp:
    """Return what tells one state of a file from another.

    Raises:
        NotFound: There is no such file.
    """
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise NotFound(
            f"the embedding model {path} is not there; `vault-kg models list` shows the known ones",
            path=str(path),
        ) from error
    return status.st_ino, status.st_size, status.st_mtime_ns


def stamped_info(path: Path) -> StampedInfo:
    """Describe a model file, without loading it.

    The file is read once, and again where it changed.

    Args:
        path: The GGUF file.

    Returns:
        The state of the file that is described, and its description.

    Raises:
        NotFound: There is no such file.
        Unavailable: It cannot be read, is no embedding model, or is not what was installed.
    """
    now = stamp(path)
    known = _known.get(path)
    if known is None or known[0] != now:
        try:
            known = (now, _describe(path))
        except OSError as error:
            raise Unavailable(f"the embedding model {path} cannot be read: {error}") from error
        _known[path] = known
    return known


def file_sha256(path: Path) -> str:
    """Return the hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sidecar(path: Path) -> Path:
    """Return the place of the note that is kept beside an installed model."""
    return path.with_suffix(".note.json")


def read_note(path: Path) -> dict[str, Any]:
    """Read the note beside a model: its checksum and prefixes; empty where there is none."""
    try:
        note = json.loads(sidecar(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file so that a reader sees the old bytes or the new ones."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.replace(path)


def _describe(path: Path) -> ModelInfo:
    header = read_header(path)
    arch = str(header.get("general.architecture", ""))
    dimension = header.get(f"{arch}.embedding_length")
    if not isinstance(dimension, int):
        raise Unavailable(f"{path} is a GGUF file, and not of a text model", path=str(path))
    note = read_note(path)
    digest = file_sha256(path)
    if note.get("sha256", digest) != digest:
        raise Unavailable(
            f"the embedding model {path} is damaged: its checksum is not the one it was installed "
            f"with; run `vault-kg models fetch {path.stem}`",
            path=str(path),
        )
    name = str(header.get("general.name") or path.stem)
    query_prefix, passage_prefix = _prefixes(note, name)
    pooling = _POOLING.get(int(header.get(f"{arch}.pooling_type", 0)), "none")
    shape = {
        "model": digest,
        "dimension": dimension,
        "pooling": pooling,
        "query_prefix": query_prefix,
        "passage_prefix": passage_prefix,
        "rules": VECTOR_RULES,
    }
    return ModelInfo(
        name=name,
        path=path,
        dimension=dimension,
        fingerprint=hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest(),
        context_tokens=min(int(header.get(f"{arch}.context_length", 512)), WINDOW_TOKENS_MOST),
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
    )


def _prefixes(note: dict[str, Any], name: str) -> tuple[str, str]:
    if "query_prefix" in note or "passage_prefix" in note:
        return str(note.get("query_prefix", "")), str(note.get("passage_prefix", ""))
    for family, prefixes in _FAMILY_PREFIXES.items():
        if family in name.lower() and "instruct" not in name.lower():
            return prefixes
    return "", ""
