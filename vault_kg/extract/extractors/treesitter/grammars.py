"""The grammars: found among the installed packages, loaded once."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from vault_kg.extract.protocol import ExtractorError, GrammarMissing

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def parser(package: str, function: str = "language") -> Parser:
    """Return a parser for a grammar.

    Args:
        package: the package that carries it, as it is imported.
        function: the one of its functions that returns the language.

    Raises:
        GrammarMissing: it, or tree-sitter itself, is not installed.
    """
    try:
        import tree_sitter

        grammar = importlib.import_module(package)
    except ImportError as error:
        wanted = package.replace("_", "-")
        raise GrammarMissing(f"{wanted} is not installed; pip install {wanted}") from error
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))


def parse(found: Parser, content: bytes) -> tuple[Node, list[str]]:
    """Parse a file, and return the root of its tree and what could not be read.

    Tree-sitter reads on after an error; what it read is kept.

    Raises:
        ExtractorError: the file holds null bytes, so that it is no source.
    """
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise ExtractorError(f"line {line}: a null byte")
    root = found.parse(content).root_node
    if not root.has_error:
        return root, []
    return root, [f"line {_first_error(root).start_point[0] + 1}: not valid here"]


def _first_error(root: Node) -> Node:
    node = root
    while True:
        if node.is_error or node.is_missing:
            return node
        inner = next(
            (child for child in node.children if child.has_error or child.is_missing), None
        )
        if inner is None:
            return node
        node = inner
