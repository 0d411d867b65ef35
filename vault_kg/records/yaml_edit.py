"""Changes values in a YAML text and leaves every line alone that need not change.

Each result is read again before it is returned. Where it does not say exactly what was asked (an
anchor went, a comment became part of a text), more is written anew, until it does.
"""

from __future__ import annotations

from typing import Final

from vault_kg.records.yaml_changes import Changer
from vault_kg.records.yaml_composer import MAX_VALUES
from vault_kg.records.yaml_layout import Layout, TooTangled
from vault_kg.records.yaml_nodes import Mapping, Tree, YamlError
from vault_kg.records.yaml_reader import compose
from vault_kg.records.yaml_scalars import Value, same
from vault_kg.records.yaml_writer import block_lines

_MAX_WIDENINGS: Final = 8


def edit(
    text: str, begin: int, expected: dict[str, Value], newline: str, tree: Tree | None = None
) -> str:
    """Return the text changed so that it reads as the mapping `expected`.

    Args:
        text: A YAML document that is a mapping, or empty.
        begin: Where its content begins: behind a `---` line if it has one.
        expected: The keys and values that it shall have, in the types of `Value`.
        newline: The line break of the lines that are added.
        tree: What the text was read as, where it was read already.

    Raises:
        YamlError: The text, or `expected` written out, cannot be read within the bounds.
    """
    tree = tree or compose(text)
    root = tree.root
    if root is not None and not isinstance(root, Mapping):
        raise YamlError(root.line, "is not a mapping of keys to values")
    fields: dict[str, Value] = root.value if root else {}
    if same(fields, expected):
        return text
    if _count(expected) > MAX_VALUES:
        raise YamlError(1, f"more than {MAX_VALUES:,} values")
    editor = _Editor(text, tree, expected, newline)
    return editor.least() or editor.wider(_differing(fields, expected)) or editor.whole(begin)


class _Editor:
    """Tries candidates, from the least change to the whole document, and checks each."""

    def __init__(self, text: str, tree: Tree, expected: dict[str, Value], newline: str) -> None:
        self._layout = Layout(text)
        self._tree = tree
        self._expected = expected
        self._newline = newline

    def least(self) -> str | None:
        """Return the text with only the values changed that differ, if that reads as asked."""
        for literals in (True, False):
            candidate = self._candidate(frozenset(), literals)
            if candidate is not None and self._faults(candidate) == set():
                return candidate
        return None

    def wider(self, forced: set[str]) -> str | None:
        """Return the text with the whole entries of some keys, and of those they upset, anew."""
        for _ in range(_MAX_WIDENINGS):
            candidate = self._candidate(frozenset(forced), literals=False)
            if candidate is None:
                return None
            faults = self._faults(candidate)
            if not faults:
                return candidate if faults is not None else None
            if faults <= forced:
                return None
            forced = forced | faults
        return None

    def whole(self, begin: int) -> str:
        """Return the text with all of its content written anew, below the comments it had.

        Raises:
            YamlError: Even so it does not read as asked: it exceeds a bound.
        """
        lines = self._layout.comments(begin, self._tree.root)
        lines += block_lines(self._expected, 0, literals=False)
        written = self._layout.text[:begin] + "".join(line + self._newline for line in lines)
        root = compose(written).root
        if not same(root.value if root else {}, self._expected):
            raise YamlError(1, "cannot be written so that it reads back the same")
        return written

    def _candidate(self, forced: frozenset[str], literals: bool) -> str | None:
        changer = Changer(self._layout, self._newline, literals)
        try:
            return changer.run(self._tree.root, self._expected, forced)
        except TooTangled:
            return None

    def _faults(self, candidate: str) -> set[str] | None:
        """Return the keys that do not read as asked, None when nothing can be read."""
        try:
            root, notices = compose(candidate)
        except YamlError:
            return None
        if root is None:
            return set(self._expected)
        if not isinstance(root, Mapping) or len(notices) > len(self._tree.notices):
            return None
        return _differing(root.value, self._expected)


def _differing(fields: dict[str, Value], expected: dict[str, Value]) -> set[str]:
    """Return the keys that only one has, or that differ in value or type."""
    both = fields.keys() & expected.keys()
    changed = {key for key in both if not same(fields[key], expected[key])}
    return changed | (fields.keys() ^ expected.keys())


def _count(value: Value) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + _count(item) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    return 1
