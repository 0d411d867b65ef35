"""The record that a name means exactly: id, title, alias or path."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from vault_kg.errors import Ambiguous, NotFound
from vault_kg.index import catalog, listing, lost, successors
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.operations import asof, sight, targets
from vault_kg.operations.asof import AsOf, Past
from vault_kg.operations.base import Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.summaries import (
    RECORDS,
    Summary,
    candidate,
    past_filter,
    past_names,
    past_summary,
    summaries_of,
    type_names,
    visible,
)
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import revisions

MAX_MISSING = 500
"""So many missing records are looked through for a name that nothing has."""


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
        types=type_names(ws, filter(None, [request.type]), visible(caller, request.partition)),
        partitions=visible(caller, request.partition),
        ends_in=caller.partitions,
    )
    rows, followed = _named(ws, caller, request.text, wanted)
    if ws.look_at([row.path for row in rows]):
        rows, followed = _named(ws, caller, request.text, wanted)
    if not rows:
        for row in listing.named(ws.database, request.text, replace(wanted, blocked=True)):
            targets.check_not_blocked(ws, row.id)
        _check_not_missing(ws, request.text, wanted, caller)
        _check_not_past(ws, request.text, wanted, caller)
        raise NotFound(
            f"nothing is called {request.text!r}; knowledge_search finds by words and meaning",
            text=request.text,
        )
    if len(rows) > 1:
        raise Ambiguous(
            f"{request.text!r} means {len(rows)} records; use an id, or narrow by type or partition",
            candidates=[candidate(row) for row in rows[:50]],
        )
    targets.check_not_blocked(ws, rows[0].id)
    return Found(record=summaries_of(ws, rows)[0], matched=request.text, followed=followed)


def _named(
    ws: Workspace, caller: Caller, text: str, wanted: Filter
) -> tuple[list[Row], str | None]:
    rows = listing.named(ws.database, text, wanted)
    return (rows, None) if rows else _through_successors(ws, caller, text, wanted)


def _through_successors(
    ws: Workspace, caller: Caller, text: str, wanted: Filter
) -> tuple[list[Row], str | None]:
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
        and not sight.stands_on_hidden(ws, caller, row.id)
    ]
    return rows, finals[rows[0].id] if len(rows) == 1 else None


def _check_not_missing(ws: Workspace, text: str, wanted: Filter, caller: Caller) -> None:
    """Refuse the name of a record whose file is gone or cannot be read, and say where it is."""
    key = names.lookup_key(text.removesuffix(".md"))
    keep = past_filter(ws, replace(wanted, lifecycle="all"), caller)
    for record_id in islice(lost.records(ws.database), MAX_MISSING):
        head = revisions.head(ws.database, record_id)
        record = asof.record_in(ws.bytes_of(head)) if head is not None else None
        if head is None or record is None:
            continue
        past = Past(head, record, True)
        path = head.path.removesuffix(".md")
        called = past_names(past) | {names.lookup_key(n) for n in (path, path.split("/")[-1])}
        if key in called and keep(past):
            raise targets.absent(ws, head)


def _check_not_past(ws: Workspace, text: str, wanted: Filter, caller: Caller) -> None:
    """Refuse the name of a record that default reads do not see, and say by which id it is read."""
    rows = [
        row
        for row in listing.named(ws.database, text, replace(wanted, lifecycle="all"))
        if not sight.stands_on_hidden(ws, caller, row.id)
    ]
    if not rows:
        return
    if len(rows) > 1:
        said = f"{len(rows)} records are called {text!r}, and none of them is current"
    elif rows[0].lifecycle == "active":
        said = f"{text!r} is {rows[0].id}, which default reads do not see now"
    else:
        said = f"{text!r} was {rows[0].lifecycle}; its id is {rows[0].id}"
    raise NotFound(
        f"{said}. knowledge_get and knowledge_history read it by its id",
        text=text,
        candidates=[candidate(row) | {"lifecycle": row.lifecycle} for row in rows[:50]],
    )


def _lookup_then(ws: Workspace, request: Lookup, caller: Caller) -> Found:
    assert request.as_of is not None
    past, said = asof.snapshot(ws, caller, request.as_of)
    wanted = Filter(
        ws.now(),
        types=type_names(ws, filter(None, [request.type]), visible(caller, request.partition)),
        partitions=visible(caller, request.partition),
    )
    keep = past_filter(ws, wanted, caller)
    key = names.lookup_key(request.text)
    found = [p for p in past if keep(p) and key in past_names(p)]
    if not found:
        raise NotFound(f"nothing was called {request.text!r} then", text=request.text, as_of=said)
    if len(found) > 1:
        candidates = [{"id": p.revision.record_id, "title": p.record.title} for p in found[:50]]
        raise Ambiguous(f"{request.text!r} meant {len(found)} records then", candidates=candidates)
    return Found(record=past_summary(found[0]), matched=request.text, as_of=said)
