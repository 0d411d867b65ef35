"""An opened vault with everything that operations need, and the two ways to use it.

`write` is the only way to change a vault: it holds the lane, submits one plan to the journal, and
lets Git follow. `look_at` is how a read makes sure that a file it answers from was not edited since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.errors import Busy, NotFound, RequestMismatch, UnsafePath, WriteFailed, WrongVault
from vault_kg.index import schema
from vault_kg.index.graph_rows import groups
from vault_kg.index.indexer import Indexer, Progress, ScanReport, generation
from vault_kg.index.ontologies import Ontologies
from vault_kg.operations import placing
from vault_kg.operations.base import Receipt, Write
from vault_kg.operations.caller import Caller
from vault_kg.operations.indexing import Indexing
from vault_kg.operations.semantics import Semantics
from vault_kg.records.ontology import Ontology
from vault_kg.records.yaml_scalars import Instant
from vault_kg.state import journal as rows
from vault_kg.state import settings
from vault_kg.state.database import Database
from vault_kg.state.journal import Entry
from vault_kg.state.revisions import Revision
from vault_kg.store import files, unasked, uploads, writers
from vault_kg.store import vault as vaults
from vault_kg.store.journal import Journal
from vault_kg.store.lane import LOCK, Lane
from vault_kg.store.plan import Plan, Request
from vault_kg.store.vault import Vault

if TYPE_CHECKING:
    from vault_kg.index.cypher.graphs import Graphs
    from vault_kg.store.git import History
    from vault_kg.store.outbox import Outbox

Clock = Callable[[], datetime]

MANY = 500
"""Files that take more than a moment to read: until they are, reads say what they may miss."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Job:
    """Something long that is under way: `indexing` or `rebuilding` so many files."""

    activity: str
    done: int
    total: int


