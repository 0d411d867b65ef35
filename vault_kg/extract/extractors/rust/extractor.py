"""The extractor of Rust."""

from __future__ import annotations

from vault_kg.extract.extractors.rust.walk import RustWalk
from vault_kg.extract.extractors.treesitter.extractor import TreeSitterExtractor


class RustExtractor(TreeSitterExtractor):
    """Reads Rust."""

    name = "rust"
    suffixes = frozenset({".rs"})
    grammar = "tree_sitter_rust"
    walk = RustWalk
