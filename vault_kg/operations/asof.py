"""Reading the vault as it stood: at a journal position, in a Git commit, or at a time.

`time` means valid time where a record has `valid_from` or `valid_until`, and recorded time
otherwise. The answer says which moment it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field, model_validator

from vault_kg.errors import NotFound, Unavailable
from vault_kg.index import catalog, eligibility
from vault_kg.index.parsed import partition_of
from vault_kg.index.validate import is_instant
from vault_kg.operations import steps
from vault_kg.operations.base import Line, Model, Positive
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import model
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.records.model import Record
from vault_kg.state import journal as rows
from vault_kg.state import merges, revisions
from vault_kg.state.revisions import Revision
from vault_kg.store import files

T = TypeVar("T")

_STEP = 100
"""So many records are read between two reports of progress."""


class AsOf(Model):
    """One moment: a revision, a commit, or a time."""

    revision: Positive | None = Field(
        None, description="Of a record: its revision. Of a list: the vault's journal position."
    )
    commit: Line | None = Field(None, description="A Git commit.")
    time: Line | None = Field(None, description="A date or time, like 2024-05-01.")

    @model_validator(mode="after")
    def _exactly_one(self) -> AsOf:
        if sum(x is not None for x in (self.revision, self.commit, self.time)) != 1:
            raise ValueError("give exactly one of revision, commit and time")
        if self.time is not None and not is_instant(self.time):
            raise ValueError("time must be a date (2026-01-05) or a time (2026-01-05T10:00:00Z)")
        return self


@dataclass(frozen=True)
class Past:
    """One record as it stood, and whether default reads saw it then."""

    revision: Revision
    record: Record
    eligible: bool
    support: bool = False
    """It was recorded later, and is here only because what held then stands on it."""


def revision_as_of(
    ws: Workspace, caller: Caller, record_id: str, moment: AsOf
) -> tuple[Revision, dict[str, Any]]:
    """Return the revision of one record that stood at a moment, and what moment that is.

    Raises:
        NotFound: it did not stand then.
    """
    if moment.revision is not None:
        found = revisions.get(ws.database, record_id, moment.revision)
        said = {"revision": moment.revision}
    elif moment.commit is not None:
        found, said = _in_commit(ws, caller, record_id, moment.commit)
    else:
        found, said = _at_time(ws, record_id, str(moment.time))
    if found is None:
        raise NotFound(
            f"{record_id} did not stand then; knowledge_history says when it did",
            id=record_id,
            as_of=said,
        )
    return found, said


def snapshot(ws: Workspace, caller: Caller, moment: AsOf) -> tuple[list[Past], dict[str, Any]]:
    """Return every record as it stood at a moment, whoever may see it, and what moment that is.

    Raises:
        Cancelled: the caller has taken it back.
    """
    if moment.commit is not None:
        commit = _commit(ws, moment.commit)
        at = rows.published_at(ws.database, rows.of_commit(ws.database, commit))
        return _settled(_of_commit(ws, caller, commit), at), {"commit": commit}
    if moment.revision is not None:
        position = min(moment.revision, rows.last_seq(ws.database))
        at = rows.published_at(ws.database, position)
        return _settled(_at_position(ws, caller, position), at), {"revision": position}
    time = eligibility.comparable(moment.time)
    found = [pair for pair in _at_time_all(ws, caller, time) if _holds(pair[1], time)]
    said = {"time": moment.time, "meaning": "valid time where a record has one, else recorded time"}
    supports = _supports(ws, found)
    chains, later = merges.targets(ws.database), {p.revision.record_id for p in supports}
    settled = _settled(found, time, lambda target: merges.resolve(chains, target) in later)
    return [*settled, *supports], said


def _at_position(ws: Workspace, caller: Caller, seq: int) -> Iterator[tuple[Revision, Record]]:
    removed = rows.removed(ws.database, seq)
    for revision in told(caller, revisions.heads_at(ws.database, seq)):
        record = record_in(ws.bytes_of(revision)) if revision.path not in removed else None
        if record is not None:
            yield revision, record


def told(
    caller: Caller, records: Collection[T], what: str = "reading records as they stood"
) -> Iterator[T]:
    """Yield what is read one by one, and tell the caller how far that is.

    Raises:
        Cancelled: the caller has taken it back.
    """
    for number, one in enumerate(records):
        if number % _STEP == 0:
            steps.step(caller, number, len(records), what)
        yield one


def _at_time_all(ws: Workspace, caller: Caller, time: str) -> Iterator[tuple[Revision, Record]]:
    """Yield records with a valid time as they stand now, and the others as recorded then."""
    seq = rows.seq_at(ws.database, time)
    removed, removed_now = rows.removed(ws.database, seq), rows.removed(ws.database)
    heads = revisions.heads_at(ws.database, seq)
    then = {r.record_id: r for r in heads if r.path not in removed}
    for revision in told(caller, revisions.heads(ws.database).values()):
        record = record_in(ws.bytes_of(revision)) if revision.path not in removed_now else None
        if record is not None and (record.valid_from or record.valid_until):
            yield revision, record
        elif revision.record_id in then:
            past = then[revision.record_id]
            record = record if record and past == revision else record_in(ws.bytes_of(past))
            if record is not None:
                yield past, record


def _supports(ws: Workspace, found: list[tuple[Revision, Record]]) -> list[Past]:
    """Return what records with a valid time stand on and what was recorded only later.

    Such a record is taken as it stands now; so is what it stands on, unless that has a valid time
    of its own, which then did not hold.
    """
    stood = {revision.record_id for revision, _ in found}
    wanted = [
        reference.target
        for _, record in found
        if record.valid_from or record.valid_until
        for reference in record.references()
    ]
    supports: list[Past] = []
    chains = merges.targets(ws.database)
    for target in wanted:
        final = merges.resolve(chains, target)
        if final is None or final in stood:
            continue
        stood.add(final)
        head = revisions.head(ws.database, final)
        record = record_in(ws.bytes_of(head)) if head else None
        standing = any(row.current(ws.now()) for row in catalog.by_id(ws.database, final))
        if head and record and standing and not (record.valid_from or record.valid_until):
            supports.append(Past(head, record, True, support=True))
            wanted += [reference.target for reference in record.references()]
    return supports


def _of_commit(ws: Workspace, caller: Caller, commit: str) -> Iterator[tuple[Revision, Record]]:
    for path, blob in told(caller, ws.history.list_files(commit, suffix=".md")):
        content = ws.history_blob(blob)
        record = record_in(content)
        if record is None or content is None:
            continue
        known = revisions.of_blob(ws.database, record.id, files.blob_id(content))
        yield known or _unknown(record, path, content), record


def _unknown(record: Record, path: str, content: bytes) -> Revision:
    """Describe a record's version that the state never saw, from what its file says."""
    return Revision(
        record.id, record.revision, 0, record.kind, partition_of(path), path,
        files.content_hash(content), files.blob_id(content), record.lifecycle, record.updated_at,
    )  # fmt: skip


