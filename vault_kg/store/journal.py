"""The write path: accept, install, publish. Every change of a vault goes through here.

    request -> accept (row, flushed) -> install files -> publish (one transaction) -> queue to Git

A request is accepted once it is in the journal, and then it is finished: by this call, by
`knowledge_resume`, or by the next process that opens the vault. A file that somebody changed
between what the request saw and the installation is never written over: the entry becomes a
conflict, and the original, the proposed and the displaced bytes are all kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from vault_kg.errors import (
    Busy,
    ConflictBlocked,
    RequestMismatch,
    VaultError,
    WriteFailed,
)
from vault_kg.records import model
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.state import journal as rows
from vault_kg.state import revisions
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry, FileRow
from vault_kg.state.merges import Merge
from vault_kg.store import collecting, conflicting, files, publishing, refusing
from vault_kg.store.failpoints import reach
from vault_kg.store.files import Displaced
from vault_kg.store.installation import Installation, sweep
from vault_kg.store.lane import Lane
from vault_kg.store.plan import Change, Plan, Request, Tell, quiet
from vault_kg.store.vault import Vault
from vault_kg.store.writers import OpenElsewhere, is_open_for_writing

OBSERVE = "observe"
EDITOR = "editor"
_TRIES = 3
_MANY = 50
"""So many files take no time worth telling of."""


@dataclass
class Journal:
    """The journal of one vault. `project` brings the index up to date inside the publication."""

    vault: Vault
    lane: Lane
    now: Callable[[], str]
    project: Callable[[Sequence[tuple[str, bytes | None]]], None]

    def submit(self, request: Request, plan: Callable[[], Plan], tell: Tell = quiet) -> Entry:
        """Carry out a request once; the caller holds the lane.

        Args:
            request: who asks for what.
            plan: validates the request against what stands and says what it will do.
            tell: told how far it is once it is accepted.

        Returns:
            The published entry: this one, or the one that answered the same request before.

        Raises:
            RequestMismatch: the id was used with another payload.
            ConflictBlocked: an editor's change met the request.
            OpenElsewhere: a program has a file of it open for writing; nothing was changed.
            WriteFailed: the disk refused; the message says whether the request stays accepted.
        """
        self.finish_accepted()
        known = rows.find(self.vault.database, request.id)
        if known is not None and known.state not in rows.UNFINISHED:
            return self._answered(known, request)
        self.require_finished()
        with collecting.resting():
            planned = self._planned(plan)
            reach("accept.before")
            seq = self._accept(request, planned)
            reach("accept.after")
            return self._finish(seq, tell)

    def observe(
        self,
        changes: Sequence[Change],
        moves: Sequence[tuple[str, str]] = (),
        guards: Sequence[Guard] = (),
        merges: Sequence[Merge] = (),
        label: str = "",
    ) -> Entry:
        """Record edits that a person made in files; the caller holds the lane.

        Nothing is installed: the bytes are on disk already. They get their revision, and go to Git.
        The guards and merges are those of records that were inactive when they were first seen.
        """
        at = self.now()
        partition = changes[0].partition if changes else ""
        plan = Plan(
            partition, {}, tuple(changes), label, guards=tuple(guards), merges=tuple(merges),
            moves=tuple(moves),
        )  # fmt: skip
        seq_hint = rows.last_seq(self.vault.database) + 1
        digest = hashlib.sha256("\n".join(_fingerprint(c) for c in changes).encode()).hexdigest()
        request = Request(f"{OBSERVE}-{seq_hint}-{digest[:16]}", OBSERVE, EDITOR, {"files": digest})
        with self.vault.database.write():
            seq = self._accept(request, plan)
            self._publish(self._entry(seq), rows.files(self.vault.database, seq), at)
            reach("publish.inside")
        reach("publish.after")
        return self._entry(seq)

    def finish_accepted(self) -> list[str]:
        """Finish what a dead process left accepted; the caller holds the lane.

        What the disk refuses stays accepted, and everything after it waits (`require_finished`).

        Returns:
            The request ids that were finished or found in conflict.
        """
        unfinished = rows.unfinished(self.vault.database)
        for entry in unfinished:
            try:
                self._finish(entry.seq, is_promised=True)
            except ConflictBlocked:
                continue  # told to the one who repeats or resumes that request
            except (WriteFailed, Busy):
                break  # told by `require_finished`
        sweep(self.vault.root, self.vault.temporaries, self.vault.database)
        left = {entry.seq for entry in rows.unfinished(self.vault.database)} if unfinished else ()
        return [entry.request_id for entry in unfinished if entry.seq not in left]

    def require_finished(self) -> None:
        """Refuse to build on an accepted request that could not be finished.

        Raises:
            WriteFailed: there is one.
        """
        unfinished = rows.unfinished(self.vault.database)
        if unfinished:
            raise WriteFailed(
                f"the accepted request {unfinished[0].request_id!r} could not be finished: the "
                "disk refuses. Free some space or mend the permissions, then call knowledge_resume "
                "or repeat the request",
                request_id=unfinished[0].request_id,
            )

    def _answered(self, known: Entry, request: Request) -> Entry:
        if known.payload_hash != request.digest:
            raise RequestMismatch(
                f"requestId {request.id!r} was used before for {known.operation} with another "
                "payload; use a new requestId for a new request",
                request_id=request.id,
                operation=known.operation,
            )
        if known.state == rows.CONFLICTED:
            raise conflicting.blocked(self.vault.database, known)
        return known

    def _accept(self, request: Request, plan: Plan) -> int:
        entry = Entry(
            0, request.id, request.operation, plan.partition, request.actor, plan.reason,
            request.digest, rows.dump(dict(request.payload)), rows.dump(plan.effects()),
            rows.ACCEPTED, self.now(), None, None, None,
        )  # fmt: skip
        return rows.add(self.vault.database, entry, [c.file_row() for c in plan.changes])

    def _planned(self, plan: Callable[[], Plan]) -> Plan:
        """Plan on what the index has seen: a save between the look and the read is planned anew."""
        for _ in range(_TRIES):
            planned = plan()
            self._check_closed(planned)
            if not any(self._was_overlooked(change) for change in planned.changes):
                return planned
        raise Busy("a file of this request is being saved again and again; try again")

    def _check_closed(self, planned: Plan) -> None:
        """Refuse to replace a file that a program has open: it would go on writing to the old one.

        Raises:
            OpenElsewhere: one has.
        """
        for change in planned.changes:
            target = self.vault.root / change.path
            if change.before is not None and is_open_for_writing(target):
                raise OpenElsewhere(change.path, target)

    def _was_overlooked(self, change: Change) -> bool:
        if change.before is None or change.record_id is None:
            return False
        head = revisions.head(self.vault.database, change.record_id)
        if head is None or head.path != change.path:
            return False  # what its file replaces is another record's
        if head.hash == files.content_hash(change.before):
            return False
        try:
            return model.is_record(parse(change.before))
        except FrontMatterError:
            return False  # no revision is made of what cannot be read

    def _finish(self, seq: int, tell: Tell = quiet, *, is_promised: bool = False) -> Entry:
        """Carry an accepted entry out.

        Where that is refused, everything is put back. The one who asks is told so, and the entry is
        abandoned; one that somebody counts on already (`is_promised`) stays accepted.
        """
        entry = self._entry(seq)
        changed = rows.files(self.vault.database, seq)
        installation = Installation(self.vault.root, self.vault.temporaries, seq, changed)
        try:
            self._carry_out(entry, changed, installation, tell)
        except Displaced as met:
            self._give_way(entry, changed, installation, met)
        except OpenElsewhere as met:
            if not is_promised:
                self._put_back(entry, installation, for_good=True)
                raise
            before = next(f.before for f in changed if f.path == met.path)
            self._give_way(entry, changed, installation, Displaced(met.path, before))
        except (OSError, VaultError) as error:
            self._put_back(entry, installation, for_good=not is_promised)
            raise refusing.write_failed(error) from error
        reach("publish.after")
        installation.clear()
        return self._entry(seq)

    def _carry_out(
        self, entry: Entry, changed: list[FileRow], installation: Installation, tell: Tell
    ) -> None:
        if changed:
            tell = tell if len(changed) > _MANY else quiet
            if entry.state == rows.ACCEPTED:
                rows.set_state(self.vault.database, entry.seq, rows.INSTALLING)
            installation.install(tell)
            reach("install.all-done")
            installation.confirm()
            tell(len(changed), len(changed), "indexing")
        reach("publish.before")
        with self.vault.database.write():
            self._publish(entry, changed, self.now())
            reach("publish.inside")

    def _give_way(
        self, entry: Entry, changed: list[FileRow], installation: Installation, met: Displaced
    ) -> NoReturn:
        """Make a conflict of a request that met an edit.

        Raises:
            ConflictBlocked: it is one.
            WriteFailed: the disk refuses; the request stays accepted.
        """
        try:
            installation.take_back()
            reach("conflict.rolled-back")
            conflicting.record(self.vault, entry, changed, met, self.now())
        except (OSError, VaultError) as error:
            raise refusing.stays_accepted(entry, error) from error
        reach("conflict.recorded")
        installation.clear(met.found)
        raise conflicting.blocked(self.vault.database, entry)

    def _put_back(self, entry: Entry, installation: Installation, *, for_good: bool) -> None:
        """Undo what was installed; where the disk refuses even that, the entry stays accepted."""
        try:
            installation.take_back()
            if for_good:
                rows.set_state(self.vault.database, entry.seq, rows.ABANDONED)
            installation.clear()
        except (OSError, VaultError) as error:
            raise refusing.stays_accepted(entry, error) from error

    def _publish(self, entry: Entry, changed: Sequence[FileRow], at: str) -> None:
        publishing.apply(self.vault.database, entry, at)
        if changed or entry.effects.get("declines"):
            rows.queue_commit(self.vault.database, entry.seq)
        if changed:
            self.project([(f.path, f.after) for f in changed])

    def _entry(self, seq: int) -> Entry:
        entry = rows.get(self.vault.database, seq)
        assert entry is not None, "a journal row never goes away"
        return entry


def _fingerprint(change: Change) -> str:
    return f"{change.path} {change.revision} {files.content_hash(change.after or b'')}"
