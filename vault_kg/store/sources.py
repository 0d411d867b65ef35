"""Retained sources: the original bytes of what records cite, and their descriptors.

A source lies under `<partition>/sources/<sha256>/`; its id is computed from partition and content,
so attaching the same bytes twice is one source. The bytes are never changed.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_kg.errors import InvalidArgument, UnsafePath
from vault_kg.records import ids, names
from vault_kg.records.frontmatter import Value, new_document
from vault_kg.records.yaml_reader import load
from vault_kg.store import files
from vault_kg.store.plan import Change

FORMAT = "knowledge-source-v1"
DESCRIPTOR = "source.yaml"
MAX_SOURCE_BYTES = 512_000_000


@dataclass(frozen=True)
class Source:
    """A source's descriptor. `path` is the vault-relative path of the retained bytes."""

    id: str
    partition: str
    sha256: str
    path: str
    filename: str
    media_type: str
    size: int
    attribution: str | None
    recorded_at: str
    source_file: str | None = None
    """The file that this text is a piece of, as whoever sent the piece names it."""
    chunk_id: str | None = None
    reference_time: str | None = None
    """When what it says was so."""

    @property
    def name(self) -> str:
        """What a reader knows it by: the chunk's id, or the file's name."""
        return self.chunk_id or self.filename

    @property
    def description(self) -> str:
        """Where it comes from: `file:chunk` of a chunk, else the file's name."""
        if self.source_file and self.chunk_id:
            return f"{self.source_file}:{self.chunk_id}"
        return self.source_file or self.filename


def folder(partition: str, sha256: str) -> str:
    """Return the vault-relative folder of a source."""
    return f"{partition}/sources/{sha256}"


def describe(
    content: bytes, partition: str, filename: str, at: str,
    *, media_type: str | None = None, attribution: str | None = None,
) -> Source:  # fmt: skip
    """Return the descriptor that these bytes would have as a source."""
    digest = hashlib.sha256(content).hexdigest()
    name = safe_filename(filename, digest)
    return Source(
        id=ids.source_id(partition, digest),
        partition=partition,
        sha256=digest,
        path=f"{folder(partition, digest)}/{name}",
        filename=filename,
        media_type=media_type or _guess(filename),
        size=len(content),
        attribution=attribution,
        recorded_at=at,
    )


def changes(
    source: Source, content: bytes, attributes: Mapping[str, Value] | None = None
) -> tuple[Change, Change]:
    """Return the two files that retain a source.

    Args:
        source: its descriptor.
        content: its bytes.
        attributes: what else whoever sent it wants kept in the descriptor's file.
    """
    name = PurePosixPath(source.path).name
    descriptor: dict[str, Value] = {
        "format": FORMAT,
        "id": source.id,
        "sha256": source.sha256,
        "filename": source.filename,
        "file": name if name != source.filename else None,
        "media_type": source.media_type,
        "size": source.size,
        "attribution": source.attribution,
        "recorded_at": source.recorded_at,
        "source_file": source.source_file,
        "chunk_id": source.chunk_id,
        "reference_time": source.reference_time,
        "attributes": dict(attributes) if attributes else None,
    }
    kept = {name: value for name, value in descriptor.items() if value is not None}
    text = new_document(kept, "").decode().removeprefix("---\n").removesuffix("---\n")
    where = folder(source.partition, source.sha256)
    return (
        Change(source.path, None, content, partition=source.partition),
        Change(f"{where}/{DESCRIPTOR}", None, text.encode(), partition=source.partition),
    )


def read_descriptor(path: str, content: bytes) -> Source:
    """Read a descriptor file.

    Args:
        path: the vault-relative path of `source.yaml`.
        content: its bytes.

    Raises:
        ValueError: it is not a descriptor; the text says why.
    """
    values = load(content.decode())
    if not isinstance(values, dict):
        raise ValueError("it is not a mapping")
    parts = PurePosixPath(path).parts
    if values.get("format") != FORMAT or len(parts) != 4:
        raise ValueError(f"this version reads {FORMAT!r} under <partition>/sources/<sha256>/")
    sha256, partition = str(values.get("sha256")), parts[0]
    if sha256 != parts[2] or values.get("id") != ids.source_id(partition, sha256):
        raise ValueError("id and sha256 do not fit the folder's name and partition")
    return _descriptor(values, partition, sha256)


