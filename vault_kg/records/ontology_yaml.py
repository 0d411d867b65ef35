"""Reads an ontology manifest: mappings of text with their lines, and nothing more.

A scalar is taken as it is spelled, whatever YAML would make of it: an allowed value `0755` stays
these four characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_kg.records.field_types import Level, Origin, fold
from vault_kg.records.ontology_types import OntologyIssue
from vault_kg.records.yaml_layout import LINE_BREAK
from vault_kg.records.yaml_nodes import Alias, Mapping, Node, Scalar, Sequence, YamlError
from vault_kg.records.yaml_reader import compose

MAX_CHARACTERS = 1_000_000

_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass
class Findings:
    """The issues met while one manifest is read."""

    source: Origin
    issues: list[OntologyIssue] = field(default_factory=list)

    def add(
        self,
        code: str,
        message: str,
        line: int | None,
        level: Level = "warning",
        definition: str | None = None,
    ) -> None:
        """Keep one issue of this manifest, once."""
        issue = OntologyIssue(code, message, self.source, line, level, definition)
        if issue not in self.issues:
            self.issues.append(issue)

    @property
    def unusable(self) -> bool:
        """Whether an error was met, so that the manifest is not to be used."""
        return any(issue.level == "error" for issue in self.issues)


class Entry(NamedTuple):
    """The value of a key, and the line of the key."""

    node: Node
    line: int


class Block:
    """One mapping of a manifest. Each accessor reports a value that is not of its form."""

    def __init__(
        self, what: str, line: int, manifest: _Manifest, definition: str | None = None
    ) -> None:
        self.what = what
        self.line = line
        self.definition = definition
        self.findings = manifest.findings
        self.entries: dict[str, Entry] = {}
        self._manifest = manifest

    def report(self, code: str, message: str, key: str | None = None) -> None:
        """Keep an issue about this mapping, or about one of its keys."""
        entry = self.entries.get(key or "")
        line = entry.line if entry else self.line
        self.findings.add(code, f"{self.what}: {message}", line, definition=self.definition)

    def refuse_unknown(self, allowed: tuple[str, ...]) -> None:
        """Report every key that means nothing here."""
        for key in self.entries:
            if key not in allowed:
                self.report("unknown_key", f"{key!r} means nothing here and is left out", key)

    def is_null(self, key: str) -> bool:
        """Say whether a key is there and has no value."""
        return key in self.entries and self.entries[key].node.value is None

    def is_section(self, key: str) -> bool:
        """Say whether a key is absent, empty or a mapping."""
        node = self._given(key)
        return node is None or isinstance(node, Mapping)

    def text(self, key: str) -> str | None:
        """Return a text, or None where the key is absent, empty or not a text."""
        node = self._given(key)
        if isinstance(node, Scalar):
            return self._manifest.spelled(node)
        if node is not None:
            self._refuse(key, "a text")
        return None

    def flag(self, key: str) -> bool | None:
        """Return true or false, or None where the key is absent or neither."""
        text = self.text(key)
        if text is None:
            return None
        if text.lower() not in _FLAGS:
            self._refuse(key, "true or false")
        return _FLAGS.get(text.lower())

    def number(self, key: str) -> float | None:
        """Return a number, or None where the key is absent or not a number."""
        text = self.text(key)
        try:
            return None if text is None else float(text)
        except ValueError:
            self._refuse(key, "a number")
            return None

    def choice(self, key: str, allowed: tuple[str, ...]) -> str | None:
        """Return one of the allowed words, or None."""
        text = self.text(key)
        if text is None or text in allowed:
            return text
        self._refuse(key, f"one of {', '.join(allowed)}")
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        node = self._given(key)
        if node is None:
            return ()
        nodes = node.items if isinstance(node, Sequence) else [node]
        scalars = [item for item in map(_target, nodes) if isinstance(item, Scalar)]
        if len(scalars) < len(nodes):
            self._refuse(key, "a list of texts")
            return ()
        texts = (self._manifest.spelled(scalar) for scalar in scalars)
        return tuple(dict.fromkeys(text for text in texts if text))

    def blocks(self, key: str, what: str) -> Iterator[tuple[str, Block]]:
        """Yield the named mappings under a key; a name with a bare text yields `{type: text}`."""
        node = self._given(key)
        if node is None:
            return
        if not isinstance(node, Mapping):
            self._refuse(key, "a mapping of names")
            return
        for name, entry in _entries(node).items():
            yield name, self._named(f"{what} {name}", entry, self.definition or fold(name))

    def sequence(self, key: str) -> Iterator[Block]:
        """Yield the mappings of a list under a key."""
        node = self._given(key)
        for item in node.items if isinstance(node, Sequence) else [node] if node else []:
            found = _target(item)
            if isinstance(found, Mapping):
                yield self._manifest.block(self.what, found, self.definition)
            else:
                self._refuse(key, "a list of mappings")

    def _given(self, key: str) -> Node | None:
        """Return the node of a key that has a value."""
        return None if self.is_null(key) or key not in self.entries else self.entries[key].node

    def _named(self, what: str, entry: Entry, definition: str) -> Block:
        block = Block(what, entry.line, self._manifest, definition)
        if isinstance(entry.node, Mapping):
            block.entries = _entries(entry.node)
        elif isinstance(entry.node, Sequence):
            block.report("invalid_value", "must be a mapping")
        elif entry.node.value is not None:
            block.entries = {"type": entry}
        return block

    def _refuse(self, key: str, wanted: str) -> None:
        self.report("invalid_value", f"{key} must be {wanted}; it is left out", key)


def read_manifest(text: str, findings: Findings) -> Block | None:
    """Return the top mapping of a manifest; None where it is empty or, with an issue, unusable."""
    if len(text) > MAX_CHARACTERS:
        message = f"the manifest is longer than {MAX_CHARACTERS:,} characters"
        findings.add("unreadable_manifest", message, None, "error")
        return None
    text = text.removeprefix("\ufeff")
    try:
        tree = compose(text)
    except YamlError as error:
        last = len(LINE_BREAK.findall(text.rstrip())) + 1  # what ends too early is missed behind it
        findings.add("unreadable_manifest", error.reason, min(error.line, last), "error")
        return None
    for notice in tree.notices:
        findings.add("lenient_yaml", notice.reason, notice.line)
    if tree.root is None or tree.root.value is None:
        return None
    if not isinstance(tree.root, Mapping):
        findings.add("unreadable_manifest", "a manifest is a mapping of sections", 1, "error")
        return None
    return _Manifest(text, findings).block("manifest", tree.root)


class _Manifest(NamedTuple):
    """The text that nodes point into, and the issues met in it."""

    text: str
    findings: Findings

    def block(self, what: str, node: Mapping, definition: str | None = None) -> Block:
        block = Block(what, node.line, self, definition)
        block.entries = _entries(node)
        return block

    def spelled(self, scalar: Scalar) -> str:
        """Return a scalar as it is written, or what its quotes hold."""
        if isinstance(scalar.value, str):
            return scalar.value.strip()
        return self.text[scalar.start : scalar.end].split()[-1]


def _entries(node: Mapping) -> dict[str, Entry]:
    return {
        entry.name.strip(): Entry(_target(entry.value), entry.key.line) for entry in node.entries
    }


def _target(node: Node) -> Node:
    """Return what an alias stands for, and any other node as it is."""
    while isinstance(node, Alias) and node.target is not None:
        node = node.target
    return node
