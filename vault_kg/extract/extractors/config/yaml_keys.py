"""YAML: keys of mappings, by PyYAML's composer, which knows their lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

from vault_kg.extract.extractors.config.keys import MAX_DEPTH, Key, extraction_of
from vault_kg.extract.extractors.text import decoded
from vault_kg.extract.model import Extraction
from vault_kg.extract.protocol import ExtractorError

NAME: Final = "yaml"
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlExtractor:
    """Reads YAML files, of several documents too."""

    name = NAME
    version = 1
    suffixes = frozenset({".yaml", ".yml"})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return a file's keys.

        Raises:
            ExtractorError: it is not YAML.
        """
        text = decoded(content)
        try:
            documents = list(yaml.compose_all(text, Loader=_Loader))
        except yaml.YAMLError as error:
            raise ExtractorError(_reason(error)) from error
        except RecursionError as error:
            raise ExtractorError("nested too deeply to be parsed") from error
        keys = (key for document in documents if document for key in _keys(document))
        return extraction_of(path, keys, text.count("\n") + 1, NAME)


def _keys(root: yaml.Node) -> Iterator[Key]:
    """Give the keys below a node in order, each node once however often an alias names it."""
    seen: set[int] = set()
    stack: list[tuple[yaml.Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, parts = stack.pop()
        if id(node) in seen or len(parts) > MAX_DEPTH:
            continue
        seen.add(id(node))
        inner: list[tuple[yaml.Node, tuple[str, ...]]] = []
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if isinstance(name, yaml.ScalarNode):
                    below = (*parts, _named(name.value, value))
                    yield _key(below, name, value)
                    inner.append((value, below))
        elif isinstance(node, yaml.SequenceNode):
            inner = [(item, parts) for item in node.value]
        stack.extend(reversed(inner))


def _named(name: str, value: yaml.Node) -> str:
    """Return a key's part; that of a list of mappings is marked, its items share it."""
    holds_items = isinstance(value, yaml.SequenceNode) and any(
        isinstance(item, yaml.MappingNode) for item in value.value
    )
    return f"{name}[]" if holds_items else name


def _key(parts: tuple[str, ...], name: yaml.Node, value: yaml.Node) -> Key:
    text = value.value if isinstance(value, yaml.ScalarNode) else None
    first: int = name.start_mark.line + 1
    mark = value.end_mark
    last: int = mark.line + 1 if mark.column or mark.line == value.start_mark.line else mark.line
    return Key(parts, first, max(first, last), text)


def _reason(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark else ""
    return where + str(getattr(error, "problem", None) or error)
