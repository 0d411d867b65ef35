"""Rebuilding a lost `state.sqlite` from the trailers of Git commits and from the files.

No file of the vault is changed. What could not be proved is reported, never guessed: an entry whose
commit is missing, a file that no commit speaks of, a withdrawal that only its file tells of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vault_kg.errors import NotFound, Unavailable, WriteFailed
from vault_kg.records import ids
from vault_kg.state import guards, merges, revisions, settings
from vault_kg.state import journal as rows
from vault_kg.state.copying import remove_database
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry, FileRow
from vault_kg.state.merges import Contribution, Merge
from vault_kg.state.revisions import Revision
from vault_kg.store import files, outbox, paths, reading, recovery_files, vault

if TYPE_CHECKING:
    from vault_kg.store.git import History, LoggedCommit


T = TypeVar("T")


@dataclass
class Report:
    """What was recovered, and what could not be proved."""

    commits: int = 0
    entries: int = 0
    revisions: int = 0
    guards: int = 0
    merges: int = 0
    unproven: list[str] = field(default_factory=list)


def recover(root: Path, history: History, state: Path | None = None) -> Report:
    """Make a new state for a vault that lost its own.

    Args:
        root: the vault's folder.
        history: its Git history.
        state: where the state goes; the default place where None.

    Raises:
        Unavailable: there is a state already, or the vault's identity is gone and not in Git.
        WriteFailed: the disk refuses; there is no state, as before.
    """
    where = vault.state_file(root, state)
    if where.exists():
        raise Unavailable(
            f"{where} is there; recover only makes a lost state anew. Move it away first if it is "
            "damaged",
            path=str(where),
        )
    unfinished = where.with_name(where.name + ".recovering")
    try:
        _restore_identity(root, history)
        remove_database(unfinished)
        report = _build(root, history, unfinished)
        report.unproven += _set_aside(root, where)
        unfinished.replace(where)
        files.sync_folder(where.parent)
    except OSError as error:
        raise WriteFailed(
            f"the state cannot be made anew: {error}. Free some space or mend the permissions, "
            "then recover again",
            path=str(where),
        ) from error
    finally:
        remove_database(unfinished)
    return report


def _build(root: Path, history: History, where: Path) -> Report:
    vault_id, created = vault.identity(root)
    database = Database(where, create=True)
    try:
        report = _Recovery(database, history).run()
        told = recovery_files.compare(root, database)
        report.guards += told.guards
        report.merges += told.merges
        report.unproven += told.unproven
        settings.put(database, "vault_id", vault_id)
        settings.put(database, "created", created)
        if not reading.can_write(root / paths.PRIVATE):
            reading.mark(database, root)
        database.checkpoint()
    finally:
        database.close()
    return report


def _restore_identity(root: Path, history: History) -> None:
    """Bring `vault.toml` back from Git where the whole private folder was lost."""
    if vault.exists(root):
        return
    head = history.resolve("HEAD")
    content = history.read_file(head, vault.CONFIG) if head else None
    if content is None:
        raise Unavailable(
            f"neither {root / vault.CONFIG} nor its Git history says which vault this is; make it "
            f"a new one with `vault-kg init {root}`"
        )
    config = root / vault.CONFIG
    vault.make_private(config.parent)
    files.write_complete(config, content, config)


def _set_aside(root: Path, where: Path) -> list[str]:
    """Move what belongs to the lost state out of the new one's way; nothing is thrown away."""
    told = []
    for suffix in ("-wal", "-shm", "-journal"):
        left = Path(f"{where}{suffix}")
        if not left.exists():
            continue
        if suffix == "-shm" or not left.stat().st_size:
            left.unlink()
            continue
        kept = left.replace(_free(left.with_name(f"{left.name}.lost")))
        told.append(f"{kept} is what is left of the lost state; it cannot be read alone")
    prepared = root / vault.TEMPORARIES
    if prepared.is_dir() and any(prepared.iterdir()):
        kept = prepared.replace(_free(prepared.with_name("unfinished")))
        told.append(f"{kept} holds files of requests that were at work when the state was lost")
    return told


def _free(wanted: Path) -> Path:
    number, free = 1, wanted
    while free.exists():
        number += 1
        free = wanted.with_name(f"{wanted.name}-{number}")
    return free


