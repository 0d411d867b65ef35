"""Ingesting one document: read it outside the write lane, then plan and write it as one change."""

from __future__ import annotations

import time
from typing import Any

from vault_kg.errors import Busy
from vault_kg.index import graph_rows
from vault_kg.ingest import configured, editions, planning, report, retaining
from vault_kg.ingest.drafting import Drafts
from vault_kg.ingest.items import Entity, Statement
from vault_kg.ingest.nearness import Named, Names, Near
from vault_kg.ingest.pieces import MAX_CHARS
from vault_kg.ingest.planning import Builder
from vault_kg.ingest.prompt import Vocabulary
from vault_kg.ingest.reading import Reading, read
from vault_kg.ingest.report import Incomplete, Ingested, Item, Oversized
from vault_kg.ingest.retaining import Document
from vault_kg.operations import checks
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import support, vocabulary, writing
from vault_kg.operations.graph.deletion import Touched
from vault_kg.operations.graph.request import GraphWrite
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import revisions
from vault_kg.store.plan import Plan
from vault_kg.store.sources import Source

_MOST_NEAR = 5
"""So many names that resemble a new one are told, of those that may be it and of the others."""

_TOLD_BY_THE_WRITE = {"changed", "request_id", "git"}


def ingest(
    ws: Workspace, caller: Caller, operation: str, request: GraphWrite, document: Document,
    *, dry_run: bool,
) -> Ingested:  # fmt: skip
    """Read a document and write what it says, or say what would be written.

    Args:
        ws: the opened vault.
        caller: who asks; told how far it is.
        operation: the operation's name.
        request: its arguments.
        document: what is read.
        dry_run: write nothing.

    Raises:
        Unavailable: a model is needed and cannot be had; nothing is retained.
        IdentityRefused: the group's pages would be told apart otherwise than before.
        Busy: the document was ingested by somebody else in the meantime.
        Cancelled: the caller took it back.
    """
    vocabulary.check_identity(ws, document.group)
    checks.check_ontology(ws, document.group, None)
    if not ws.scanned:
        ws.scan()
    read_by = _Read(ws, caller, document)
    answered = not dry_run and rows.find(ws.database, request.request_id) is not None
    if not answered:
        read_by.read()
    done = writing.carry_out(
        ws, caller, operation, request,
        lambda: _plan(ws, caller, document, read_by, request.request_id), dry_run=dry_run,
    )  # fmt: skip
    return Ingested(**done | {"dry_run": dry_run})


OPERATIONS = frozenset({"knowledge_process_chunk", "knowledge_add_episode"})
"""What reads documents; what another operation recorded is not taken back by a new edition."""