def verify(root: Path, source: Source) -> tuple[bytes | None, bool]:
    """Return the retained bytes and whether they are still those of the descriptor."""
    try:
        content = files.read(root, source.path, MAX_SOURCE_BYTES)
    except UnsafePath:
        return None, False
    return content, content is not None and hashlib.sha256(content).hexdigest() == source.sha256


def attributes(root: Path, source: Source) -> dict[str, Value]:
    """Return what whoever sent a source wanted kept with it; nothing where that cannot be read."""
    try:
        content = files.read(root, f"{folder(source.partition, source.sha256)}/{DESCRIPTOR}")
        values = load((content or b"").decode())
    except (UnsafePath, ValueError):
        return {}
    kept = values.get("attributes") if isinstance(values, dict) else None
    return kept if isinstance(kept, dict) else {}


def read_outside(path: Path, sha256: str) -> bytes:
    """Read a file that a caller wants to attach.

    Raises:
        InvalidArgument: it is not a regular file of its own (a link), or not the bytes promised.
    """
    import os
    import stat

    not_hanging = getattr(os, "O_NONBLOCK", 0)  # on a pipe that nobody writes to
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | not_hanging)
    except OSError as error:
        raise InvalidArgument(
            f"{path} cannot be read: {error.strerror}. Give the path of a regular file",
            path=str(path),
        ) from None
    try:
        found = os.fstat(descriptor)
        if (
            not stat.S_ISREG(found.st_mode)
            or found.st_nlink > 1
            or found.st_size > MAX_SOURCE_BYTES
        ):
            raise InvalidArgument(
                f"{path} is not a plain file with one name of at most {MAX_SOURCE_BYTES:,} bytes; "
                "copy it and attach the copy",
                path=str(path),
            )
        with os.fdopen(descriptor, "rb", closefd=False) as handle:
            content = handle.read()
    finally:
        os.close(descriptor)
    if hashlib.sha256(content).hexdigest() != sha256.removeprefix("sha256:").lower():
        raise InvalidArgument(
            f"{path} does not have the sha256 that was given: it changed, or another was meant",
            path=str(path),
            found=hashlib.sha256(content).hexdigest(),
        )
    return content


def safe_filename(filename: str, sha256: str) -> str:
    """Return a file name that every platform can hold, as near to the original as possible."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    ending = "".join(c for c in suffix if c.isascii() and c.isalnum())[:10].lower()
    clean = names.slug(stem, sha256)
    return f"{clean}.{ending}" if ending else clean


def _descriptor(values: Mapping[str, Value], partition: str, sha256: str) -> Source:
    filename = str(values.get("filename") or "source")
    size = values.get("size")
    attribution = values.get("attribution")
    name = str(values.get("file") or filename)
    if "/" in name or name in ("", ".", "..", DESCRIPTOR):
        raise ValueError("file must be the name of a file beside source.yaml")
    return Source(
        id=ids.source_id(partition, sha256),
        partition=partition,
        sha256=sha256,
        path=f"{folder(partition, sha256)}/{name}",
        filename=filename,
        media_type=str(values.get("media_type") or _guess(filename)),
        size=size if isinstance(size, int) else 0,
        attribution=str(attribution) if attribution is not None else None,
        recorded_at=str(values.get("recorded_at") or ""),
        source_file=_text(values.get("source_file")),
        chunk_id=_text(values.get("chunk_id")),
        reference_time=_text(values.get("reference_time")),
    )


def _text(value: Value) -> str | None:
    return str(value) if value not in (None, "") else None


def _guess(filename: str) -> str:
    if filename.lower().endswith((".md", ".markdown")):
        return "text/markdown"
    return mimetypes.guess_type(filename)[0] or "application/octet-stream"