class _Recovery:
    """Plays the commits of a history into an empty state, oldest first."""

    def __init__(self, database: Database, history: History) -> None:
        self._db = database
        self._history = history
        self._report = Report()
        self._seen: set[str] = set()
        self._previous: dict[str, str] = {}

    def run(self) -> Report:
        with self._db.write():
            for commit in self._history.log_with_trailers(changes=True):
                self._report.commits += 1
                said = _Trailers(commit.trailers)
                if (said.one(outbox.SEQ) or "").isdigit():
                    self._commit(commit, said)
            self._tell_missing()
        return self._report

    def _commit(self, commit: LoggedCommit, said: _Trailers) -> None:
        self._seen.add(said.one(outbox.SEQ) or "")
        self._previous.setdefault(said.one(outbox.PREVIOUS) or "0", commit.id)
        request_id = said.text(outbox.REQUEST) or commit.id
        if rows.find(self._db, request_id) is not None:
            return  # a copy of a commit: picked or rebased, and merged
        made = self._revisions(commit, said)
        seq = self._entry(commit, said, request_id, made)
        self._add_revisions(made, seq, str(said.one(outbox.AT)))
        for guard in _made(Guard, said.parsed(outbox.GUARD)):
            guards.add(self._db, guard)
            self._report.guards += 1
        for lift in said.parsed(outbox.LIFT):
            if isinstance(lift, list) and len(lift) == 2:
                guards.lift(self._db, str(lift[0]), str(lift[1]))
        self._merges(said, seq)
        for move in said.parsed(outbox.MOVE):
            if isinstance(move, list) and len(move) == 2:
                revisions.move(self._db, str(move[0]), str(move[1]))

    def _merges(self, said: _Trailers, seq: int) -> None:
        for values in said.parsed(outbox.MERGE):
            if not isinstance(values, dict):
                continue
            gained = _made(Contribution, values.pop("contributions", []))
            for merge in _made(Merge, [{**values, "seq": seq}]):
                merges.add(self._db, merge, gained)
                self._report.merges += 1
        for absorbed in said.parsed(outbox.UNMERGE):
            merges.undo(self._db, str(absorbed), seq)

    def _entry(
        self, commit: LoggedCommit, said: _Trailers, request_id: str, made: Sequence[Revision]
    ) -> int:
        at = str(said.one(outbox.AT))
        wanted = int(said.one(outbox.SEQ) or 0)
        entry = Entry(
            wanted if wanted > rows.last_seq(self._db) else 0, request_id,
            said.one(outbox.OPERATION) or "unknown", said.text(outbox.PARTITION) or "",
            said.text(outbox.ACTOR) or commit.author[0], said.text(outbox.REASON),
            said.one(outbox.PAYLOAD) or "", "{}", "{}", rows.ACCEPTED, at, None, None, None,
        )  # fmt: skip
        seq = rows.add(self._db, entry, self._file_rows(commit, made))
        receipt = {**said.receipt(), "publishedAt": at, "actor": entry.actor}
        rows.set_receipt(self._db, seq, rows.PUBLISHED, receipt, at)
        rows.mark_committed(self._db, {seq: commit.id})
        self._report.entries += 1
        return seq

    def _file_rows(self, commit: LoggedCommit, made: Sequence[Revision]) -> list[FileRow]:
        """Describe the files of a commit, those that it left as they were among them."""
        known = {r.path: r for r in made}
        paths = dict.fromkeys([*(c.path for c in commit.changes), *known])
        blobs = {c.path: c.blob for c in commit.changes}
        found = []
        for path in paths:
            if path == vault.CONFIG:
                continue
            made_here, blob = known.get(path), blobs.get(path)
            after = made_here.hash if made_here else None
            if after is None and blob is not None:
                after = files.content_hash(self._history.read_blob(blob))
            record_id = made_here.record_id if made_here else None
            found.append(FileRow(path, record_id, None, None, None, after))
        return found

    def _revisions(self, commit: LoggedCommit, said: _Trailers) -> list[Revision]:
        at = str(said.one(outbox.AT))
        found = []
        for values in said.parsed(outbox.REVISION):
            whole = self._completed(commit, values) if isinstance(values, list) else values
            if isinstance(whole, dict):
                found += _made(Revision, [{**whole, "seq": 0, "at": at}])
        return found

    def _completed(self, commit: LoggedCommit, values: list[Any]) -> dict[str, Any] | None:
        """Complete a revision that was listed in short by the commit's file."""
        short = dict(zip(outbox.SHORT, values, strict=False))
        path, record_id = str(short.get("path")), str(short.get("record_id"))
        try:
            content = self._history.read_file(commit.id, path)
        except NotFound:
            content = None
        if content is None:
            self._report.unproven.append(
                f"commit {commit.id[:12]} tells of {record_id} in {path}, which it does not hold"
            )
            return None
        return {
            **short, "kind": ids.kind_of(record_id) or "", "hash": files.content_hash(content),
            "blob": files.blob_id(content),
        }  # fmt: skip

    def _add_revisions(self, made: Sequence[Revision], seq: int, at: str) -> None:
        for revision in made:
            known = revisions.get(self._db, revision.record_id, revision.revision)
            self._report.revisions += known is None
            if known is not None and known.hash != revision.hash:
                self._report.unproven.append(
                    f"{revision.record_id} has two contents at revision {revision.revision}, as "
                    f"after joining two histories; that of {known.path} counts"
                )
        values = (r.__dict__ for r in made)
        revisions.add(self._db, [Revision(**{**v, "seq": seq, "at": at}) for v in values])

    def _tell_missing(self) -> None:
        if not self._report.commits:
            self._report.unproven.append(
                "there is no Git history: everything is taken from the files as they are"
            )
        for previous, commit_id in self._previous.items():
            if previous != "0" and previous not in self._seen:
                self._report.unproven.append(
                    f"journal entry {previous}, which commit {commit_id[:12]} was made after, is "
                    "not in the history; a withdrawal, correction or merge in it is not known"
                )


def _made(kind: type[T], many: Iterable[Any]) -> list[T]:
    """Build rows from what trailers say; what is not of the form that we write is left out."""
    found = []
    for values in many:
        try:
            found.append(kind(**values))
        except TypeError:
            continue
    return found


class _Trailers:
    """The trailers of one commit; a value that is not what we wrote is left out."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._pairs = pairs

    def one(self, name: str) -> str | None:
        return next((value for key, value in self._pairs if key == name), None)

    def text(self, name: str) -> str | None:
        found = [v for v in self.parsed(name) if isinstance(v, str)]
        return found[0] if found else None

    def parsed(self, name: str) -> list[Any]:
        values = []
        for key, value in self._pairs:
            if key == name:
                try:
                    values.append(json.loads(value))
                except ValueError:
                    continue
        return values

    def receipt(self) -> dict[str, Any]:
        found = self.parsed(outbox.RECEIPT)
        return dict(found[0]) if found and isinstance(found[0], dict) else {}
