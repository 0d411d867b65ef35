"""Which extractor reads a file, by the suffix of its name."""

from __future__ import annotations

import importlib
import posixpath
from collections.abc import Mapping
from functools import cache
from typing import Final

from vault_kg.extract.protocol import Extractor, GrammarMissing

_FOLDER: Final = "vault_kg.extract.extractors"
EXTRACTORS: Final[Mapping[str, tuple[str, ...]]] = {
    "python.extractor:PythonExtractor": (".py", ".pyi", ".pyw"),
    "markdown:MarkdownExtractor": (".md", ".markdown"),
    "javascript.extractor:JavaScriptExtractor": (".js", ".jsx", ".mjs", ".cjs"),
    "javascript.extractor:TypeScriptExtractor": (".ts", ".tsx", ".mts", ".cts"),
    "go:GoExtractor": (".go",),
    "java:JavaExtractor": (".java",),
    "rust.extractor:RustExtractor": (".rs",),
    "c.extractor:CExtractor": (".c",),
    "c.extractor:CppExtractor": (".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx"),
    "config.toml_keys:TomlExtractor": (".toml",),
    "config.yaml_keys:YamlExtractor": (".yaml", ".yml"),
    "config.json_keys:JsonExtractor": (".json", ".jsonc"),
    # new extractors above this line
}
"""Each extractor by module and class, and its suffixes; a module is imported when first needed."""

_BY_SUFFIX: Final = {suffix: name for name, suffixes in EXTRACTORS.items() for suffix in suffixes}


def extractor_for(path: str) -> Extractor | None:
    """Return the extractor for a file, None where there is none or its grammar is missing."""
    name = _BY_SUFFIX.get(posixpath.splitext(path)[1].lower())
    return _loaded(name) if name else None


def missing() -> dict[str, str]:
    """Return why extractors cannot be used, by name; empty where all can."""
    reasons = {}
    for name in EXTRACTORS:
        try:
            _load(name)
        except GrammarMissing as error:
            reasons[name.partition(":")[2]] = str(error)
    return reasons


@cache
def _loaded(name: str) -> Extractor | None:
    try:
        return _load(name)
    except GrammarMissing:
        return None


def _load(name: str) -> Extractor:
    module, _, attribute = name.partition(":")
    made: Extractor = getattr(importlib.import_module(f"{_FOLDER}.{module}"), attribute)()
    return made
