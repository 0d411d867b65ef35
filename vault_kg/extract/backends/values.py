"""What is stored and asked for: rows of nodes, edges and files, and which of them are wanted.

A `key` is a backend's own number of a node: short, valid as long as the node is there, and never
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from vault_kg.extract.model import Edge, EdgeKind, Node, Signal

Direction = Literal["out", "in"]


class NodeRow(NamedTuple):
    """A stored node; `stub` says that nothing of it but its uid is known."""

    key: int
    root: str
    node: Node
    partition: str | None
    stub: bool


class Hop(NamedTuple):
    """An edge without what makes it sure."""

    source: int
    target: int
    kind: str
    confidence: float


Neighbour = tuple[int, int, str, float]
"""A node, one beyond an edge of it, and the edge's kind and confidence: plain, for there are many."""


Crossing = tuple[int, int, int | str, float]
"""The same, with the backend's own sign of the kind, as a walk reads it."""

Follow = Callable[[Sequence[int]], Iterator[Crossing]]
"""Returns the edges of nodes, one node after the other, as they are read."""


class EdgeId(NamedTuple):
    """What makes an edge one: nothing else of it does."""

    source: int
    target: int
    kind: EdgeKind
    extractor: str


class EdgeRow(NamedTuple):
    """A stored edge. `linked` ones come from references, the others from one file alone."""

    id: EdgeId
    confidence: float
    line: int | None
    signals: tuple[Signal, ...]
    linked: bool


class FileState(NamedTuple):
    """What was last read of a file: by whom, and with what success.

    `hash` is of the content that the graph shows, `tried` of the content that was read last: they
    differ where that could not be parsed.
    """

    path: str
    extractor: str
    version: int
    stamp: tuple[int, int, int, int]
    """Size, mtime and ctime in nanoseconds, inode."""
    seen_ns: int
    hash: str
    tried: str
    nodes: int = 0
    edges: int = 0
    error: str | None = None
    problems: tuple[str, ...] = ()
    duration_ms: float = 0.0
    indexed_at: str = ""


class Stored(NamedTuple):
    """What was kept of a root's tree, to tell at a glance that it is the same."""

    listing: str = ""
    """Its folders and files."""
    stamps: str = ""
    """A digest of the files' stamps when all of them were as they had been read; "" for never."""


class Finding(NamedTuple):
    """A connection that should be there and is not."""

    code: str
    subject: str
    """The uid that lacks it."""
    message: str
    hint: str
    partition: str | None


class Where(NamedTuple):
    """Which edges are wanted."""

    kinds: Collection[str] | None = None
    confidence: float = 0.0


class Choice(NamedTuple):
    """Which nodes are wanted; None is any."""

    kinds: Collection[str] | None = None
    role: str | None = None
    """One of its roles begins with this."""
    path: str | None = None
    """It lies in this file or folder."""
    not_reached_by: Collection[str] | None = None
    """No edge of these kinds leads to it, but from itself."""
    reached_from_role: str | None = None
    """`not_reached_by` counts edges from nodes with this role only."""
    stubs: bool = False


def edge_row(source: int, target: int, edge: Edge, *, linked: bool) -> EdgeRow:
    """Return an edge as it is stored, between the keys of its ends."""
    return EdgeRow(
        EdgeId(source, target, edge.kind, edge.extractor),
        edge.confidence, edge.line, edge.signals, linked,
    )  # fmt: skip
