"""Relationship records as the graph family writes them: identity, type, time, and a new file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vault_kg.errors import InvalidArgument, ReservedEdgeType
from vault_kg.index import graph_rows
from vault_kg.index.catalog import Row
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.index.validate import is_instant
from vault_kg.operations import drafts
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.views import UNCLASSIFIED, edge_name
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import Value
from vault_kg.records.ontology import snake_case
from vault_kg.store.plan import Change


class End(NamedTuple):
    """One end of an edge: the page's id, and what it is called."""

    id: str
    name: str

    @classmethod
    def of(cls, row: Row) -> End:
        """Return the end at a page."""
        return cls(row.id, row.title)


def between(ws: Workspace, group: str, source_id: str, target_id: str) -> list[GraphRow]:
    """Return the current relationships of a group from one page to another, the oldest first."""
    narrow = Narrow(
        Filter(ws.now(), kinds=("relationship",), partitions=[group]),
        sources=finding.all_ids(ws, source_id),
        targets=finding.all_ids(ws, target_id),
    )
    return graph_rows.every(ws.database, narrow)


def standing(
    ws: Workspace, group: str, source_id: str, predicate: str, target_id: str, fact: str | None
) -> str | None:
    """Return the relationship that an assertion of these is of, or None where it is new.

    Where several have the predicate, that with the fact, else the oldest.
    """
    same = [
        each
        for each in between(ws, group, source_id, target_id)
        if names.title_key(edge_name(each)) == names.title_key(predicate)
    ]
    wanted = names.lookup_key(fact or "")
    stated = [each for each in same if names.lookup_key(each.fact) == wanted]
    return next((each.row.id for each in (*stated, *same)), None)


def sentence(source: End, predicate: str, target: End) -> str:
    """Return the fact of an edge that was given no sentence."""
    return f"{source.name} {predicate} {target.name}"


def type_to_write(ws: Workspace, group: str, given: str | None) -> str | None:
    """Return a relationship type as it is stored: as declared, or in the form of such types.

    Raises:
        ReservedEdgeType: only the extractor may write it.
    """
    if given is None or names.title_key(given) == UNCLASSIFIED:
        return UNCLASSIFIED if given else None
    declared = ws.ontology(group).relationship_type(given)
    if declared is not None and declared.reserved:
        raise ReservedEdgeType(
            f"{declared.name} is written by the extractor only, from links and structured fields",
            type=declared.name,
        )
    return declared.name if declared else snake_case(given)


def instant(given: str | None, name: str = "valid_at") -> str | None:
    """Return a date or time as records have it; a space between the two, and no zone, are taken.

    Raises:
        InvalidArgument: it is neither.
    """
    if given is None:
        return None
    if not is_instant(given):
        raise InvalidArgument(
            f"{name}: {given!r} is neither a date (2026-01-05) nor a time (2026-01-05T10:00:00Z)",
            field=name,
        )
    text = given.replace(" ", "T").replace("t", "T")
    zoned = len(text) == 10 or text.endswith("Z") or text[-6:-5] in ("+", "-")
    return text if zoned else f"{text}Z"


def draft(
    ws: Workspace,
    group: str,
    ends: tuple[End, End],
    predicate: str,
    fact: str,
    *,
    relation_type: str | None,
    valid_at: str | None,
    attributes: Mapping[str, Any] | None,
    evidence: Sequence[Value],
    pointers: Mapping[str, Value] | None = None,
) -> Change:
    """Return the file of a new relationship; it is not validated yet.

    Args:
        ws: the opened vault.
        group: where it goes.
        ends: from where to where.
        predicate: its name.
        fact: its sentence.
        relation_type: its type in any spelling, or None.
        valid_at: since when it holds, or None.
        attributes: its fields.
        evidence: its citations.
        pointers: what its foreign ends are called, by `from` and `to`.
    """
    record_id = drafts.new_record_id(ws, "relationship")
    name = type_to_write(ws, group, relation_type)
    source, target = ends
    values: dict[str, Value] = {
        "title": drafts.title_from(sentence(source, predicate, target), record_id),
        "predicate": predicate,
        "type": name,
        "from": source.id,
        "to": target.id,
        "valid_from": instant(valid_at),
        "origin": "agent",
        "fields": valued(attributes),
        "pointers": dict(pointers or {}),
        "evidence": list(evidence),
    }
    folder = f"relationships/{(name or 'untyped').replace('_', '-')}"
    return drafts.create(ws, group, "relationship", record_id, folder, values, fact)


def valued(attributes: Mapping[str, Any] | None) -> dict[str, Value]:
    """Return attributes without those that have no value."""
    return {name: value for name, value in (attributes or {}).items() if value is not None}