class Workspace:
    """One opened vault. Safe to use from several threads."""

    def __init__(self, vault: Vault, clock: Clock = _utc_now) -> None:
        self.vault = vault
        self.clock = clock
        self.ontologies = Ontologies(vault.root)
        self.indexer = Indexer(vault, self.ontologies, schema.VERSION)
        self.lane = Lane(vault.private / LOCK)
        self.journal = Journal(vault, self.lane, self.now, self.indexer.project)
        self.semantics = Semantics(vault.database, vault.database.path.parent)
        self.job: Job | None = None
        self._is_read = self.scanned and generation(vault.database) > 0
        """Whether the index was made as a whole, and not of a vault that was empty then."""
        self._outbox: Outbox | None = None
        self._history: History | None = None
        self._graphs: Graphs | None = None
        self._finish_what_was_accepted()
        if not vault.reading:
            uploads.sweep(vault.private)

    @classmethod
    def open(cls, root: Path, state: Path | None = None, clock: Clock = _utc_now) -> Workspace:
        """Open a vault.

        Raises:
            NotFound: the folder is not a vault.
            Unavailable: its state is lost or of another vault.
        """
        return cls(vaults.open_vault(root, state), clock)

    @classmethod
    def create(
        cls, root: Path, state: Path | None = None, clock: Clock = _utc_now, *, asked: bool = True
    ) -> Workspace:
        """Make a folder a vault as it is; with nobody `asked`, its history waits (`unasked`)."""
        return cls(vaults.create(root, instant(clock()), state, asked=asked), clock)

    @property
    def database(self) -> Database:
        """The vault's state."""
        return self.vault.database

    @property
    def history(self) -> History:
        """The vault's Git history."""
        if self._history is None:
            from vault_kg.store.git import History

            self._history = History(self.vault.root)
        return self._history

    @property
    def outbox(self) -> Outbox:
        """The queue to Git."""
        if self._outbox is None:
            from vault_kg.store.outbox import Outbox

            self._outbox = Outbox(self.vault, self.history)
        return self._outbox

    @property
    def graphs(self) -> Graphs:
        """The graphs that Cypher is asked of."""
        if self._graphs is None:
            from vault_kg.index.cypher.graphs import Graphs

            self._graphs = Graphs(self.database)
        return self._graphs

    def now(self) -> Instant:
        """Return the time as records write it (UTC, RFC 3339, seconds)."""
        return instant(self.clock())

    def ontology(self, partition: str) -> Ontology:
        """Return the ontology in force in a partition."""
        return self.ontologies.of(partition)

    def scan(
        self, progress: Progress | None = None, wait: float | None = None, *, aside: bool = False
    ) -> ScanReport:
        """Take in everything that changed in the vault's files, and let Git follow.

        Args:
            progress: called with (done, total) files.
            wait: seconds to wait for a writer; the write lane's own default where None.
            aside: something else goes on meanwhile that is not to be kept waiting.
        """
        self._take_in_arrivals(wait)
        before = rows.last_seq(self.database)

        def tell(done: int, total: int) -> None:
            self.job = Job("indexing", done, total)
            if progress:
                progress(done, total)

        try:
            report = self.indexer.scan(self.journal, tell, wait, aside=aside)
        finally:
            self.job = None
        self._is_read = True
        if rows.last_seq(self.database) != before:
            self.outbox.drain()
        elif rows.queue_state(self.database)[0]:
            self.outbox.drain(wait=0)
        self._note_vocabularies(groups(self.database))
        return report

    @property
    def scanned(self) -> bool:
        """Whether the vault was ever looked at as a whole."""
        return settings.get(self.database, "scanned_at") is not None

    @property
    def indexing(self) -> Indexing | None:
        """How far the vault's files are read; None where reads can rely on the index.

        It can while only some edits wait to be taken in, but not while many files do, or before
        the first reading ended; a vault that was empty when it was made is read for the first time.
        """
        job = self.job if self.job is not None and self.job.activity == "indexing" else None
        if job is None:
            return None if self._is_read else Indexing(done=0)
        if self._is_read and job.total < MANY:
            return None
        return Indexing(done=job.done, total=job.total)

    def look_at(self, paths: Iterable[str]) -> bool:
        """Take in edits of these files, if there are any and no writer is at work.

        Returns:
            Whether the index changed, so that an answer made before is to be made again.
        """
        stale = self.indexer.stale(paths)
        if not stale:
            return False
        self._take_in_arrivals(wait=0)
        before = rows.last_seq(self.database)
        try:
            changed = self.indexer.observe(self.journal, stale, wait=0)
        except Busy:
            return False  # the writer, or the next scan, takes the edit in
        if rows.last_seq(self.database) != before:
            self.outbox.drain(wait=0)
        return changed > 0

    def write(
        self, caller: Caller, operation: str, request: Write, plan: Callable[[], Plan]
    ) -> Receipt:
        """Carry out a change once, and let Git follow.

        Args:
            caller: who asks.
            operation: the operation's name.
            request: its arguments; `requestId` makes it idempotent.
            plan: validates against what stands and says what will be done; runs under the lane.
        """
        self.vault.check_writable()
        self._check_vault(request)
        if not self.scanned:
            self.scan(lambda done, total: caller.report(done, total, "indexing"))
        payload = request.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude={"request_id"}
        )
        asked = Request(request.request_id, operation, caller.actor, payload)

        self._take_in_arrivals()

        def planned() -> Plan:
            with self.ontologies.held():
                return placing.checked(self.vault.root, plan())

        def carried_out() -> Entry:
            with self.lane.hold(), unasked.beginning(self.database):
                self._check_unused(caller, asked)
                return self.journal.submit(asked, planned, caller.report)

        entry = writers.patiently(carried_out)
        with contextlib.suppress(WriteFailed, Busy):  # it stands; a scan notes them as well
            self._note_vocabularies([entry.partition])
        self.outbox.drain()
        return self.receipt(entry.seq, caller)

    def rehearse(self, request: Write, plan: Callable[[], Plan]) -> Plan:
        """Plan a change as `write` would, and carry nothing out."""
        self.vault.check_writable()
        self._check_vault(request)
        if not self.scanned:
            self.scan()
        with self.lane.hold():
            self.journal.finish_accepted()
            self.journal.require_finished()
            return placing.checked(self.vault.root, plan())

    def receipt(self, seq: int, caller: Caller) -> Receipt:
        """Return the receipt of a published entry for a caller, with its state in Git now.

        Whoever asks again may see less than the one who was first answered.
        """
        from vault_kg.operations import sight

        entry = rows.get(self.database, seq)
        assert entry is not None and entry.receipt is not None, "only a published entry has one"
        said: dict[str, Any] = {"operation": entry.operation, "requestId": entry.request_id}
        told = said | entry.receipt | {"git": self.outbox.state(seq)}
        return sight.receipt(self, caller, Receipt.model_validate(told))

    def bytes_of(self, revision: Revision) -> bytes | None:
        """Return the exact bytes of a revision: from the journal, the file, or Git."""
        kept = rows.kept_bytes(self.database, revision.seq, revision.hash)
        if kept is not None:
            return kept
        try:
            present = files.read(self.vault.root, revision.path)
            if present is not None and files.content_hash(present) == revision.hash:
                return present
        except (UnsafePath, OSError):
            pass
        return self.history_blob(revision.blob)

    def history_blob(self, blob: str) -> bytes | None:
        """Return the bytes of a Git object, or None where Git does not have it or is not there."""
        from vault_kg.store.git import GitUnavailable

        try:
            return self.history.read_blob(blob)
        except (GitUnavailable, NotFound):
            return None

    def _take_in_arrivals(self, wait: float | None = None) -> None:
        from vault_kg.operations import arrivals

        arrivals.take_in(self, wait)

    def close(self) -> None:
        """Close the vault, the model's process, Git's and that of Cypher."""
        self.semantics.close()
        if self._graphs is not None:
            self._graphs.close()
        if self._history is not None:
            self._history.close()
        self.vault.close()

    def _check_unused(self, caller: Caller, asked: Request) -> None:
        """Refuse the id of a request whose answer this caller may not see, telling nothing of it."""
        known = rows.find(self.database, asked.id)
        if known is not None and not caller.sees(known.partition):
            raise RequestMismatch(
                f"requestId {asked.id!r} was used before; use a new requestId", request_id=asked.id
            )

    def _note_vocabularies(self, partitions: Iterable[str]) -> None:
        """Remember the vocabulary that each partition began with, to tell later what changed."""
        from vault_kg.operations.graph import vocabulary

        for partition in partitions:
            vocabulary.note(self, partition)

    def _check_vault(self, request: Write) -> None:
        if request.expected_vault_id not in (None, self.vault.id):
            raise WrongVault(
                f"this is vault {self.vault.id}, not {request.expected_vault_id}; look again before "
                "writing",
                current=self.vault.id,
            )

    def _finish_what_was_accepted(self) -> None:
        if not rows.unfinished(self.database):
            return
        try:
            with self.lane.hold(0):
                self.journal.finish_accepted()
        except Busy:
            return  # the writer that holds the lane is the one that accepted them
        self.outbox.drain(wait=0)


def instant(at: datetime) -> Instant:
    """Return a time as records write it (UTC, RFC 3339, seconds)."""
    return Instant(at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
