"""The editions of a document: which of its lines are new, and what the new one still says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from vault_kg.index import episodes, validate
from vault_kg.index.episodes import Wanted
from vault_kg.ingest.grounding import Text
from vault_kg.operations.workspace import Workspace
from vault_kg.store import sources
from vault_kg.store.sources import Source


def of_document(ws: Workspace, group: str, source_file: str, chunk_id: str) -> list[Source]:
    """Return the retained editions of a document, the latest first."""
    wanted = Wanted([group], source_file=source_file, chunk_id=chunk_id)
    found = [
        source
        for source in episodes.every(ws.database, wanted)
        if (source.source_file, source.chunk_id) == (source_file, chunk_id)
    ]
    return sorted(found, key=lambda source: source.recorded_at, reverse=True)


def text_of(ws: Workspace, source: Source) -> str:
    """Return what a retained source says; nothing where its bytes are gone."""
    content, _ = sources.verify(ws.vault.root, source)
    return (content or b"").decode("utf-8", errors="replace")


def new_lines(text: str, before: str | None) -> frozenset[int]:
    """Return the lines of a text, counted from 1, whose paragraph an earlier edition has not."""
    known = {said for _, _, said in _paragraphs(before)} if before is not None else set()
    return frozenset(
        line
        for first, last, said in _paragraphs(text)
        if said not in known
        for line in range(first, last + 1)
    )


def still_said(
    ws: Workspace, editions: Sequence[Source], text: str
) -> Callable[[Mapping[str, Any]], bool]:
    """Return the check whether a citation is one of this document, and the text still says so.

    Args:
        ws: the opened vault.
        editions: every edition of the document, this one included.
        text: what the document says now.
    """
    new = Text(text)
    known = {source.id: source for source in editions}

    def check(citation: Mapping[str, Any]) -> bool:
        source = known.get(citation["source"])
        if source is None:
            return False
        said = citation.get("quote") or _cited(text_of(ws, source), citation)
        return new.quote(str(said)) is not None

    return check


def _cited(text: str, citation: Mapping[str, Any]) -> str:
    span = validate.line_span(citation.get("lines"))
    lines = validate.text_lines(text)
    return "\n".join(lines[span[0] - 1 : span[1]] if span else lines)


def _paragraphs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and last line of each run of lines that are not blank, and what it says."""
    run: list[str] = []
    lines = [*validate.text_lines(text), ""]
    for number, line in enumerate(lines, 1):
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), number - 1, " ".join(" ".join(run).split())
            run = []


def touches(lines: Collection[int], first: int, last: int) -> bool:
    """Say whether a span of lines has one of these."""
    return any(line in lines for line in range(first, last + 1))
