"""The source that a document is retained as: a new one, a new edition, or one that was there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from vault_kg.index import catalog, graph_rows
from vault_kg.index.graph_rows import GraphRow
from vault_kg.ingest import editions
from vault_kg.operations.graph import deletion
from vault_kg.operations.graph.support import Citation, Lost
from vault_kg.operations.workspace import Workspace, instant
from vault_kg.store import files, sources
from vault_kg.store.plan import Change
from vault_kg.store.sources import Source


@dataclass(frozen=True)
class Document:
    """A text that is to be read.

    Attributes:
        group: The partition.
        text: What is retained and read.
        source_file: The file that it is, or is a part of.
        chunk_id: Its name; with the file it tells a new edition from a new document.
        filename: The name that the retained file gets.
        media_type: Of the retained file.
        reference_time: When what it says was so.
        attributes: What the caller keeps with it.
    """

    group: str
    text: str
    source_file: str
    chunk_id: str
    filename: str
    media_type: str
    reference_time: str | None = None
    attributes: Mapping[str, Any] | None = None

    @property
    def about(self) -> str:
        """What a model is told of it."""
        when = f"\nIts time: {self.reference_time}" if self.reference_time else ""
        return f"Document: {self.source_file}{when}"

    @property
    def content(self) -> bytes:
        """The bytes that are retained."""
        return self.text.encode("utf-8", "surrogatepass")

    def source(self, at: str) -> Source:
        """Return the source that it would be."""
        described = sources.describe(
            self.content, self.group, self.filename, at, media_type=self.media_type
        )
        return replace(
            described, source_file=self.source_file, chunk_id=self.chunk_id,
            reference_time=self.reference_time,
        )  # fmt: skip

    def editions(self, ws: Workspace) -> list[Source]:
        """Return the editions of it that are retained, the latest first."""
        return editions.of_document(ws, self.group, self.source_file, self.chunk_id)


def standing(ws: Workspace, document: Document) -> Source | None:
    """Return the source that has this very text as a document already read, whichever it is."""
    known = catalog.source(ws.database, document.source(ws.now()).id)
    if known is None or known.chunk_id is None:
        return None
    current = editions.of_document(ws, known.partition, known.source_file or "", known.chunk_id)
    is_current = bool(current) and current[0].id == known.id
    return known if is_current else None


def retain(ws: Workspace, document: Document, old: list[Source]) -> tuple[Source, list[Change]]:
    """Return the source of a document, dated after its older editions, and what retains it.

    Bytes that are retained already stay in their file, with who they were attributed to; the source
    becomes an edition of this document.
    """
    source = document.source(_after(ws.now(), old[0].recorded_at if old else None))
    known = catalog.source(ws.database, source.id)
    if known is None:
        return source, list(sources.changes(source, document.content, document.attributes))
    source = replace(
        source, path=known.path, filename=known.filename, media_type=known.media_type,
        attribution=known.attribution,
    )  # fmt: skip
    attributes = {**sources.attributes(ws.vault.root, known), **(document.attributes or {})}
    _, descriptor = sources.changes(source, document.content, attributes)
    return source, [replace(descriptor, before=files.read(ws.vault.root, descriptor.path))]


def unused(
    ws: Workspace, old: list[Source], lost: Lost, holds: Callable[[Citation], bool],
    spares: Callable[[str], bool],
) -> list[Change]:  # fmt: skip
    """Return the changes that remove the older editions which no record cites any more."""
    withdrawn = {item["uuid"] for item in lost.withdrawn}
    return [
        change
        for source in old
        if not _is_cited(ws, source, withdrawn, holds, spares)
        for change in deletion.removals(ws, source)
    ]


def _is_cited(
    ws: Workspace, source: Source, withdrawn: set[str], holds: Callable[[Citation], bool],
    spares: Callable[[str], bool],
) -> bool:  # fmt: skip
    def cites(each: GraphRow) -> bool:
        return any(
            citation["source"] == source.id and (holds(citation) or spares(each.row.id))
            for citation in _evidence(each.stated)
        )

    return any(
        each.row.partition != source.partition or cites(each)
        for each in graph_rows.citing(ws.database, [source.id])
        if each.row.lifecycle in ("active", "merged") and each.row.id not in withdrawn
    )


def _evidence(stated: Mapping[str, Any]) -> list[Citation]:
    return list(stated.get("evidence", ()))


def _after(now: str, last: str | None) -> str:
    """Return the time, or a second after the last edition where the clock has not got there."""
    if last is None or now > last:
        return now
    return instant(datetime.fromisoformat(last) + timedelta(seconds=1))
