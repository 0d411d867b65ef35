"""What every request and result of the graph family is built from: spelling, groups, projection.

Keys are snake_case on the wire, camelCase is accepted, an unknown key is refused. A list may arrive
as a JSON string. `group_ids` left out or null means all groups that the caller sees, and an empty
list means none, on every tool.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasGenerator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic.alias_generators import to_camel

from vault_kg.errors import InvalidArgument
from vault_kg.operations import base, paging
from vault_kg.operations.base import Cursor, Git, Line, Lines, Partition, RequestId
from vault_kg.records.names import lookup_key
from vault_kg.store.paths import DEFAULT_PARTITION

_WIRE = AliasGenerator(
    validation_alias=lambda name: AliasChoices(name, to_camel(name)),
    serialization_alias=lambda name: name,
)
_REQUEST = ConfigDict(alias_generator=_WIRE)


class GraphModel(base.Model):
    """A part of a result, in snake_case."""

    model_config = ConfigDict(alias_generator=lambda name: name)


class GraphRequest(base.Request):
    """The arguments of a read."""

    model_config = _REQUEST


def _fresh() -> str:
    return f"{MADE_UP}{secrets.token_hex(12)}"


MADE_UP = "auto-"
"""How a request id begins that the caller did not give."""


class GraphWrite(base.Write):
    """The arguments of a change."""

    model_config = _REQUEST

    request_id: RequestId = Field(
        default_factory=_fresh,
        description="Give one to retry safely: the same id and arguments give the same answer.",
    )


class Written(GraphModel):
    """What every change answers beside its own result."""

    changed: bool = Field(description="Whether anything was written.")
    request_id: str | None = None
    git: Git | None = None
    warnings: list[str] = Field(default_factory=list)


def _groups(value: Any) -> Any:
    """Read groups: a list, a list as a JSON string, or the name of one group."""
    read = base.read_list(value)
    return [read] if isinstance(read, str) else read


def _clamped(low: float, high: float) -> Callable[[float], float]:
    return lambda value: min(max(value, low), high)


def _kind(name: str) -> str:
    if name.casefold() == "merged":
        raise ValueError("'Merged' is what merged pages are labelled; it is no kind")
    return name


def names_of(view: type) -> AfterValidator:
    """Return the check that a projection names keys of a view, and at least one."""
    known = view.__annotations__

    def check(fields: list[str]) -> list[str]:
        unknown = [name for name in fields if name not in known]
        if unknown or not fields:
            said = f"unknown: {', '.join(unknown)}; " if unknown else "names nothing; "
            raise ValueError(f"{said}give some of {', '.join(known)}")
        return fields

    return AfterValidator(check)


GroupId = Annotated[
    Partition, Field(description=f"The group; {DEFAULT_PARTITION!r} where it is left out.")
]
Group = Annotated[Line, StringConstraints(min_length=1)]
Groups = Annotated[list[Group], BeforeValidator(_groups)]
GroupIds = Annotated[Groups | None, Field(description="Groups; left out or null = all, [] = none.")]
SomeGroups = Annotated[
    Groups, Field(min_length=1, description="Required and not empty: there is no default here.")
]
Kind = Annotated[
    base.Name, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_kind)
]
EntityName = base.Title
Count = Annotated[int, Field(ge=1, le=10_000)]
Similarity = Annotated[float, AfterValidator(_clamped(0.0, 1.0)), Field(allow_inf_nan=False)]
Prefix = Annotated[str, StringConstraints(max_length=500)]
FieldNames = Lines

INACTIVE = Field(
    False, description="Also what is merged, withdrawn, superseded, expired or hidden."
)
CURSOR = Field(None, description="next_cursor of the answer before, with the same arguments.")


class Listing(GraphRequest):
    """What lists have in common."""

    group_ids: GroupIds = None
    cursor: Cursor | None = CURSOR
    include_inactive: bool = INACTIVE


class Listed(GraphModel):
    """What answers of lists have in common."""

    count: int = Field(description="Items in this answer.")
    total: int = Field(description="Items in all.")
    next_cursor: str | None = Field(None, description="Null on the last page.")


def position(request: base.Request, cursor: str | None) -> tuple[str, str] | None:
    """Return the position of two texts in a cursor, or None where the list starts.

    Raises:
        InvalidArgument: it is not a cursor, or one of another query.
    """
    found = paging.decode(request, cursor)
    if found is None:
        return None
    if len(found) != 2 or not all(isinstance(part, str) for part in found):
        raise InvalidArgument("the cursor is not one of this query; start again without it")
    return found[0], found[1]


def projected(item: dict[str, Any], fields: list[str] | None) -> dict[str, Any]:
    """Return an item with only the keys that were asked for."""
    return item if fields is None else {name: item[name] for name in fields if name in item}


def prefix_key(prefix: str | None) -> str | None:
    """Return the form in which a prefix is compared with names; a space at its end counts."""
    if prefix is None:
        return None
    return lookup_key(prefix) + (" " if prefix[-1:].isspace() and prefix.strip() else "")
