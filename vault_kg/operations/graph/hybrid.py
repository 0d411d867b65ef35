"""Hybrid search for the graph family: one ranking, and the evidence of every hit in its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from vault_kg.index.listing import Filter
from vault_kg.index.query import parse_query
from vault_kg.operations import paging, searching
from vault_kg.operations.base import Cursor
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.request import (
    CURSOR,
    INACTIVE,
    GraphRequest,
    GroupIds,
    Listed,
    Similarity,
)
from vault_kg.operations.searching import Semantic
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names

if TYPE_CHECKING:
    from vault_kg.index.nearest import Compared
    from vault_kg.index.shown import Shown

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
Results = Annotated[int, Field(ge=1, le=1_000)]


class Search(GraphRequest):
    """What searches have in common."""

    query: Query = Field(description="Words, in any script; not a query language.")
    group_ids: GroupIds = None
    num_results: Results = 10
    cursor: Cursor | None = CURSOR
    include_inactive: bool = INACTIVE


class Find(Search):
    """What searches of the graph have in common."""

    min_similarity: Similarity | None = Field(
        None, description="Leave out what is found by meaning alone and is less similar, 0 to 1."
    )


class Found(Listed):
    """What answers of searches have in common."""

    semantic: Semantic = Field(description="Whether search by meaning took part.")


@dataclass(frozen=True)
class Ranking:
    """One page of hits, best first, with what the answer says of them all."""

    hits: Sequence[Shown]
    total: int
    next_cursor: str | None
    semantic: Semantic
    compared: Compared | None
    """The query set against the vectors, where meaning took part."""

    def similarities(self, passages: Iterable[int]) -> Mapping[int, float]:
        """Return how near the query each of these passages is that has a vector."""
        return self.compared.similarities(passages) if self.compared is not None else {}


def wanted(ws: Workspace, caller: Caller, request: Search, kinds: Sequence[str]) -> Filter:
    """Return the filter of a search: it holds before the best are taken."""
    return Filter(
        ws.now(),
        kinds=kinds,
        partitions=finding.groups_to_read(caller, request.group_ids),
        ends_in=caller.partitions,
        lifecycle="all" if request.include_inactive else "active",
    )


def ranked(
    ws: Workspace,
    request: Search,
    filtered: Filter,
    *,
    floor: float | None,
    per_record: bool = True,
) -> Ranking:
    """Rank what answers a query and return the page of hits that was asked for.

    A failing model fails no search: words answer then, and `semantic` says why.
    """
    query = parse_query(request.query)
    tags = [names.lookup_key(tag) for tag in query.filters.get("tag", ())]
    filtered = replace(filtered, tags=tags or None)
    start = paging.offset(request, request.cursor) or 0
    found = searching.answer(
        ws, query, filtered, request.num_results, start, floor=floor, per_record=per_record
    )
    following = start + len(found.shown)
    more = bool(found.shown) and following < found.total
    return Ranking(
        found.shown,
        found.total,
        paging.encode(request, [following]) if more else None,
        found.semantic,
        found.compared,
    )


def evidence(shown: Shown) -> dict[str, Any]:
    """Return why a hit is one, as search says it."""
    return searching.evidence_of(shown).model_dump(by_alias=True)
