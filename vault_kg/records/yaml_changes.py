"""The replacements that turn one YAML text into another, found by going down its tree.

A changed scalar costs its own text, an added item one line, a removed key its lines; mappings and
lists that stay are entered, so that what stands in them unchanged keeps its comments and spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from vault_kg.records.yaml_flow import FlowChanges, Replace
from vault_kg.records.yaml_layout import Layout, TooTangled, is_block, is_empty, quote
from vault_kg.records.yaml_nodes import Alias, Entry, Mapping, Node, Sequence, walk
from vault_kg.records.yaml_patch import Patch, differences
from vault_kg.records.yaml_scalars import Value, same
from vault_kg.records.yaml_writer import (
    INDENT,
    block_lines,
    entry_lines,
    flow_text,
    indented,
    item_lines,
    literal,
    scalar,
)


class Changer:
    """Collects the replacements for one set of changes to one text."""

    def __init__(self, layout: Layout, newline: str, literals: bool) -> None:
        self._layout = layout
        self._literals = literals
        self._patch = Patch(layout.text, newline)
        self._dropped: list[Node] = []
        self._entered: list[Node] = []
        self._flow = FlowChanges(layout, self._patch, self._dropped, self._update)

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
            self._update(root, expected, partial(self._flow.replace, root))
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
                self._flow.mapping(old, new)
            else:
                end = self._layout.line_end(self._layout.entry_tail(old.entries[-1]))
                self._block_mapping(old, new, frozenset(), end)
            return True
        if isinstance(old, Sequence) and isinstance(new, list) and old.items and new:
            self._entered.append(old)
            if old.flow:
                self._flow.sequence(old, new)
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
            return scalar(new, quote(old)), []
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
        for old_from, old_to, new_from, new_to in differences(old.value, new):
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

    # What aliases refer to

    def _expand_aliases(self, root: Node) -> None:
        """Write out the aliases that stay of anchors that went, or whose content changes."""
        lost = {id(node) for top in self._dropped for node in walk(top) if node.anchor}
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
            in_entry = self._flow.replace_in_entry if node.flow else self._replace_in_entry
            for entry in node.entries:
                yield entry.key, partial(self._flow.replace, entry.key)
                yield entry.value, partial(in_entry, entry)
        elif isinstance(node, Sequence) and node.flow:
            for item in node.items:
                yield item, partial(self._flow.replace, item)
        elif isinstance(node, Sequence):
            for item, dash in zip(node.items, self._layout.dashes(node), strict=True):
                yield item, partial(self._replace_in_item, item, dash)

    def _put_head(self, colon: int, start: int, end: int, head: str) -> None:
        """Put what stands behind a `:` in the place of what stands there now."""
        if not head:
            self._patch.put(colon, end, "")
        else:
            self._patch.put(start, end, head if start > colon else f" {head}")
