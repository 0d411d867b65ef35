"""The tree that the YAML reader builds: values that know where they stand in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_kg.records.yaml_scalars import Value


class YamlError(ValueError):
    """A YAML text cannot be read; `line` (from 1) says where and `reason` why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class Notice(NamedTuple):
    """Something that was read although YAML forbids it; other tools may refuse the file."""

    line: int
    reason: str


@dataclass(slots=True, eq=False)
class Node:
    """One value as it is written: `text[start:end]`, its anchor and tag included.

    The end of a block collection or block scalar lies where the next token is; `yaml_layout` knows
    where it really ends.
    """

    start: int
    end: int
    line: int
    anchor: str | None
    value: Value
    weight: int = 1  # values in it once aliases are expanded
    height: int = 0  # levels of collections in it


@dataclass(slots=True, eq=False)
class Scalar(Node):
    """A scalar; `style` is a quote, `|` or `>`, and None for a plain one."""

    style: str | None = None


@dataclass(slots=True, eq=False)
class Alias(Node):
    """A reference to an anchored node; its value is a copy of that node's."""

    target: Node | None = None


class Entry(NamedTuple):
    """A key of a mapping with its value; `name` is the key as text."""

    name: str
    key: Node
    value: Node


@dataclass(slots=True, eq=False)
class Sequence(Node):
    """A list, block or flow."""

    value: list[Value]
    flow: bool = False
    is_open: bool = True
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Mapping(Node):
    """A mapping, block or flow; `pending` is a key whose value has not been read yet."""

    value: dict[str, Value]
    flow: bool = False
    is_open: bool = True
    entries: list[Entry] = field(default_factory=list)
    pending: tuple[str, Node] | None = None


class Tree(NamedTuple):
    """What was read: the root (None for an empty document) and what was amiss without hindering."""

    root: Node | None
    notices: tuple[Notice, ...]


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all that stands in it, keys included, in no order to rely on."""
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from walk(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from walk(entry.value)
