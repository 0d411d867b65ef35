"""The changes of one document's plan: new records, and citations that standing ones gain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError

from vault_kg.errors import InvalidArgument, InvalidRecord, MergedReference, VaultError
from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.index.pending import Pending
from vault_kg.ingest.grounding import Place
from vault_kg.ingest.report import Ingested, Item
from vault_kg.operations import drafts, targets
from vault_kg.operations.base import EvidenceItem, Write
from vault_kg.operations.caller import Caller
from vault_kg.operations.drafts import Draft
from vault_kg.operations.graph.support import Citation
from vault_kg.operations.pages import SavePage, draft_page
from vault_kg.operations.statements import (
    SaveClaim,
    SaveRelationship,
    draft_claim,
    draft_relationship,
)
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import Value
from vault_kg.store.plan import Change
from vault_kg.store.sources import Source

R = TypeVar("R", bound=Write)


class Drafts:
    """The records that a document makes, and those that it is one more source of.

    Args:
        ws: the opened vault; the lane is held.
        caller: who asks.
        source: what the records cite.
        text: what it says.
        holds: whether a citation is one of this document and still said by it.
        told: what is answered; it grows.
    """

    def __init__(
        self, ws: Workspace, caller: Caller, source: Source, text: str,
        holds: Callable[[Citation], bool], told: Ingested,
    ) -> None:  # fmt: skip
        self.ws, self.caller, self.source, self.holds, self.told = ws, caller, source, holds, told
        self.pending = Pending(sources={source.id: text})
        self.changes: list[Change] = []
        self.gains: dict[str, list[Value]] = {}
        """Citations that standing records get, by record id."""

    def citation(self, place: Place) -> EvidenceItem:
        """Return the citation of a place in the document."""
        return EvidenceItem(source=self.source.id, lines=place.lines, quote=place.quote)

    def page(self, values: dict[str, Any], item: Item) -> str | None:
        """Draft a page; returns its id, or None where it breaks a rule."""
        return self._take(SavePage, draft_page, values, item)

    def claim(self, values: dict[str, Any], item: Item) -> str | None:
        """Draft a claim; returns its id, or None where it breaks a rule."""
        return self._take(SaveClaim, draft_claim, values, item)

    def relationship(self, values: dict[str, Any], item: Item) -> str | None:
        """Draft a relationship; returns its id, or None where it breaks a rule."""
        return self._take(SaveRelationship, draft_relationship, values, item)

    def _take(
        self, request: type[R], draft: Callable[[Workspace, R, Caller, Pending], Draft],
        values: dict[str, Any], item: Item,
    ) -> str | None:  # fmt: skip
        """Draft a record like one that a caller sends; one that is refused leaves nothing behind."""
        before = set(self.pending.records)
        given = values | {"request_id": self.source.id, "partition": self.source.partition}
        try:
            asked = request.model_validate(given)
            change, warnings = draft(self.ws, asked, self.caller, self.pending)
        except (InvalidRecord, InvalidArgument, MergedReference, ValidationError) as error:
            for record_id in set(self.pending.records) - before:
                del self.pending.records[record_id]
            self.told.refused.append(item.model_copy(update={"reason": _why(error)}))
            return None
        self.changes.append(change)
        made = {"uuid": change.record_id, "reason": "; ".join(warnings) or None}
        self.told.written.append(item.model_copy(update=made))
        return change.record_id

    def gain(self, record_id: str, place: Place) -> None:
        """Let a record that stands cite this place as well."""
        value: Value = self.citation(place).model_dump(exclude_none=True, by_alias=False)
        gained = self.gains.setdefault(record_id, [])
        if value not in gained:
            gained.append(value)

    def cite_page(self, page_id: str, place: Place) -> None:
        """Let a page that stands on sources stand on this one too, once for all its editions."""
        if page_id in self.pending.records or page_id in self.gains:
            return
        row = self._row(page_id)
        evidence = list(row.stated.get("evidence", ())) if row else []
        if evidence and not any(self.holds(citation) for citation in evidence):
            self.gain(page_id, place)

    def revisions(self, done: set[str | None]) -> list[Change]:
        """Return the changes of records that gain citations and are not changed otherwise.

        Args:
            done: records that other changes of the plan are of.
        """
        made = []
        for record_id, gained in self.gains.items():
            if record_id in done:
                continue
            target = targets.load(self.ws, self.caller, record_id)
            stated = [citation.to_value() for citation in target.record.evidence]
            change = drafts.revise(self.ws, target, {"evidence": [*stated, *gained]})
            if change is not None:
                made.append(change)
        return made

    def _row(self, record_id: str) -> GraphRow | None:
        wanted = Filter(self.ws.now(), lifecycle="all")
        found = graph_rows.every(self.ws.database, Narrow(wanted, ids=[record_id]))
        return found[0] if found else None


def _why(error: VaultError | ValidationError) -> str:
    if isinstance(error, VaultError):
        return error.message
    return "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
