"""The queue to Git: each published entry becomes one commit, in order, after its acknowledgement.

Git failing never undoes or blocks a write: the entry's exact bytes wait here and are committed when
Git can. The commit's trailers carry what a lost state is rebuilt from (`recovery`).
"""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import replace
from datetime import datetime
from typing import Any

from filelock import FileLock, Timeout

from vault_kg.errors import UnsafePath, VaultError
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.journal import Entry, FileRow
from vault_kg.store import marks, passing, seen_head, unasked
from vault_kg.store.failpoints import reach
from vault_kg.store.git import CommitRequest, FileSnapshot, GitPending, GitUnavailable, History
from vault_kg.store.git_trees import split_path
from vault_kg.store.journal import OBSERVE
from vault_kg.store.plan import Tell, quiet
from vault_kg.store.vault import CONFIG, Vault

BATCH = 200
MAX_WHOLE_REVISIONS = 20
"""More revisions than this are listed without what the files of the commit say as well."""

WAIT_SECONDS = 5.0

TIDY_EVERY = 100
"""Once in so many entries it is looked whether Git has loose objects to pack."""

SEQ, PREVIOUS, REQUEST = "Vault-Seq", "Vault-Previous", "Vault-Request"
OPERATION, PARTITION, ACTOR = "Vault-Operation", "Vault-Partition", "Vault-Actor"
AT, REASON, REVISION, MOVE = "Vault-At", "Vault-Reason", "Vault-Revision", "Vault-Move"
GUARD, LIFT, MERGE, UNMERGE = "Vault-Guard", "Vault-Lift", "Vault-Merge", "Vault-Unmerge"
DECLINE = "Vault-Decline"
PAYLOAD, RECEIPT = "Vault-Payload", "Vault-Receipt"
SHORT = ("record_id", "revision", "lifecycle", "partition", "path")
_UNAVAILABLE = "unavailable: "
_NOT_IN_TRAILERS = ("impact",)

Trailers = list[tuple[str, str]]


class Outbox:
    """Commits what was published. One process at a time does it, for everybody."""

    def __init__(self, vault: Vault, history: History) -> None:
        self._vault = vault
        self._history = history
        self._thread = threading.Lock()
        self._lock = FileLock(vault.private / "git.lock", thread_local=False)

    def drain(self, wait: float = WAIT_SECONDS, tell: Tell = quiet) -> None:
        """Commit everything that waits; what cannot be committed goes on waiting.

        Never raises: what was acknowledged stands, whatever becomes of its commit.

        Args:
            wait: seconds to wait for another thread or process that is committing.
            tell: told how many are committed, between batches; a refusal of it ends the drain.
        """
        if self._vault.reading or unasked.is_unasked(self._vault.database):
            return
        if not self._thread.acquire(timeout=wait):
            return  # the one who commits takes what waits along
        try:
            with self._lock.acquire(timeout=wait, poll_interval=0.005):
                try:
                    self._drain(tell)
                finally:
                    marks.refer(self._vault.database, self._history)
        except (Timeout, OSError, VaultError):
            return  # committed by the one who holds the lock, or with the next drain
        finally:
            self._thread.release()

    def state(self, seq: int) -> dict[str, str]:
        """Return `{state, commit?, reason?}` of an entry: committed, pending or unavailable."""
        entry = rows.get(self._vault.database, seq)
        if entry is None:
            return {"state": "committed"}  # nothing was to be committed
        return self.state_of(seq, entry.state, entry.commit_id)

    def state_of(self, seq: int, state: str, commit_id: str | None) -> dict[str, str]:
        """Return what `state` does, of an entry that was read."""
        if commit_id:
            return {"state": "committed", "commit": commit_id}
        if state == rows.RESOLVED:
            review = rows.resolved_by(self._vault.database, seq)
            return self.state(review) if review is not None else {"state": "committed"}
        waiting, reason = rows.queue_reason(self._vault.database, seq)
        if not waiting:
            return {"state": "committed"}  # nothing was to be committed
        if unasked.is_unasked(self._vault.database):
            reason = unasked.WAITS
        unavailable = (reason or "").startswith(_UNAVAILABLE)
        answer = {"state": "unavailable" if unavailable else "pending"}
        return answer | ({"reason": reason.removeprefix(_UNAVAILABLE)} if reason else {})

    def _drain(self, tell: Tell) -> None:
        database = self._vault.database
        committed: list[int] = []
        while entries := rows.queued(database, BATCH):
            tell(len(committed), len(committed) + rows.queue_state(database)[0], "committing")
            reach("git.before")
            waiting = [(entry, rows.files(database, entry.seq)) for entry in entries]
            try:
                before = self._history.resolve("HEAD")
                passed = passing.passed(self._history, before, waiting)
                wanted = [one for one in waiting if one[0].seq not in passed]
                commits = self._history.commit(self._requests(wanted))
            except GitUnavailable as error:
                rows.note_queue_reason(database, f"{_UNAVAILABLE}{error}")
                return
            except (GitPending, VaultError, OSError) as error:
                rows.note_queue_reason(database, str(error))
                return
            reach("git.committed")
            made = dict(zip((entry.seq for entry, _ in wanted), commits, strict=True))
            seen = seen_head.following(database, self._history, before, commits)
            with database.write():
                rows.mark_committed(database, made)
                rows.leave_queue(database, passed)
                if seen is not None:
                    seen_head.put(database, seen)
            committed += (entry.seq for entry in entries)
            reach("git.after")
        if committed and committed[-1] // TIDY_EVERY > (committed[0] - 1) // TIDY_EVERY:
            with contextlib.suppress(GitUnavailable):  # it is tried again later
                self._history.tidy()

    def _requests(self, waiting: list[passing.Waiting]) -> list[CommitRequest]:
        requests = [self._request(entry, changed) for entry, changed in waiting]
        if not rows.is_committed(self._vault.database):
            identity = FileSnapshot(CONFIG, (self._vault.root / CONFIG).read_bytes())
            requests[0] = replace(requests[0], files=[*requests[0].files, identity])
        return requests

    def _request(self, entry: Entry, changed: list[FileRow]) -> CommitRequest:
        database = self._vault.database
        previous = rows.decided_before(database, entry.seq)
        verb = _verb(database, entry, changed)
        label = entry.effects["label"] or (changed[0].path if changed else "")
        return CommitRequest(
            files=[FileSnapshot(f.path, f.after) for f in changed if _git_can_hold(f.path)],
            subject=_subject(verb, label),
            empty_subject=_empty_subject(entry, verb, label),
            trailers=_trailers(entry, previous, {f.path for f in changed if f.after is None}),
            author_name=entry.actor,
            author_email=f"{_mailbox(entry.actor)}@vault-kg.invalid",
            at=datetime.fromisoformat(entry.published_at or entry.accepted_at),
        )


