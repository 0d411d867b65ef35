"""Rebuilding a lost `state.sqlite` from the trailers of Git commits and from the files.

No file is changed. What could not be proved is reported, never guessed: a revision whose commit is
missing, a guard of a request that never reached Git, a file that no commit speaks of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_kg.errors import Unavailable
from vault_kg.records import model
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.state import guards, merges, revisions, settings
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry, FileRow
from vault_kg.state.merges import Contribution, Merge
from vault_kg.state.revisions import Revision
from vault_kg.store import files, outbox, vault
from vault_kg.store.journal import OBSERVE

if TYPE_CHECKING:
    from vault_kg.store.git import History, LoggedCommit


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
    """
    where = state or vault.default_state(root)
    if where.exists():
        raise Unavailable(
            f"{where} is there; recover only makes a lost state anew. Move it away first if it is "
            "damaged",
            path=str(where),
        )
    _restore_identity(root, history)
    vault_id, created = vault.identity(root)
    unfinished = where.with_name(where.name + ".recovering")
    unfinished.unlink(missing_ok=True)
    database = Database(unfinished, create=True)
    try:
        report = _Recovery(database).run(history.log_with_trailers(changes=True), history)
        settings.put(database, "vault_id", vault_id)
        settings.put(database, "created", created)
        database.checkpoint()
    finally:
        database.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{unfinished}{suffix}").unlink(missing_ok=True)
    unfinished.replace(where)
    return report


def _restore_identity(root: Path, history: History) -> None:
    """Bring `vault.toml` back from Git where the whole private folder was lost."""
    if vault.exists(root):
        return
    head = history.resolve("HEAD")
    content = history.read_file(head, vault.CONFIG) if head else None
    if content is None:
        raise Unavailable(
            f"neither {root / vault.CONFIG} nor its Git history says which vault this is; make it a "
            f"new one with `vault-kg init {root}`"
        )
    private = root / vault.CONFIG
    private.parent.mkdir(exist_ok=True)
    (private.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    private.write_bytes(content)


class _Recovery:
    def __init__(self, database: Database) -> None:
        self._db = database
        self._report = Report()

    def run(self, commits: Iterable[LoggedCommit], history: History) -> Report:
        with self._db.write():
            for commit in commits:
                self._report.commits += 1
                self._commit(commit, history)
        return self._report

    def _commit(self, commit: LoggedCommit, history: History) -> None:
        said = _Trailers(commit.trailers)
        if said.one(outbox.SEQ) is None:
            return
        seq = self._entry(commit, said, history)
        at = str(said.one(outbox.AT))
        made = said.parsed(outbox.REVISION)
        if not made:
            observed = said.one(outbox.OPERATION) == OBSERVE
            made = self._derived(commit, history, observed)
        revisions.add(self._db, [Revision(**{**r, "seq": seq, "at": at}) for r in made])
        self._report.revisions += len(made)
        for guard in said.parsed(outbox.GUARD):
            guards.add(self._db, Guard(**guard))
            self._report.guards += 1
        for merge in said.parsed(outbox.MERGE):
            gained = [Contribution(**c) for c in merge.pop("contributions", [])]
            merges.add(self._db, Merge(**{**merge, "seq": seq}), gained)
            self._report.merges += 1
        for absorbed in said.parsed(outbox.UNMERGE):
            merges.undo(self._db, str(absorbed), seq)

    def _entry(self, commit: LoggedCommit, said: _Trailers, history: History) -> int:
        request_id = said.text(outbox.REQUEST) or commit.id
        known = rows.find(self._db, request_id)
        if known is not None:
            return known.seq
        at = str(said.one(outbox.AT))
        entry = Entry(
            0, request_id, said.one(outbox.OPERATION) or "unknown", "",
            said.text(outbox.ACTOR) or commit.author[0], said.text(outbox.REASON),
            said.one(outbox.PAYLOAD) or "", {}, {}, rows.ACCEPTED, at, None, None, None,
        )  # fmt: skip
        changed = [
            _file_row(c.path, history.read_blob(c.blob) if c.blob else None) for c in commit.changes
        ]
        seq = rows.add(self._db, entry, changed)
        receipt = {**said.receipt(), "publishedAt": at, "actor": entry.actor}
        rows.set_receipt(self._db, seq, rows.PUBLISHED, receipt, at)
        rows.mark_committed(self._db, {seq: commit.id})
        self._report.entries += 1
        return seq

    def _derived(
        self, commit: LoggedCommit, history: History, observed: bool
    ) -> list[dict[str, Any]]:
        """Work out the revisions of a commit too large to list them: one for each record changed."""
        found = []
        for change in commit.changes:
            if change.blob is None or not change.path.endswith(".md"):
                continue
            content = history.read_blob(change.blob)
            record = _record(content)
            if record is None:
                continue
            head = revisions.head(self._db, record.id)
            found.append(
                {
                    "record_id": record.id, "kind": record.kind, "path": change.path,
                    "revision": head.revision + 1 if head else record.revision,
                    "partition": change.path.partition("/")[0],
                    "hash": files.content_hash(content), "blob": change.blob,
                    "lifecycle": head.lifecycle if head and observed else record.lifecycle,
                }
            )  # fmt: skip
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


def _file_row(path: str, content: bytes | None) -> FileRow:
    """Describe a committed file; Git holds its bytes."""
    return FileRow(path, None, None, None, None, files.content_hash(content) if content else None)


def _record(content: bytes) -> model.Record | None:
    try:
        document = parse(content)
    except FrontMatterError:
        return None
    return model.read_record(document)[0] if model.is_record(document) else None
