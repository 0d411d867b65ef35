"""The replacements that turn one YAML text into another, found by going down its tree.

A changed scalar costs its own text, an added item one line, a removed key its lines; mappings and
lists that stay are entered, so that what stands in them unchanged keeps its comments and spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import partial
from typing import Final

from vault_kg.records.yaml_layout import Layout, TooTangled, is_block, is_empty
from vault_kg.records.yaml_nodes import Alias, Entry, Mapping, Node, Scalar, Sequence
from vault_kg.records.yaml_patch import Patch
from vault_kg.records.yaml_scalars import Value, identity, same
from vault_kg.records.yaml_writer import (
    INDENT,
    block_lines,
    entry_lines,
    flow_entry,
    flow_text,
    indented,
    item_lines,
    literal,
    scalar,
)

_MAX_COMPARED: Final = 250_000  # pairs of items; beyond it a list is compared by position

Replace = Callable[[Value], None]


class Changer:
    """Collects the replacements for one set of changes to one text."""

    def __init__(self, layout: Layout, newline: str, literals: bool) -> None:
        self._layout = layout
        self._literals = literals
        self._patch = Patch(layout.text, newline)
        self._dropped: list[Node] = []
        self._entered: list[Node] = []

    def run(self, root: Node | None, expected: dict[str, Value], forced: frozenset[str]) -> str:
        """Return the text changed so that its root should read as `expected`.

        Args:
            root: The root of the text's tree, None for an empty document.
            expected: What it shall read as.
            forced: Keys whose entries are written anew, whatever stands there.

        Raises:
            TooTangled: This cannot be done entry by entry.
        """
        if root is None:
            self._add(expected, 0, len(self._layout.text))
        elif not isinstance(root, Mapping):
            raise TooTangled
        elif not root.flow:
            self._entered.append(root)
            self._block_mapping(root, expected, forced, len(self._layout.text))
        elif forced:
            raise TooTangled
        else:
            self._update(root, expected, partial(self._replace_text, root))
        if root is not None:
            self._expand_aliases(root)
        return self._patch.applied()

    # Going down

    def _update(self, old: Node, new: Value, replace: Replace) -> None:
        """Change a value from within where that is possible, or replace it."""
        if same(old.value, new):
            return
        replacements, dropped, entered = len(self._patch), len(self._dropped), len(self._entered)
        try:
            if self._enter(old, new):
                return
        except TooTangled:
            self._patch.forget(replacements)
            del self._dropped[dropped:]
            del self._entered[entered:]
        replace(new)

    def _enter(self, old: Node, new: Value) -> bool:
        if isinstance(old, Mapping) and isinstance(new, dict):
            if new.keys().isdisjoint(old.value):
                return False
            self._entered.append(old)
            if old.flow:
                self._flow_mapping(old, new)
            else:
                end = self._layout.line_end(self._layout.entry_tail(old.entries[-1]))
                self._block_mapping(old, new, frozenset(), end)
            return True
        if isinstance(old, Sequence) and isinstance(new, list) and old.items and new:
            self._entered.append(old)
            if old.flow:
                self._flow_sequence(old, new)
            else:
                self._block_sequence(old, new)
            return True
        return False

    # Block style

    def _block_mapping(
        self, old: Mapping, new: dict[str, Value], forced: frozenset[str], end: int
    ) -> None:
        for entry in old.entries:
            if entry.name not in new:
                self._remove_entry(entry)
            elif entry.name in forced:
                self._rewrite_entry(entry, new[entry.name])
            else:
                replace = partial(self._replace_in_entry, entry)
                self._update(entry.value, new[entry.name], replace)
        added = {key: value for key, value in new.items() if key not in old.value}
        if added:
            self._add(added, self._entry_column(old.entries[0]), end)

    def _remove_entry(self, entry: Entry) -> None:
        self._dropped += (entry.key, entry.value)
        self._patch.put_lines(*self._entry_lines(entry), ())

    def _rewrite_entry(self, entry: Entry, new: Value) -> None:
        self._dropped += (entry.key, entry.value)
        lines = entry_lines(entry.name, new, self._entry_column(entry), self._literals)
        self._patch.put_lines(*self._entry_lines(entry), lines)

    def _entry_lines(self, entry: Entry) -> tuple[int, int]:
        layout = self._layout
        if layout.lead(entry.key.start) not in ("", "?"):
            raise TooTangled
        return layout.line_start(entry.key.start), layout.line_end(layout.entry_tail(entry))

    def _entry_column(self, entry: Entry) -> int:
        layout, start = self._layout, entry.key.start
        if layout.lead(start) == "?":
            start = layout.text.index("?", layout.line_start(start))
        return layout.column(start)

    def _add(self, entries: dict[str, Value], column: int, at: int) -> None:
        self._patch.put_lines(at, at, block_lines(entries, column, self._literals))

    def _replace_in_entry(self, entry: Entry, new: Value) -> None:
        layout, old = self._layout, entry.value
        colon = layout.colon(entry)
        if colon is None:
            self._rewrite_entry(entry, new)
            return
        self._dropped.append(old)
        head, lines = self._form(new, old, layout.column(entry.key.start))
        if is_empty(old):
            self._put_head(colon, colon, colon, head)
            self._patch.put_lines(layout.line_end(colon), layout.line_end(colon), lines)
        elif layout.same_line(colon, old.start):
            head_end = layout.head_end(old)
            self._put_head(colon, old.start, head_end, head)
            self._patch.put_lines(
                layout.line_end(head_end), layout.line_end(layout.tail(old)), lines
            )
        elif lines or is_block(old):
            self._put_head(colon, colon, colon, head)
            start = layout.line_end(colon) if is_block(old) else layout.line_start(old.start)
            self._patch.put_lines(start, layout.line_end(layout.tail(old)), lines)
        else:
            self._patch.put(old.start, old.end, head)

    def _form(self, new: Value, old: Node, column: int) -> tuple[str, list[str]]:
        """Return what a new value has on its key's line, and the lines below that it needs."""
        if isinstance(new, list | dict):
            kind = Sequence if isinstance(new, list) else Mapping
            if not new or (isinstance(old, kind) and old.flow):
                return flow_text(new), []
            indent = column + (self._offset(old, column) if isinstance(old, kind) else INDENT)
            return "", block_lines(new, indent, self._literals)
        block = literal(new) if self._literals and isinstance(new, str) else None
        if block is None:
            return scalar(new, _quote(old)), []
        return block[0], indented(block[1], column + INDENT)

    def _offset(self, old: Node, column: int) -> int:
        """Return how far the block collection that stands there is indented from its key."""
        if isinstance(old, Sequence):
            return self._layout.column(self._layout.dashes(old)[0]) - column
        if isinstance(old, Mapping):
            return self._entry_column(old.entries[0]) - column
        return INDENT

    def _block_sequence(self, old: Sequence, new: list[Value]) -> None:
        layout = self._layout
        dashes = layout.dashes(old)
        column = layout.column(dashes[0])
        for old_from, old_to, new_from, new_to in _differences(old.value, new):
            common = min(old_to - old_from, new_to - new_from)
            for i in range(common):
                item, dash = old.items[old_from + i], dashes[old_from + i]
                self._update(item, new[new_from + i], partial(self._replace_in_item, item, dash))
            for i in range(old_from + common, old_to):
                self._dropped.append(old.items[i])
                self._patch.put_lines(*self._item_lines(old.items[i], dashes[i]), ())
            added = new[new_from + common : new_to]
            if added:
                place = old_from + common
                at = (
                    layout.line_end(layout.tail(old.items[place - 1]))
                    if place
                    else self._item_lines(old.items[0], dashes[0])[0]
                )
                lines = block_lines(added, column, self._literals)
                self._patch.put_lines(at, at, lines)

    def _item_lines(self, item: Node, dash: int) -> tuple[int, int]:
        if self._layout.lead(dash):
            raise TooTangled
        return self._layout.line_start(dash), self._layout.line_end(self._layout.tail(item))

    def _replace_in_item(self, item: Node, dash: int, new: Value) -> None:
        column = self._layout.column(dash)
        head, lines = self._form(new, item, column)
        self._dropped.append(item)
        if lines or is_block(item):
            start, end = self._item_lines(item, dash)
            self._patch.put_lines(start, end, item_lines(new, column, self._literals))
        elif is_empty(item):
            self._patch.put(dash + 1, dash + 1, f" {head}")
        else:
            self._patch.put(item.start, item.end, head)

    # Flow style

    def _flow_mapping(self, old: Mapping, new: dict[str, Value]) -> None:
        spans = [(entry.key.start, max(entry.key.end, entry.value.end)) for entry in old.entries]
        kept = [entry.name in new for entry in old.entries]
        for entry, stays in zip(old.entries, kept, strict=True):
            if stays:
                replace = partial(self._replace_in_flow_entry, entry)
                self._update(entry.value, new[entry.name], replace)
            else:
                self._dropped += (entry.key, entry.value)
        self._remove_from_flow(spans, kept)
        last = max(i for i, stays in enumerate(kept) if stays)
        for key, value in new.items():
            if key not in old.value:
                self._patch.put(spans[last][1], spans[last][1], f", {flow_entry(key, value)}")

    def _replace_in_flow_entry(self, entry: Entry, new: Value) -> None:
        if not is_empty(entry.value):
            self._replace_text(entry.value, new)
            return
        self._dropped.append(entry.value)
        key_end, value_start = entry.key.end, entry.value.start
        colon = self._layout.text.find(":", key_end, value_start)
        at, head = (key_end, ": ") if colon < 0 else (colon + 1, " ")
        self._patch.put(at, at, head + flow_text(new))

    def _flow_sequence(self, old: Sequence, new: list[Value]) -> None:
        spans = [(item.start, item.end) for item in old.items]
        kept = [True] * len(spans)
        for old_from, old_to, new_from, new_to in _differences(old.value, new):
            common = min(old_to - old_from, new_to - new_from)
            for i in range(common):
                item = old.items[old_from + i]
                self._update(item, new[new_from + i], partial(self._replace_text, item))
            for i in range(old_from + common, old_to):
                self._dropped.append(old.items[i])
                kept[i] = False
            for value in new[new_from + common : new_to]:
                place = old_from + common
                at = spans[place - 1][1] if place else spans[0][0]
                written = flow_text(value)
                self._patch.put(at, at, f", {written}" if place else f"{written}, ")
        self._remove_from_flow(spans, kept)

    def _remove_from_flow(self, spans: list[tuple[int, int]], kept: list[bool]) -> None:
        """Cut members of a flow collection, each with the comma that it no longer needs."""
        first = kept.index(True)
        for i, stays in enumerate(kept):
            if not stays and i < first:
                self._patch.put(spans[i][0], spans[i + 1][0], "")
            elif not stays:
                self._patch.put(spans[i - 1][1], spans[i][1], "")

    def _replace_text(self, node: Node, new: Value) -> None:
        self._dropped.append(node)
        self._patch.put(node.start, node.end, flow_text(new, _quote(node)))

    # What aliases refer to

    def _expand_aliases(self, root: Node) -> None:
        """Write out the aliases that stay of anchors that went, or whose content changes."""
        lost = {id(node) for top in self._dropped for node in _walk(top) if node.anchor}
        lost |= {id(node) for node in self._entered if node.anchor}
        if lost:
            self._expand_in(root, lost, {id(node) for node in self._dropped})

    def _expand_in(self, node: Node, lost: set[int], dropped: set[int]) -> None:
        for child, replace in self._members(node):
            if id(child) in dropped:
                continue
            if not isinstance(child, Alias):
                self._expand_in(child, lost, dropped)
            elif id(child.target) in lost:
                replace(child.value)

    def _members(self, node: Node) -> Iterator[tuple[Node, Replace]]:
        """Yield what stands in a collection, each with the way to replace it."""
        if isinstance(node, Mapping):
            in_entry = self._replace_in_flow_entry if node.flow else self._replace_in_entry
            for entry in node.entries:
                yield entry.key, partial(self._replace_text, entry.key)
                yield entry.value, partial(in_entry, entry)
        elif isinstance(node, Sequence) and node.flow:
            for item in node.items:
                yield item, partial(self._replace_text, item)
        elif isinstance(node, Sequence):
            for item, dash in zip(node.items, self._layout.dashes(node), strict=True):
                yield item, partial(self._replace_in_item, item, dash)

    def _put_head(self, colon: int, start: int, end: int, head: str) -> None:
        """Put what stands behind a `:` in the place of what stands there now."""
        if not head:
            self._patch.put(colon, end, "")
        else:
            self._patch.put(start, end, head if start > colon else f" {head}")


def _walk(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _walk(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from _walk(entry.value)


def _quote(node: Node) -> str | None:
    return node.style if isinstance(node, Scalar) and node.style in ("'", '"') else None


def _differences(old: list[Value], new: list[Value]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of two lists that differ, in order: `old[a:b]` becomes `new[c:d]`."""
    left, right = [identity(value) for value in old], [identity(value) for value in new]
    shorter = min(len(left), len(right))
    head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(left) * len(right) > _MAX_COMPARED:
        yield head, head + len(left), head, head + len(right)
        return
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield head + a, head + b, head + c, head + d