def _verb(database: Database, entry: Entry, changed: list[FileRow]) -> str:
    """Return what was done: the operation, or what became of the files that a person changed."""
    if entry.operation != OBSERVE:
        return entry.operation.removeprefix("knowledge_")
    if all(file.after is None for file in changed):
        return "delete"
    are_new = (rows.last_hash(database, file.path, entry.seq) is None for file in changed)
    return "add" if all(are_new) else "edit"


def _empty_subject(entry: Entry, verb: str, label: str) -> str | None:
    """Return what a commit is called whose files the head holds already, if one is to be made.

    Of an edit that a person committed, that commit tells; a request and a guard are told by ours.
    """
    if entry.operation != OBSERVE:
        return _subject(verb, label)
    count = passing.guarded(entry)
    return _subject("guard", f"{count} record{'' if count == 1 else 's'}") if count else None


def _subject(verb: str, what: str) -> str:
    return _one_line(f"{verb}: {what}")[:120]


def _git_can_hold(path: str) -> bool:
    try:
        split_path(path)
    except UnsafePath:
        return False
    return True


def _trailers(entry: Entry, previous: int | None, removed: set[str]) -> Trailers:
    effects = entry.effects
    trailers: Trailers = [
        (SEQ, str(entry.seq)),
        (PREVIOUS, str(previous or 0)),
        (REQUEST, _dump(entry.request_id)),
        (OPERATION, entry.operation),
        (PARTITION, _dump(entry.partition)),
        (ACTOR, _dump(entry.actor)),
        (AT, entry.published_at or entry.accepted_at),
        (PAYLOAD, entry.payload_hash),
    ]
    receipt = {
        k: v for k, v in effects["receipt"].items() if k not in _NOT_IN_TRAILERS and v is not None
    }
    if receipt:
        trailers.append((RECEIPT, _dump(receipt)))
    if entry.reason:
        trailers.append((REASON, _dump(entry.reason)))
    whole = len(effects["revisions"]) <= MAX_WHOLE_REVISIONS
    trailers += [
        (REVISION, _dump(r if whole or r["path"] in removed else _short(r)))
        for r in effects["revisions"]
    ]
    trailers += [(MOVE, _dump(move)) for move in effects["moves"]]
    trailers += [(GUARD, _dump(g)) for g in effects["guards"]]
    trailers += [(LIFT, _dump(lift)) for lift in effects.get("lifts", ())]
    for merge in effects["merges"]:
        own = [
            gain for gain in effects["contributions"] if gain.get("of") in (None, merge["absorbed"])
        ]
        trailers.append((MERGE, _dump({**merge, "contributions": own})))
    if effects["undo_merge"]:
        trailers.append((UNMERGE, _dump(effects["undo_merge"])))
    trailers += [(DECLINE, _dump(pair)) for pair in effects.get("declines", ())]
    return trailers


def _short(revision: dict[str, Any]) -> list[Any]:
    """Return of a revision what `recovery` cannot read from the commit's file."""
    return [revision[key] for key in SHORT]


def _dump(value: Any) -> str:
    """JSON in ASCII: one line, whatever the text holds."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _mailbox(actor: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in actor)
    return kept.strip("-")[:60] or "actor"