class _Read:
    """What a model read out of a document, and which edition it took for the last one."""

    def __init__(self, ws: Workspace, caller: Caller, document: Document) -> None:
        self._ws, self._caller, self._document = ws, caller, document
        self._started = time.monotonic()
        self.reading: Reading | None = None
        self.model: str | None = None
        self.last: str | None = None

    def read(self) -> None:
        """Ask the model, unless this very text was read before."""
        ws, document = self._ws, self._document
        if retaining.standing(ws, document) is not None:
            return
        old = document.editions(ws)
        self.last = old[0].id if old else None
        before = editions.text_of(ws, old[0]) if old else None
        extractor = configured.extractor()
        self.model = extractor.name
        self.reading = read(
            document.text, document.about, editions.new_lines(document.text, before),
            Vocabulary.of(ws.ontology(document.group)), extractor, self._caller,
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return round(time.monotonic() - self._started, 3)


def _plan(
    ws: Workspace, caller: Caller, document: Document, read_by: _Read, request_id: str
) -> Plan:
    known = retaining.standing(ws, document)
    if known is not None:
        told = _told(document, known, read_by)
        if (known.source_file, known.chunk_id) != (document.source_file, document.chunk_id):
            told.warnings.append(f"the same text is retained already, as {known.description}")
        return writing.nothing(document.group, _answer(told))
    old = document.editions(ws)
    if read_by.reading is None or (old[0].id if old else None) != read_by.last:
        raise Busy("the document was ingested by somebody else meanwhile; ingest it again")
    source, changes = retaining.retain(ws, document, old)
    older = [each for each in old if each.id != source.id]
    holds = editions.still_said(ws, [source, *older], document.text)
    told = _told(document, source, read_by)
    drafts = Drafts(ws, caller, source, document.text, holds, told)
    _tell_reading(told, read_by.reading)
    Builder(drafts, told).build(read_by.reading)
    _tell_names(ws, document.group, told)
    reason = f"a new edition of {document.source_file} does not say it any more"

    def spares(record_id: str) -> bool:
        return revisions.made_by(ws.database, record_id) not in OPERATIONS

    lost = support.without(
        ws, caller, older, reason, request_id, holds=holds, spares=spares, gains=drafts.gains
    )  # fmt: skip
    for name, items in lost.told(ws, caller).items():
        setattr(told, name, [Touched(**item) for item in items])
    changes += drafts.changes
    changes += lost.changes
    changes += drafts.revisions({change.record_id for change in lost.changes})
    changes += retaining.unused(ws, older, lost, holds, spares)
    receipt = {"targetId": source.id, **writing.answer(_answer(told))}
    return Plan(
        document.group, receipt, tuple(changes), document.source_file, tuple(lost.guards),
        reason=reason if lost.guards else None,
    )  # fmt: skip


def _told(document: Document, source: Source, read_by: _Read) -> Ingested:
    told = Ingested(
        success=True, changed=True, episode_uuid=source.id, chunk_id=document.chunk_id,
        source_file=document.source_file, model=read_by.model, duration_seconds=read_by.seconds,
    )  # fmt: skip
    if len(document.text) > MAX_CHARS:
        told.warning = Oversized(
            chunk_text_chars=len(document.text), recommended_max_chars=MAX_CHARS,
            message=f"the text has {len(document.text):,} characters and was divided at headings "
            f"and sentences into pieces of at most {MAX_CHARS:,}",
        )  # fmt: skip
    return told


def _tell_reading(told: Ingested, reading: Reading) -> None:
    told.malformed = [report.of_raw(*aside) for aside in reading.malformed]
    told.salvaged = [report.of_raw(*aside) for aside in reading.salvaged]
    told.ungrounded = [_of(item, why) for item, why in dict.fromkeys(reading.ungrounded)]
    told.incomplete = [
        Incomplete(lines=f"{piece.first}-{piece.last}", reason=why)
        for piece, why in reading.incomplete
    ]
    told.calls, told.tokens = reading.calls, reading.tokens


def _of(item: Entity | Statement, why: str) -> Item:
    if isinstance(item, Entity):
        return report.of_entity(item, reason=why)
    return report.of_statement(item, reason=why)


def _tell_names(ws: Workspace, group: str, told: Ingested) -> None:
    """Tell which new names resemble others: those that may be one, and those that cannot."""
    names = Names(Named(*known) for known in graph_rows.page_names(ws.database, group))
    for item in [item for item in told.written if item.kind == "entity"]:
        near = list(names.near(item.name or ""))
        may_be = [each for each in near if not each.vetoed][:_MOST_NEAR]
        cannot = [each for each in near if each.vetoed][:_MOST_NEAR]
        told.candidates += [_alike(item, each) for each in may_be]
        told.vetoed += [_alike(item, each) for each in cannot]
        names.add(Named(item.uuid, item.name or ""))


def _alike(item: Item, near: Near) -> Item:
    said = {"other": near.other.name, "uuid": near.other.id, "reason": near.vetoed or near.reason}
    return item.model_copy(update=said)


def _answer(told: Ingested) -> dict[str, Any]:
    told = told.model_copy(update=planning.counts(told))
    return told.model_dump(
        mode="json", exclude=_TOLD_BY_THE_WRITE | {"dry_run"}, exclude_defaults=True
    )
