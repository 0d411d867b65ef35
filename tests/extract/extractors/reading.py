"""Extracting and resolving small trees of files, written in the tests."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from vault_kg.extract import uids
from vault_kg.extract.model import Edge, Extraction, Node
from vault_kg.extract.registry import extractor_for
from vault_kg.extract.resolve import Resolver
from vault_kg.extract.symbols import SymbolTable


def extract(path: str, source: str | bytes) -> Extraction:
    """Extract one file with the extractor that is registered for it."""
    found = extractor_for(path)
    assert found is not None, f"no extractor for {path}"
    return found.extract(path, source if isinstance(source, bytes) else source.encode())


@dataclass
class Tree:
    """Files, extracted and resolved among one another."""

    extractions: dict[str, Extraction]
    edges: list[Edge]

    def nodes(self) -> dict[str, Node]:
        return {node.uid: node for found in self.extractions.values() for node in found.nodes}

    def said(self, *, but: frozenset[str] = frozenset({"contains", "imports"})) -> set[str]:
        """Return the edges as `source kind target confidence`, without what contains and imports."""
        return {
            f"{short(e.source)} {e.kind} {short(e.target)} {e.confidence:g}"
            for e in self.edges
            if e.kind not in but
        }

    def imports(self) -> set[str]:
        return {
            f"{short(e.source)} -> {short(e.target)}" for e in self.edges if e.kind == "imports"
        }


def tree(files: dict[str, str | bytes]) -> Tree:
    """Extract and resolve files."""
    table = SymbolTable()
    extractions = {}
    for path, source in files.items():
        text = textwrap.dedent(source).lstrip("\n") if isinstance(source, str) else source
        extractions[path] = extract(path, text)
        table.add(path, extractions[path])
    parents = {p.rpartition("/")[0] for p in files if "/" in p}
    folders = {"/".join(p.split("/")[:n]) for p in parents for n in range(1, p.count("/") + 2)}
    table.add_nodes(
        Node(uids.folder(f), "folder", f.rpartition("/")[2], f) for f in sorted(folders)
    )
    resolver = Resolver(table)
    edges: list[Edge] = []
    for path, found in extractions.items():
        extractor = extractor_for(path)
        assert extractor is not None
        edges += found.edges
        edges += resolver.edges(found.references, extractor.name)
    return Tree(extractions, edges)


def short(uid: str) -> str:
    """Return a uid without its scheme and kind, which the kinds of edges show."""
    return uid.split(":", 2)[2] if uid.startswith(("code:", "doc:")) else uid
