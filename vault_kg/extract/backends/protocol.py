"""What a backend answers and stores.

Readers are bound to the partitions that a caller sees, so that nothing can forget to filter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from vault_kg.extract.backends.record_protocol import RecordBackend
from vault_kg.extract.backends.tree_protocol import TreeBackend
from vault_kg.extract.backends.values import (
    Choice,
    Direction,
    EdgeId,
    EdgeRow,
    Finding,
    Follow,
    Hop,
    Neighbour,
    NodeRow,
    Where,
)
from vault_kg.extract.model import Node, Reference
from vault_kg.extract.protocol import SymbolIndex


class GraphReader(Protocol):
    """The graph as a caller sees it."""

    def find(self, uid: str, root: str | None = None) -> list[NodeRow]:
        """Return the nodes of a uid: one in each root that has it."""
        ...

    def nodes(self, keys: Collection[int]) -> dict[int, NodeRow]:
        """Return nodes by key."""
        ...

    def under(
        self, path: str, root: str | None, limit: int, kinds: Collection[str] | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes of a file, or of all files in a folder, by path and line; and how many."""
        ...

    def labelled(self, label: str, kinds: Collection[str] | None, limit: int) -> list[NodeRow]:
        """Return nodes of exactly this label, by root, path and line."""
        ...

    def like(
        self, text: str, kinds: Collection[str] | None, limit: int, root: str | None = None
    ) -> tuple[list[NodeRow], int]:
        """Return nodes whose label holds a text, the shortest first; and how many there are."""
        ...

    def search(
        self,
        words: Sequence[str],
        kinds: Collection[str] | None,
        limit: int,
        root: str | None = None,
    ) -> tuple[list[tuple[NodeRow, float]], int]:
        """Return nodes that hold all of these words, best first with a score; and how many."""
        ...

    def neighbours(
        self, keys: Collection[int], direction: Direction, where: Where, limit: int | None = None
    ) -> list[Neighbour]:
        """Return what the edges from, or to, any of these nodes lead to, by the nodes' keys."""
        ...

    def follow(self, direction: Direction, where: Where) -> Follow:
        """Return what follows the edges of nodes, for a walk that may ask of many and stop early.

        The edges of a node come in a stable order, by the key of the node beyond.
        """
        ...

    def kind(self, sign: int | str) -> str:
        """Return the kind of an edge that `follow` gave."""
        ...

    def edges(
        self, key: int, direction: Direction, where: Where, limit: int
    ) -> tuple[list[EdgeRow], int]:
        """Return the edges from, or to, a node, the surest first; and how many there are."""
        ...

    def edge_kinds(self, key: int, direction: Direction) -> dict[str, int]:
        """Return how many edges of each kind lead from, or to, a node."""
        ...

    def every_hop(self, where: Where, limit: int) -> tuple[list[Hop], int]:
        """Return edges of the whole graph, the surest first; and how many there are."""
        ...

    def select(self, choice: Choice, limit: int) -> tuple[list[NodeRow], int]:
        """Return nodes by path and line, and how many there are."""
        ...

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many nodes and edges there are of each kind, under `nodes` and `edges`."""
        ...

    def every_node(self) -> Iterator[NodeRow]:
        """Yield all nodes."""
        ...

    def every_edge(self) -> Iterator[EdgeRow]:
        """Yield all edges, also those whose ends are not there."""
        ...

    def findings(self) -> list[Finding]:
        """Return the connections of records that should be there and are not."""
        ...


class GraphBackend(TreeBackend, RecordBackend, Protocol):
    """The graph as indexing changes it."""

    name: str

    def reader(
        self, partitions: frozenset[str] | None, hidden: frozenset[int] = frozenset()
    ) -> GraphReader:
        """Return the graph as a caller sees it.

        Args:
            partitions: what the caller sees; None is all.
            hidden: the keys of nodes that nobody sees.
        """
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Make the changes of a block together, or none of them."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...

    # Roots

    def roots(self) -> list[str]:
        """Return the names of the roots that are known."""
        ...

    def forget_root(self, root: str) -> None:
        """Remove a root with all that it holds."""
        ...

    # Nodes and edges

    def keys_at(self, root: str, path: str) -> dict[str, int]:
        """Return the keys of the nodes that a file holds, by uid."""
        ...

    def keys(self, root: str, uids: Collection[str]) -> dict[str, int]:
        """Return the keys of the nodes that have these uids, by uid."""
        ...

    def places(self, keys: Collection[int]) -> dict[int, tuple[str, str | None]]:
        """Return the uid and the path of nodes."""
        ...

    def put_nodes(
        self, root: str, nodes: Sequence[Node], partition: str | None, *, stub: bool = False
    ) -> dict[str, int]:
        """Insert nodes, or bring those of the same uid up to date; a stub changes none.

        Returns:
            The key of each uid.
        """
        ...

    def remove_nodes(self, keys: Collection[int]) -> None:
        """Remove nodes with their references and the edges at both ends."""
        ...

    def retire(self, keys: Collection[int]) -> None:
        """Make nodes stubs: what they say is forgotten, what leads to them stays."""
        ...

    def lone_stubs(self) -> list[int]:
        """Return the stubs and folders that have lost their last edge, until they are removed."""
        ...

    def swept(self) -> None:
        """Say that no stub and no folder is without an edge."""
        ...

    def edges_from(self, keys: Collection[int], *, linked: bool) -> dict[EdgeId, EdgeRow]:
        """Return the edges that lead from nodes."""
        ...

    def put_edges(self, edges: Iterable[EdgeRow]) -> None:
        """Insert edges, or bring those of the same identity up to date."""
        ...

    def remove_edges(self, edges: Iterable[EdgeId]) -> None:
        """Remove edges."""
        ...

    # References, and what they may mean

    def put_references(
        self, by_node: Mapping[int, Sequence[tuple[Reference, frozenset[str]]]]
    ) -> None:
        """Replace the references of nodes, each with all names in it, and let them be resolved."""
        ...

    def references(self, keys: Collection[int]) -> dict[int, list[Reference]]:
        """Return the references of nodes."""
        ...

    def exports(self, root: str, path: str) -> dict[str, str]:
        """Return what the names of a file stand for."""
        ...

    def put_exports(
        self, root: str, path: str, exports: Mapping[str, str], parts: Collection[tuple[str, str]]
    ) -> None:
        """Replace what the names of a file stand for; `parts` are (part of a target, name)."""
        ...

    def standing_for(self, root: str, parts: Collection[str]) -> set[str]:
        """Return the names, of any file, whose target has one of these parts."""
        ...

    def put_changed(self, root: str, names: Collection[str]) -> None:
        """Note names that may mean something else from now on."""
        ...

    def changed(self, root: str) -> set[str]:
        """Return the names that were noted."""
        ...

    def wake(self, root: str, names: Collection[str]) -> None:
        """Let references be resolved again that hold one of these names; none is noted any more."""
        ...

    def wake_nodes(self, keys: Collection[int]) -> None:
        """Let the references of nodes be resolved again."""
        ...

    def waiting(self, root: str) -> list[int]:
        """Return the nodes whose references are to be resolved, in a stable order."""
        ...

    def linked(self, keys: Collection[int]) -> None:
        """Say that the references of nodes were resolved."""
        ...

    def symbols(self, root: str) -> SymbolIndex:
        """Return all symbols of a root as they are now."""
        ...

    def optimise(self) -> None:
        """Do what makes later reads fast, after much was written."""
        ...
