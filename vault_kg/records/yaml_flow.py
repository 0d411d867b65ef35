"""Changes inside flow style, `[a, b]` and `{a: 1}`: members replaced, added or cut one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from vault_kg.records.yaml_layout import Layout, TooTangled, is_empty, quote
from vault_kg.records.yaml_nodes import Entry, Mapping, Node, Sequence
from vault_kg.records.yaml_patch import Patch, differences
from vault_kg.records.yaml_scalars import Value
from vault_kg.records.yaml_writer import flow_entry, flow_text

Replace = Callable[[Value], None]
Update = Callable[[Node, Value, Replace], None]


class FlowChanges:
    """Adds to a patch what changes inside flow collections; `update` goes further down."""

    def __init__(self, layout: Layout, patch: Patch, dropped: list[Node], update: Update) -> None:
        self._layout = layout
        self._patch = patch
        self._dropped = dropped
        self._update = update

    def mapping(self, old: Mapping, new: dict[str, Value]) -> None:
        """Change a mapping to one that has at least one of its keys.

        Raises:
            TooTangled: It has no braces to hold another number of keys.
        """
        if not self._layout.has_braces(old) and new.keys() != old.value.keys():
            raise TooTangled
        spans = [(entry.key.start, max(entry.key.end, entry.value.end)) for entry in old.entries]
        kept = [entry.name in new for entry in old.entries]
        for entry, stays in zip(old.entries, kept, strict=True):
            if stays:
                replace = partial(self.replace_in_entry, entry)
                self._update(entry.value, new[entry.name], replace)
            else:
                self._dropped += (entry.key, entry.value)
        self._remove(spans, kept)
        last = max(i for i, stays in enumerate(kept) if stays)
        for key, value in new.items():
            if key not in old.value:
                self._patch.put(spans[last][1], spans[last][1], f", {flow_entry(key, value)}")

    def replace_in_entry(self, entry: Entry, new: Value) -> None:
        """Replace the value of an entry."""
        if not is_empty(entry.value):
            self.replace(entry.value, new)
            return
        self._dropped.append(entry.value)
        key_end, value_start = entry.key.end, entry.value.start
        colon = self._layout.text.find(":", key_end, value_start)
        at, head = (key_end, ": ") if colon < 0 else (colon + 1, " ")
        self._patch.put(at, at, head + flow_text(new))

    def sequence(self, old: Sequence, new: list[Value]) -> None:
        """Change a list that has items to another that has some."""
        spans = [(item.start, item.end) for item in old.items]
        kept = [True] * len(spans)
        for old_from, old_to, new_from, new_to in differences(old.value, new):
            common = min(old_to - old_from, new_to - new_from)
            for i in range(common):
                item = old.items[old_from + i]
                self._update(item, new[new_from + i], partial(self.replace, item))
            for i in range(old_from + common, old_to):
                self._dropped.append(old.items[i])
                kept[i] = False
            for value in new[new_from + common : new_to]:
                place = old_from + common
                at = spans[place - 1][1] if place else spans[0][0]
                written = flow_text(value)
                self._patch.put(at, at, f", {written}" if place else f"{written}, ")
        self._remove(spans, kept)

    def _remove(self, spans: list[tuple[int, int]], kept: list[bool]) -> None:
        """Cut members of a flow collection, each with the comma that it no longer needs."""
        first = kept.index(True)
        for i, stays in enumerate(kept):
            if not stays and i < first:
                self._patch.put(spans[i][0], spans[i + 1][0], "")
            elif not stays:
                self._patch.put(spans[i - 1][1], spans[i][1], "")

    def replace(self, node: Node, new: Value) -> None:
        """Replace a value, or a key."""
        self._dropped.append(node)
        self._patch.put(node.start, node.end, flow_text(new, quote(node)))
