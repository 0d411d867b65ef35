"""What the requests and answers of the kg_* tools are built from, in snake_case."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from vault_kg.operations.base import Line, Lines, Text
from vault_kg.operations.graph.request import GraphModel, GraphRequest, GraphWrite
from vault_kg.operations.plain import Plain

TOOLSET = "maintain"

Level = Literal["user", "project", "maintain"]
SessionId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")]
NodeId = Annotated[Line, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
NewId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Relation = Annotated[Line, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]

SESSION = Field(description="From kg_read.")


def _some(values: list[str]) -> list[str]:
    if not values:
        raise ValueError("names nothing")
    return list(dict.fromkeys(values))


NodeIds = Annotated[Lines, Field(max_length=100), AfterValidator(_some)]
Notes = Annotated[list[Text], Field(max_length=500)]


class Ask(GraphRequest):
    """The arguments of a tool that changes no record."""


class Change(GraphWrite):
    """A change as the journal keeps it; the request id is made of the session's."""


class Told(Plain, GraphModel):
    """An answer: `text`, and the same as values."""


class EdgeView(GraphModel):
    """An edge as its level calls its ends."""

    from_: str = Field(serialization_alias="from")
    to: str
    rel: str
    level: str
    notes: list[str] = Field(default_factory=list)


class NodeView(GraphModel):
    """A node as it stands."""

    id: str
    record: str = Field(description="The opaque record id, which never changes.")
    level: str
    tier: str
    revision: int
    gist: str
    notes: list[str]
    touches: list[str]
    edges: list[EdgeView]
