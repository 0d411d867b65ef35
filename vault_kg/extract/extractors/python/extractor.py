"""The extractor of Python files."""

from __future__ import annotations

from typing import Final

from vault_kg.extract import uids
from vault_kg.extract.extractors.nodes import NodeList, is_test_path
from vault_kg.extract.extractors.python.definitions import PythonSymbols, summary
from vault_kg.extract.extractors.python.names import python_names
from vault_kg.extract.extractors.python.source import Lines, parse
from vault_kg.extract.extractors.python.walk import Walker
from vault_kg.extract.extractors.scoping.file import Definitions, FileScopes
from vault_kg.extract.extractors.scoping.finish import finish
from vault_kg.extract.model import Extraction, Node

NAME: Final = "python"


class PythonExtractor:
    """Reads `.py` and `.pyi` files by Python's own parser."""

    name = NAME
    version = 1
    suffixes = frozenset({".py", ".pyi", ".pyw"})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return what a Python file defines, uses and imports.

        Raises:
            ExtractorError: it cannot be parsed.
        """
        tree = parse(content)
        nodes = NodeList(NAME)
        lines = Lines(content)
        uid = uids.file(path)
        roles = ("test",) if is_test_path(path) else ()
        label = path.rpartition("/")[2]
        nodes.add(
            Node(uid, "file", label, path, 1, max(1, len(lines)), "", summary(tree), roles),
            None,
        )
        found = FileScopes(uid, Definitions(path, nodes))
        walker = Walker(tree, found, PythonSymbols(found.definitions, lines))
        if walker.has_main:
            nodes.amend(uid, ("entry:main",))
        for symbol, about in walker.roles:
            if about.detail:
                nodes.amend(symbol, (), about.detail)
        return finish(found, nodes, python_names(bool(found.stars)), NAME)
