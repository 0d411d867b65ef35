"""Exact reads of one record: as it stands, and as it stood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator

from vault_kg.errors import InvalidArgument, InvalidRecord, NotFound
from vault_kg.index import catalog, eligibility, links, lost, successors, validate
from vault_kg.index.catalog import Row
from vault_kg.index.lost import Lost
from vault_kg.index.parsed import note_aliases
from vault_kg.operations import sight, targets
from vault_kg.operations.asof import AsOf, revision_as_of
from vault_kg.operations.base import Id, Line, Model, Positive, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.records.model import Record
from vault_kg.state import merges
from vault_kg.state.revisions import Revision
from vault_kg.store import files, sources

MAX_EVIDENCE = 20


class Get(Request):
    """Read one record."""

    id: Id
    revision: Positive | None = Field(None, description="As this revision stood.")
    commit: Line | None = Field(None, description="As it stood in this Git commit.")
    as_of: AsOf | None = None
    follow_merges: bool = True
    body_offset: int = Field(0, ge=0, description="Where in the body to begin.")
    body_limit: Positive | None = Field(None, description="Characters of the body; else all.")

    @model_validator(mode="after")
    def _one_moment(self) -> Get:
        if sum(x is not None for x in (self.revision, self.commit, self.as_of)) > 1:
            raise ValueError("give one of revision, commit and asOf")
        return self


class Why(Model):
    """One reason why a record is not eligible."""

    code: str
    record: str | None = None
    message: str


class Cited(Model):
    """One evidence item with what the source says there."""

    source: str
    lines: str | None = None
    quote: str | None = None
    attribution: str | None = None
    path: str | None = None
    filename: str | None = None
    text: str | None = None
    verified: bool = False


class RecordView(Model):
    """A record with everything known of it."""

    id: str
    kind: str
    title: str
    type: str | None = None
    partition: str
    revision: int
    hash: str
    path: str
    lifecycle: str
    eligible: bool
    reasons: list[Why]
    recorded_at: str
    updated_at: str
    summary: str | None = None
    aliases: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    dependencies: list[str] = Field(default_factory=list)
    fields: dict[str, Any] = Field(default_factory=dict)
    touches: list[str] = Field(default_factory=list)
    owner: str | None = None
    entities: list[str] = Field(default_factory=list)
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    origin: str | None = None
    confidence: float | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    expires_at: str | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    merged_into: str | None = None
    current_id: str | None = Field(
        None, description="The active record that stands for this one now, corrections followed."
    )
    merged_from: list[str] = Field(default_factory=list)
    followed: list[str] = Field([], description="The merged pages that led here.")
    lifecycle_change: dict[str, Any] | None = None
    body: str
    body_total: int = Field(0, description="Characters of the whole body.")
    next_body_offset: int | None = Field(None, description="Where the rest of the body begins.")
    evidence: list[Cited]
    evidence_total: int
    backlinks: int
    as_of: dict[str, Any] | None = None


@operation("read", RecordView)
def knowledge_get(ws: Workspace, request: Get, caller: Caller) -> RecordView:
    """Read one record by its id.

    Every field, its body, revision and hash (the fences of a change), whether default reads see
    it and why not, and its evidence with the quoted lines. A merged page leads to its survivor.
    Also as it stood at a revision, a commit or a time.
    """
    return _part(_whole(ws, request, caller), request)


def evidence_of(ws: Workspace, caller: Caller, record: Record) -> list[Cited]:
    """Return a record's evidence with what each source says there; the first twenty."""
    return [_cited(ws, caller, item) for item in record.evidence[:MAX_EVIDENCE]]


def plain_body(body: str) -> str:
    """Return a body without the blank lines around it."""
    return body.replace("\r\n", "\n").strip("\n")


