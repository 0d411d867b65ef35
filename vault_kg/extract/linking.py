"""The resolution of the registered languages, in the form in which indexing asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vault_kg.extract.filing import Link
from vault_kg.extract.model import Edge, Reference
from vault_kg.extract.protocol import SymbolIndex
from vault_kg.extract.registry import extractor_for
from vault_kg.extract.resolve import Resolver


def resolver(symbols: SymbolIndex) -> Link:
    """Return what resolves references against these symbols, each under its file's extractor."""
    resolve = Resolver(symbols)

    def link(references: Sequence[Reference], path: str) -> Iterable[Edge]:
        extractor = extractor_for(path)
        return resolve.edges(references, extractor.name, path) if extractor is not None else ()

    return link
