"""Cypher over the graph: a scope of its own, and an engine that is an extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from vault_kg.errors import Unavailable
from vault_kg.operations import base
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph.request import Count, GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace

if TYPE_CHECKING:
    from vault_kg.index.cypher.projection import Rows


class QueryCypher(GraphRequest):
    """A Cypher query that reads."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    parameters: base.Mapping | None = Field(None, description="Values of $names in the query.")
    limit: Count = Field(1_000, description="Rows at most; SKIP in the query goes on.")
    timeout_seconds: Annotated[float, Field(ge=0.1, le=300)] = 30.0


class Answered(GraphModel):
    """The rows of a query, with typed values."""

    columns: list[str]
    types: list[str] = Field(description="Of each column, in the engine's words.")
    rows: list[list[Any]]
    count: int
    truncated: bool = Field(description="Whether there were more rows than the limit.")
    position: int = Field(description="The journal position whose graph was asked.")


@operation("cypher", Answered, toolset="graph")
def knowledge_query_cypher(ws: Workspace, request: QueryCypher, caller: Caller) -> Answered:
    """Query the graph as it stands in Cypher, reading only.

    (:Entity)-[:RELATES_TO]->(:Entity), (:Episodic)-[:MENTIONS]->(:Entity) and
    (:Claim)-[:ABOUT]->(:Entity), each with uuid, name, group_id and times; CALL table_info('Entity')
    RETURN * lists the properties.
    """
    if find_spec("ladybug") is None:
        raise Unavailable(
            "Cypher needs the extra `cypher`: pip install 'vault-kg[cypher]'. "
            "knowledge_list_entities, knowledge_list_relationships and "
            "knowledge_get_entity_neighbors read the same graph",
            missing="cypher",
            rpc_code=-32000,
        )
    from vault_kg.index.cypher.graphs import Asked, Wanted
    from vault_kg.index.cypher.reading import checked
    from vault_kg.operations.graph import projecting

    query, parameters = checked(request.query, request.parameters or {})

    def rows() -> Rows:
        return projecting.rows(ws, caller)

    wanted = Wanted(
        caller.partitions, ws.ontologies.fingerprint(), ws.now(), rows, caller.cancelled
    )
    found = ws.graphs.ask(wanted, Asked(query, parameters, request.limit, request.timeout_seconds))
    return Answered(**found._asdict(), count=len(found.rows))