def _whole(ws: Workspace, request: Get, caller: Caller) -> RecordView:
    if ids.is_note(request.id):
        return _note(ws, request, caller)
    wanted, followed = _follow(ws, request)
    targets.known(ws, caller, wanted)
    moment = request.as_of or _moment(request)
    if moment is not None:
        head, said = revision_as_of(ws, caller, wanted, moment)
        return _historical(ws, caller, head, said, followed)
    head = targets.known(ws, caller, wanted)
    ws.look_at([head.path])
    head = targets.known(ws, caller, wanted)
    row = targets.one_row(ws, wanted, head)
    content = targets.bytes_at(ws, row.path)
    if content is None:
        raise targets.missing(ws, head)
    if files.content_hash(content) != row.hash:
        content = ws.bytes_of(head) or content  # a writer is at work: answer what is published
    record = sight.as_seen(ws, caller, targets.read(row.path, content, head)[1])
    reasons = [
        Why(code=r.code, record=r.record, message=r.message)
        for r in eligibility.explain(ws.database, wanted, ws.now())
        if r.record is None or r.record == wanted or not sight.is_hidden(ws, caller, r.record)
    ]
    eligible = row.current(ws.now())
    return _view(ws, caller, row, record, reasons, eligible, followed)


def _part(view: RecordView, request: Get) -> RecordView:
    """Return a view with the part of the body that was asked for, and where the rest begins."""
    total = len(view.body)
    if request.body_offset > total:
        raise InvalidArgument(f"bodyOffset is past the body's {total} characters", total=total)
    end = total if request.body_limit is None else request.body_offset + request.body_limit
    return view.model_copy(
        update={
            "body": view.body[request.body_offset : end],
            "body_total": total,
            "next_body_offset": end if end < total else None,
        }
    )


def _follow(ws: Workspace, request: Get) -> tuple[str, list[str]]:
    if not request.follow_merges or request.revision or request.commit or request.as_of:
        return request.id, []
    way = merges.way(ws.database, request.id)
    if way is None:
        raise InvalidRecord(
            f"{request.id} is merged in a cycle, or through more than {merges.MAX_HOPS} pages; "
            "diagnostics names the chain",
            id=request.id,
        )
    return way[-1], way[:-1]


def _moment(request: Get) -> AsOf | None:
    if request.revision is not None or request.commit is not None:
        return AsOf(revision=request.revision, commit=request.commit, time=None)
    return None


def _view(
    ws: Workspace,
    caller: Caller,
    row: Row,
    record: Record,
    reasons: list[Why],
    eligible: bool,
    followed: list[str],
) -> RecordView:
    merged = sight.seen(ws, caller, (m.absorbed for m in merges.into(ws.database, row.id)))
    backlinks = [
        1
        for linking, _, _, partition in links.linking_to(ws.database, row.id)
        if caller.sees(partition) and not sight.stands_on_hidden(ws, caller, linking)
    ]
    successor = sight.shown(ws, caller, row.successor)
    return RecordView(
        id=row.id, kind=row.kind, title=row.title, type=row.type, partition=row.partition,
        revision=row.revision, hash=row.hash, path=row.path, lifecycle=row.lifecycle,
        eligible=eligible, reasons=reasons, merged_from=[*merged], followed=followed,
        superseded_by=successor if row.lifecycle in ("superseded", "withdrawn") else None,
        merged_into=successor if row.lifecycle == "merged" else None,
        backlinks=len(backlinks), evidence=evidence_of(ws, caller, record),
        current_id=_current_id(ws, caller, row.id),
        **_stated(_resolved(ws, record)),
    )  # fmt: skip


def _resolved(ws: Workspace, record: Record) -> Record:
    """Return a record whose references to merged pages are to their survivors."""
    chains = merges.targets(ws.database)

    def one(record_id: str | None) -> str | None:
        return record_id and (merges.resolve(chains, record_id) or record_id)

    def each(ids_named: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(merges.resolve(chains, i) or i for i in ids_named))

    return replace(
        record, owner=one(record.owner), from_id=one(record.from_id), to_id=one(record.to_id),
        entities=each(record.entities), dependencies=each(record.dependencies),
    )  # fmt: skip


def _as_json(value: Any) -> Any:
    """Return a value with what JSON lacks (.nan, .inf) in the spelling of the file."""
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, list) else value


def _current_id(ws: Workspace, caller: Caller, record_id: str) -> str | None:
    return sight.shown(ws, caller, successors.current(ws.database, record_id))


