"""The extractors of JavaScript and TypeScript."""

from __future__ import annotations

from typing import ClassVar

from vault_kg.extract.extractors.javascript.walk import JavaScriptWalk
from vault_kg.extract.extractors.treesitter.extractor import TreeSitterExtractor


class JavaScriptExtractor(TreeSitterExtractor):
    """Reads JavaScript, JSX among it."""

    name = "javascript"
    suffixes = frozenset({".js", ".jsx", ".mjs", ".cjs"})
    grammar = "tree_sitter_javascript"
    walk = JavaScriptWalk


class TypeScriptExtractor(TreeSitterExtractor):
    """Reads TypeScript, TSX among it."""

    name = "typescript"
    suffixes: ClassVar[frozenset[str]] = frozenset({".ts", ".tsx", ".mts", ".cts"})
    grammar = "tree_sitter_typescript"
    walk = JavaScriptWalk

    def language_function(self, path: str) -> str:
        """Return the grammar's dialect for a file."""
        return "language_tsx" if path.endswith(".tsx") else "language_typescript"
