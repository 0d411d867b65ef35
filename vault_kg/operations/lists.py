"""Lists, exact look-ups and connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from vault_kg.errors import Ambiguous, NotFound
from vault_kg.index import catalog, graph, listing, successors
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.operations import asof, paging, targets
from vault_kg.operations.asof import AsOf, Past
from vault_kg.operations.base import Cursor, Id, Limit, Line, Lines, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids, names
from vault_kg.state import merges

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


class ListRecords(Request):
    """Which records?"""

    kind: RecordKind | None = None
    type: Line | None = None
    partition: Line | None = None
    owner: Id | None = None
    lifecycle: Literal["active", "superseded", "withdrawn", "merged", "all"] = "active"
    as_of: AsOf | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Records(Model):
    """A page of records."""

    records: list[Summary]
    count: int
    total: int
    next_cursor: str | None = None
    as_of: dict[str, Any] | None = None


class Lookup(Request):
    """What is called exactly this?"""

    text: Annotated[str, Field(min_length=1, max_length=2_000)] = Field(
        description="An id, alias, title or path; case and Unicode form do not matter."
    )
    type: Line | None = None
    partition: Line | None = None
    as_of: AsOf | None = None


class Found(Model):
    """The one record that a name means."""

    record: Summary
    matched: str
    followed: str | None = Field(
        None, description="The merged or corrected record that the name is of."
    )
    as_of: dict[str, Any] | None = None


class Connections(Request):
    """What is joined to a record?"""

    id: Id
    direction: Literal["out", "in", "both"] = "both"
    types: Lines | None = Field(
        None, description="Relationship types, or owner, entities, wikilink, …"
    )
    depth: Annotated[int, Field(ge=1, le=5)] = 1
    limit: Limit = 100
    as_of: AsOf | None = None


class Edge(Model):
    """One connection. `explicit` ones are relationship records; the others follow from records."""

    source: str
    target: str
    type: str
    explicit: bool
    record: str | None = None
    fact: str | None = None
    depth: int


class Node(Model):
    """A record in a neighbourhood."""

    id: str
    kind: str
    type: str | None = None
    title: str


class Neighbourhood(Model):
    """A record's connections, nearest first."""

    id: str
    nodes: list[Node]
    edges: list[Edge]
    total_nodes: int
    total_edges: int
    truncated: bool
    as_of: dict[str, Any] | None = None


@operation("read", Records)
def knowledge_records(ws: Workspace, request: ListRecords, caller: Caller) -> Records:
    """List records, the latest changed first.

    By default those that are current, with lifecycle all also history. Filters come before the
    counts.
    """
    wanted = Filter(
        ws.now(),
        kinds=[request.kind] if request.kind else RECORDS,
        types=_type_names(ws, request.type, request.partition),
        partitions=visible(caller, request.partition),
        owners=_one_page(ws, request.owner),
        lifecycle=request.lifecycle,
    )
    if request.as_of is not None:
        return _records_then(ws, request, caller, wanted)
    position = paging.decode(request, request.cursor)
    with ws.database.snapshot():
        total = listing.count(ws.database, wanted)
        after = (str(position[0]), str(position[-1])) if position else None
        rows = listing.page(ws.database, wanted, request.limit + 1, after)
    shown = rows[: request.limit]
    more = len(rows) > request.limit
    return Records(
        records=_summaries(ws, shown),
        count=len(shown),
        total=total,
        next_cursor=paging.encode(request, [shown[-1].updated_at, shown[-1].path])
        if more
        else None,
    )


@operation("read", Found)
def knowledge_lookup(ws: Workspace, request: Lookup, caller: Caller) -> Found:
    """Find the record that an id, alias, title or path means exactly.

    The name of a merged page means its survivor, that of a corrected record its replacement. More
    than one is an error that lists the candidates; nothing is guessed.
    """
    if request.as_of is not None:
        return _lookup_then(ws, request, caller)
    wanted = Filter(
        ws.now(),
        kinds=(*RECORDS, "note"),
        types=_type_names(ws, request.type, request.partition),
        partitions=visible(caller, request.partition),
    )
    rows, followed = _named(ws, request.text, wanted)
    if ws.look_at([row.path for row in rows]):
        rows, followed = _named(ws, request.text, wanted)
    if not rows:
        raise NotFound(
            f"nothing is called {request.text!r}; knowledge_search finds by words and meaning",
            text=request.text,
        )
    if len(rows) > 1:
        raise Ambiguous(
            f"{request.text!r} means {len(rows)} records; use an id, or narrow by type or partition",
            candidates=[_candidate(row) for row in rows[:50]],
        )
    targets.check_not_blocked(ws, rows[0].id)
    return Found(record=_summaries(ws, rows)[0], matched=request.text, followed=followed)


@operation("read", Neighbourhood)
def knowledge_connections(ws: Workspace, request: Connections, caller: Caller) -> Neighbourhood:
    """Show what a record is joined to.

    Relationship records (explicit), and what follows from owner, entities, dependencies and
    wikilinks. Merged pages are resolved; totals are true also where the list is cut.
    """
    if not ids.is_note(request.id):
        targets.known(ws, caller, request.id)
    past, said = asof.snapshot(ws, request.as_of) if request.as_of else (None, None)
    reader = graph.past(past) if past is not None else graph.current(ws.database, ws.now())
    walk = graph.walk(
        reader,
        request.id,
        direction=request.direction,
        types={names.lookup_key(t) for t in request.types} if request.types else None,
        depth=request.depth,
        limit=request.limit,
        sees=caller.sees,
    )
    return Neighbourhood(
        id=walk.start,
        nodes=[Node(id=n.id, kind=n.kind, type=n.type, title=n.title) for n in walk.nodes],
        edges=[
            Edge(
                source=e.source, target=e.target, type=e.type, explicit=e.record is not None,
                record=e.record, fact=e.fact, depth=d,
            )
            for e, d in walk.edges
        ],
        total_nodes=walk.total_nodes,
        total_edges=walk.total_edges,
        truncated=walk.total_edges > len(walk.edges) or walk.total_nodes > len(walk.nodes),
        as_of=said,
    )  # fmt: skip