def _settled(
    found: Iterable[tuple[Revision, Record]],
    at: str | None,
    supported: Callable[[str], bool] = lambda _: False,
) -> list[Past]:
    """Work out which records default reads saw: active, not at an end, and standing only on such.

    Args:
        found: what stood.
        at: the time, in the form of `eligibility.comparable`; None where nobody knows it.
        supported: whether something that is not among what stood may be stood on.
    """
    stood = {revision.record_id: (revision, record) for revision, record in found}
    hidden = {
        record_id
        for record_id, (revision, record) in stood.items()
        if revision.lifecycle != "active" or (at is not None and not _lasts(record, at))
    }
    merged = {i: r.merged_into for i, (_, r) in stood.items() if r.merged_into}
    changed = True
    while changed:
        changed = False
        for record_id, (_, record) in stood.items():
            if record_id in hidden:
                continue
            targets = [_final(merged, ref.target) for ref in record.references()]
            if any(t in hidden or (t not in stood and not supported(t)) for t in targets):
                hidden.add(record_id)
                changed = True
    return [Past(revision, record, i not in hidden) for i, (revision, record) in stood.items()]


def _final(merged: dict[str, str], target: str) -> str:
    for _ in range(9):
        if target not in merged:
            break
        target = merged[target]
    return target


def _lasts(record: Record, at: str) -> bool:
    """Say whether a record has come to no end of its own at a time; a last day counts in whole."""
    return at < eligibility.comparable(record.expires_at) and at <= eligibility.comparable(
        record.valid_until
    )


def _holds(record: Record, time: str) -> bool:
    if not (record.valid_from or record.valid_until):
        return True
    begun = eligibility.start(record.valid_from) <= time
    return begun and time <= eligibility.comparable(record.valid_until)


def _at_time(ws: Workspace, record_id: str, text: str) -> tuple[Revision | None, dict[str, Any]]:
    time = eligibility.comparable(text)
    head = revisions.head(ws.database, record_id)
    record = record_in(ws.bytes_of(head)) if head else None
    if head and record and (record.valid_from or record.valid_until):
        return (head if _holds(record, time) else None), {"time": text, "meaning": "valid time"}
    seq = rows.seq_at(ws.database, time)
    found = revisions.head_at(ws.database, record_id, seq)
    if found is not None and found.path in rows.removed(ws.database, seq):
        found = None
    return found, {"time": text, "meaning": "recorded time"}


def _in_commit(
    ws: Workspace, caller: Caller, record_id: str, text: str
) -> tuple[Revision | None, dict[str, Any]]:
    commit = _commit(ws, text)
    seq = rows.of_commit(ws.database, commit)
    if seq is not None:
        return revisions.head_at(ws.database, record_id, seq), {"commit": commit}
    found = next((r for r, _ in _of_commit(ws, caller, commit) if r.record_id == record_id), None)
    return found, {"commit": commit}


def _commit(ws: Workspace, text: str) -> str:
    from vault_kg.store.git import GitUnavailable

    try:
        commit = ws.history.resolve(text)
    except GitUnavailable as error:
        raise Unavailable(f"the Git history cannot be read: {error}") from None
    if commit is None:
        raise NotFound(
            f"there is no commit {text}; knowledge_history names those of a record", commit=text
        )
    return commit


def record_in(content: bytes | None) -> Record | None:
    """Return the record that the bytes of a file are, or None where they are none."""
    if content is None:
        return None
    try:
        document = parse(content)
    except FrontMatterError:
        return None
    return model.read_record(document)[0] if model.is_record(document) else None
