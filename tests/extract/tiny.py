"""A language of three words, so that storage and indexing are tested without any real one.

`def NAME` begins a function, `call NAME` and `call NAME of FILE` stand in the one before, `alias NAME
OTHER` exports a name for another. A file that holds `broken` cannot be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_kg.extract import filing, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.filing import Link
from vault_kg.extract.indexing import Indexing, Report, Rules
from vault_kg.extract.model import Edge, Extraction, Node, Reference, Signal
from vault_kg.extract.protocol import Extractor, ExtractorError, SymbolIndex
from vault_kg.extract.roots import VAULT, Root

SUFFIX = ".tiny"


class Tiny:
    """The extractor of the language."""

    name = "tiny"
    suffixes = frozenset({SUFFIX})

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.extracted: list[str] = []

    def extract(self, path: str, content: bytes) -> Extraction:
        self.extracted.append(path)
        text = content.decode()
        if "broken" in text.split():
            raise ExtractorError("line 1: broken")
        found = Extraction()
        file = uids.file(path)
        found.nodes.append(Node(file, "file", path.rpartition("/")[2], path))
        exports = {}
        current = file
        for number, line in enumerate(text.splitlines(), 1):
            match line.split():
                case ["def", name]:
                    current = uids.symbol("function", path, name)
                    roles = ("test",) if name.startswith("test") else ()
                    found.nodes.append(
                        Node(current, "function", name, path, number, number,
                             f"def {name}", f"What {name} does.", roles)
                    )  # fmt: skip
                    found.edges.append(Edge(file, current, "contains", 1.0, "tiny", number))
                case ["call", name, *rest]:
                    module = rest[1] if rest else None
                    found.references.append(Reference(current, "calls", name, module, number))
                case ["alias", name, other]:
                    exports[name] = f":{other}"
        found.exports = exports
        return found


def resolver(symbols: SymbolIndex) -> Link:
    """Return what resolves against these symbols."""
    return lambda references, path: resolve(references, symbols)


def resolve(references: Sequence[Reference], symbols: SymbolIndex) -> Iterator[Edge]:
    """Resolve a call where exactly one function has the name, through at most one alias."""
    for reference in references:
        name = reference.name
        if reference.module is not None:
            for at in symbols.paths_ending(reference.module + SUFFIX):
                name = (symbols.exported(at, name) or name).lstrip(":")
        found = [n for n in symbols.labelled(name) if n.kind == "function"]
        sure = len(found) == 1
        target = found[0].uid if sure else uids.external(reference.module, name)
        yield Edge(
            reference.source, target, reference.kind, 0.9 if sure else 0.2, "tiny", reference.line,
            (Signal("same_name", 0.9 if sure else 0.2),),
        )  # fmt: skip


class Tree:
    """A folder of files in the language, and the graph of it."""

    def __init__(self, folder: Path, graph: GraphBackend, name: str = "code") -> None:
        self.root = Root(name, folder, (), "" if name == VAULT else None)
        self.graph = graph
        self.tiny = Tiny()
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, **files: str) -> None:
        """Write files by stem; `/` in a stem is written `__`."""
        for stem, text in files.items():
            path = self.root.folder / (stem.replace("__", "/") + SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("; ", "\n") + "\n")

    def extractor_for(self, path: str) -> Extractor | None:
        return self.tiny if path.endswith(SUFFIX) else None

    def run(self) -> Indexing:
        rules = Rules(self.extractor_for, resolver)
        return Indexing(self.graph, self.root, rules, lambda: "2026-03-01T12:00:00Z")

    def index(self, *paths: str, force: bool = False) -> Report:
        run = self.run()
        report = run.some(paths, force=force) if paths else run.everything(force=force)
        filing.sweep(self.graph)
        return report

    def calls(self) -> set[tuple[str, str]]:
        """Every call as (caller, callee); one that leads nowhere known ends in `?`."""
        reader = self.graph.reader(None)
        rows = {row.key: row for row in reader.every_node()}
        return {
            (
                rows[e.id.source].node.label,
                rows[e.id.target].node.label + "?" * rows[e.id.target].stub,
            )
            for e in reader.every_edge()
            if e.id.kind == "calls"
        }

    def uids(self) -> set[str]:
        return {row.node.uid for row in self.graph.reader(None).every_node() if not row.stub}
