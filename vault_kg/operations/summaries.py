"""A record as lists and look-ups show it, and what of the past they let through."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from pydantic import Field

from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.operations import sight
from vault_kg.operations.asof import Past
from vault_kg.operations.base import Model
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import merges
from vault_kg.store.paths import DEFAULT_PARTITION

RecordKind = Literal["page", "claim", "relationship", "note"]
RECORDS = ("page", "claim", "relationship")


class Summary(Model):
    """A record in a list."""

    id: str
    kind: str
    type: str | None = None
    title: str
    summary: str | None = None
    partition: str
    path: str
    revision: int
    hash: str
    lifecycle: str
    updated_at: str
    valid_from: str | None = None
    valid_until: str | None = None
    owner: str | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    eligible: bool


def visible(caller: Caller, partition: str | None) -> frozenset[str] | None:
    """Return the partitions that a read may look at; None is all."""
    if partition is None:
        return caller.partitions
    return frozenset({partition} if caller.sees(partition) else ())


def summaries_of(ws: Workspace, rows: list[Row]) -> list[Summary]:
    """Return rows as they stand in lists; a reference to a merged page is to its survivor."""
    now, chains = ws.now(), merges.targets(ws.database)

    def meant(record_id: str | None) -> str | None:
        return record_id and (merges.resolve(chains, record_id) or record_id)

    return [
        Summary(
            id=row.id,
            kind=row.kind,
            type=row.type,
            title=row.title,
            summary=row.summary,
            partition=row.partition,
            path=row.path,
            revision=row.revision,
            hash=row.hash,
            lifecycle=row.lifecycle,
            updated_at=row.updated_at,
            valid_from=row.valid_from,
            valid_until=row.valid_until,
            owner=meant(row.owner),
            from_=meant(row.from_id),
            to=meant(row.to_id),
            eligible=row.current(now),
        )
        for row in rows
    ]


def type_names(
    ws: Workspace, given: Iterable[str], partitions: Collection[str] | None
) -> list[str] | None:
    """Return every declared spelling that a type filter means; None where any type is.

    Args:
        ws: the opened vault.
        given: the types as they were named.
        partitions: whose vocabularies count; those of all where None.
    """
    wanted = set(given)
    if not wanted:
        return None
    if partitions is None:
        partitions = {DEFAULT_PARTITION, *ws.ontologies.partitions()}
    found = set(wanted)
    for ontology in map(ws.ontology, partitions):
        for name in wanted:
            declared = (
                ontology.page_type(name), ontology.claim_kind(name),
                ontology.relationship_type(name),
            )  # fmt: skip
            found |= {each.name for each in declared if each is not None}
    return sorted(found)


def candidate(row: Row) -> dict[str, Any]:
    """Return a record as an ambiguity names it."""
    return {"id": row.id, "kind": row.kind, "type": row.type, "title": row.title, "path": row.path}


def past_names(past: Past) -> set[str]:
    """Return the keys by which a past record is looked up."""
    record = past.record
    every = (record.id, record.title, past.revision.path, *record.aliases)
    return {names.lookup_key(name) for name in every}


def past_filter(ws: Workspace, wanted: Filter, caller: Caller) -> Callable[[Past], bool]:
    """Return what says whether a filter and the caller's sight let a past record through."""

    def keep(past: Past) -> bool:
        revision, record = past.revision, past.record
        return (
            not past.support
            and caller.sees(revision.partition)
            and not sight.is_about_hidden(ws, caller, record)
            and (wanted.kinds is None or revision.kind in wanted.kinds)
            and (wanted.partitions is None or revision.partition in wanted.partitions)
            and (wanted.types is None or record.type in wanted.types)
            and (wanted.owners is None or record.owner in wanted.owners)
            and _in_lifecycle(wanted.lifecycle, past)
        )

    return keep


def _in_lifecycle(wanted: str, past: Past) -> bool:
    if wanted == "active":
        return past.eligible
    return wanted == "all" or past.revision.lifecycle == wanted


def past_summary(past: Past) -> Summary:
    """Return a past record as it stood in lists."""
    revision, record = past.revision, past.record
    return Summary(
        id=record.id, kind=record.kind, type=record.type, title=record.title, summary=record.summary,
        partition=revision.partition, path=revision.path, revision=revision.revision,
        hash=revision.hash, lifecycle=revision.lifecycle, updated_at=record.updated_at,
        valid_from=record.valid_from, valid_until=record.valid_until, owner=record.owner,
        from_=record.from_id, to=record.to_id, eligible=past.eligible,
    )  # fmt: skip
