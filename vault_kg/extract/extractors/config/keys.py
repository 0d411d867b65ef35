"""From the keys of a configuration file to nodes and references."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from vault_kg.extract import uids
from vault_kg.extract.confidence import CONFIGURED, STRING
from vault_kg.extract.extractors.nodes import NodeList
from vault_kg.extract.model import Extraction, Node, Reference, Signal

MAX_DEPTH: Final = 6
"""Keys nested deeper belong to data rather than to configuration."""
MAX_KEYS: Final = 5_000
"""A file with more keys than this is data; the first ones stand for it."""

_BARE: Final = re.compile(r"[^\s.\[\]\"']+")
_ENTRY: Final = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*):([A-Za-z_]\w*(?:\.\w+)*)")
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_FILE: Final = re.compile(
    r"(?:\.{1,2}/)?(?:[\w@.-]+/)*[\w@-]+\.(?:py|ts|tsx|js|mjs|jsx|go|rs|java|c|cpp|md|toml|ya?ml|json)"
)
_COMMANDS: Final = (
    "project.scripts",
    "project.gui-scripts",
    "tool.poetry.scripts",
    "scripts",
    "bin",
)


class Key(NamedTuple):
    """A key with its parents, its lines, and its value where that is a text."""

    parts: tuple[str, ...]
    line: int
    end_line: int
    text: str | None = None


def extraction_of(path: str, keys: Iterable[Key], last_line: int, extractor: str) -> Extraction:
    """Return the nodes of a file's keys and what their values refer to."""
    nodes = NodeList(extractor)
    references: dict[tuple[str, str, str | None], Reference] = {}
    file = uids.file(path)
    nodes.add(Node(file, "file", path.rpartition("/")[2], path, 1, max(1, last_line)), None)
    for count, key in enumerate(keys):
        if count >= MAX_KEYS:
            break
        if len(key.parts) <= MAX_DEPTH:
            uid = _add(path, key, nodes)
            for reference in _references(uid, key):
                references.setdefault((uid, reference.name, reference.module), reference)
    return Extraction(nodes.in_order(), nodes.edges, list(references.values()))


def name_of(parts: tuple[str, ...]) -> str:
    """Return a key with its parents as one name; a part that holds a dot or quote is quoted."""
    return ".".join(
        part if _BARE.fullmatch(part.removesuffix("[]")) else '"' + part.replace('"', '\\"') + '"'
        for part in parts
    )


def _add(path: str, key: Key, nodes: NodeList) -> str:
    name = name_of(key.parts)
    uid = uids.key(path, name)
    parent = uids.key(path, name_of(key.parts[:-1])) if len(key.parts) > 1 else uids.file(path)
    if nodes.get(parent) is None:  # a dotted key whose parents have no line of their own
        parent = _add(path, Key(key.parts[:-1], key.line, key.end_line), nodes)
    command = name_of(key.parts[:-1]) in _COMMANDS and key.text is not None
    roles, detail = (("entry:cli",), (("command", key.parts[-1]),)) if command else ((), ())
    signature = f"{key.parts[-1]} = {key.text}"[:200] if key.text is not None else ""
    label = key.parts[-1].removesuffix("[]")
    nodes.add(
        Node(uid, "key", label, path, key.line, key.end_line, signature, "", roles, (), detail),
        parent,
    )
    return uid


def _references(uid: str, key: Key) -> Iterable[Reference]:
    text = key.text
    if text is None or len(text) > 200:
        return
    if entry := _ENTRY.fullmatch(text):
        yield _reference(uid, entry.group(2), entry.group(1), key.line, CONFIGURED)
    elif _FILE.fullmatch(text):
        yield _reference(uid, "", text, key.line, STRING)
    elif _DOTTED.fullmatch(text):
        module, _, name = text.rpartition(".")
        yield _reference(uid, name, module, key.line, STRING)


def _reference(uid: str, name: str, module: str, line: int, signal: Signal) -> Reference:
    return Reference(uid, "references", name, module, line, (signal,))
