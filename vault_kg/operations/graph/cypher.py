"""Cypher over the graph: a scope of its own, and an extra that is not installed by default."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from vault_kg.errors import Unavailable
from vault_kg.operations import base
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import Count, GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace


class QueryCypher(GraphRequest):
    """A Cypher query that reads."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    parameters: base.Mapping | None = Field(None, description="Values of $names in the query.")
    limit: Count = Field(1_000, description="Rows at most.")


class Rows(GraphModel):
    """The rows of a query, with typed values."""

    columns: list[str]
    rows: list[list[Any]]
    count: int
    truncated: bool


@operation("cypher", Rows, toolset="graph")
def knowledge_query_cypher(
    ws: Workspace,
    request: QueryCypher,
    caller: Caller,
) -> Rows:
    """Query the graph in Cypher, reading only; needs an extra and a scope of its own."""
    raise Unavailable(
        "Cypher needs the extra `cypher`, which this version of vault-kg does not have yet; "
        "knowledge_list_entities, knowledge_list_relationships and knowledge_get_entity_neighbors "
        "read the same graph",
        missing="cypher",
        rpc_code=-32000,
    )