def visible(caller: Caller, partition: str | None) -> frozenset[str] | None:
    """Return the partitions that a read may look at; None is all."""
    if partition is None:
        return caller.partitions
    return frozenset({partition} if caller.sees(partition) else ())


def _summaries(ws: Workspace, rows: list[Row]) -> list[Summary]:
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


def _one_page(ws: Workspace, page_id: str | None) -> list[str] | None:
    """Return every id under which records may name a page: its survivor's, and all merged into it."""
    if page_id is None:
        return None
    final = merges.resolve(merges.targets(ws.database), page_id) or page_id
    return successors.with_absorbed([final, page_id], successors.absorbed_by(ws.database))


def _named(ws: Workspace, text: str, wanted: Filter) -> tuple[list[Row], str | None]:
    rows = listing.named(ws.database, text, wanted)
    return (rows, None) if rows else _through_successors(ws, text, wanted)


def _through_successors(ws: Workspace, text: str, wanted: Filter) -> tuple[list[Row], str | None]:
    """Find a merged or corrected record by its name, and return what stands for it now."""
    named = [
        row
        for lifecycle in ("merged", "superseded")
        for row in listing.named(ws.database, text, replace(wanted, lifecycle=lifecycle))
    ]
    finals = {successors.current(ws.database, row.id): row.id for row in named}
    finals.pop(None, None)
    rows = [
        row
        for final in finals
        for row in catalog.by_id(ws.database, str(final))
        if row.current(ws.now())
        and (wanted.partitions is None or row.partition in wanted.partitions)
    ]
    return rows, finals[rows[0].id] if len(rows) == 1 else None


def _type_names(ws: Workspace, given: str | None, partition: str | None) -> list[str] | None:
    """Return every declared spelling that a type filter means."""
    if given is None:
        return None
    ontology = ws.ontology(partition or "main")
    declared = (
        ontology.page_type(given), ontology.claim_kind(given), ontology.relationship_type(given),
    )  # fmt: skip
    return sorted({given, *(d.name for d in declared if d is not None)})


def _candidate(row: Row) -> dict[str, Any]:
    return {"id": row.id, "kind": row.kind, "type": row.type, "title": row.title, "path": row.path}


def _records_then(ws: Workspace, request: ListRecords, caller: Caller, wanted: Filter) -> Records:
    assert request.as_of is not None
    past, said = asof.snapshot(ws, request.as_of)
    keep = _past_filter(wanted, caller)
    rows = sorted(
        (p for p in past if keep(p)),
        key=lambda p: (p.record.updated_at, p.revision.path),
        reverse=True,
    )
    start = paging.offset(request, request.cursor) or 0
    shown = rows[start : start + request.limit]
    end = start + len(shown)
    return Records(
        records=[_past_summary(p) for p in shown],
        count=len(shown),
        total=len(rows),
        next_cursor=paging.encode(request, [end]) if end < len(rows) else None,
        as_of=said,
    )


def _lookup_then(ws: Workspace, request: Lookup, caller: Caller) -> Found:
    assert request.as_of is not None
    past, said = asof.snapshot(ws, request.as_of)
    wanted = Filter(
        ws.now(),
        types=_type_names(ws, request.type, request.partition),
        partitions=visible(caller, request.partition),
    )
    keep = _past_filter(wanted, caller)
    key = names.lookup_key(request.text)
    found = [p for p in past if keep(p) and key in _past_names(p)]
    if not found:
        raise NotFound(f"nothing was called {request.text!r} then", text=request.text, as_of=said)
    if len(found) > 1:
        candidates = [{"id": p.revision.record_id, "title": p.record.title} for p in found[:50]]
        raise Ambiguous(f"{request.text!r} meant {len(found)} records then", candidates=candidates)
    return Found(record=_past_summary(found[0]), matched=request.text, as_of=said)


def _past_names(past: Past) -> set[str]:
    record = past.record
    every = (record.id, record.title, past.revision.path, *record.aliases)
    return {names.lookup_key(name) for name in every}


def _past_filter(wanted: Filter, caller: Caller) -> Callable[[Past], bool]:
    def keep(past: Past) -> bool:
        revision, record = past.revision, past.record
        return (
            not past.support
            and caller.sees(revision.partition)
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


def _past_summary(past: Past) -> Summary:
    revision, record = past.revision, past.record
    return Summary(
        id=record.id, kind=record.kind, type=record.type, title=record.title, summary=record.summary,
        partition=revision.partition, path=revision.path, revision=revision.revision,
        hash=revision.hash, lifecycle=revision.lifecycle, updated_at=record.updated_at,
        valid_from=record.valid_from, valid_until=record.valid_until, owner=record.owner,
        from_=record.from_id, to=record.to_id, eligible=past.eligible,
    )  # fmt: skip
