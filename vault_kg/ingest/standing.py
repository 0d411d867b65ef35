"""What the vault has of a statement already: it stands, or a person retracted it.

A statement that was withdrawn or corrected does not come back because a document still says it. One
that was withdrawn only because its source went away does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.ingest.reading import Said
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.views import UNCLASSIFIED
from vault_kg.operations.workspace import Workspace
from vault_kg.records.names import title_key
from vault_kg.state import guards
from vault_kg.state import journal as rows

_LOSING_SUPPORT = frozenset(
    f"knowledge_{name}"
    for name in (
        "process_chunk", "add_episode", "delete_episode", "delete_by_source",
        "delete_chunk_episode", "delete_by_group", "clear_all",
    )
)  # fmt: skip
_VAGUE = frozenset({None, "", "relates_to", UNCLASSIFIED})
"""Types of relationship that say so little that the sentence counts as well."""


class Known(NamedTuple):
    """A record that says what a statement says, and whether it stands or was retracted."""

    record: GraphRow
    state: Literal["stands", "retracted"]


class Standing:
    """The statements of a group, looked up by what they are about; the caller holds the lane."""

    def __init__(self, ws: Workspace, group: str) -> None:
        self._ws, self._group = ws, group
        self._claims: Callable[[str], list[GraphRow]] = lru_cache(None)(self._claims_on)
        self._edges: Callable[[str, str], list[GraphRow]] = lru_cache(None)(self._edges_between)

    def claim(
        self, owner: str, kind: str, said: Said, again: Callable[[GraphRow], bool]
    ) -> Known | None:
        """Return the claim on a page that says the same.

        Args:
            owner: the page.
            kind: the claim's kind.
            said: what is said, and where.
            again: whether a claim was read out of the same words of an earlier edition.
        """
        wanted = title_key(said.statement.text)

        def same(each: GraphRow) -> bool:
            return title_key(each.fact) == wanted or again(each)

        return self._known(self._claims(owner), kind, said, same)

    def relationship(self, source: str, target: str, kind: str, said: Said) -> Known | None:
        """Return the relationship between two pages that says the same.

        A type that means something is the same fact in whatever words, from the same day on; a
        symmetric one in either direction.
        """
        wanted, valid_from = title_key(said.statement.text), said.statement.valid_from
        declared = self._ws.ontology(self._group).relationship_type(kind)
        found = list(self._edges(source, target))
        if declared is not None and declared.symmetric:
            found += self._edges(target, source)

        def same(each: GraphRow) -> bool:
            if title_key(each.fact) == wanted:
                return True
            vague = kind in _VAGUE or each.row.type in _VAGUE
            return not vague and each.row.type == kind and each.row.valid_from == valid_from

        return self._known(found, kind, said, same)

    def _known(
        self, found: Iterable[GraphRow], kind: str, said: Said, same: Callable[[GraphRow], bool]
    ) -> Known | None:
        """Return what stands, else what was retracted: that counts in other words, too."""
        every = list(found)
        for each in every:
            if each.row.lifecycle == "active" and same(each):
                return Known(each, "stands")
        for each in every:
            in_other_words = each.row.type == kind and _quotes(each, said.place.quote)
            if (same(each) or in_other_words) and is_retracted(self._ws, each.row.id):
                return Known(each, "retracted")
        return None

    def _claims_on(self, owner: str) -> list[GraphRow]:
        owners = finding.all_ids(self._ws, owner)
        wanted = self._wanted("claim", owners)
        return graph_rows.every(self._ws.database, Narrow(wanted))

    def _edges_between(self, source: str, target: str) -> list[GraphRow]:
        ends = (finding.all_ids(self._ws, one) for one in (source, target))
        narrow = Narrow(self._wanted("relationship"), sources=next(ends), targets=next(ends))
        return graph_rows.every(self._ws.database, narrow)

    def _wanted(self, kind: str, owners: list[str] | None = None) -> Filter:
        return Filter(
            self._ws.now(), kinds=(kind,), partitions=[self._group], owners=owners, lifecycle="all"
        )


def _quotes(each: GraphRow, quote: str) -> bool:
    """Say whether a record cites these words of any source."""
    cited = (title_key(str(c.get("quote", ""))) for c in each.stated.get("evidence", ()))
    return title_key(quote) in cited


def is_retracted(ws: Workspace, record_id: str) -> bool:
    """Say whether a record was withdrawn or corrected for what it says, not for want of a source."""
    found = guards.of(ws.database, record_id)
    if guards.WITHDRAWN not in found:
        return guards.SUPERSEDED in found
    entry = rows.find(ws.database, found[guards.WITHDRAWN].request_id)
    return entry is None or entry.operation not in _LOSING_SUPPORT
