"""The text of retained sources as passages, so that a question finds where something was said.

Only text is read, and only as far as it is still what was retained. The request that an assertion
retains is no text: what it says stands in the record that cites it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.index import fts
from vault_kg.index.parsed import Parsed
from vault_kg.records.passages import split_passages
from vault_kg.store import sources
from vault_kg.store.sources import Source

MAX_BYTES = 2_000_000
"""Longer sources are cited by their lines, and not searched."""

_TEXTS = ("text/", "application/json", "application/yaml", "application/xml")


def with_text(root: Path, parsed: Parsed) -> Parsed:
    """Return a parsed descriptor with the passages of what it describes; anything else as it is.

    Args:
        root: the vault's folder.
        parsed: a parsed file.
    """
    source = parsed.source
    if source is None or source.size > MAX_BYTES or not source.media_type.startswith(_TEXTS):
        return parsed
    text = _text(root, source)
    passages = split_passages(text) if text is not None else []
    return replace(parsed, title=source.name, entries=fts.prepare(source.name, passages))


def _text(root: Path, source: Source) -> str | None:
    try:
        content, verified = sources.verify(root, source)
    except (UnsafePath, OSError):
        return None
    if content is None or not verified or b"\0" in content:
        return None
    return content.decode("utf-8", errors="replace")
