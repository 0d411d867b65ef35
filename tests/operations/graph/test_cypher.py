"""Cypher: a scope of its own, refused plainly while the extra is not there."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph
from vault_kg.errors import ScopeDenied, Unavailable
from vault_kg.operations.caller import Caller


def test_it_needs_its_own_scope(graph: Graph) -> None:
    others = Caller("a", scopes=frozenset({"read", "write", "admin", "review"}))
    refused = graph.refusal("query_cypher", others, query="MATCH (n) RETURN n")
    assert isinstance(refused, ScopeDenied) and refused.data["scope"] == "cypher"


def test_it_says_that_it_is_not_there(graph: Graph) -> None:
    refused = graph.refusal("query_cypher", query="MATCH (n) RETURN n")
    assert isinstance(refused, Unavailable) and refused.data["missing"] == "cypher"
