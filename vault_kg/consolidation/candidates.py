"""What a session holds: nodes that may become pages, and edges that may become relationships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vault_kg.records import names
from vault_kg.state.sessions import EDGE, NODE, Candidate

SECTION_KEYS = ("section", "anchor", "fragment")
MEANING = ("context", "justification", "rationale")
"""Attributes that, beside title and body, are what a node means."""


@dataclass(frozen=True)
class Node:
    """A node candidate, its attributes as the ontology stores them."""

    id: str
    type: str
    title: str
    body: str
    attributes: Mapping[str, Any]
    source_ref: str | None = None
    dropped: Sequence[str] = ()
    """Attributes that were left out because the type does not declare them."""

    @cached_property
    def key(self) -> tuple[str, str]:
        """What tells it apart where nothing else does: its type, and its title in any spelling."""
        return self.type, names.lookup_key(self.title)

    @property
    def has_section(self) -> bool:
        """Whether its reference names a part of an artefact, and not the whole of it."""
        return self.source_ref is not None and "#" in self.source_ref

    def says(self, body: str, title: str) -> bool:
        """Say whether a page says the same in title and body, white space and case aside."""
        return names.lookup_key(title) == self.key[1] and same_text(self.body, body)

    def fields(self) -> dict[str, Any]:
        """Return the fields of its page."""
        reference = {"source_ref": self.source_ref} if self.source_ref else {}
        return {**self.attributes, **reference}


@dataclass(frozen=True)
class End:
    """One end of an edge: a candidate of the session, or a node that stands."""

    candidate: str | None = None
    node: str | None = None

    @property
    def name(self) -> str:
        """The id that it is told by."""
        return self.candidate or self.node or ""


@dataclass(frozen=True)
class Edge:
    """An edge candidate."""

    id: str
    type: str
    src: End
    dst: End
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Contents:
    """The candidates of one session, and what was proposed for each."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    proposals: Mapping[str, Mapping[str, Any]]

    def node(self, candidate_id: str) -> Node | None:
        """Return a node candidate."""
        return self._by_id.get(candidate_id)

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str], Sequence[Node]]:
        """The nodes by type and title in any spelling."""
        found: dict[tuple[str, str], list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.key, []).append(node)
        return found

    @cached_property
    def superseding(self) -> Mapping[str, Edge]:
        """By node candidate the edge that says which node that stands it takes the place of."""
        return {
            edge.src.candidate: edge
            for edge in self.edges
            if edge.type == "supersedes" and edge.src.candidate and edge.dst.node
        }

    def shares_reference(self, node: Node) -> bool:
        """Say whether another node of its type has the same reference to its source."""
        return self._references[node.type, node.source_ref] > 1

    @cached_property
    def _by_id(self) -> Mapping[str, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _references(self) -> Counter[tuple[str, str | None]]:
        return Counter((node.type, node.source_ref) for node in self.nodes)


def contents(stored: Sequence[Candidate]) -> Contents:
    """Return the candidates of a session as they were stored."""
    nodes = tuple(Node(id=each.id, **each.value) for each in stored if each.kind == NODE)
    edges = tuple(_edge(each) for each in stored if each.kind == EDGE)
    proposals = {each.id: each.proposal for each in stored if each.proposal is not None}
    return Contents(nodes, edges, proposals)


def node_value(node: Node) -> dict[str, Any]:
    """Return a node candidate as it is stored."""
    return {
        "type": node.type, "title": node.title, "body": node.body,
        "attributes": dict(node.attributes), "source_ref": node.source_ref,
        "dropped": list(node.dropped),
    }  # fmt: skip


def edge_value(edge: Edge) -> dict[str, Any]:
    """Return an edge candidate as it is stored."""
    return {
        "type": edge.type, "src": _end_value(edge.src), "dst": _end_value(edge.dst),
        "attributes": dict(edge.attributes),
    }  # fmt: skip


def reference_text(given: str | Mapping[str, Any] | None) -> str | None:
    """Return a reference to a source as the field `source_ref` holds it: `artefact#section`.

    Args:
        given: the text itself, or an object whose keys `section`, `anchor` or `fragment` name the
            part, and all others the artefact.
    """
    if given is None or isinstance(given, str):
        return (given or "").strip() or None
    said = {key: str(value).strip() for key, value in given.items() if value not in (None, "")}
    whole = "/".join(said[key] for key in sorted(said) if key not in SECTION_KEYS)
    part = next((said[key] for key in SECTION_KEYS if key in said), "")
    return (f"{whole}#{part}" if part else whole) or None


def same_text(first: str, second: str) -> bool:
    """Say whether two texts are the same but for case, Unicode form and white space."""
    return names.lookup_key(first) == names.lookup_key(second)


def _edge(stored: Candidate) -> Edge:
    value = stored.value
    return Edge(
        stored.id, value["type"], End(**value["src"]), End(**value["dst"]), value["attributes"]
    )


def _end_value(end: End) -> dict[str, str]:
    return {"candidate": end.candidate} if end.candidate else {"node": end.node or ""}
