"""The extractors of C and C++."""

from __future__ import annotations

from vault_kg.extract.extractors.c.walk import CWalk
from vault_kg.extract.extractors.treesitter.extractor import TreeSitterExtractor


class CExtractor(TreeSitterExtractor):
    """Reads C."""

    name = "c"
    suffixes = frozenset({".c"})
    grammar = "tree_sitter_c"
    walk = CWalk


class CppExtractor(TreeSitterExtractor):
    """Reads C++, and headers of either language."""

    name = "cpp"
    suffixes = frozenset({".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx"})
    grammar = "tree_sitter_cpp"
    walk = CWalk