def _stated(record: Record) -> dict[str, Any]:
    change = record.lifecycle_change
    return {
        "recorded_at": record.recorded_at, "updated_at": record.updated_at,
        "summary": record.summary, "aliases": list(record.aliases), "tags": list(record.tags),
        "dependencies": list(record.dependencies), "fields": _as_json(record.fields),
        "touches": list(record.touches), "owner": record.owner, "entities": list(record.entities),
        "from_": record.from_id, "to": record.to_id, "origin": record.origin,
        "confidence": record.confidence, "valid_from": record.valid_from,
        "valid_until": record.valid_until, "expires_at": record.expires_at,
        "supersedes": record.supersedes, "lifecycle_change": _as_json(change) if change else None,
        "body": plain_body(record.body), "evidence_total": len(record.evidence),
    }  # fmt: skip


def _historical(
    ws: Workspace, caller: Caller, revision: Revision, said: dict[str, Any], followed: list[str]
) -> RecordView:
    if not caller.sees(revision.partition):
        raise sight.not_found(revision.record_id)
    content = ws.bytes_of(revision)
    if content is None:
        raise NotFound(
            f"the bytes of {revision.record_id} at revision {revision.revision} are not in the "
            "journal, the file or Git",
            id=revision.record_id,
            revision=revision.revision,
        )
    record = sight.as_seen(ws, caller, targets.read(revision.path, content)[1])
    return RecordView(
        id=revision.record_id, kind=revision.kind, title=record.title, type=record.type,
        partition=revision.partition, revision=revision.revision, hash=revision.hash,
        path=revision.path, lifecycle=revision.lifecycle, eligible=revision.lifecycle == "active",
        reasons=[], superseded_by=record.superseded_by, merged_into=record.merged_into,
        backlinks=0, evidence=evidence_of(ws, caller, record), as_of=said, followed=followed,
        **_stated(record),
    )  # fmt: skip


def _note(ws: Workspace, request: Get, caller: Caller) -> RecordView:
    path = request.id.removeprefix(ids.NOTE_PREFIX)
    ws.look_at([path])
    row = catalog.by_path(ws.database, path)
    if row is None or row.kind != "note" or not caller.sees(row.partition):
        raise sight.not_found(request.id)
    if _moment(request) or request.as_of:
        raise InvalidArgument(
            "notes have no revisions here; adopt it to keep its history", id=request.id
        )
    content = targets.bytes_at(ws, path) or b""
    aliases: list[str] = []
    try:
        document = parse(content)
        body, aliases = document.body, note_aliases(document)
    except FrontMatterError:
        body = content.decode("utf-8", errors="replace")
    tags = catalog.tags(ws.database, row.key)
    backlinks = links.linking_to(ws.database, row.id)
    was = lost.at(ws.database, ws.vault.root, path)
    reasons = [] if was is None or sight.is_hidden(ws, caller, was.id) else [_not_a_note(was)]
    return RecordView(
        id=row.id, kind="note", title=row.title, partition=row.partition, revision=0, hash=row.hash,
        path=path, lifecycle="active", eligible=True, reasons=reasons, recorded_at=row.recorded_at,
        updated_at=row.updated_at, aliases=aliases, tags=tags, body=plain_body(body), evidence=[],
        evidence_total=0,
        backlinks=sum(caller.sees(partition) for *_, partition in backlinks),
    )  # fmt: skip


def _not_a_note(was: Lost) -> Why:
    """Return that a file is read as a note only because it is no more the record that it was."""
    why = was.reason
    return Why(code=why.code, record=was.id, message=f"{was.id}: {why.message}; {why.hint}")


def _cited(ws: Workspace, caller: Caller, item: Any) -> Cited:
    view = Cited(
        source=item.source, lines=item.lines, quote=item.quote, attribution=item.attribution
    )
    source = catalog.source(ws.database, item.source)
    if source is None or not caller.sees(source.partition):
        return view
    content, verified = sources.verify(ws.vault.root, source)
    text = content.decode("utf-8", errors="replace") if content is not None else ""
    return view.model_copy(
        update={
            "path": source.path,
            "filename": source.filename,
            "attribution": item.attribution or source.attribution,
            "text": validate.quote_of(text, item),
            "verified": verified,
        }
    )
