"""Nodes and edges as rows of the tables, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from vault_kg.extract.backends.values import NodeRow
from vault_kg.extract.model import Node, Signal

NODE_COLUMNS = (
    "uid, kind, label, path, start_line, end_line, signature, summary, roles, more, partition, stub"
)
READ_NODE = "SELECT node.key, root.name, " + ", ".join(
    f"node.{name}" for name in NODE_COLUMNS.split(", ")
)

Values = tuple[Any, ...]

_NO_MORE = ""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_TOKEN = re.compile(r"\w+")


def node_values(node: Node, partition: str | None, stub: bool) -> Values:
    """Return the values of `NODE_COLUMNS`."""
    return (
        node.uid, node.kind, node.label, node.path, node.start_line, node.end_line, node.signature,
        node.summary, " ".join(node.roles), _more(node), partition, int(stub),
    )  # fmt: skip


def read_node(values: Sequence[Any]) -> NodeRow:
    """Read a row of `READ_NODE`."""
    (key, root, uid, kind, label, path, start, end, signature, summary, roles, more, partition,
     stub) = values  # fmt: skip
    spans, detail = _read_more(more)
    node = Node(
        uid, kind, label, path, start, end, signature, summary, tuple(roles.split()), spans, detail
    )
    return NodeRow(key, root, node, partition, bool(stub))


@lru_cache(maxsize=4_096)
def signals_text(signals: tuple[Signal, ...]) -> str:
    """Return signals as one text; there are few combinations of them, and many edges."""
    return json.dumps(signals, separators=(",", ":")) if signals else ""


@lru_cache(maxsize=4_096)
def read_signals(text: str) -> tuple[Signal, ...]:
    """Read what `signals_text` wrote."""
    return tuple(Signal(*pair) for pair in json.loads(text)) if text else ()


def words_of(label: str) -> list[str]:
    """Return the words that a name is made of: `getUserName` and `get_user_name` are alike."""
    return [word.casefold() for word in _CAMEL.split(label) if word]


def tokens_of(text: str) -> list[str]:
    """Return the words of a text as they are searched."""
    return [word for token in _TOKEN.findall(text.casefold()) for word in token.split("_") if word]


def searched(node: Node) -> tuple[str, str, str]:
    """Return what a node is found by: its label, the words in it, and what is said of it."""
    return node.label, " ".join(words_of(node.label)), f"{node.signature} {node.summary}"


def _more(node: Node) -> str:
    if not node.other_spans and not node.detail:
        return _NO_MORE
    return json.dumps([node.other_spans, node.detail], separators=(",", ":"))


def _read_more(text: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[str, str], ...]]:
    if not text:
        return (), ()
    spans, detail = json.loads(text)
    return tuple((first, last) for first, last in spans), tuple((k, v) for k, v in detail)
