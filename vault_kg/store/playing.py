"""Playing commits into a state: what their trailers say was made, withdrawn, corrected and merged.

No file of the vault is changed. What a commit says of something that it does not hold is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from vault_kg.errors import NotFound
from vault_kg.records import ids
from vault_kg.state import guards, merges, revisions
from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.guards import Guard
from vault_kg.state.journal import Entry, FileRow
from vault_kg.state.merges import Contribution, Declined, Merge
from vault_kg.state.revisions import Revision
from vault_kg.store import files, outbox, untold, vault
from vault_kg.store.journal import EDITOR, OBSERVE
from vault_kg.store.plan import Plan

if TYPE_CHECKING:
    from vault_kg.store.git import History, LoggedCommit


T = TypeVar("T")


@dataclass
class Told:
    """What was played, and what could not be proved."""

    entries: int = 0
    revisions: int = 0
    guards: int = 0
    merges: int = 0
    unproven: list[str] = field(default_factory=list)


def is_known(database: Database, commit: LoggedCommit) -> bool:
    """Say whether the journal has the entry that a commit is of, or of a copy of it.

    A commit that was picked or rebased is a copy; one of another clone that used the same request
    id is none.
    """
    said = Trailers(commit.trailers)
    entry = rows.find(database, said.text(outbox.REQUEST) or commit.id)
    if entry is None:
        entry = rows.find(database, f"{said.text(outbox.REQUEST)}@{commit.id[:12]}")
        return entry is not None
    return entry.payload_hash == (said.one(outbox.PAYLOAD) or "") and said.one(outbox.AT) in (
        None, entry.published_at, entry.accepted_at,
    )  # fmt: skip


def told(commit: LoggedCommit) -> list[LoggedCommit]:
    """Return a commit once for each entry that it tells of: several where a person squashed them."""
    entries = [trailers for trailers in commit.joined if Trailers(trailers).is_a_vaults()]
    return [replace(commit, trailers=trailers) for trailers in entries] or [commit]


def is_known_whole(database: Database, commit: LoggedCommit) -> bool:
    """Say whether the journal has every entry that a commit is of."""
    return all(is_known(database, one) for one in told(commit))


class Player:
    """Plays commits into a state, in the caller's transaction; they come oldest first."""

    def __init__(self, database: Database, history: History) -> None:
        self._db = database
        self._history = history
        self.told = Told()

    def play(self, commit: LoggedCommit) -> set[str]:
        """Play what a commit says, unless it is of nobody's vault or known.

        Returns:
            The ids of the records that it speaks of.
        """
        said = Trailers(commit.trailers)
        if not said.is_a_vaults() or is_known(self._db, commit):
            return set()
        request_id = said.text(outbox.REQUEST) or commit.id
        if rows.find(self._db, request_id) is not None:
            request_id = f"{request_id}@{commit.id[:12]}"  # two clones used one id
        made = self._revisions(commit, said)
        self._replaced(commit, said, made)
        seq = self._entry(commit, said, request_id, made)
        self._add_revisions(made, seq, str(said.one(outbox.AT)))
        for guard in _made(Guard, said.parsed(outbox.GUARD)):
            guards.settle(self._db, guard)
            self.told.guards += 1
        for lift in said.parsed(outbox.LIFT):
            if isinstance(lift, list) and len(lift) == 2:
                guards.lift(self._db, str(lift[0]), str(lift[1]))
        self._merges(said, seq, str(said.one(outbox.AT)))
        for move in said.parsed(outbox.MOVE):
            if isinstance(move, list) and len(move) == 2:
                revisions.move(self._db, str(move[0]), str(move[1]))
        return said.ids()

    def _replaced(self, commit: LoggedCommit, said: Trailers, made: Sequence[Revision]) -> None:
        """Take in what a person's own commit held, and this one builds on, as an edit of then."""
        if not made or not commit.parents or len(commit.joined) > 1:
            return  # a squashed commit builds on what was before all of its entries
        parent = self._history.describe(commit.parents[0])
        if parent is None:
            return
        edited = said.one(outbox.OPERATION) == OBSERVE
        found = untold.replaced(self._db, self._history, parent.id, made, edited=edited)
        if not found:
            return
        at = min(parent.at.strftime("%Y-%m-%dT%H:%M:%SZ"), str(said.one(outbox.AT)))
        wanted = int(said.one(outbox.SEQ) or 0) - 1
        entry = Entry(
            wanted if wanted > rows.last_seq(self._db) else 0, f"{OBSERVE}-{commit.id}", OBSERVE,
            found[0].partition, EDITOR, None, "", "{}", rows.dump(_effects(found, "")),
            rows.ACCEPTED, at, None, None, None,
        )  # fmt: skip
        kept = [FileRow(r.path, r.record_id, None, None, None, r.hash) for r in found]
        seq = self._settle(entry, kept, parent.id, {"publishedAt": at, "actor": EDITOR})
        self._add_revisions(found, seq, at)

    def _settle(
        self, entry: Entry, changed: list[FileRow], commit: str, receipt: dict[str, Any]
    ) -> int:
        """Add an entry as one that was published and committed."""
        seq = rows.add(self._db, entry, changed)
        rows.set_receipt(self._db, seq, rows.PUBLISHED, receipt, entry.accepted_at)
        rows.mark_committed(self._db, {seq: commit})
        self.told.entries += 1
        return seq

    def _merges(self, said: Trailers, seq: int, at: str) -> None:
        for values in said.parsed(outbox.MERGE):
            if not isinstance(values, dict):
                continue
            gained = _made(Contribution, values.pop("contributions", []))
            for merge in _made(Merge, [{**values, "seq": seq}]):
                given_up = merges.settle(self._db, merge, gained)
                self.told.merges += 1
                if given_up is not None:
                    self._reopen(given_up.absorbed, seq, at)
        for absorbed in said.parsed(outbox.UNMERGE):
            merges.undo(self._db, str(absorbed), seq)
        for pair in _made(Declined, said.parsed(outbox.DECLINE)):
            merges.decline(self._db, pair)

    def _reopen(self, page: str, seq: int, at: str) -> None:
        """Let a page be active again whose merge does not stand, and that no other one absorbs."""
        head = revisions.head(self._db, page)
        if head is None or head.lifecycle != "merged" or merges.standing(self._db, page):
            return
        again = replace(head, revision=head.revision + 1, lifecycle="active")
        self._add_revisions([again], seq, at)

    def _entry(
        self, commit: LoggedCommit, said: Trailers, request_id: str, made: Sequence[Revision]
    ) -> int:
        at = str(said.one(outbox.AT))
        wanted = int(said.one(outbox.SEQ) or 0)
        effects = _effects(made, commit.subject.partition(": ")[2])
        entry = Entry(
            wanted if wanted > rows.last_seq(self._db) else 0, request_id,
            said.one(outbox.OPERATION) or "unknown", said.text(outbox.PARTITION) or "",
            said.text(outbox.ACTOR) or commit.author[0], said.text(outbox.REASON),
            said.one(outbox.PAYLOAD) or "", "{}", rows.dump(effects), rows.ACCEPTED, at, None, None, None,
        )  # fmt: skip
        receipt = {**said.receipt(), "publishedAt": at, "actor": entry.actor}
        return self._settle(entry, self._file_rows(commit, made), commit.id, receipt)

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

    def _revisions(self, commit: LoggedCommit, said: Trailers) -> list[Revision]:
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
            self.told.unproven.append(
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
            self.told.revisions += known is None
            if known is not None and known.hash != revision.hash:
                self.told.unproven.append(
                    f"{revision.record_id} has two contents at revision {revision.revision}, as "
                    f"after joining two histories; that of {known.path} counts"
                )
        values = (r.__dict__ for r in made)
        revisions.add(self._db, [Revision(**{**v, "seq": seq, "at": at}) for v in values])


def _effects(made: Sequence[Revision], label: str) -> dict[str, Any]:
    effects = Plan("", {}, label=label).effects()
    effects["revisions"] = [
        {key: value for key, value in asdict(r).items() if key not in ("seq", "at")} for r in made
    ]
    return effects


def _made(kind: type[T], many: Iterable[Any]) -> list[T]:
    """Build rows from what trailers say; what is not of the form that we write is left out."""
    found = []
    for values in many:
        try:
            found.append(kind(**values))
        except TypeError:
            continue
    return found


class Trailers:
    """The trailers of one commit; a value that is not what we wrote is left out."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._pairs = pairs

    def one(self, name: str) -> str | None:
        """Return the first value of a trailer as it is written."""
        return next((value for key, value in self._pairs if key == name), None)

    def text(self, name: str) -> str | None:
        """Return the first value of a trailer that is text in JSON."""
        found = [v for v in self.parsed(name) if isinstance(v, str)]
        return found[0] if found else None

    def parsed(self, name: str) -> list[Any]:
        """Return the values of a trailer that are JSON, parsed."""
        values = []
        for key, value in self._pairs:
            if key == name:
                try:
                    values.append(json.loads(value))
                except ValueError:
                    continue
        return values

    def receipt(self) -> dict[str, Any]:
        """Return what the receipt said that was given for the request."""
        found = self.parsed(outbox.RECEIPT)
        return dict(found[0]) if found and isinstance(found[0], dict) else {}

    def is_a_vaults(self) -> bool:
        """Say whether a vault made the commit."""
        return (self.one(outbox.SEQ) or "").isdigit()

    def ids(self) -> set[str]:
        """Return the ids of all records that are spoken of."""
        spoken = (
            outbox.REVISION,
            outbox.GUARD,
            outbox.LIFT,
            outbox.MOVE,
            outbox.MERGE,
            outbox.UNMERGE,
        )
        text = " ".join(value for key, value in self._pairs if key in spoken)
        return set(ids.found_in(text))
