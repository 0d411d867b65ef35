"""The extractor that every tree-sitter language is."""

from __future__ import annotations

from typing import ClassVar

from vault_kg.extract import uids
from vault_kg.extract.extractors.nodes import NodeList, is_test_path
from vault_kg.extract.extractors.scoping.file import Definitions, FileScopes
from vault_kg.extract.extractors.scoping.finish import finish
from vault_kg.extract.extractors.treesitter.grammars import parse, parser
from vault_kg.extract.extractors.treesitter.walk import TreeWalk
from vault_kg.extract.model import Extraction, Node


class TreeSitterExtractor:
    """Reads the files of one language by its grammar; a language names its parts."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    suffixes: ClassVar[frozenset[str]]
    grammar: ClassVar[str]
    """The package that carries the grammar."""
    walk: ClassVar[type[TreeWalk]]

    def __init__(self) -> None:
        parser(self.grammar, self.language_function(""))

    def language_function(self, path: str) -> str:  # noqa: ARG002
        """Return the function of the grammar's package that fits a file."""
        return "language"

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return what a file defines, uses and imports.

        Raises:
            ExtractorError: it is no text.
        """
        root, errors = parse(parser(self.grammar, self.language_function(path)), content)
        nodes = NodeList(self.name)
        uid = uids.file(path)
        roles = ("test",) if is_test_path(path) else ()
        lines = content.count(b"\n") + 1
        label = path.rpartition("/")[2]
        nodes.add(Node(uid, "file", label, path, 1, lines, "", "", roles), None)
        found = FileScopes(uid, Definitions(path, nodes))
        walk = self.walk(root, found, nodes)
        extraction = finish(found, nodes, walk.unbound, self.name)
        extraction.errors += errors
        return extraction
