"""Builds the tree of one YAML document from a parser's events, within bounds.

Depth, number of values and expansion of aliases are checked before they cost anything. Nothing is
constructed but the types of `Value`; no object of a tag is ever made.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, Final

import yaml

from vault_kg.records.yaml_nodes import (
    Alias,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    YamlError,
)
from vault_kg.records.yaml_scalars import MAX_DEPTH, SURROGATE, Value, copied, resolve

MAX_VALUES: Final = 100_000
MAX_ALIASED: Final = 10_000

_TEXT_PER_VALUE: Final = 64  # characters of aliased text that weigh as much as one value more
_CORE: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, type]] = {
    _CORE + "null": NoneType,
    _CORE + "bool": bool,
    _CORE + "int": int,
    _CORE + "float": float,
}


class Composer:
    """Builds the tree from events, with an explicit stack of the collections that are open."""

    def __init__(self, restore: dict[int, str]) -> None:
        self.line = 1
        self._restore = restore
        self._stack: list[Sequence | Mapping] = []
        self._anchors: dict[str, Node] = {}
        self._root: Node | None = None
        self._documents = 0
        self._values = 0
        self._aliased = 0

    def run(self, parser: Any) -> Node | None:
        """Consume every event and return the root."""
        handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open_mapping,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceStartEvent: self._open_sequence,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        next_event = parser.get_event
        while (event := next_event()) is not None:
            handler = handlers.get(type(event))
            if handler:
                self.line = event.start_mark.line + 1
                handler(event)
        return self._root

    def _document(self, _event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise YamlError(self.line, "a second YAML document begins here")

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        if self._restore:
            text = text.translate(self._restore)
        if not text.isascii() and SURROGATE.search(text):  # PyYAML's own parser lets it pass
            raise YamlError(self.line, "an escape means half of a surrogate pair")
        style = event.style or None
        value: Value = text
        if event.tag is not None:
            value = self._tagged(event.tag, text)
        elif style is None:
            value = resolve(text)
        start, end = event.start_mark.index, event.end_mark.index
        weight = 1 + len(text) // _TEXT_PER_VALUE
        node = Scalar(start, end, self.line, event.anchor, value, weight, 0, style)
        if node.anchor is not None:
            self._anchors[node.anchor] = node
        self._attach(node, text)

    def _tagged(self, tag: str, text: str) -> Value:
        if tag in ("!", _CORE + "str"):
            return text
        if tag not in _TYPES:
            raise self._foreign(tag)
        value = resolve(text)
        kind = next(k for k in (NoneType, bool, int, float, str) if isinstance(value, k))
        if tag == _CORE + "float" and isinstance(value, int) and kind is int:
            return float(value)
        if kind is not _TYPES[tag]:
            raise YamlError(self.line, f"{text[:40]!r} is not a {tag.removeprefix(_CORE)}")
        return value

    def _foreign(self, tag: str) -> YamlError:
        shown = tag.replace(_CORE, "!!")[:80]
        return YamlError(self.line, f"the tag {shown} is not supported; remove it")

    def _open_mapping(self, event: Any) -> None:
        if event.tag not in (None, "!", _CORE + "map"):
            raise self._foreign(event.tag)
        start = event.start_mark.index
        flow = bool(event.flow_style)
        self._open(Mapping(start, start, self.line, event.anchor, {}, flow=flow))

    def _open_sequence(self, event: Any) -> None:
        if event.tag not in (None, "!", _CORE + "seq"):
            raise self._foreign(event.tag)
        start = event.start_mark.index
        flow = bool(event.flow_style)
        self._open(Sequence(start, start, self.line, event.anchor, [], flow=flow))

    def _open(self, node: Sequence | Mapping) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise YamlError(self.line, f"nested more than {MAX_DEPTH} levels deep")
        parent = self._stack[-1] if self._stack else None
        if isinstance(parent, Mapping) and parent.pending is None:
            raise YamlError(self.line, "a list or mapping stands where a key should; quote it")
        if node.anchor is not None:
            self._anchors[node.anchor] = node
        self._stack.append(node)

    def _close(self, event: Any) -> None:
        node = self._stack.pop()
        node.is_open = False
        node.end = event.end_mark.index
        node.height += 1
        self._attach(node, None)

    def _alias(self, event: Any) -> None:
        name: str = event.anchor
        target = self._anchors.get(name)
        if target is None:
            raise YamlError(self.line, f"*{name} refers to no anchor; quote it if it is text")
        if isinstance(target, Sequence | Mapping) and target.is_open:
            raise YamlError(self.line, f"*{name} stands inside what it refers to")
        self._aliased += target.weight
        if self._aliased > MAX_ALIASED:
            raise YamlError(self.line, f"aliases expand to more than {MAX_ALIASED:,} values")
        if len(self._stack) + target.height > MAX_DEPTH:
            raise YamlError(self.line, f"nested more than {MAX_DEPTH} levels deep")
        value = copied(target.value)
        node = Alias(event.start_mark.index, event.end_mark.index, self.line, None, value)
        node.target, node.weight, node.height = target, target.weight, target.height
        self._attach(node, value if isinstance(value, str) else None)

    def _attach(self, node: Node, text: str | None) -> None:
        """Give a finished node to the collection it stands in; `text` is what a key would be."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise YamlError(self.line, f"more than {MAX_VALUES:,} values")
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
            parent.value.append(node.value)
        elif parent.pending is None:
            self._key(parent, node, text)
        else:
            name, key = parent.pending
            parent.pending = None
            parent.entries.append(Entry(name, key, node))
            parent.value[name] = node.value
        parent.weight += node.weight
        if node.height > parent.height:
            parent.height = node.height

    def _key(self, mapping: Mapping, node: Node, text: str | None) -> None:
        if text is None:
            raise YamlError(self.line, "an alias that is not text stands where a key should")
        if text in mapping.value:
            raise YamlError(self.line, f"the key {text[:80]!r} stands twice")
        mapping.pending = (text, node)
